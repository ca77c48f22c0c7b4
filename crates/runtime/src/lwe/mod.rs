//! LWE (Brakerski, Gentry and Vaikuntanathan): bits, whose exclusive or is a sum and `and` a product, of sets with levels; sums alone of sets without.

use crate::leveled::{Leveled, Parameters, Plaintext, Poly, State, constant};
use crate::{Control, Error, KeygenOptions};
use solinas_formats::{lwe as files, pack};
use solinas_schemes::bgv;
use solinas_schemes::lwe::leveled::{self, Ciphertext, ClientKey, Evaluator, Params, PublicKey, ServerKey, noise};
use solinas_schemes::lwe::{self, KeyFile};
use solinas_schemes::security::SecurityClaim;
use solinas_schemes::slots::SlotEncoder;
use std::path::Path;
use std::time::Instant;
use zeroize::Zeroizing;

/// The scheme.
pub(crate) use files::Lwe;

/// Bytes of the matrices of switching keys up to which these are kept whole in memory: larger ones are made again from their seeds.
const WHOLE: u64 = 256 << 20;

/// Products that share a pass over the matrix, each of which takes a vector of as many numbers as that has rows.
const TOGETHER: usize = 16;

/// Rows of the smaller part of a matrix by which products are timed; the larger has four times as many.
const MEASURED_ROWS: usize = 1 << 16;

/// The scheme counts levels from 0.
fn own(level: usize) -> usize {
    level - 1
}

/// Residues of a ciphertext at a level.
fn residues(params: &Params, level: usize) -> usize {
    params.modulus(own(level)).len() * (params.dimension() + 1)
}

/// Bytes of the matrices that are in memory.
fn whole(params: &Params) -> u64 {
    Some(params.switch_bytes()).filter(|&bytes| bytes <= WHOLE).unwrap_or(0)
}

fn evaluator(key: &ServerKey) -> Result<Evaluator<'_>, Error> {
    Ok(Evaluator::new(key)?)
}

fn is_one(plaintext: &[u64]) -> bool {
    plaintext.first().is_some_and(|bit| bit & 1 == 1)
}

fn bits(plaintexts: &[Plaintext]) -> Zeroizing<Vec<bool>> {
    plaintexts.iter().map(|plaintext| is_one(plaintext)).collect::<Vec<_>>().into()
}

fn no_slots() -> Error {
    Error::NoSlots { scheme: Lwe::SCHEME }
}

/// What a key switch leads to; a product's noise has a heavier tail, and wants twice the room.
fn switched(params: &Params, level: usize, switched: f64, more: f64) -> Vec<State> {
    let below = State { level: level - 1, noise: noise::scale(params, switched, own(level)) };
    vec![State { level, noise: switched + more }, below]
}

impl Parameters for Params {
    fn name(&self) -> &str {
        self.name()
    }

    fn dimension(&self) -> usize {
        self.dimension()
    }

    fn plaintext_modulus(&self) -> u64 {
        2
    }

    fn plaintext_len(&self) -> usize {
        1
    }

    fn slots(&self) -> Result<SlotEncoder, Error> {
        Err(no_slots())
    }

    fn depth(&self) -> usize {
        self.depth()
    }

    fn modulus_bits(&self) -> f64 {
        self.fresh().modulus().log2()
    }

    fn security(&self) -> SecurityClaim {
        self.security()
    }

    fn log2_failure(&self) -> f64 {
        self.log2_failure()
    }

    fn products(&self) -> String {
        match self.depth() {
            0 => "sums alone".into(),
            1 => "1 product".into(),
            depth => format!("{depth} products in a row"),
        }
    }

    fn deeper(&self, products: usize) -> String {
        match products {
            0..=2 => format!("make keys of leveled-secure-{}", products.max(1)),
            _ => {
                let other = match bgv::Params::deep_enough(2, products) {
                    Some(name) => format!("make keys of scheme bgv, such as {name}"),
                    None => "make keys of scheme tfhe, which has no levels".into(),
                };
                // Sets for study.
                match products {
                    ..=20 => format!("{other}, or for study alone of leveled-64-{products}"),
                    _ => other,
                }
            }
        }
    }

