//! Files of NTRU keys.
//!
//! Ring elements are little-endian 64-bit words in the transformed domain, tower by tower; secret coefficients are little-endian 32-bit words in two's
//! complement. Levels begin with the lowest.
//!
//! | file | sections |
//! |---|---|
//! | public key | `h` |
//! | server key | `h`, `hints`: those of each level above the first, for squares, for degree 1, and for its ring where that is reduced; `bootstrap`: the \
//! polynomials of the bootstrapping key, of parameters that have one; `rotations`, where they were asked for: of each rotation of [`Rotation::all`], of each \
//! level from the first, the rows |
//! | client key | `h`, `keys`: the coefficients of each level's key, `wide`: the coefficients of the keys that stand for one in a larger ring |
//!
//! Encryption needs `h` alone: [`KeyFiles::read_public`](crate::KeyFiles::read_public) takes it from any of the three.

use solinas_schemes::ntru::{
    BootstrapKey, Bootstrapping, ClientKey, Ntru, Params, ParamsLiteral, PublicKey, Rotation, RotationKey, ServerKey,
};
use solinas_schemes::{Error as SchemeError, Level};
use zeroize::Zeroizing;

use super::{CiphertextFiles, KeySections};
use crate::{Destination, Error, Reader, Writer, pack};

const BOOTSTRAP: &str = "bootstrap";
const ROTATIONS: &str = "rotations";

impl KeySections for Ntru {
    type Literal = ParamsLiteral;

    const IDENTITY: &'static str = "parameters, h and insecure_seed";

    fn literal(params: &Params) -> &ParamsLiteral {
        params.literal()
    }

    fn write_secret_parts(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
        // As i32: coefficients are below 2^25.
        let bytes = |coefficients: &[i64]| {
            let words = Zeroizing::new(coefficients.iter().map(|&x| x as i32 as u32).collect::<Vec<_>>());
            Zeroizing::new(pack::u32_to_le(&words))
        };
        let levels = || levels(key.params()).filter_map(|level| key.coefficients(level));
        writer.section_of_parts("keys", levels().map(|(own, _)| Ok(bytes(own))))?;
        writer.section_of_parts("wide", levels().filter_map(|(_, wide)| wide.map(bytes)).map(Ok))
    }

    fn write_public_parts(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
        writer.section_u64("h", key.h().words())
    }

    fn write_evaluation_parts(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
        writer.section_of_parts("hints", key.hints().map(|poly| Ok(pack::u64_to_le(poly.words()))))?;
        let params = key.params();
        if let Some(key) = key.bootstrap_key() {
            writer.section_of_parts(BOOTSTRAP, key.polynomials().map(|poly| Ok(pack::u64_to_le(poly.words()))))?;
        }
        if let Some(key) = key.rotation_key() {
            // The section has no labels: a reader takes its keys as those of `Rotation::all`, in that order.
            if !key.rotations().eq(Rotation::all(params)) {
                return Err(Error::Unwritable(
                    "its rotation keys are not those of `Rotation::all`, in that order".into(),
                ));
            }
            writer.section_of_parts(ROTATIONS, key.polynomials().map(|poly| Ok(pack::u64_to_le(poly.words()))))?;
        }
        Ok(())
    }

    fn check_params(reader: &Reader, literal: ParamsLiteral) -> Result<Params, Error> {
        let refused = |error: SchemeError| reader.field("params", &error.to_string());
        let ParamsLiteral { first_bits: Some(_), bits: Some(_), top_bits: Some(_), .. } = literal else {
            return Err(reader.field("params", "they leave bits of primes open"));
        };
        let params = Params::try_from(literal).map_err(refused)?;
        reader.unchanged(Params::named(params.name()).ok(), params)
    }

    fn read_public_parts(reader: &Reader, params: &Params) -> Result<PublicKey, Error> {
        let words = params.towers(params.fresh_level()) * params.dimension();
        // Before the plans are made, which take time and memory.
        let h = reader.section_u64("h", words)?;
        PublicKey::from_parts(params, reader.header().insecure_seed, &h)
            .map_err(|error| reader.section_error("h", error))
    }

    fn read_secret_parts(reader: &Reader, public: PublicKey) -> Result<ClientKey, Error> {
        let params = public.params();
        let own: Vec<usize> = levels(params).map(|level| params.dimension_at(level)).collect();
        let wide: Vec<usize> = levels(params).map(|level| wide_dimension(params, level).unwrap_or(0)).collect();
        let read = |name: &str, sizes: &[usize]| -> Result<Vec<Zeroizing<Vec<i64>>>, Error> {
            let words = Zeroizing::new(reader.section_u32(name, sizes.iter().sum())?);
            let mut rest = words.as_slice();
            let key = |&size: &usize| {
                Zeroizing::new(take(&mut rest, size).iter().map(|&x| i64::from(x as i32)).collect::<Vec<_>>())
            };
            Ok(sizes.iter().map(key).collect())
        };
        let keys = read("keys", &own)?;
        let wide = read("wide", &wide)?.into_iter().map(|key| (!key.is_empty()).then_some(key)).collect();
        ClientKey::from_parts(public, keys, wide).map_err(|error| reader.section_error("keys", error))
    }

