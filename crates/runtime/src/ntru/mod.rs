//! NTRU, leveled.

use crate::control::ProgressParts;
use crate::leveled::Leveled;
use crate::{Control, Error, KeygenOptions};
use solinas_formats::{Reader, ntru as files, pack};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::leveled::StoredCiphertext;
use solinas_schemes::ntru::{Ciphertext, ClientKey, Evaluator, Params, PublicKey, Rotation, RotationKey, ServerKey};

/// The scheme.
pub(crate) use solinas_schemes::ntru::Ntru;

impl Leveled for Ntru {
    /// Of 128 bits, and of the least size.
    const DEFAULT: &'static str = "secure-8192-1";
    const SEEDED: bool = false;

    type Ciphertext = Ciphertext;
    type Evaluator<'k> = Evaluator<'k>;

    fn products(params: &Params) -> String {
        match (params.bootstrapping(), params.depth()) {
            (Some(_), _) => {
                format!("any number of products, {} in a row between bootstraps", params.bootstrapped_level() - 1)
            }
            (None, 1) => "1 product".into(),
            (None, depth) => format!("{depth} products in a row"),
        }
    }

    fn deeper_set_hint(_: &Params, products: usize) -> String {
        format!(
            "make keys of a set of depth {products} or more (`solinas params find --scheme ntru --depth {products}`, for vectors with --slots \
             and --modulus), or for bits of one that bootstraps, such as boot-1024"
        )
    }

    fn stored_bytes(params: &Params) -> usize {
        files::stored_server_bytes(params)
    }

    fn memory_bytes(params: &Params) -> usize {
        files::stored_server_bytes(params)
    }

    fn rotation_bytes(params: &Params) -> usize {
        // None where there are none, which making them says.
        let words: usize = RotationKey::sizes(params).unwrap_or_default().iter().sum();
        8 * words * Rotation::all(params).len()
    }

    fn names() -> Vec<&'static str> {
        Params::names()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Ok(Params::named(name)?)
    }

    fn has(name: &str) -> bool {
        !matches!(Params::named(name), Err(SchemeError::UnknownParams { .. }))
    }

    fn generate(
        params: &Params,
        options: &KeygenOptions,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKey), Error> {
        let parts = ProgressParts::new(control, 2);
        let (research, entropy) = (options.research, options.insecure_seed.into());
        let client = parts.run(0, |control| ClientKey::generate(params, research, entropy, control))?;
        let server = parts.run(1, |control| match options.rotations {
            true => client.server_key_with(&Rotation::all(params), research, control),
            false => client.server_key(control),
        })?;
        Ok((client, server))
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error> {
        Ok((&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?).into())
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<StoredCiphertext, Error> {
        Ok((&key.trivial(plaintext)?).into())
    }

    fn decrypt(key: &ClientKey, x: &StoredCiphertext) -> Result<Vec<u64>, Error> {
        Ok(key.decrypt(&key.public().load(x)?)?)
    }

    fn evaluator(key: &ServerKey) -> Result<Evaluator<'_>, Error> {
        Ok(Evaluator::new(key))
    }

    fn key_bytes(key: &ServerKey) -> usize {
        Self::memory_bytes(key.params()) + key.rotation_key().map_or(0, RotationKey::bytes)
    }

    fn holds_rotations(reader: &Reader) -> bool {
        files::holds_rotations(reader)
    }

    fn packed_bytes(params: &Params, level: usize) -> usize {
        8 * params.towers(level) * params.dimension_at(level)
    }

    fn pack(_: &Params, _: usize, part: &[u64]) -> solinas_formats::Result<Vec<u8>> {
        Ok(pack::u64_to_le(part))
    }

    fn unpack(_: &Params, _: usize, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        Ok(pack::u64_from_le(bytes)?)
    }
}