    fn of_depth(&self, products: usize) -> Option<Self> {
        (products <= 2).then(|| Self::named(&format!("leveled-secure-{}", products.max(1))).ok()).flatten()
    }

    fn effort(&self, level: usize) -> f64 {
        let at = |level: usize| if level == 0 { 0.0 } else { self.switch_residues(level) as f64 };
        if self.depth() == 0 { 0.0 } else { at(own(level)) / at(self.depth()) }
    }

    fn room(&self, level: usize) -> f64 {
        noise::half(self, own(level)) - noise::TAIL
    }

    fn fresh(&self) -> f64 {
        noise::fresh(self)
    }

    fn constant(&self, _: u64) -> f64 {
        0.0
    }

    fn sum_constant(&self, x: State, _: u64) -> f64 {
        noise::sum(x.noise, 0.0)
    }

    fn product(&self, level: usize, [x, y]: [f64; 2]) -> Vec<State> {
        switched(self, level, noise::switch_product(self, noise::product(x, y), own(level)), noise::TAIL)
    }

    fn lowered(&self, State { level, noise }: State) -> Vec<State> {
        switched(self, level, noise::switch_one(self, noise, own(level)), 0.0)
    }

    fn rotated(&self) -> Result<Box<dyn Fn(State) -> f64 + Sync + '_>, Error> {
        Err(no_slots())
    }

    fn parts(&self, _: usize) -> usize {
        1
    }

    fn moduli(&self, level: usize) -> Vec<u64> {
        self.modulus(own(level)).words().iter().map(|word| word.value().into()).collect()
    }

    fn ciphertext_bytes(&self) -> usize {
        4 * residues(self, self.depth() + 1)
    }

    fn stored_bytes(&self) -> usize {
        files::stored_server_bytes(self)
    }

    fn memory_bytes(&self) -> usize {
        files::stored_server_bytes(self) + whole(self) as usize + Parameters::product_bytes(self)
    }

    fn product_bytes(&self) -> usize {
        self.product_bytes() as usize
    }
}

impl Leveled for Lwe {
    /// Of 128 bits, with a product.
    const DEFAULT: &'static str = "leveled-secure-1";
    const SEEDED: bool = false;
    const SLOTS: bool = false;
    const ENCRYPTS_TOGETHER: usize = 64;
    const MULTIPLIES_TOGETHER: usize = TOGETHER;

    type Ciphertext = Ciphertext;