    fn read_evaluation_parts(reader: &Reader, public: PublicKey) -> Result<ServerKey, Error> {
        let bootstrap = match public.params().bootstrapping() {
            Some(_) => Some(read_bootstrap(reader, &public)?),
            None => None,
        };
        let rotations = match holds_rotations(reader) {
            true => Some(read_rotations(reader, &public)?),
            false => None,
        };
        let sizes = hint_sizes(public.params());
        let words = reader.section_u64("hints", sizes.iter().sum())?;
        let mut rest = words.as_slice();
        let hints = sizes.iter().map(|&size| take(&mut rest, size).to_vec()).collect::<Vec<_>>();
        ServerKey::from_parts(public, &hints, bootstrap, rotations)
            .map_err(|error| reader.section_error("hints", error))
    }
}

impl CiphertextFiles for Ntru {
    fn stored_server_bytes(params: &Params) -> usize {
        stored_server_bytes(params)
    }

    fn holds_rotations(reader: &Reader) -> bool {
        holds_rotations(reader)
    }

    fn packed_bytes(params: &Params, level: Level) -> usize {
        8 * params.towers(level) * params.dimension_at(level)
    }

    fn pack(_: &Params, _: Level, part: &[u64]) -> Result<Vec<u8>, Error> {
        Ok(pack::u64_to_le(part))
    }

    fn unpack(_: &Params, _: Level, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        pack::u64_from_le(bytes)
    }
}

/// Whether a server key's file holds rotation keys.
pub fn holds_rotations(reader: &Reader) -> bool {
    reader.sections().any(|(name, _)| name == ROTATIONS)
}

fn read_rotations(reader: &Reader, public: &PublicKey) -> Result<RotationKey, Error> {
    let refused = |error: SchemeError| reader.section_error(ROTATIONS, error);
    let (all, sizes) = (Rotation::all(public.params()), RotationKey::sizes(public.params()).map_err(refused)?);
    let words = reader.section_u64(ROTATIONS, all.len() * sizes.iter().sum::<usize>())?;
    let mut rest = words.as_slice();
    let polynomials: Vec<&[u64]> = all.iter().flat_map(|_| &sizes).map(|&size| take(&mut rest, size)).collect();
    RotationKey::from_parts(public, &all, polynomials).map_err(refused)
}

fn read_bootstrap(reader: &Reader, public: &PublicKey) -> Result<BootstrapKey, Error> {
    const NAME: &str = BOOTSTRAP;
    let [lowest, top, extended] = bootstrap_sizes(public.params());
    let words = reader.section_u64(NAME, reader.section_len(NAME)? as usize / 8)?;
    let mut sizes = [lowest, top, top].into_iter().chain(std::iter::repeat(extended));
    let (mut rest, mut polynomials) = (words.as_slice(), Vec::new());
    while !rest.is_empty() {
        let (first, others) = rest.split_at(sizes.next().unwrap_or(extended).min(rest.len()));
        polynomials.push(first);
        rest = others;
    }
    BootstrapKey::from_parts(public, polynomials).map_err(|error| reader.section_error(NAME, error))
}

/// Words of a bootstrapping key's first polynomial, of the next two, and of the others.
fn bootstrap_sizes(params: &Params) -> [usize; 3] {
    let top = params.towers(params.fresh_level());
    [params.towers(Level::LOWEST), top, top + params.special_moduli().len()].map(|towers| towers * params.dimension())
}

/// The first numbers of a slice, which is at least as long.
fn take<'a, T>(rest: &mut &'a [T], size: usize) -> &'a [T] {
    let (first, others) = rest.split_at(size);
    *rest = others;
    first
}

/// All levels, from the lowest.
fn levels(params: &Params) -> impl DoubleEndedIterator<Item = Level> + use<> {
    Level::LOWEST.up_to(params.fresh_level())
}

/// The ring dimension of the level above, if it is larger than that of the level.
fn wide_dimension(params: &Params, level: Level) -> Option<usize> {
    Some(params.wide_dimension_at(level)).filter(|&wide| wide != params.dimension_at(level))
}

/// Words of each hint.
fn hint_sizes(params: &Params) -> Vec<usize> {
    let mut sizes = Vec::new();
    for (below, level) in levels(params).zip(levels(params).skip(1)) {
        let words = params.towers(level) * params.dimension_at(level);
        sizes.extend([words, words]);
        sizes.extend(wide_dimension(params, below).map(|wide| params.towers(below) * wide));
    }
    sizes
}

/// Bytes of the sections of a stored server key, without rotation keys.
pub fn stored_server_bytes(params: &Params) -> usize {
    let public = params.towers(params.fresh_level()) * params.dimension();
    let bootstrap = params.bootstrapping().map_or(0, |_| {
        // Each automorphism has a polynomial for each group of towers.
        let automorphisms = Bootstrapping::automorphisms(params.dimension());
        let groups = params.towers(params.fresh_level()).div_ceil(params.special_moduli().len());
        let [lowest, top, extended] = bootstrap_sizes(params);
        lowest + 2 * top + automorphisms * groups * extended
    });
    8 * (public + hint_sizes(params).iter().sum::<usize>() + bootstrap)
}
