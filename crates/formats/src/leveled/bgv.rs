//! Files of BGV keys.
//!
//! Ring elements are in the transformed domain, tower by tower; the words of a tower take as many bits as its prime has, one behind the other
//! ([`pack_towers`]). Uniform halves of keys are stored as the seeds they come from.
//!
//! | file | sections |
//! |---|---|
//! | public key | `seed`: that of `a`, 32 bytes; `b` |
//! | server key | `seed`, `b`; `rotations`: exponents of the automorphisms that have keys, ascending, 64-bit words; `seeds`: 32 bytes of the relinearization \
//! key and of each rotation's; `keys`: their rows, the relinearization key first, modulo the primes of `Q` and then the special ones; of parameters with \
//! bootstrapping `bootstrap_seeds` and `bootstrap`: the same of the bootstrapping key, whose keys have primes and rows of their own ([`BootstrapKey::shapes`]) |
//! | client key | `seed`, `b`; `secret`: a byte for each coefficient: 0, 1, or 255 for -1 |
//!
//! Encryption needs `seed` and `b` alone: [`KeyFiles::read_public`](crate::KeyFiles::read_public) takes them from any of the three.

use solinas_schemes::bgv::{
    Bgv, BootstrapKey, ClientKey, Params, ParamsLiteral, PublicKey, Rotations, ServerKey, SwitchKey, SwitchKeyParts,
};
use solinas_schemes::{Error as SchemeError, Level};
use zeroize::Zeroizing;

use super::{CiphertextFiles, KeySections};
use crate::{Destination, Error, Reader, Writer, pack};

/// Bytes of a seed.
const SEED: usize = 32;

/// Names of the sections of seeds and of rows: of the evaluation key, and of the bootstrapping key.
const KEYS: [&str; 2] = ["seeds", "keys"];
const BOOTSTRAP: [&str; 2] = ["bootstrap_seeds", "bootstrap"];

impl KeySections for Bgv {
    type Literal = ParamsLiteral;

    const IDENTITY: &'static str = "parameters, seed, b and insecure_seed";

    fn literal(params: &Params) -> &ParamsLiteral {
        params.literal()
    }

    fn write_secret_parts(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
        let bytes = Zeroizing::new(key.secret().iter().map(|&x| x as i8 as u8).collect::<Vec<_>>());
        writer.section("secret", &bytes)
    }

    fn write_public_parts(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
        writer.section("seed", key.seed())?;
        writer.section("b", &pack_towers(key.b().words(), &public_bits(key.params()))?)
    }

    fn write_evaluation_parts(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
        let exponents: Vec<u64> = key.rotation_keys().map(|(exponent, _)| exponent as u64).collect();
        writer.section_u64("rotations", &exponents)?;
        let keys = core::iter::once(key.relinearization()).chain(key.rotation_keys().map(|(_, key)| key));
        write_keys(writer, KEYS, &keys.collect::<Vec<_>>())?;
        let bootstrap = |key: &BootstrapKey| write_keys(writer, BOOTSTRAP, &key.keys().collect::<Vec<_>>());
        key.bootstrap_key().map_or(Ok(()), bootstrap)
    }

    fn check_params(reader: &Reader, literal: ParamsLiteral) -> Result<Params, Error> {
        let refused = |error: SchemeError| reader.field("params", &error.to_string());
        let ParamsLiteral { first_bits: Some(_), bits: Some(_), top_bits: Some(_), .. } = literal else {
            return Err(reader.field("params", "they leave bits of primes open"));
        };
        if literal.bootstrapping.is_some_and(|bootstrapping| bootstrapping.bits.is_none()) {
            return Err(reader.field("params", "they leave bits of primes open"));
        }
        let params = Params::try_from(literal).map_err(refused)?;
        reader.unchanged(Params::named(params.name()).ok(), params)
    }