    fn names() -> Vec<&'static str> {
        Params::names().into_iter().chain(lwe::Params::names()).collect()
    }

    fn named(name: &str) -> Result<Params, Error> {
        Ok(Params::named(name)?)
    }

    fn has(name: &str) -> bool {
        !matches!(Params::named(name), Err(lwe::Error::UnknownParams { .. }))
    }

    fn generate(
        params: &Params,
        options: &KeygenOptions,
        control: &Control<'_>,
    ) -> Result<(ClientKey, ServerKey), Error> {
        Ok(leveled::generate(params, options.research, options.insecure_seed.into(), control)?)
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<Poly, Error> {
        let all = key.encrypt(&[is_one(plaintext)], &mut key.encryption_rng(nonce)?)?;
        let one = all.first().ok_or(lwe::Error::Dimension { what: "ciphertexts", got: 0, want: 1 })?;
        Ok(Self::store(one))
    }

    /// With one pass over the public key's matrix.
    fn encrypt_all(key: &PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<Poly>, Error> {
        let all = key.encrypt(&bits(plaintexts), &mut key.encryption_rng(nonce)?)?;
        Ok(all.iter().map(Self::store).collect())
    }

    fn encrypt_streamed(
        key: &PublicKey,
        matrix: &Path,
        plaintexts: &[Plaintext],
        nonce: u64,
        control: &Control<'_>,
    ) -> Result<Vec<Poly>, Error> {
        let file = KeyFile::open(matrix)?;
        let all = key.encrypt_streamed(&file, &bits(plaintexts), &mut key.encryption_rng(nonce)?, control);
        let all = all.map_err(|error| Error::from(error).in_file(matrix))?;
        Ok(all.iter().map(Self::store).collect())
    }

    fn matrix_bytes(key: &PublicKey) -> Result<u64, Error> {
        Ok(key.matrix_bytes()?)
    }

    fn write_matrix(key: &PublicKey, path: &Path, control: &Control<'_>) -> Result<(), Error> {
        control.check()?;
        Ok(solinas_formats::lwe::write_matrix(path, key, control)?)
    }

    fn decrypt(key: &ClientKey, x: &Ciphertext) -> Result<Vec<u64>, Error> {
        Ok(constant(key.params(), key.decrypt(x)?.into()))
    }

    fn load(key: &PublicKey, x: &Poly) -> Result<Ciphertext, Error> {
        let too_large = || lwe::Error::Material { part: "ciphertext", problem: "a word is no residue".into() };
        let words = x.parts.iter().flatten().map(|&word| u32::try_from(word).map_err(|_| too_large()));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        Ok(Ciphertext::from_parts(key.params(), key.id(), own(x.level), x.noise, &words)?)
    }

    fn store(x: &Ciphertext) -> Poly {
        let words = x.numbers().residues().into_iter().map(u64::from).collect();
        Poly { level: x.level() + 1, noise: x.noise(), public: None, seed: None, parts: vec![words] }
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Ok(Ciphertext::trivial(key, is_one(plaintext)))
    }

    /// The other sign is the same bit.
    fn negate(_: &ServerKey, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(x.clone())
    }

    fn add_constant(key: &ServerKey, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        Ok(evaluator(key)?.add_plain(x, value & 1 == 1)?)
    }

    fn scale(key: &ServerKey, x: &Ciphertext, value: u64) -> Result<Ciphertext, Error> {
        if value & 1 == 1 { Ok(x.clone()) } else { Ok(Ciphertext::trivial(key.public(), false)) }
    }

    fn add(key: &ServerKey, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key)?.add(x, y)?)
    }

    /// A difference of bits is their sum.
    fn subtract(key: &ServerKey, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Self::add(key, x, y)
    }

    fn multiply_plain(key: &ServerKey, x: &Ciphertext, plaintext: &[u64]) -> Result<Ciphertext, Error> {
        Self::scale(key, x, is_one(plaintext).into())
    }

    fn rotates(_: &ServerKey) -> bool {
        false
    }

    fn rotate(_: &ServerKey, _: &Ciphertext, _: u32) -> Result<Ciphertext, Error> {
        Err(no_slots())
    }

    fn swap_rows(_: &ServerKey, _: &Ciphertext) -> Result<Ciphertext, Error> {
        Err(no_slots())
    }

    fn multiply(key: &ServerKey, x: &Ciphertext, y: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key)?.multiply(x, y)?)
    }

    /// With one pass over the switching key's matrix for those of a level.
    fn multiply_all(
        key: &ServerKey,
        pairs: &[(&Ciphertext, &Ciphertext)],
        control: &Control<'_>,
    ) -> Result<Vec<Ciphertext>, Error> {
        let evaluator = evaluator(key)?;
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|&i| pairs[i].0.level());
        let mut results = vec![None; pairs.len()];
        for part in order.chunk_by(|&i, &k| pairs[i].0.level() == pairs[k].0.level()) {
            let together: Vec<_> = part.iter().map(|&i| pairs[i]).collect();
            let products = evaluator.multiply_all_with(&together, control)?;
            part.iter().zip(products).for_each(|(&i, product)| results[i] = Some(product));
        }
        // One for each.
        Ok(results.into_iter().flatten().collect())
    }

    /// Of a large matrix from two parts of its rows, with which the time grows evenly.
    fn product_seconds(
        key: &ServerKey,
        pairs: &[(&Ciphertext, &Ciphertext)],
        control: &Control<'_>,
    ) -> Result<f64, Error> {
        let evaluator = evaluator(key)?;
        let part = |rows: usize| {
            control.check()?;
            let start = Instant::now();
            let share = evaluator.multiply_part(pairs, rows)?;
            Ok::<_, Error>((share, start.elapsed().as_secs_f64()))
        };
        let (less, short) = part(MEASURED_ROWS)?;
        let (more, long) = part(4 * MEASURED_ROWS)?;
        // The second run of two where all rows are few.
        Ok(if more > less { (long + (long - short) / (more - less) * (1.0 - more)).max(long) } else { long })
    }

    fn lower(key: &ServerKey, x: &Ciphertext) -> Result<Ciphertext, Error> {
        Ok(evaluator(key)?.refresh(x)?)
    }

    /// No parameter set bootstraps, so that no plan asks for it.
    fn refresh(key: &ServerKey, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let (operation, depth) = ("bootstrapping", key.params().depth());
        Err(lwe::Error::OutOfLevels { operation, level: x.level(), depth }.into())
    }

    /// With small matrices whole in memory.
    fn prepared(key: ServerKey) -> Result<ServerKey, Error> {
        Ok(match whole(key.params()) {
            0 => key,
            bytes => key.expand(bytes)?,
        })
    }

    fn packed_bytes(params: &Params, level: usize) -> usize {
        4 * residues(params, level)
    }

    fn pack(_: &Params, _: usize, part: &[u64]) -> solinas_formats::Result<Vec<u8>> {
        // Residues of words of 32 bits or less.
        Ok(pack::u32_to_le(&part.iter().map(|&word| word as u32).collect::<Vec<_>>()))
    }

    fn unpack(_: &Params, _: usize, bytes: &[u8]) -> Result<Vec<u64>, Error> {
        Ok(pack::u32_from_le(bytes)?.into_iter().map(u64::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leveled::together;

    #[test]
    fn sets_that_a_remedy_names_exist() {
        let params = Params::named("leveled-16-2").unwrap();
        for products in 0..200 {
            let remedy = params.deeper(products);
            let words = remedy.split([' ', ',']).filter(|word| word.starts_with("leveled-"));
            for name in words {
                assert!(Params::named(name).unwrap().depth() >= products, "{remedy}");
            }
            if let Some(name) = bgv::Params::deep_enough(2, products).filter(|_| products > 2) {
                assert!(remedy.contains(&format!("scheme bgv, such as {name}")), "{remedy}");
            }
        }
        let deepest = params.deeper(98);
        assert!(!deepest.contains("leveled-") && params.deeper(20).contains("leveled-64-20"), "{deepest}");
    }

    #[test]
    fn memory_decides_how_many_products_go_together() {
        for name in ["leveled-secure-1", "leveled-secure-2", "leveled-32-3"] {
            let params = Params::named(name).unwrap();
            let (least, each) = (params.memory_bytes() as u64, Params::product_bytes(&params));
            assert!(each > 0 && least > files::stored_server_bytes(&params) as u64);
            for (budget, want) in [(0, 1), (least, 1), (least + each, 2), (least + 5 * each - 1, 5), (1 << 50, 16)] {
                assert_eq!(together::<Lwe>(&params, budget), want, "{name} {budget}");
            }
        }
        assert_eq!(Params::named("secure-62").unwrap().product_bytes(), 0);
        // 3.75 million rows of 8 bytes, and a quarter as many entries of a tensor.
        assert_eq!(Params::named("leveled-secure-1").unwrap().product_bytes(), 37_510_600);
    }
}
