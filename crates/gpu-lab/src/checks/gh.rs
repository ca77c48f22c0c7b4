//! The scheme of Gentry and Halevi: products and Recrypts are those of `solinas-schemes`.

use super::problem;
use crate::Size;
use solinas_gpu::Device;
use solinas_gpu::gh::Engine;
use solinas_schemes::gh::{
    Accelerator, Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod,
    ServerKey, noise,
};
use solinas_schemes::{Control, Entropy, Error};
use std::sync::Arc;

/// Bytes that tables on the host may take.
const HOST: u64 = 16 << 30;

/// A key of a set, and encryptions of both bits. The key comes from the seed and protects nothing.
///
/// # Errors
/// From the scheme.
pub(crate) fn key(set: &str, seed: u64) -> Result<(Arc<ServerKey>, Vec<Ciphertext>), Error> {
    let params = Params::named(set)?;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default())?;
    let server = Arc::new(client.server_key(&Control::default())?);
    let encryptor = Encryptor::new(server.public(), EncryptMethod::PartialFft, HOST, Arithmetic::default())?;
    let mut rng = server.public().encryption_rng(seed)?;
    let bits = [false, true].into_iter().map(|bit| encryptor.encrypt(bit, &mut rng)).collect::<Result<_, _>>()?;
    drop(encryptor);
    Ok((server, bits))
}

/// Fresh bits, their product, and the constant 0, whose candidates the processor computes.
pub(super) fn check(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let set = if size == Size::Quick { "ci-3" } else { "small" };
    let scheme = |error: Error| error.to_string();
    let (server, mut bits) = key(set, seed).map_err(scheme)?;
    let method = RecryptMethod::PartialFft;
    let host = Evaluator::shared(Arc::clone(&server), method, HOST, Arithmetic::default()).map_err(scheme)?;
    bits.push(Ciphertext::trivial(server.public(), false));
    for method in [RecryptMethod::FullFft, RecryptMethod::PairTable] {
        let engine = Engine::new(device, Arc::clone(&server), method).map_err(problem)?;
        let product = engine.multiply(bits[0].words(), bits[1].words()).map_err(scheme)?;
        if product != host.multiply(&bits[0], &bits[1]).map_err(scheme)?.words() {
            return Err(format!("a product of {set} differs, seed {seed}"));
        }
        for (i, bit) in bits.iter().enumerate() {
            let noisy = Ciphertext::from_parts(server.public(), bit.words().to_vec(), noise::fresh(server.params()));
            let want = noisy.and_then(|noisy| host.recrypt(&noisy)).map_err(scheme)?;
            if engine.recrypt(bit.words()).map_err(scheme)? != want.words() {
                return Err(format!("Recrypt {i} of {set} by {} differs, seed {seed}", method.name()));
            }
        }
    }
    Ok(())
}
