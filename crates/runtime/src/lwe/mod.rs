//! LWE (Brakerski, Gentry and Vaikuntanathan): bits, whose exclusive or is a sum and `and` a product, of sets with levels; sums alone of sets without.

use crate::leveled::{Leveled, Plaintext};
use crate::{Control, Error, KeygenOptions};
use solinas_formats::{lwe as files, pack};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::bgv;
use solinas_schemes::leveled::{Params as _, StoredCiphertext};
use solinas_schemes::lwe::leveled::{Ciphertext, ClientKey, Evaluator, Params, PublicKey, ServerKey};
use solinas_schemes::lwe::{self, KeyFile};
use std::path::Path;
use std::time::Instant;
use zeroize::Zeroizing;

/// The scheme.
pub(crate) use solinas_schemes::lwe::leveled::Lwe;

/// Bytes of the matrices of switching keys up to which these are kept whole in memory: larger ones are made again from their seeds.
const WHOLE: u64 = 256 << 20;

/// Products that share a pass over the matrix, each of which takes a vector of as many numbers as that has rows.
const BATCH: usize = 16;

/// Rows of the smaller part of a matrix by which products are timed; the larger has four times as many.
const MEASURED_ROWS: usize = 1 << 16;

/// Residues of a ciphertext at a level.
fn residues(params: &Params, level: usize) -> usize {
    params.modulus(level - 1).len() * (params.dimension() + 1)
}

/// Bytes of the matrices that are in memory.
fn resident_bytes(params: &Params) -> u64 {
    Some(params.switch_bytes()).filter(|&bytes| bytes <= WHOLE).unwrap_or(0)
}

fn is_one(plaintext: &[u64]) -> bool {
    plaintext.first().is_some_and(|bit| bit & 1 == 1)
}

fn bits(plaintexts: &[Plaintext]) -> Zeroizing<Vec<bool>> {
    plaintexts.iter().map(|plaintext| is_one(plaintext)).collect::<Vec<_>>().into()
}

impl Leveled for Lwe {
    /// Of 128 bits, with a product.
    const DEFAULT: &'static str = "leveled-secure-1";
    const SEEDED: bool = false;
    const SLOTS: bool = false;
    const ENCRYPT_BATCH: usize = 64;
    const MULTIPLY_BATCH: usize = BATCH;

    type Ciphertext = Ciphertext;
    type Evaluator<'k> = Evaluator<'k>;

    fn products(params: &Params) -> String {
        match params.depth() {
            0 => "sums alone".into(),
            1 => "1 product".into(),
            depth => format!("{depth} products in a row"),
        }
    }

    fn deeper_set_hint(_: &Params, products: usize) -> String {
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

    fn of_depth(_: &Params, products: usize) -> Option<Params> {
        (products <= 2).then(|| Params::named(&format!("leveled-secure-{}", products.max(1))).ok()).flatten()
    }

    fn stored_bytes(params: &Params) -> usize {
        files::stored_server_bytes(params)
    }

    fn memory_bytes(params: &Params) -> usize {
        files::stored_server_bytes(params) + resident_bytes(params) as usize + params.product_bytes() as usize
    }

    fn names() -> Vec<&'static str> {
        Params::names().into_iter().chain(lwe::Params::names()).collect()
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
        let (research, entropy) = (options.research, options.insecure_seed.into());
        // Switching keys take most of the time, if there are any.
        let of_client = if params.depth() == 0 { *control } else { control.without_progress() };
        let client = ClientKey::generate(params, research, entropy, &of_client)?;
        let server = client.server_key(control)?;
        Ok((client, server))
    }

    fn encrypt(key: &PublicKey, plaintext: &[u64], nonce: u64) -> Result<StoredCiphertext, Error> {
        let all = key.encrypt(&[is_one(plaintext)], &mut key.encryption_rng(nonce)?)?;
        let one = all.first().ok_or(SchemeError::Dimension { what: "ciphertexts", got: 0, want: 1 })?;
        Ok(one.into())
    }

