//! BGV, leveled.

mod find;

pub use find::find_bgv;

use crate::leveled::Leveled;
use crate::{Control, Error, KeygenOptions};
use solinas_formats::bgv as files;
use solinas_schemes::Error as SchemeError;
use solinas_schemes::bgv::{BootstrapKey, Ciphertext, ClientKey, Evaluator, Params, PublicKey, Rotations, ServerKey};
use solinas_schemes::leveled::StoredCiphertext;

/// The scheme.
pub(crate) use solinas_schemes::bgv::Bgv;

impl Leveled for Bgv {
    /// Of 128 bits, vectors, and depth for more than a polynomial or two.
    const DEFAULT: &'static str = "slots128-16384-8";
    const SEEDED: bool = true;

    type Ciphertext = Ciphertext;
    type Evaluator<'k> = Evaluator<'k>;

    fn products(params: &Params) -> String {
        match (params.bootstrapping(), params.depth()) {
            (Some(_), depth) => format!("any number of products, {depth} in a row between bootstraps"),
            (None, 1) => "1 product".into(),
            (None, depth) => format!("{depth} products in a row"),
        }
    }

    fn deeper_set_hint(params: &Params, products: usize) -> String {
        let or =
            if params.plaintext_modulus() == 2 { ", or of one that bootstraps, such as boot128-16384-8" } else { "" };
        match Params::deep_enough(params.plaintext_modulus(), products) {
            Some(name) => format!("make keys of a deeper set, such as {name}{or} (`solinas params`)"),
            None if !or.is_empty() => {
                "make keys of a set that bootstraps, such as boot128-16384-8 (`solinas params`)".into()
            }
            None => format!(
                "decrypt on the way and encrypt anew: no secure set of these plaintexts takes {products} products in a row (`solinas params`)"
            ),
        }
    }

    fn of_depth(params: &Params, products: usize) -> Option<Params> {
        Params::named(Params::deep_enough(params.plaintext_modulus(), products)?).ok()
    }

    fn stored_bytes(params: &Params) -> usize {
        files::stored_server_bytes(params, &Rotations::default_of(params))
    }

    fn memory_bytes(params: &Params) -> usize {
        let towers = params.moduli().len() + params.special().len();
        let keys = (1 + Rotations::default_of(params).len()) * params.switch_rows() * towers;
        let bootstrap = |shapes: Vec<(Vec<u32>, usize)>| shapes.iter().map(|(bits, rows)| rows * bits.len()).sum();
        let bootstrap: usize = BootstrapKey::shapes(params).map_or(0, bootstrap);
        2 * 8 * params.dimension() * (params.moduli().len() + keys + bootstrap)
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
        let client = ClientKey::generate(params, options.research, options.insecure_seed.into(), control)?;
        let server = client.server_key(control)?;
        Ok((client, server))
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error> {
        Ok((&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?).into())
    }

    /// Of half the size.
    fn encrypt_secret(key: &ClientKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error> {
        Ok((&key.encrypt_seeded(plaintext, &mut key.public().encryption_rng(nonce)?)?).into())
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

    fn packed_bytes(params: &Params, level: usize) -> usize {
        files::packed_bytes(params.dimension(), &files::tower_bits(params, level))
    }

    fn pack(params: &Params, level: usize, part: &[u64]) -> solinas_formats::Result<Vec<u8>> {
        files::pack_towers(part, &files::tower_bits(params, level))
    }

    fn unpack(params: &Params, level: usize, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        Ok(files::unpack_towers(bytes, params.dimension(), &files::tower_bits(params, level))?)
    }
}
