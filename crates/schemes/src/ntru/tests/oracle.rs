//! Agreement, word by word, with the definitions evaluated in Python: `tools/ntru/oracle.py` wrote `oracle.txt`, `tools/ntru/bootstrap_oracle.py`
//! `bootstrap.txt`.

use core::str::FromStr;

use crate::{Evaluate, Level, Noise};
use sha2::Digest;
use solinas_field::Backend;
use solinas_ring::{Eval, RnsPoly};
use zeroize::Zeroizing;

use super::super::bootstrap;
use super::super::context::Context;
use super::super::keygen::{Choices, Short};
use super::super::keys::EvaluationParts;
use super::super::*;
use super::assembled;

/// Lines in order.
struct Transcript<'a> {
    lines: core::iter::Peekable<core::str::Lines<'a>>,
}

impl Transcript<'_> {
    /// The values of the next line, which has that name.
    fn values<T: FromStr>(&mut self, name: &str) -> Vec<T> {
        let mut words = self.lines.next().unwrap().split(' ');
        assert_eq!(words.next().unwrap(), name);
        words.map(|word| word.parse().ok().unwrap()).collect()
    }

    fn short(&mut self, name: &str) -> Short {
        Zeroizing::new(self.values(name))
    }

    /// Checks that the next lines have this name and hold these polynomials.
    fn compare<'p>(&mut self, name: &str, polys: impl IntoIterator<Item = &'p RnsPoly<Eval>>) {
        for poly in polys {
            let line = self.lines.next().unwrap();
            let values = line.strip_prefix(name).unwrap().split_whitespace();
            let values: Vec<u128> = values.map(|value| u128::from_str_radix(value, 16).unwrap()).collect();
            assert_eq!(values.len(), poly.basis().dimension());
            let poly = poly.clone().into_coeff();
            for (i, q) in poly.basis().moduli().enumerate() {
                let want: Vec<u64> = values.iter().map(|value| (value % u128::from(q.value())) as u64).collect();
                assert_eq!(poly.tower(i), want, "{name}");
            }
        }
    }

    /// Checks that the next lines have this name and hold the digests of these polynomials.
    fn compare_digests<'p>(&mut self, name: &str, polys: impl IntoIterator<Item = &'p RnsPoly<Eval>>) {
        for poly in polys {
            assert_eq!(self.lines.next().unwrap(), format!("{name} {}", digest(poly)));
        }
    }

    fn is_next(&mut self, name: &str) -> bool {
        self.lines.peek().is_some_and(|line| line.starts_with(name))
    }
}

#[test]
fn keys_ciphertexts_and_every_step_are_those_of_the_oracle() {
    for backend in solinas_testing::back_ends(Backend::available()) {
        let mut transcript = Transcript { lines: include_str!("oracle.txt").lines().peekable() };
        let mut cases = 0;
        while transcript.lines.peek().is_some() {
            case(&mut transcript, backend);
            cases += 1;
        }
        assert_eq!(cases, 3);
    }
}

