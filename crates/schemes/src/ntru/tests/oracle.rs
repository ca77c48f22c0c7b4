//! Agreement, word by word, with the definitions evaluated in Python: `tools/ntru/oracle.py` wrote `oracle.txt`.

use core::str::FromStr;

use solinas_ring::{Eval, RnsPoly};
use zeroize::Zeroizing;

use super::super::context::Context;
use super::super::keygen::{Choices, Short, assemble};
use super::super::*;

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

    /// That these are the polynomials of the next lines, which have that name.
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

    fn is_next(&mut self, name: &str) -> bool {
        self.lines.peek().is_some_and(|line| line.starts_with(name))
    }
}

#[test]
fn keys_ciphertexts_and_every_step_are_those_of_the_oracle() {
    let mut transcript = Transcript { lines: include_str!("oracle.txt").lines().peekable() };
    let mut cases = 0;
    while transcript.lines.peek().is_some() {
        case(&mut transcript);
        cases += 1;
    }
    assert_eq!(cases, 3);
}

fn case(transcript: &mut Transcript<'_>) {
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
        bootstrapping: None,
    })
    .unwrap();
    assert_eq!((1..=levels).map(|level| params.dimension_at(level)).collect::<Vec<_>>(), dimensions);
    let primes: Vec<u64> = transcript.values("primes");
    assert_eq!(params.moduli().iter().map(|q| q.value()).collect::<Vec<_>>(), primes);

    let mut choices = Choices { keys: vec![], wide: vec![], g: Zeroizing::new(vec![]), masks: vec![] };
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
        choices.masks.push([(); 3].map(|()| {
            while !transcript.is_next("mask") {
                transcript.lines.next();
            }
            transcript.short("mask")
        }));
    }
    let (client, server) = assemble(Context::new(&params).unwrap(), true, choices).unwrap();
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
        let reduced = evaluator.mod_reduce(&switched).unwrap();
        transcript.compare("reduced", &reduced.parts);
        if reduced.stage() == Stage::Ready {
            return reduced;
        }
        let small = evaluator.ring_reduce(&reduced).unwrap();
        transcript.compare("small", &small.parts);
        small
    };
    let lowered = down(transcript, &x);
    assert!(evaluator.lower(&x).unwrap() == lowered);
    while x.level() > 1 {
        let product = evaluator.multiply(&x, &y).unwrap();
        transcript.compare("product", &product.parts);
        let reduced = down(transcript, &product);
        assert!(evaluator.composed_multiply(&x, &y).unwrap() == reduced);
        assert_eq!(client.decrypt(&reduced).unwrap(), transcript.values::<u64>("message"));
        (x, y) = (reduced.clone(), reduced);
    }
}
