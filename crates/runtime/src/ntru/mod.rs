//! NTRU, leveled.

use crate::control::Phases;
use crate::leveled::{Leveled, Parameters, Poly, Refresh, State, constant, log2_centred};
use crate::{Control, Error, KeyId, KeygenOptions, Scheme};
use solinas_formats::{Destination, Header, Kind, Reader, Writer, ntru as files, pack};
use solinas_schemes::ntru::{
    self, BootstrapKey, Ciphertext, ClientKey, Evaluator, Params, PublicKey, Rotation, RotationKey, ServerKey, Stage,
    noise,
};
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::slots::SlotEncoder;

/// The scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ntru;

/// A server key.
#[derive(Debug)]
pub(crate) struct Server {
    hints: ServerKey,
    /// Of parameters that have one.
    bootstrap: Option<BootstrapKey>,
    /// Where they were asked for: those of [`Rotation::all`].
    rotations: Option<RotationKey>,
}

impl Server {
    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.hints)
    }

    fn rotate(&self, x: &Ciphertext, rotation: Rotation) -> Result<Ciphertext, Error> {
        let missing = || Error::NoRotations { params: self.hints.params().name().into(), reason: None };
        Ok(self.evaluator().rotate(x, rotation, self.rotations.as_ref().ok_or_else(missing)?)?)
    }
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
        noise::trivial(self, log2_centred(value, self.plaintext_modulus()))
    }

    fn sum_constant(&self, x: State, value: u64) -> f64 {
        noise::sum_plain(self, x.noise, 1, log2_centred(value, self.plaintext_modulus()))
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
    const SCHEME: Scheme = Scheme::Ntru;
    const NAME: &'static str = files::SCHEME;
    /// Of 128 bits, and of the least size.
    const DEFAULT: &'static str = "secure-8192-1";
    const BOOTSTRAPS: bool = true;
    const SEEDED: bool = false;

    type Params = Params;
    type PublicKey = PublicKey;
    type ClientKey = ClientKey;
    type ServerKey = Server;
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

    fn generate(params: &Params, options: &KeygenOptions, control: &Control<'_>) -> Result<(ClientKey, Server), Error> {
        let bootstraps = usize::from(params.bootstrapping().is_some());
        let phases = Phases::new(control, 1 + bootstraps + usize::from(options.rotations));
        let watch = |phase| {
            let phases = &phases;
            move |done, of| phases.step(phase, done, of)
        };
        let (client, hints) = ntru::generate_watched(params, options.research, options.insecure_seed, &watch(0))?;
        let bootstrap = match bootstraps {
            0 => None,
            _ => Some(client.bootstrap_key(&watch(1))?),
        };
        let rotations = match options.rotations {
            true => Some(client.rotation_key(&Rotation::all(params), options.research, &watch(1 + bootstraps))?),
            false => None,
        };
        Ok((client, Server { hints, bootstrap, rotations }))
    }

    fn params(key: &PublicKey) -> &Params {
        key.params()
    }

    fn id(key: &PublicKey) -> KeyId {
        KeyId(key.id().0)
    }

    fn is_insecure(key: &PublicKey) -> bool {
        key.is_insecure()
    }

    fn of_client(key: &ClientKey) -> &PublicKey {
        key.public()
    }

    fn of_server(key: &Server) -> &PublicKey {
        key.hints.public()
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
        Poly { level: x.level(), noise: x.noise(), seed: None, parts }
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(key.trivial(plaintext)?)
    }

    fn negate(key: &Server, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().negate(x)?)
    }

    fn add_constant(key: &Server, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().add_plain(x, &constant(key.hints.params(), value))?)
    }

    fn scale(key: &Server, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().multiply_plain(x, &constant(key.hints.params(), value))?)
    }

    fn add(key: &Server, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().add(x, y)?)
    }

    fn subtract(key: &Server, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().sub(x, y)?)
    }

    fn multiply_plain(key: &Server, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().multiply_plain(x, plaintext)?)
    }

    fn rotates(key: &Server) -> bool {
        key.rotations.is_some()
    }

    fn rotate(key: &Server, x: &Ciphertext, log2: u32) -> Result<Ciphertext, Error> {
        key.rotate(x, Rotation::Left(1 << log2))
    }

    fn swap_rows(key: &Server, x: &Ciphertext) -> Result<Ciphertext, Error> {
        key.rotate(x, Rotation::Swap)
    }

    fn key_bytes(key: &Server) -> usize {
        key.hints.params().memory_bytes() + key.rotations.as_ref().map_or(0, RotationKey::bytes)
    }

    fn multiply(key: &Server, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().composed_multiply(x, y)?)
    }

    fn lower(key: &Server, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(key.evaluator().lower(x)?)
    }

    fn refresh(key: &Server, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let evaluator = match &key.bootstrap {
            Some(bootstrap) => key.evaluator().with_bootstrapping(bootstrap)?,
            None => key.evaluator(),
        };
        Ok(evaluator.bootstrap(x)?)
    }

    fn header(kind: Kind, params: &Params, id: KeyId, insecure: bool) -> Result<Header, Error> {
        Ok(files::header(kind, params, id, insecure)?)
    }

    fn read_params(reader: &Reader) -> Result<Params, Error> {
        Ok(files::params(reader)?)
    }

    fn read_public(reader: &Reader) -> Result<PublicKey, Error> {
        Ok(files::read_public(reader)?)
    }

    fn holds_rotations(reader: &Reader) -> bool {
        files::holds_rotations(reader)
    }

    fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
        Ok(files::read_client(reader)?)
    }

    fn read_server(reader: &Reader) -> Result<Server, Error> {
        let (hints, bootstrap, rotations) = files::read_server(reader)?;
        Ok(Server { hints, bootstrap, rotations })
    }

    fn write_client(key: &ClientKey, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_client(writer, key)?)
    }

    fn write_server(key: &Server, writer: &mut Writer<dyn Destination>) -> Result<(), Error> {
        Ok(files::write_server(writer, &key.hints, key.bootstrap.as_ref(), key.rotations.as_ref())?)
    }

    fn packed_bytes(params: &Params, level: usize) -> usize {
        8 * params.towers(level) * params.dimension_at(level)
    }

    fn pack(_: &Params, _: usize, part: &[u64]) -> Result<Vec<u8>, Error> {
        Ok(pack::u64_to_le(part))
    }

    fn unpack(_: &Params, _: usize, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        Ok(pack::u64_from_le(bytes)?)
    }
}
