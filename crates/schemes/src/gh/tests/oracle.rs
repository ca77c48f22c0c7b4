//! Bitwise agreement with the definitions, evaluated in Python: `tools/gh/oracle.py` wrote `oracle.txt`.

use solinas_bigint::Natural;
use solinas_field::limbs;
use zeroize::Zeroizing;

use super::super::encrypt::{Bulk, Noise};
use super::super::keygen::{Root, Secret, indicator_bits, squash};
use super::super::lattice::Splitting;
use super::super::modulus::Arithmetic;
use super::super::{ClientKey, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod, ServerKey};

/// The lines of the file in order.
struct Transcript<'a> {
    lines: core::iter::Peekable<core::str::Lines<'a>>,
}

impl<'a> Transcript<'a> {
    /// Returns the values of the next line, which must have this name.
    fn values(&mut self, name: &str) -> Vec<&'a str> {
        let mut words = self.lines.next().unwrap().split(' ');
        assert_eq!(words.next().unwrap(), name);
        words.filter(|word| !word.is_empty()).collect()
    }

    fn residues(&mut self, name: &str, words: usize) -> Vec<Vec<u64>> {
        let residue = |text: &str| {
            let mut residue = Natural::from_hex(text).unwrap().into_words();
            residue.resize(words, 0);
            residue
        };
        self.values(name).into_iter().map(residue).collect()
    }

    fn number(&mut self, name: &str) -> Natural {
        Natural::from_hex(self.values(name)[0]).unwrap()
    }
}

fn noise(exponents: &[&str]) -> Noise {
    let term = |text: &&str| {
        let exponent: i64 = text.parse().unwrap();
        (exponent.unsigned_abs() as u32 - 1, exponent < 0)
    };
    Noise { terms: exponents.iter().map(term).collect() }
}

/// Two's complement.
fn secret(params: &Params, coefficients: &[&str]) -> Secret {
    let slot = params.coefficient_bits() / 64 + 1;
    let mut v = Secret { slot, words: Zeroizing::new(vec![]) };
    for text in coefficients {
        let (magnitude, negative) = text.strip_prefix('-').map_or((*text, false), |rest| (rest, true));
        let mut words = Natural::from_hex(magnitude).unwrap().into_words();
        words.resize(slot, 0);
        if negative {
            limbs::neg(&mut words);
        }
        v.words.extend(words);
    }
    v
}

#[test]
fn keys_ciphertexts_and_every_step_of_recrypt_are_those_of_the_oracle() {
    let mut transcript = Transcript { lines: include_str!("oracle.txt").lines().peekable() };
    let mut cases = 0;
    while transcript.lines.peek().is_some() {
        let params = Params::named(transcript.values("params")[0]).unwrap();
        let v = secret(&params, &transcript.values("v"));
        let mut splitting = Splitting::new(&v.words, v.slot);
        while splitting.dimension() > 1 {
            splitting.step(|| Ok::<_, ()>(())).unwrap();
        }
        let root = Root::from_resultant(&params, true, &splitting.resultant()).unwrap().unwrap();
        let public = root.public;
        assert_eq!(*public.d(), transcript.number("d"));
        let words = public.words();
        assert_eq!(*public.r(), transcript.number("r"));
        let w = Natural::from_words(root.w.to_vec());
        assert_eq!(w, transcript.number("w"));

        let x = transcript.residues("x", words).concat();
        let indices: Vec<usize> = transcript.values("indices").iter().map(|i| i.parse().unwrap()).collect();
        let last = transcript.residues("last", words);
        let count = params.blocks() * params.indicators();
        let (mut noises, mut indicators) = (vec![], vec![]);
        for _ in 0..count {
            noises.push(noise(&transcript.values("noise")));
            if transcript.lines.peek().is_some_and(|line| line.starts_with("indicator")) {
                indicators.extend(transcript.residues("indicator", words).remove(0));
            }
        }
        let x = squash(&params, &root.modulus, &root.w, &indices, x).unwrap();
        let bulk = Bulk::new(&public, count, Arithmetic::default()).unwrap();
        let bits = indicator_bits(&params, &indices, 0..count);
        let encrypted = bulk.encrypt(&public, &bits, &noises, |_, _| Ok(())).unwrap();
        let encrypted: Vec<u64> = encrypted.into_iter().flat_map(|ciphertext| ciphertext.words).collect();
        let server = ServerKey::from_parts(public.clone(), x, encrypted).unwrap();
        let client = ClientKey::from_parts(public, w).unwrap();
        assert_eq!(server.x_of(params.blocks() - 1), last[0]);
        assert!(indicators.is_empty() || server.indicators() == indicators);

        let memory = 1 << 30;
        let method = EncryptMethod::FullFft;
        let encryptor = Encryptor::new(server.public(), method, memory, Arithmetic::default()).unwrap();
        let evaluators =
            RecryptMethod::ALL.map(|method| Evaluator::new(&server, method, memory, Arithmetic::default()).unwrap());
        while transcript.lines.peek().is_some_and(|line| line.starts_with("encrypt")) {
            let line = transcript.values("encrypt");
            let bit = line[0] == "1";
            let ciphertext = encryptor.encrypt_with(bit, &noise(&line[1..])).unwrap();
            assert_eq!(ciphertext.words(), transcript.residues("ciphertext", words)[0]);
            assert_eq!(client.decryptor().unwrap().decrypt(&ciphertext).unwrap(), bit);
            let (mut candidates, mut columns) = (vec![], vec![vec![]; params.precision() + 1]);
            for _ in 0..params.blocks() {
                let block = transcript.values("candidates");
                candidates.push(block.iter().map(|z| z.parse::<u8>().unwrap()).collect::<Vec<_>>());
                for (column, value) in columns.iter_mut().zip(transcript.residues("columns", words)) {
                    column.push(value);
                }
            }
            let recrypted = transcript.residues("recrypted", words).remove(0);
            for evaluator in &evaluators {
                assert_eq!(evaluator.candidates(ciphertext.words()).unwrap(), candidates);
                assert_eq!(evaluator.columns(&candidates).unwrap(), columns);
                assert_eq!(evaluator.sum_columns(columns.clone()).unwrap(), recrypted);
                assert_eq!(evaluator.recrypt(&ciphertext).unwrap().words(), recrypted);
            }
            cases += 1;
        }
    }
    assert_eq!(cases, 4);
}