    fn read_public_parts(reader: &Reader, params: &Params) -> Result<PublicKey, Error> {
        // Before the plans are made, which take time and memory.
        let seed = seed(&reader.section_of_len("seed", SEED)?);
        let (n, bits) = (params.dimension(), public_bits(params));
        let words = unpack_towers(&reader.section_of_len("b", packed_bytes(n, &bits))?, n, &bits)
            .map_err(|error| reader.section_error("b", error))?;
        PublicKey::from_parts(params, reader.header().insecure_seed, seed, &words)
            .map_err(|error| reader.section_error("b", error))
    }

    fn read_secret_parts(reader: &Reader, public: PublicKey) -> Result<ClientKey, Error> {
        let bytes = reader.section_of_len("secret", public.params().dimension())?;
        let secret = Zeroizing::new(bytes.iter().map(|&x| i64::from(x as i8)).collect::<Vec<_>>());
        ClientKey::from_parts(public, secret).map_err(|error| reader.section_error("secret", error))
    }

    fn read_evaluation_parts(reader: &Reader, public: PublicKey) -> Result<ServerKey, Error> {
        let params = public.params();
        let exponents = reader.section_u64("rotations", reader.section_len("rotations")? as usize / 8)?;
        let order = 2 * params.dimension() as u64;
        let allowed = exponents.iter().all(|&exponent| exponent % 2 == 1 && (3..order).contains(&exponent));
        if !allowed || !exponents.is_sorted_by(|a, b| a < b) {
            return Err(reader.section_error("rotations", "they are no ascending exponents of automorphisms"));
        }
        let bootstrap = match params.bootstrapping() {
            Some(_) => {
                let bad = |error: SchemeError| reader.section_error(BOOTSTRAP[1], error);
                let parts = read_keys(reader, BOOTSTRAP, params, BootstrapKey::shapes(params).map_err(bad)?)?;
                Some(BootstrapKey::from_parts(&public, &parts).map_err(bad)?)
            }
            None => None,
        };
        let shapes = vec![(key_bits(params), params.switch_rows()); 1 + exponents.len()];
        let mut keys = read_keys(reader, KEYS, params, shapes)?.into_iter();
        let bad = |error: &dyn core::fmt::Display| reader.section_error(KEYS[1], error);
        let relinearization = keys.next().ok_or_else(|| bad(&"there is none"))?;
        let rotations: Vec<_> = exponents.iter().map(|&exponent| exponent as usize).zip(keys).collect();
        ServerKey::from_parts(public, &relinearization, &rotations, bootstrap).map_err(|error| bad(&error))
    }
}

impl CiphertextFiles for Bgv {
    fn stored_server_bytes(params: &Params) -> usize {
        stored_server_bytes(params, &Rotations::default_of(params))
    }

    fn packed_bytes(params: &Params, level: Level) -> usize {
        packed_bytes(params.dimension(), &tower_bits(params, level))
    }

    fn pack(params: &Params, level: Level, part: &[u64]) -> Result<Vec<u8>, Error> {
        pack_towers(part, &tower_bits(params, level))
    }

    fn unpack(params: &Params, level: Level, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        unpack_towers(bytes, params.dimension(), &tower_bits(params, level))
    }
}

/// The seeds of keys, and their rows.
fn write_keys(
    writer: &mut Writer<dyn Destination>,
    [seeds, name]: [&str; 2],
    keys: &[&SwitchKey],
) -> Result<(), Error> {
    writer.section(seeds, &keys.iter().flat_map(|key| *key.seed()).collect::<Vec<u8>>())?;
    let bodies = keys.iter().flat_map(|key| key.bodies());
    let packed = bodies.map(|row| {
        let bits: Vec<u32> = row.basis().moduli().map(|q| q.bits()).collect();
        pack_towers(row.words(), &bits)
    });
    writer.section_of_parts(name, packed)
}