    /// With one pass over the public key's matrix.
    fn encrypt_all(key: &PublicKey, plaintexts: &[Plaintext], nonce: u64) -> Result<Vec<StoredCiphertext>, Error> {
        let all = key.encrypt(&bits(plaintexts), &mut key.encryption_rng(nonce)?)?;
        Ok(all.iter().map(StoredCiphertext::from).collect())
    }

    fn encrypt_streamed(
        key: &PublicKey,
        matrix: &Path,
        plaintexts: &[Plaintext],
        nonce: u64,
        control: &Control<'_>,
    ) -> Result<Vec<StoredCiphertext>, Error> {
        let file = KeyFile::open(matrix)?;
        let all = key.encrypt_streamed(&file, &bits(plaintexts), &mut key.encryption_rng(nonce)?, control);
        let all = all.map_err(|error| Error::from(error).in_file(matrix))?;
        Ok(all.iter().map(StoredCiphertext::from).collect())
    }

    fn matrix_bytes(key: &PublicKey) -> Result<u64, Error> {
        Ok(key.matrix_bytes()?)
    }

    fn write_matrix(key: &PublicKey, path: &Path, control: &Control<'_>) -> Result<(), Error> {
        control.check()?;
        Ok(solinas_formats::lwe::write_matrix(path, key, control)?)
    }

    fn trivial(key: &PublicKey, plaintext: &[u64]) -> Result<StoredCiphertext, Error> {
        Ok((&Ciphertext::trivial(key, is_one(plaintext))).into())
    }

    fn decrypt(key: &ClientKey, x: &StoredCiphertext) -> Result<Vec<u64>, Error> {
        let x = key.public().load(x)?;
        Ok(key.params().constant_plaintext(key.decrypt(&x)?.into()))
    }

    fn evaluator(key: &ServerKey) -> Result<Evaluator<'_>, Error> {
        Ok(Evaluator::new(key)?)
    }

    /// Of a large matrix from two parts of its rows, with which the time grows evenly.
    fn product_seconds(
        evaluator: &Evaluator<'_>,
        pairs: &[(&Ciphertext, &Ciphertext)],
        control: &Control<'_>,
    ) -> Result<f64, Error> {
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

    /// With small matrices whole in memory.
    fn prepared(key: ServerKey) -> Result<ServerKey, Error> {
        Ok(match resident_bytes(key.params()) {
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
    use crate::leveled::multiply_batch;

    #[test]
    fn sets_that_a_remedy_names_exist() {
        let params = Params::named("leveled-16-2").unwrap();
        for products in 0..200 {
            let remedy = Lwe::deeper_set_hint(&params, products);
            let words = remedy.split([' ', ',']).filter(|word| word.starts_with("leveled-"));
            for name in words {
                assert!(Params::named(name).unwrap().depth() >= products, "{remedy}");
            }
            if let Some(name) = bgv::Params::deep_enough(2, products).filter(|_| products > 2) {
                assert!(remedy.contains(&format!("scheme bgv, such as {name}")), "{remedy}");
            }
        }
        let deepest = Lwe::deeper_set_hint(&params, 98);
        assert!(
            !deepest.contains("leveled-") && Lwe::deeper_set_hint(&params, 20).contains("leveled-64-20"),
            "{deepest}"
        );
    }

    #[test]
    fn memory_decides_how_many_products_go_together() {
        for name in ["leveled-secure-1", "leveled-secure-2", "leveled-32-3"] {
            let params = Params::named(name).unwrap();
            let (least, each) = (Lwe::memory_bytes(&params) as u64, Params::product_bytes(&params));
            assert!(each > 0 && least > files::stored_server_bytes(&params) as u64);
            for (budget, want) in [(0, 1), (least, 1), (least + each, 2), (least + 5 * each - 1, 5), (1 << 50, 16)] {
                assert_eq!(multiply_batch::<Lwe>(&params, budget), want, "{name} {budget}");
            }
        }
        assert_eq!(Params::named("secure-62").unwrap().product_bytes(), 0);
        // 3.75 million rows of 8 bytes, and a quarter as many entries of a tensor.
        assert_eq!(Params::named("leveled-secure-1").unwrap().product_bytes(), 37_510_600);
    }
}
