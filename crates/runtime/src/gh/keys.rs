//! Key generation, encryption, decryption, and parameter sets as data.

use super::elements::{Bit, Elements};
use crate::{Ciphertext, Control, Error, Form, KeyId, KeygenOptions, ParamsInfo, Plain, Scheme, ciphertext};
use solinas_schemes::gh::{
    self, Arithmetic, ClientKey, EncryptMethod, Encryptor, Params, PublicKey, RecryptMethod, ServerKey, Stage,
};
use solinas_schemes::security::Status;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Parts of a key generation, for progress.
const PARTS: u64 = 1000;

/// Where a stage begins and ends in [`PARTS`], about as its time has it.
fn span(stage: Stage) -> (u64, u64) {
    match stage {
        Stage::Lattice => (0, 50),
        Stage::Root => (50, 250),
        Stage::Squash => (250, 400),
        _ => (400, PARTS),
    }
}

/// Makes a key pair, on the current thread pool.
pub(crate) fn keygen(options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, ServerKey), Error> {
    let known = || Params::names().join(", ");
    let name =
        options.params.as_deref().ok_or_else(|| Error::NoDefaultParams { scheme: Scheme::Gh, known: known() })?;
    let params = Params::named(name)?;
    if options.research {
        gh::keygen::check_memory(&params, crate::memory::budget()?)?;
    }
    // Another lattice may be drawn: the bar does not go back.
    let furthest = AtomicU64::new(0);
    let progress = |stage: Stage, done: usize, of: usize| {
        let (start, end) = span(stage);
        let at = start + (end - start) * done as u64 / of.max(1) as u64;
        control.report(furthest.fetch_max(at, Ordering::Relaxed).max(at), PARTS);
        if control.check().is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let KeygenOptions { research, insecure_seed, checkpoint, .. } = options;
    let keys = solinas_formats::gh::keygen(&params, *research, *insecure_seed, checkpoint.as_deref(), &progress)?;
    control.report(PARTS, PARTS);
    Ok(keys)
}

/// Encrypts each element, on the current thread pool, with randomness from the operating system for every key.
pub(crate) fn encrypt(public: &PublicKey, plain: Plain) -> Result<Ciphertext, Error> {
    let (params, width) = (public.params(), plain.ty.width());
    let bits: Vec<bool> = plain.values.iter().flat_map(|&value| (0..width).map(move |i| value >> i & 1 == 1)).collect();
    let mut rng = public.encryption_rng(None)?;
    let memory = crate::memory::budget()?;
    let arithmetic = Arithmetic::default();
    let bits = if EncryptMethod::TwoLevel.memory(params) <= memory {
        gh::encrypt_batch(public, &bits, &mut rng, arithmetic, &|_, _| ())?
    } else {
        let method = EncryptMethod::fitting(params, memory)?;
        Encryptor::new(public, method, memory, arithmetic)?.encrypt_batch(&bits, &mut rng)?
    };
    let bits: Vec<Arc<Bit>> = bits.iter().map(Bit::of).collect();
    let blocks = bits.chunks_exact(width).map(<[_]>::to_vec).collect();
    let elements = ciphertext::Elements::Gh(Elements { params: params.clone(), blocks });
    let (key_id, insecure) = (KeyId(public.id().0), public.is_insecure());
    Ciphertext { ty: plain.ty, shape: plain.shape, form: Form::Bits, key_id, insecure, elements }.checked()
}

/// Decrypts each element.
pub(crate) fn decrypt(key: &ClientKey, ciphertext: &Ciphertext) -> Result<Vec<u128>, Error> {
    let decryptor = key.decryptor()?;
    let element = |bits: &Vec<Arc<Bit>>| {
        bits.iter().enumerate().try_fold(0u128, |value, (i, bit)| {
            Ok(value | u128::from(decryptor.decrypt(&bit.ciphertext(key.public())?)?) << i)
        })
    };
    ciphertext.gh()?.blocks.iter().map(element).collect()
}

/// A parameter set as data.
pub(crate) fn info(params: &Params) -> ParamsInfo {
    let security = params.security();
    let why = match &security.status {
        Status::ResearchOnly { why } => Some(why.clone()),
        _ => None,
    };
    let key_bytes = 8 * params.server_key_words();
    let test_size = params.name().starts_with("ci-");
    let what = match (test_size, params.supports_circuits()) {
        (false, _) => "bits; exclusive or is a sum, and is a product, recrypted as the noise demands",
        (true, true) => "as the others, of a size for tests",
        (true, false) => "of a size for tests, and for shallow circuits alone",
    };
    ParamsInfo {
        name: params.name().into(),
        scheme: Scheme::Gh,
        family: "gates",
        description: what.into(),
        lwe_dimension: None,
        ring_dimension: params.dimension(),
        glwe_dimension: None,
        modulus_bits: Some(params.modulus_bits()),
        classical_bits: security.classical_bits,
        quantum_bits: security.quantum_bits,
        estimator: security.estimator,
        date: security.date,
        log2_failure: None,
        ciphertext_bytes: 8 * params.words(),
        server_key_bytes: key_bytes,
        memory_bytes: key_bytes + RecryptMethod::PairTable.memory(params) as usize,
        recommended: security.status == Status::Recommended,
        research_only: why,
        test_size,
    }
}
