//! Files of BGV keys.
//!
//! Ring elements are in the transformed domain, tower by tower; the words of a tower take as many bits as its prime has, one behind the other
//! ([`pack_towers`]). Uniform halves of keys are stored as the seeds they come from.
//!
//! | file | sections |
//! |---|---|
//! | public key | `seed`: that of `a`, 32 bytes; `b` |
//! | server key | `seed`, `b`; `rotations`: exponents of the automorphisms that have keys, ascending, 64-bit words; `seeds`: 32 bytes of the relinearization \
//! key and of each rotation's; `keys`: their rows, the relinearization key first, modulo the primes of `Q` and then the special ones |
//! | client key | `seed`, `b`; `secret`: a byte for each coefficient: 0, 1, or 255 for -1 |
//!
//! Encryption needs `seed` and `b` alone: [`Bgv::read_public`](KeyFiles::read_public) takes them from any of the three.

use solinas_schemes::bgv::{
    ClientKey, Error as BgvError, Params, ParamsLiteral, PublicKey, Rotations, ServerKey, SwitchKey, SwitchKeyParts,
};
use zeroize::Zeroizing;

use crate::keys::public_accessors;
use crate::{Destination, Error, KeyFiles, Reader, Writer, pack};

/// BGV, in files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bgv;

/// Bytes of a seed.
const SEED: usize = 32;

impl KeyFiles for Bgv {
    const NAME: &'static str = "bgv";

    type Params = Params;
    type PublicKey = PublicKey;
    type ClientKey = ClientKey;
    type ServerKey = ServerKey;

    public_accessors!();

    fn of_server(key: &ServerKey) -> &PublicKey {
        key.public()
    }

    fn write_client(writer: &mut Writer<dyn Destination>, key: &ClientKey) -> Result<(), Error> {
        Self::write_public(writer, key.public())?;
        let bytes = Zeroizing::new(key.secret().iter().map(|&x| x as i8 as u8).collect::<Vec<_>>());
        writer.section("secret", &bytes)
    }

    fn write_public(writer: &mut Writer<dyn Destination>, key: &PublicKey) -> Result<(), Error> {
        writer.section("seed", key.seed())?;
        writer.section("b", &pack_towers(key.b().words(), &public_bits(key.params()))?)
    }

    fn write_server(writer: &mut Writer<dyn Destination>, key: &ServerKey) -> Result<(), Error> {
        Self::write_public(writer, key.public())?;
        let exponents: Vec<u64> = key.rotation_keys().map(|(exponent, _)| exponent as u64).collect();
        writer.section_u64("rotations", &exponents)?;
        let keys = || core::iter::once(key.relinearization()).chain(key.rotation_keys().map(|(_, key)| key));
        writer.section("seeds", &keys().flat_map(|key| *key.seed()).collect::<Vec<u8>>())?;
        let bits = key_bits(key.params());
        writer.section_of_parts("keys", keys().flat_map(SwitchKey::bodies).map(|row| pack_towers(row.words(), &bits)))
    }

    fn read_params(reader: &Reader) -> Result<Params, Error> {
        reader.expect_scheme(Self::NAME)?;
        let literal: ParamsLiteral = reader.params()?;
        let refused = |error: BgvError| reader.field("params", &error.to_string());
        let ParamsLiteral { first_bits: Some(_), bits: Some(_), top_bits: Some(_), .. } = literal else {
            return Err(reader.field("params", "they leave bits of primes open"));
        };
        let params = Params::try_from(literal).map_err(refused)?;
        reader.unchanged(Params::named(params.name()).ok(), params)
    }

