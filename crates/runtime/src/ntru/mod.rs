//! NTRU, leveled.

use crate::control::ProgressParts;
use crate::leveled::{Leveled, Parameters, Poly, Refresh, State, constant};
use crate::{Control, Error, KeygenOptions};
use solinas_formats::ntru::ServerKeys;
use solinas_formats::{Reader, ntru as files, pack};
use solinas_schemes::ntru::{
    self, Ciphertext, ClientKey, Evaluator, Params, PublicKey, Rotation, RotationKey, Stage, noise,
};
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::slots::{SlotEncoder, log2_peak};

/// The scheme.
pub(crate) use files::Ntru;

fn evaluator(key: &ServerKeys) -> Evaluator<'_> {
    Evaluator::new(&key.hints)
}

fn rotate(key: &ServerKeys, x: &Ciphertext, rotation: Rotation) -> Result<Ciphertext, Error> {
    let missing = || Error::NoRotations { params: key.hints.params().name().into(), reason: None };
    Ok(evaluator(key).rotate(x, rotation, key.rotations.as_ref().ok_or_else(missing)?)?)
}

/// What a ciphertext of that noise becomes as its key is switched and its modulus, perhaps its ring, reduced.
fn switched(params: &Params, level: usize, noise: f64) -> Vec<State> {
    let (dimension, below) = (params.dimension_at(level), level - 1);
    let noise = noise::hint(params, noise, dimension);
    let mut states = vec![State { level, noise }];
    let primes = params.log2_modulus(level) - params.log2_modulus(below);
    let noise = noise::rescale(params, params.plaintext_modulus(), noise, primes, dimension);
    states.push(State { level: below, noise });
    if params.dimension_at(below) < dimension {
        states.push(State { level: below, noise: noise::ring_hint(params, noise, dimension) });
    }
    states
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
        self.log2_modulus(self.levels())
    }

    fn security(&self) -> SecurityClaim {
        self.security()
    }

    fn log2_failure(&self) -> f64 {
        self.log2_failure()
    }

    fn products(&self) -> String {
        match (self.bootstrapping(), self.depth()) {
            (Some(_), _) => {
                format!("any number of products, {} in a row between bootstraps", self.bootstrapped_level() - 1)
            }
            (None, 1) => "1 product".into(),
            (None, depth) => format!("{depth} products in a row"),
        }
    }

    fn deeper(&self, products: usize) -> String {
        format!(
            "make keys of a set of depth {products} or more (`solinas params find --scheme ntru --depth {products}`, for vectors with --slots \
             and --modulus), or for bits of one that bootstraps, such as boot-1024"
        )
    }

    fn effort(&self, level: usize) -> f64 {
        self.towers(level) as f64 / self.towers(self.levels()) as f64
    }

    fn room(&self, level: usize) -> f64 {
        noise::room(self, self.log2_modulus(level))
    }

    fn fresh(&self) -> f64 {
        noise::fresh(self)
    }

    fn constant(&self, value: u64) -> f64 {
        let p = self.plaintext_modulus();
        noise::trivial(self, log2_peak(p, &[value % p, 0]))
    }

    fn sum_constant(&self, x: State, value: u64) -> f64 {
        let p = self.plaintext_modulus();
        noise::sum_plain(self, x.noise, 1, log2_peak(p, &[value % p, 0]))
    }

    fn product(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        switched(self, level, noise::product(self, x, y))
    }

    fn lowered(&self, State { level, noise }: State) -> Vec<State> {
        switched(self, level, noise)
    }

    fn rotated(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        let added = noise::rotations(self)?;
        Ok(Box::new(move |State { level, noise }| noise::sum(noise, added[level - 1])))
    }

    fn refresh(&self) -> Option<Refresh> {
        let growth = self.bootstrapping_noise()?;
        let gives = State { level: self.bootstrapped_level(), noise: growth.output };
        Some(Refresh { room: growth.room, gives })
    }

    fn parts(&self, level: usize) -> usize {
        self.dimension() / self.dimension_at(level)
    }

    fn moduli(&self, level: usize) -> Vec<u64> {
        self.moduli()[..self.towers(level)].iter().map(|q| q.value()).collect()
    }

    fn ciphertext_bytes(&self) -> usize {
        8 * self.towers(self.levels()) * self.dimension()
    }

    fn stored_bytes(&self) -> usize {
        files::stored_server_bytes(self)
    }

    fn memory_bytes(&self) -> usize {
        files::stored_server_bytes(self)
    }

    fn rotation_bytes(&self) -> usize {
        // None where there are none, which making them says.
        let words: usize = RotationKey::sizes(self).unwrap_or_default().iter().sum();
        8 * words * Rotation::all(self).len()
    }
}

impl Leveled for Ntru {
    /// Of 128 bits, and of the least size.
    const DEFAULT: &'static str = "secure-8192-1";
    const SEEDED: bool = false;

    type Ciphertext = Ciphertext;

    fn names() -> Vec<&'static str> {
        Params::names()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Ok(Params::named(name)?)
    }

    fn has(name: &str) -> bool {
        !matches!(Params::named(name), Err(ntru::Error::UnknownParams { .. }))
    }

    fn generate(
        params: &Params,
        options: &KeygenOptions,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKeys), Error> {
        let bootstraps = usize::from(params.bootstrapping().is_some());
        let parts = ProgressParts::new(control, 1 + bootstraps + usize::from(options.rotations));
        let (research, entropy) = (options.research, options.insecure_seed.into());
        let (client, hints) = parts.run(0, |control| ntru::generate(params, research, entropy, control))?;
        let bootstrap = match bootstraps {
            0 => None,
            _ => Some(parts.run(1, |control| client.bootstrap_key(control))?),
        };
        let rotations = match options.rotations {
            true => {
                let all = Rotation::all(params);
                Some(parts.run(1 + bootstraps, |control| client.rotation_key(&all, research, control))?)
            }
            false => None,
        };
        Ok((client, ServerKeys { hints, bootstrap, rotations }))
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error> {
        Ok(Self::store(&key.encrypt(plaintext, &mut key.encryption_rng(nonce)?)?))
    }

    fn decrypt(key: &ClientKey, x: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(key.decrypt(x)?)
    }

    fn load(key: &PublicKey, x: &Poly) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::from_parts(key, x.level, Stage::Ready, 1, x.noise, &x.parts)?)
    }

    fn store(x: &Ciphertext) -> Poly {
        let parts = x.parts().iter().map(|part| part.words().to_vec()).collect();
        Poly { level: x.level(), noise: x.noise(), public: None, seed: None, parts }
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(key.trivial(plaintext)?)
    }

    fn negate(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).negate(x)?)
    }

    fn add_constant(key: &ServerKeys, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).add_plain(x, &constant(key.hints.params(), value))?)
    }

    fn scale(key: &ServerKeys, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(evaluator(key).multiply_plain(x, &constant(key.hints.params(), value))?)
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

    fn rotates(key: &ServerKeys) -> bool {
        key.rotations.is_some()
    }

    fn rotate(key: &ServerKeys, x: &Ciphertext, log2: u32) -> Result<Ciphertext, Error> {
        rotate(key, x, Rotation::Left(1 << log2))
    }

    fn swap_rows(key: &ServerKeys, x: &Ciphertext) -> Result<Ciphertext, Error> {
        rotate(key, x, Rotation::Swap)
    }

    fn key_bytes(key: &ServerKeys) -> usize {
        key.hints.params().memory_bytes() + key.rotations.as_ref().map_or(0, RotationKey::bytes)
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
