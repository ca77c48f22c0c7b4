//! Key generation: an independent secret for every level.

use std::sync::Arc;

use solinas_ring::sample::Gaussian;
use zeroize::Zeroizing;

use super::decrypt::tensor_square;
use super::keys::{EvaluationParts, SecretParts};
use super::{ClientKey, Layout, Params, PublicKey, SeededMatrix, SwitchKey, Vector, fresh};
use crate::control::Steps;
use crate::random::SecretSeed;
use crate::{Control, Entropy, Error, Level};

/// Makes the secrets and the public key. Progress counts parts of the public matrix.
pub(super) fn client_key(params: &Params, entropy: Entropy, control: &Control<'_>) -> Result<ClientKey, Error> {
    let seed = SecretSeed::new(entropy)?;
    let steps = Steps::new(control, fresh::parts(params.fresh().samples()));
    let insecure = entropy.is_insecure();
    let fresh = fresh::make(params.fresh(), insecure, &seed.derive("lwe leveled base"), &steps)?;
    let gaussian = Gaussian::new(params.sigma())?;
    let lower = seed.derive("lwe leveled secrets");
    let mut secrets: Vec<_> = (0..params.depth())
        .map(|level| gaussian.draw_many(&mut lower.stream(level as u64), params.dimension()))
        .collect();
    secrets.push(Zeroizing::new(fresh.secret().to_vec()));
    let public = PublicKey::new(Arc::new(params.clone()), insecure, fresh.public().clone());
    Ok(ClientKey::new(public, SecretParts { secrets, switch_seed: Some(seed.derive("lwe leveled switch")) }))
}

/// Makes the switching keys, on the current thread pool. Progress counts parts of their matrices.
pub(super) fn evaluation_parts(client: &ClientKey, control: &Control<'_>) -> Result<EvaluationParts, Error> {
    let params = client.params();
    let SecretParts { secrets, switch_seed } = client.secret_parts();
    let stored_seed;
    let seed = match switch_seed {
        Some(seed) => seed,
        None => {
            stored_seed = client.public().secret_seed("server key")?;
            &stored_seed
        }
    };
    let rows = params.switch_levels().map(|level| params.switch_rows(level, params.pairs()));
    let steps = Steps::new(control, rows.map(fresh::parts).sum());
    let switches = params.switch_levels().map(|level| {
        let (own, below) = (level.index(), level.lowered(1).index());
        let seed = seed.derive(&own.to_string());
        switch_key(params, level, [&secrets[own], &secrets[below]], &seed, &steps)
    });
    EvaluationParts::new(params, switches.collect::<Result<_, _>>()?)
}

/// SwitchKeyGen: rows `(a s_(j-1) + 2 e + g s''_p | -a)` for every pair `p` of the tensor square `s''` of `s_j` and every digit of every word, where `g` is the digit's
/// weight: `2^at M / m_i`, which is 0 modulo every word but `m_i`.
fn switch_key(
    params: &Params,
    level: Level,
    [from, to]: [&[i64]; 2],
    seed: &SecretSeed,
    steps: &Steps<'_>,
) -> Result<SwitchKey, Error> {
    let modulus = params.modulus(level);
    let (digits, square) = (params.digits().count(), tensor_square(from));
    let rows = params.switch_rows(level, square.len());
    let layout = Layout::new(rows, params.dimension() + 1, modulus)?;
    let public = seed.derive("matrix").publish();
    let matrix = SeededMatrix::new(layout, modulus, &public)?;
    let noise = Gaussian::new(params.sigma())?.draw_many(&mut seed.derive("noise").stream(0), rows);
    let mut b: Vector = fresh::masked_product(&matrix, to, &noise, steps)?;
    for (w, (b, word)) in b.words_mut().zip(modulus.words()).enumerate() {
        // The words are coprime.
        let cofactor = word.vartime_inverse(modulus.inverse(w)).unwrap_or(0);
        let weights =
            (0..digits as u32).map(|digit| word.mul(cofactor, word.reduce(1 << (digit * params.literal().digit_bits))));
        let weights: Vec<u32> = weights.collect();
        for (rows, &pair) in b.chunks_exact_mut(modulus.len() * digits).zip(square.iter()) {
            let pair = word.reduce_signed(pair);
            for (b, &weight) in rows[w * digits..][..digits].iter_mut().zip(&weights) {
                *b = word.add(*b, word.mul(pair, weight));
            }
        }
    }
    Ok(SwitchKey::new(public, b))
}
