//! Ciphertexts of NTRU and BGV: products, rotations and bootstraps are those of `solinas-schemes`.

use super::problem;
use crate::Size;
use solinas_gpu::ring::{bgv as bgv_device, ntru as ntru_device};
use solinas_gpu::{Device, Stream};
use solinas_schemes::{Control, Entropy, Error, Evaluate, bgv, ntru};
use std::sync::Arc;

/// The sets of a check, and of the benches that bootstrap.
pub(crate) fn sets(size: Size) -> (&'static str, &'static str) {
    match size {
        Size::Quick => ("boot-64", "boot-64-2"),
        Size::Full => ("boot-16384", "boot128-16384-8"),
    }
}

/// A key of NTRU, and an encrypted bit. The key comes from the seed and protects nothing.
///
/// # Errors
/// From the scheme.
pub(crate) fn ntru_key(set: &str, seed: u64) -> Result<(Arc<ntru::ServerKey>, ntru::Ciphertext), Error> {
    let params = ntru::Params::named(set)?;
    let client = ntru::ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default())?;
    let server = client.server_key(&Control::default())?;
    let x = client.public().encrypt(&bit(params.dimension()), &mut client.public().encryption_rng(seed)?)?;
    Ok((Arc::new(server), x))
}

/// As [`ntru_key`], of BGV, with the key of one automorphism.
///
/// # Errors
/// From the scheme.
pub(crate) fn bgv_key(set: &str, seed: u64) -> Result<(Arc<bgv::ServerKey>, bgv::Ciphertext), Error> {
    let params = bgv::Params::named(set)?;
    let client = bgv::ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default())?;
    let rotations = bgv::Rotations::none(&params).with_automorphism(5)?;
    let server = client.server_key_with(&rotations, &Control::default())?;
    let x = server.public().encrypt(&bit(params.dimension()), &mut server.public().encryption_rng(seed)?)?;
    Ok((Arc::new(server), x))
}

/// A plaintext that holds the bit 1.
fn bit(dimension: usize) -> Vec<u64> {
    let mut plaintext = vec![0; dimension];
    plaintext[0] = 1;
    plaintext
}

/// A product, and a bootstrap of it.
pub(super) fn check_ntru(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let scheme = |error: Error| error.to_string();
    let (key, x) = ntru_key(sets(size).0, seed).map_err(scheme)?;
    let host = ntru::Evaluator::new(&key);
    let stream = Arc::new(Stream::new(device).map_err(problem)?);
    let engine = ntru_device::Engine::new(&stream, Arc::clone(&key)).map_err(problem)?;
    let evaluator = ntru::Evaluator::on(engine);
    let want = host.multiply(&x, &x).map_err(scheme)?;
    let x = evaluator.upload(x).map_err(scheme)?;
    let value = evaluator.multiply(&x, &x).map_err(scheme)?;
    same("a product of ntru", evaluator.download(&value).map_err(scheme)? == want, seed)?;
    let value = evaluator.bootstrap(&value).map_err(scheme)?;
    let want = host.bootstrap(&want).map_err(scheme)?;
    same("a bootstrap of ntru", evaluator.download(&value).map_err(scheme)? == want, seed)
}

/// A product, an automorphism, and a bootstrap.
pub(super) fn check_bgv(device: &Device, seed: u64, size: Size) -> Result<(), String> {
    let scheme = |error: Error| error.to_string();
    let (key, x) = bgv_key(sets(size).1, seed).map_err(scheme)?;
    let host = bgv::Evaluator::new(&key);
    let stream = Arc::new(Stream::new(device).map_err(problem)?);
    let engine = bgv_device::Engine::new(&stream, Arc::clone(&key)).map_err(problem)?;
    let evaluator = bgv::Evaluator::on(engine);
    let want = host.multiply(&x, &x).map_err(scheme)?;
    let x = evaluator.upload(x).map_err(scheme)?;
    let value = evaluator.multiply(&x, &x).map_err(scheme)?;
    same("a product of bgv", evaluator.download(&value).map_err(scheme)? == want, seed)?;
    let turned = evaluator.automorphism(&value, 5).map_err(scheme)?;
    let want_turned = host.automorphism(&want, 5).map_err(scheme)?;
    same("an automorphism of bgv", evaluator.download(&turned).map_err(scheme)? == want_turned, seed)?;
    let value = evaluator.bootstrap(&value).map_err(scheme)?;
    let want = host.bootstrap(&want).map_err(scheme)?;
    same("a bootstrap of bgv", evaluator.download(&value).map_err(scheme)? == want, seed)
}

fn same(what: &str, equal: bool, seed: u64) -> Result<(), String> {
    if equal { Ok(()) } else { Err(format!("{what} differs, seed {seed}")) }
}