fn case(transcript: &mut Transcript<'_>, backend: Backend) {
    let line = transcript.lines.next().unwrap();
    let numbers: Vec<usize> = line.split(' ').skip(2).map(|number| number.parse().unwrap()).collect();
    let (n, p, levels) = (numbers[0], numbers[1] as u64, numbers[2]);
    let dimensions: Vec<usize> = transcript.values("dimensions");
    let params = Params::try_from(ParamsLiteral {
        name: line.into(),
        dimension: n,
        plaintext_modulus: p,
        depth: levels - 1,
        primes_per_level: 1,
        first_bits: Some(40),
        bits: Some(40),
        top_bits: Some(40),
        keys: KeyDistribution::Gaussian,
        // Halves the ring at each of the last levels of 80 and 40 bits.
        floor: (dimensions[0] < n).then_some(1.6),
        terms: 1,
        failure_bits: 40,
        bootstrapping: None,
    })
    .unwrap();
    assert_eq!(params.levels(), levels);
    let all = Level::LOWEST.up_to(params.fresh_level());
    assert_eq!(all.map(|level| params.dimension_at(level)).collect::<Vec<_>>(), dimensions);
    let primes: Vec<u64> = transcript.values("primes");
    assert_eq!(params.moduli().iter().map(|q| q.value()).collect::<Vec<_>>(), primes);

    let mut choices = Choices { keys: vec![], wide: vec![], g: Zeroizing::new(vec![]) };
    let mut masks = Vec::new();
    for _ in 0..levels {
        choices.keys.push(transcript.short("key"));
        let wide = transcript.is_next("wide");
        choices.wide.push(wide.then(|| transcript.short("wide")));
    }
    choices.g = transcript.short("g");
    // Masks stand between the hints: read here, compare later.
    let mut later = Transcript { lines: transcript.lines.clone() };
    assert!(later.is_next("h "));
    for _ in 2..=levels {
        masks.push([(); 3].map(|()| {
            while !transcript.is_next("mask") {
                transcript.lines.next();
            }
            transcript.short("mask")
        }));
    }
    let (client, server) = assembled(Context::with_backend(&params, backend).unwrap(), choices, masks);
    later.compare("h", [server.public().h()]);
    for hint in server.hints() {
        while later.is_next("mask") {
            later.lines.next();
        }
        let name = ["square", "linear", "ring"].into_iter().find(|name| later.is_next(name)).unwrap();
        later.compare(name, [hint]);
    }
    while later.is_next("mask") {
        later.lines.next();
    }
    *transcript = later;

    let evaluator = Evaluator::new(&server);
    let mut encrypt = || {
        let message: Vec<u64> = transcript.values("message");
        let (r, mask) = (transcript.short("r"), transcript.short("m"));
        let ciphertext = server.public().encrypt_with(&message, &r, &mask).unwrap();
        transcript.compare("ciphertext", &ciphertext.parts);
        assert_eq!(client.decrypt(&ciphertext).unwrap(), message);
        ciphertext
    };
    let (mut x, mut y) = (encrypt(), encrypt());
    // Every step of a key switch into the next level.
    let down = |transcript: &mut Transcript<'_>, x: &Ciphertext| {
        let switched = evaluator.key_switch(x).unwrap();
        transcript.compare("switched", &switched.parts);
        let reduced = evaluator.modulus_switch(&switched).unwrap();
        transcript.compare("reduced", &reduced.parts);
        if reduced.stage() == Stage::Ready {
            return reduced;
        }
        let small = evaluator.ring_reduce(&reduced).unwrap();
        transcript.compare("small", &small.parts);
        small
    };
    let lowered = down(transcript, &x);
    assert!(evaluator.drop_level(&x).unwrap() == lowered);
    while x.level() > Level::LOWEST {
        let product = evaluator.multiply_without_switch(&x, &y).unwrap();
        transcript.compare("product", &product.parts);
        let reduced = down(transcript, &product);
        assert!(evaluator.multiply(&x, &y).unwrap() == reduced);
        assert_eq!(client.decrypt(&reduced).unwrap(), transcript.values::<u64>("message"));
        (x, y) = (reduced.clone(), reduced);
    }
}