    fn read_public(reader: &Reader) -> Result<PublicKey, Error> {
        let params = Self::read_params(reader)?;
        // Before the plans are made, which take time and memory.
        let seed = seed(reader.section_of_len("seed", SEED)?);
        let (n, bits) = (params.dimension(), public_bits(&params));
        let words = unpack_towers(reader.section_of_len("b", packed_bytes(n, &bits))?, n, &bits)
            .map_err(|error| reader.section_error("b", error))?;
        let key = PublicKey::from_parts(&params, reader.header().insecure_seed, seed, &words)
            .map_err(|error| reader.section_error("b", error))?;
        if reader.key_id()?.0 != key.id().0 {
            return Err(reader.field("key_id", "it does not match the key's parameters, seed, b and insecure_seed"));
        }
        Ok(key)
    }

    fn read_client(reader: &Reader) -> Result<ClientKey, Error> {
        let public = Self::read_public(reader)?;
        let bytes = reader.section_of_len("secret", public.params().dimension())?;
        let secret = Zeroizing::new(bytes.iter().map(|&x| i64::from(x as i8)).collect::<Vec<_>>());
        ClientKey::from_parts(public, secret).map_err(|error| reader.section_error("secret", error))
    }

    fn read_server(reader: &Reader) -> Result<ServerKey, Error> {
        const NAME: &str = "keys";
        let public = Self::read_public(reader)?;
        let params = public.params();
        let exponents = reader.section_u64("rotations", reader.section_len("rotations")? as usize / 8)?;
        let order = 2 * params.dimension() as u64;
        let allowed = exponents.iter().all(|&exponent| exponent % 2 == 1 && (3..order).contains(&exponent));
        if !allowed || !exponents.is_sorted_by(|a, b| a < b) {
            return Err(reader.section_error("rotations", "they are no ascending exponents of automorphisms"));
        }
        let count = 1 + exponents.len();
        let seeds = reader.section_of_len("seeds", count * SEED)?;
        let (bits, n, rows) = (key_bits(params), params.dimension(), params.switch_rows());
        let row = packed_bytes(n, &bits);
        let bytes = reader.section_of_len(NAME, count * rows * row)?;
        let bad = |error: &dyn core::fmt::Display| reader.section_error(NAME, error);
        let key = |(bytes, from): (&[u8], &[u8])| -> Result<SwitchKeyParts, Error> {
            let rows = bytes.chunks_exact(row).map(|row| unpack_towers(row, n, &bits).map_err(|error| bad(&error)));
            Ok(SwitchKeyParts { seed: seed(from), rows: rows.collect::<Result<_, _>>()? })
        };
        let mut keys = bytes.chunks_exact(rows * row).zip(seeds.chunks_exact(SEED)).map(key);
        let relinearization = keys.next().ok_or_else(|| bad(&"there is none"))??;
        let rotations: Vec<_> = exponents
            .iter()
            .zip(keys)
            .map(|(&exponent, key)| key.map(|key| (exponent as usize, key)))
            .collect::<Result<_, _>>()?;
        ServerKey::from_parts(public, &relinearization, &rotations).map_err(|error| bad(&error))
    }
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
    tower_bits(params, params.levels())
}

/// Bits of the primes of a level, which is how its ring elements are packed.
pub fn tower_bits(params: &Params, level: usize) -> Vec<u32> {
    params.moduli().iter().take(level).map(|q| q.bits()).collect()
}

/// Bytes that [`pack_towers`] makes.
pub fn packed_bytes(dimension: usize, bits: &[u32]) -> usize {
    bits.iter().map(|&bits| (dimension * bits as usize).div_ceil(8)).sum()
}

/// A ring element, its words residues of its towers' primes, each in as many bits as the prime has.
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

/// Inverse of [`pack_towers`] for so many words a tower. Words may be as large as their bits allow: whether they are residues is for the ring to say.
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

/// Bytes of the sections of a stored server key with those rotations.
pub fn stored_server_bytes(params: &Params, rotations: &Rotations) -> usize {
    let n = params.dimension();
    let key = SEED + params.switch_rows() * packed_bytes(n, &key_bits(params));
    SEED + packed_bytes(n, &public_bits(params)) + 8 * rotations.len() + (1 + rotations.len()) * key
}
