//! BGV, leveled.

mod find;

pub use find::find_bgv;

use crate::control::ProgressParts;
use crate::leveled::{Leveled, Parameters, Poly, Refresh, State, constant};
use crate::{Control, Error, KeygenOptions};
use solinas_formats::bgv::{self as files, ServerKeys};
use solinas_schemes::bgv::{
    self, BootstrapKey, Ciphertext, ClientKey, Evaluator, Params, PublicKey, Rotations, SeededCiphertext, Stage, noise,
};
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::slots::SlotEncoder;

/// The scheme.
pub(crate) use files::Bgv;

/// The rotations that a server key has keys for: all, where there are slots.
fn rotations(params: &Params) -> Rotations {
    Rotations::all(params).unwrap_or_else(|_| Rotations::none(params))
}

fn evaluator(key: &ServerKeys) -> Evaluator<'_> {
    Evaluator::new(&key.evaluation)
}

/// A residue with its sign, nearest to 0.
fn centred(params: &Params, value: u64) -> i64 {
    let p = params.plaintext_modulus();
    let value = (value % p) as i64;
    if value as u64 > p / 2 { value - p as i64 } else { value }
}

impl Parameters for Params {
    fn name(&self) -> &str {
        self.name()
    }

    fn dimension(&self) -> usize {
        self.dimension()
    }

    fn plaintext_modulus(&self) -> u64 {
        self.plaintext_modulus()
    }

    fn slots(&self) -> Result<SlotEncoder, Error> {
        Ok(self.slots()?)
    }

    fn depth(&self) -> usize {
        self.depth()
    }

    fn modulus_bits(&self) -> f64 {
        self.log2_modulus(self.fresh_level())
    }

    fn security(&self) -> SecurityClaim {
        self.security()
    }

    fn log2_failure(&self) -> f64 {
        self.log2_failure()
    }

    fn products(&self) -> String {
        match (self.bootstrapping(), self.depth()) {
            (Some(_), depth) => format!("any number of products, {depth} in a row between bootstraps"),
            (None, 1) => "1 product".into(),
            (None, depth) => format!("{depth} products in a row"),
        }
    }

    fn deeper(&self, products: usize) -> String {
        let or =
            if self.plaintext_modulus() == 2 { ", or of one that bootstraps, such as boot128-16384-8" } else { "" };
        match Params::deep_enough(self.plaintext_modulus(), products) {
            Some(name) => format!("make keys of a deeper set, such as {name}{or} (`solinas params`)"),
            None if !or.is_empty() => {
                "make keys of a set that bootstraps, such as boot128-16384-8 (`solinas params`)".into()
            }
            None => format!(
                "decrypt on the way and encrypt anew: no secure set of these plaintexts takes {products} products in a row (`solinas params`)"
            ),
        }
    }

    fn of_depth(&self, products: usize) -> Option<Self> {
        Self::named(Self::deep_enough(self.plaintext_modulus(), products)?).ok()
    }

    fn effort(&self, level: usize) -> f64 {
        level as f64 / self.fresh_level() as f64
    }

    fn room(&self, level: usize) -> f64 {
        noise::room(self, self.log2_modulus(level))
    }

    fn fresh(&self) -> f64 {
        noise::fresh(self)
    }

    fn constant(&self, value: u64) -> f64 {
        noise::constant(self, value).max(0.0)
    }

    fn sum_constant(&self, x: State, value: u64) -> f64 {
        noise::sum_constant(self, x.level, x.noise, value)
    }

    fn product(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        let [before, after] = noise::dot(self, level, std::iter::once((x, y)));
        vec![State { level, noise: before }, State { level: level - 1, noise: after }]
    }

    fn lowered(&self, State { level, noise }: State) -> Vec<State> {
        let [before, after] = noise::lowered(self, level, noise);
        vec![State { level, noise: before }, State { level: level - 1, noise: after }]
    }

    fn rotated(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        self.slots()?;
        Ok(Box::new(|State { level, noise }| noise::rotated(self, level, noise)))
    }