/// SHA-256 of a polynomial's coefficients, tower by tower.
fn digest(poly: &RnsPoly<Eval>) -> String {
    let mut hasher = sha2::Sha256::new();
    poly.clone().into_coeff().words().iter().for_each(|word| hasher.update(word.to_le_bytes()));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn bootstrapping_is_that_of_the_oracle_at_every_step() {
    solinas_testing::back_ends(Backend::available()).into_iter().for_each(bootstrapping_is_that_of_the_oracle);
}

fn bootstrapping_is_that_of_the_oracle(backend: Backend) {
    let mut transcript = Transcript { lines: include_str!("bootstrap.txt").lines().peekable() };
    let (levels, bits) = (7, Some(40));
    let params = Params::try_from(ParamsLiteral {
        name: "oracle".into(),
        dimension: 64,
        plaintext_modulus: 2,
        depth: levels - 1,
        primes_per_level: 1,
        first_bits: bits,
        bits,
        top_bits: bits,
        keys: KeyDistribution::Ternary,
        floor: None,
        terms: 2,
        failure_bits: 40,
        bootstrapping: Some(Bootstrapping { precision: 5, weight: 16 }),
    })
    .unwrap();
    for (name, moduli) in [("primes", params.moduli()), ("special", params.special_moduli())] {
        assert_eq!(transcript.values::<u64>(name), moduli.iter().map(|q| q.value()).collect::<Vec<_>>());
    }
    let keys = (0..levels).map(|_| transcript.short("key")).collect();
    let choices = Choices { keys, wide: vec![None; levels], g: transcript.short("g") };
    let mut masks = Vec::new();
    let mut digests = Vec::new();
    for _ in 2..=levels {
        let mut mask = || {
            let mask = transcript.short("mask");
            digests.push(transcript.lines.next().unwrap());
            mask
        };
        masks.push([mask(), mask(), Zeroizing::new(vec![0; 64])]);
    }
    let (client, server) = assembled(Context::with_backend(&params, backend).unwrap(), choices, masks);
    assert!(digests.iter().zip(server.hints()).all(|(line, hint)| line.ends_with(&digest(hint))));

    let mut choices = bootstrap::Choices { sparse: transcript.short("sparse"), masks: vec![] };
    let mut digests = Vec::new();
    while transcript.is_next("mask") {
        choices.masks.push(transcript.short("mask"));
        digests.push(transcript.lines.next().unwrap());
    }
    let key = client.bootstrap_key_from(&choices).unwrap();
    assert_eq!(key.polynomials().count(), digests.len());
    assert!(digests.iter().zip(key.polynomials()).all(|(line, poly)| line.ends_with(&digest(poly))));

    let hints = server.parts().hints.clone();
    let parts = EvaluationParts { hints, bootstrap: Some(key.clone()), rotations: None };
    let server = ServerKey::new(client.public().clone(), parts);
    let evaluator = Evaluator::new(&server);
    let mut bits = 0;
    while transcript.lines.peek().is_some() {
        let bit = transcript.values::<u64>("bit")[0];
        let words: Vec<u64> = transcript.values("ciphertext");
        let basis = evaluator.automatic().at_level(&server.public().trivial(&[0; 64]).unwrap(), Level::LOWEST).unwrap();
        let basis = basis.parts()[0].basis().clone();
        let coefficients: Vec<i64> = words.iter().map(|&word| word as i64).collect();
        let c = RnsPoly::from_signed(&basis, &coefficients).unwrap().into_eval();
        let (level, noise, words) = (Level::LOWEST, Noise::from_log2(8.0), [c.words().to_vec()]);
        let x = Ciphertext::from_parts(server.public(), level, Stage::Ready, 1, noise, &words).unwrap();
        let rounded = evaluator.round(&key, &x.parts[0]).unwrap();
        assert_eq!(rounded, transcript.values::<i64>("rounded"));
        let embedded = evaluator.embed(&key, &rounded).unwrap();
        transcript.compare_digests("embedded", [&embedded]);
        let traced = evaluator.trace(&key, embedded).unwrap();
        transcript.compare_digests("traced", [&traced]);
        evaluator.highest_digit_with(&key, traced, |digits| transcript.compare_digests("digit", digits)).unwrap();
        let result = evaluator.bootstrap(&x).unwrap();
        transcript.compare_digests("bootstrapped", &result.parts);
        assert_eq!(client.decrypt(&result).unwrap()[0], bit);
        bits += 1;
    }
    assert_eq!(bits, 3);
}