/// Reads keys. A shape is the bits of a key's primes, and its number of rows.
fn read_keys(
    reader: &Reader,
    [seeds, name]: [&str; 2],
    params: &Params,
    shapes: Vec<(Vec<u32>, usize)>,
) -> Result<Vec<SwitchKeyParts>, Error> {
    let n = params.dimension();
    let seeds = reader.section_of_len(seeds, shapes.len() * SEED)?;
    let bytes = shapes.iter().map(|(bits, rows)| rows * packed_bytes(n, bits)).sum();
    let keys = reader.section_of_len(name, bytes)?;
    let mut rest = &*keys;
    let key = |((bits, rows), from): ((Vec<u32>, usize), &[u8])| {
        let mut row = || {
            let (bytes, others) = rest.split_at(packed_bytes(n, &bits));
            rest = others;
            unpack_towers(bytes, n, &bits).map_err(|error| reader.section_error(name, error))
        };
        Ok(SwitchKeyParts { seed: seed(from), rows: (0..rows).map(|_| row()).collect::<Result<_, Error>>()? })
    };
    shapes.into_iter().zip(seeds.chunks_exact(SEED)).map(key).collect()
}

fn seed(bytes: &[u8]) -> [u8; SEED] {
    let mut seed = [0; SEED];
    seed.copy_from_slice(bytes);
    seed
}

/// Bits of the primes of the rows of relinearization and rotation keys.
fn key_bits(params: &Params) -> Vec<u32> {
    params.moduli().iter().chain(params.special()).map(|q| q.bits()).collect()
}

/// Bits of the primes of the public key.
fn public_bits(params: &Params) -> Vec<u32> {
    tower_bits(params, params.highest_level())
}

/// Bits of the primes of a level, which is how its ring elements are packed.
pub fn tower_bits(params: &Params, level: Level) -> Vec<u32> {
    params.moduli().iter().take(level.number()).map(|q| q.bits()).collect()
}

/// Bytes that [`pack_towers`] makes.
pub fn packed_bytes(dimension: usize, bits: &[u32]) -> usize {
    bits.iter().map(|&bits| (dimension * bits as usize).div_ceil(8)).sum()
}

/// Packs a ring element. Its words are residues of its towers' primes, and each takes as many bits as its prime.
///
/// # Errors
/// [`Error::Packing`] for another number of words than a multiple of the primes.
pub fn pack_towers(words: &[u64], bits: &[u32]) -> Result<Vec<u8>, Error> {
    let dimension = words.len().checked_div(bits.len()).unwrap_or(0);
    if dimension == 0 || dimension * bits.len() != words.len() {
        return Err(Error::Packing(format!("{} words of {} towers", words.len(), bits.len())));
    }
    let mut bytes = Vec::with_capacity(packed_bytes(dimension, bits));
    for (tower, &bits) in words.chunks_exact(dimension).zip(bits) {
        let shifted: Vec<u64> = tower.iter().map(|&word| word << (64 - bits)).collect();
        bytes.extend(pack::pack_high_bits(&shifted, bits)?);
    }
    Ok(bytes)
}

/// Inverse of [`pack_towers`] for towers of `dimension` words. It does not check that the words are residues; the ring does.
///
/// # Errors
/// [`Error::Packing`] for another number of bytes.
pub fn unpack_towers(bytes: &[u8], dimension: usize, bits: &[u32]) -> Result<Vec<u64>, Error> {
    let want = packed_bytes(dimension, bits);
    if bytes.len() != want {
        return Err(Error::Packing(format!("{} bytes where {want} belong", bytes.len())));
    }
    let (mut rest, mut words) = (bytes, Vec::with_capacity(dimension * bits.len()));
    for &bits in bits {
        let (tower, others) = rest.split_at((dimension * bits as usize).div_ceil(8));
        rest = others;
        words.extend(pack::unpack_high_bits(tower, bits, dimension)?.iter().map(|word| word >> (64 - bits)));
    }
    Ok(words)
}

/// Bytes of the sections of a stored server key with those rotations, and a bootstrapping key where the parameters have one.
pub fn stored_server_bytes(params: &Params, rotations: &Rotations) -> usize {
    let n = params.dimension();
    let key = |(bits, rows): &(Vec<u32>, usize)| SEED + rows * packed_bytes(n, bits);
    let bootstrap = BootstrapKey::shapes(params).map_or(0, |shapes| shapes.iter().map(key).sum());
    let evaluation = (1 + rotations.len()) * key(&(key_bits(params), params.switch_rows()));
    SEED + packed_bytes(n, &public_bits(params)) + 8 * rotations.len() + evaluation + bootstrap
}