    fn refresh(&self) -> Option<Refresh> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.fresh_level(), noise: growth.output };
        Some(Refresh { room: growth.room, gives })
    }

    fn parts(&self, _: usize) -> usize {
        2
    }

    fn moduli(&self, level: usize) -> Vec<u64> {
        self.moduli()[..level].iter().map(|q| q.value()).collect()
    }

    fn ciphertext_bytes(&self) -> usize {
        2 * files::packed_bytes(self.dimension(), &files::tower_bits(self, self.fresh_level()))
    }

    fn stored_bytes(&self) -> usize {
        files::stored_server_bytes(self, &rotations(self))
    }

    fn memory_bytes(&self) -> usize {
        let towers = self.moduli().len() + self.special().len();
        let keys = (1 + rotations(self).len()) * self.switch_rows() * towers;
        let bootstrap = |shapes: Vec<(Vec<u32>, usize)>| shapes.iter().map(|(bits, rows)| rows * bits.len()).sum();
        let bootstrap: usize = BootstrapKey::shapes(self).map_or(0, bootstrap);
        2 * 8 * self.dimension() * (self.moduli().len() + keys + bootstrap)
    }
}

impl Leveled for Bgv {
    /// Of 128 bits, vectors, and depth for more than a polynomial or two.
    const DEFAULT: &'static str = "slots128-16384-8";
    const SEEDED: bool = true;

    type Ciphertext = Ciphertext;

    fn names() -> Vec<&'static str> {
        Params::names()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Ok(Params::named(name)?)
    }

    fn has(name: &str) -> bool {
        !matches!(Params::named(name), Err(bgv::Error::UnknownParams { .. }))
    }

    fn generate(
        params: &Params,
        options: &KeygenOptions,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKeys), Error> {
        let client = ClientKey::generate(params, options.research, options.insecure_seed.into())?;
        let bootstraps = usize::from(params.bootstrapping().is_some());
        let parts = ProgressParts::new(control, 1 + bootstraps);
        let evaluation = parts.run(0, |control| client.server_key(&rotations(params), control))?;
        let bootstrap = match bootstraps {
            0 => None,
            _ => Some(parts.run(1, |control| client.bootstrap_key(control))?),
        };
        Ok((client, ServerKeys { evaluation, bootstrap }))
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error> {
        Ok(Self::store(&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?))
    }

    /// Of half the size.
    fn encrypt_secret(key: &ClientKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error> {
        let x = key.encrypt_seeded(plaintext, &mut key.public().encryption_rng(nonce)?)?;
        let parts = vec![x.body().words().to_vec()];
        Ok(Poly { level: x.level(), noise: x.noise().max(0.0), public: None, seed: Some(*x.seed()), parts })
    }

    fn decrypt(key: &ClientKey, x: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(key.decrypt(x)?)
    }

    fn load(key: &PublicKey, x: &Poly) -> Result<Ciphertext, Error> {
        Ok(match (x.seed, x.parts.as_slice()) {
            (Some(seed), [body]) => key.expand(&SeededCiphertext::from_parts(key, x.level, x.noise, seed, body)?)?,
            _ => Ciphertext::from_parts(key, x.level, Stage::Ready, x.noise, &x.parts)?,
        })
    }

    fn store(x: &Ciphertext) -> Poly {
        let parts = x.parts().iter().map(|part| part.words().to_vec()).collect();
        // That of a number anyone can read is below what files tell.
        Poly { level: x.level(), noise: x.noise().max(0.0), public: None, seed: None, parts }
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(key.trivial(plaintext)?)
    }

    fn negate(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).negate(x)?)
    }

    fn add_constant(key: &ServerKeys, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).add_plain(x, &constant(key.evaluation.params(), value))?)
    }

    fn scale(key: &ServerKeys, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).multiply_integer(x, centred(key.evaluation.params(), value))?)
    }

    fn add(key: &ServerKeys, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).add(x, y)?)
    }

    fn subtract(key: &ServerKeys, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).sub(x, y)?)
    }

    fn multiply_plain(key: &ServerKeys, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).multiply_plain(x, plaintext)?)
    }

    /// Where there are slots; a key that was made otherwise may have fewer.
    fn rotates(key: &ServerKeys) -> bool {
        let all = rotations(key.evaluation.params());
        !all.is_empty() && all == key.evaluation.rotations()
    }

    fn rotate(key: &ServerKeys, x: &Ciphertext, log2: u32) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).rotate(x, 1 << log2)?)
    }

    fn swap_rows(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).swap_rows(x)?)
    }

    fn multiply(key: &ServerKeys, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).composed_multiply(x, y)?)
    }

    fn lower(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).lower(x)?)
    }

    fn refresh(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let evaluator = match &key.bootstrap {
            Some(bootstrap) => evaluator(key).with_bootstrapping(bootstrap)?,
            None => evaluator(key),
        };
        Ok(evaluator.bootstrap(x)?)
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
