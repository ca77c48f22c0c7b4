//! Bootstrapping: bits, noise at every step, circuits deeper than the levels, and what is refused.

use super::super::noise::{TOLERANCE_BELOW, tolerance_above};
use super::super::*;
use super::keys;
use crate::control::CANCELLED;
use crate::level::tests::level;
use crate::{Evaluate, Level, Noise};

struct World {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    key: BootstrapKey,
}

impl World {
    fn new(name: &str) -> Self {
        let params = Params::named(name).unwrap();
        let (client, server) = keys(&params, 11);
        let key = server.bootstrap_key().unwrap().clone();
        Self { params, client, server, key }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.server)
    }

    /// An encrypted bit, and other coefficients that are not 0.
    fn encrypt(&self, bit: bool, nonce: u64) -> Ciphertext {
        let n = self.params.dimension() as u64;
        let mut plain: Vec<u64> = (0..n).map(|i| i * i / 3 % 2).collect();
        plain[0] = bit.into();
        self.server.public().encrypt(&plain, &mut self.server.public().encryption_rng(nonce).unwrap()).unwrap()
    }

    fn near(&self, what: &str, measured: Noise, formula: Noise) {
        let name = self.params.name();
        println!("{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula");
        assert!(
            (-TOLERANCE_BELOW..=tolerance_above(self.params.dimension())).contains(&measured.bits_above(formula)),
            "{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula"
        );
    }

    /// A bootstrapped bit: alone in its polynomial, and with the noise of the formula.
    fn check(&self, x: &Ciphertext, bit: bool) {
        let plain = self.client.decrypt(x).unwrap();
        assert_eq!(plain[0] == 1, bit, "{}", self.params.name());
        assert!(plain[1..].iter().all(|&x| x == 0));
        assert_eq!(x.level(), self.params.bootstrapped_level());
        self.near("bootstrapped", self.client.measure_noise(x).unwrap(), x.noise());
    }
}

#[test]
fn bits_are_bootstrapped_again_and_again() {
    for name in ["boot-64", "boot-256-1"] {
        let world = World::new(name);
        let evaluator = world.evaluator();
        let mut bits = Vec::new();
        for i in 0..8 {
            let bit = i * i % 3 == 1;
            let x = evaluator.bootstrap(&world.encrypt(bit, i)).unwrap();
            world.check(&x, bit);
            bits.push((bit, x));
        }
        // Products of bootstrapped bits, down to the last level.
        for pair in bits.windows(2) {
            let ((a, x), (b, y)) = (&pair[0], &pair[1]);
            let mut product = evaluator.multiply(x, y).unwrap();
            while product.level() > Level::LOWEST {
                product = evaluator.multiply(&product, &product).unwrap();
            }
            world.check(&evaluator.bootstrap(&product).unwrap(), a & b);
        }
        let (bit, mut x) = bits[1].clone();
        for _ in 0..5 {
            x = evaluator.bootstrap(&x).unwrap();
            world.check(&x, bit);
        }
    }
}

/// `F_L` times a polynomial at the top level: its root mean square.
fn measured(world: &World, poly: solinas_ring::RnsPoly<solinas_ring::Eval>, level: Level) -> Noise {
    let key = world.server.id();
    let x = Ciphertext { key, level, stage: Stage::Ready.at_degree(1), noise: Noise::ONE, parts: vec![poly] };
    world.client.measure_noise(&x).unwrap()
}

#[test]
fn noise_at_every_step_is_that_of_the_formulas() {
    for name in ["boot-64", "boot-256", "boot-1024-1"] {
        let world = World::new(name);
        let (evaluator, growth) = (world.evaluator(), world.params.bootstrapping_noise().unwrap());
        let (n, top) = (world.params.dimension() as i64, world.params.fresh_level());
        // Over a few bits: one number each is what the trace leaves.
        let (mut embeddings, mut traces) = (Vec::new(), Vec::new());
        let mut digits = vec![Vec::new(); growth.digits.len()];
        for i in 0..4 {
            let x = evaluator.automatic().at_level(&world.encrypt(i % 2 == 1, i), level(1)).unwrap();
            assert!(x.noise() <= growth.limit);
            let embedded = evaluator.embed(&world.key, &evaluator.round(&world.key, &x.parts()[0]).unwrap()).unwrap();
            let mut whole = embedded.clone();
            whole.scale(n);
            embeddings.push(measured(&world, whole, top));
            let traced = evaluator.trace(&world.key, embedded).unwrap();
            traces.push(measured(&world, traced.clone(), top));
            let mut level = top.lowered(1);
            evaluator
                .highest_digit_with(&world.key, traced, |powers| {
                    for (digit, power) in digits.iter_mut().zip(powers) {
                        digit.push((level, measured(&world, power.clone(), level)));
                    }
                    level = level.lowered(1);
                })
                .unwrap();
        }
        let mean = |noises: &[Noise]| {
            let squares = noises.iter().map(|noise| (2.0 * noise.log2()).exp2()).sum::<f64>();
            Noise::from_log2(0.5 * (squares / noises.len() as f64).log2())
        };
        world.near("embedded", mean(&embeddings), growth.embedded);
        world.near("traced", mean(&traces), growth.traced);
        for (i, (noises, formula)) in digits.iter().zip(&growth.digits).enumerate() {
            for (k, &formula) in formula.iter().enumerate() {
                let level = top.lowered(1 + i + k);
                let of_level: Vec<Noise> =
                    noises.iter().filter(|(at, _)| *at == level).map(|&(_, noise)| noise).collect();
                assert_eq!(of_level.len(), 4);
                world.near(&format!("digit {i} squared {k} times"), mean(&of_level), formula);
            }
        }
    }
}

/// A ripple-carry adder of 64 bits: 128 products in sequence, where the levels allow 2.
#[test]
fn an_adder_of_64_bits_runs_far_deeper_than_its_levels() {
    let world = World::new("boot-64");
    let bits = world.evaluator().bits().unwrap();
    let (a, b) = (0xdead_beef_0123_4567_u64, 0x9876_5432_fedc_ba98_u64);
    let mut rng = world.server.public().encryption_rng(1).unwrap();
    let mut encrypt = |x: u64, i: u32| world.server.public().encrypt_bit(x >> i & 1 == 1, &mut rng).unwrap();
    let mut carry = bits.constant(false).unwrap();
    let mut sum = 0u64;
    for i in 0..64 {
        let (x, y) = (encrypt(a, i), encrypt(b, i));
        if bits.is_exhausted(&carry) {
            carry = bits.refresh(&carry).unwrap();
        }
        let (u, v) = (bits.xor(&x, &carry).unwrap(), bits.xor(&y, &carry).unwrap());
        let digit = bits.xor(&u, &y).unwrap();
        sum |= u64::from(world.client.decrypt_bit(&digit).unwrap()) << i;
        carry = bits.xor(&bits.and(&u, &v).unwrap(), &carry).unwrap();
    }
    assert_eq!(sum, a.wrapping_add(b));
    assert_eq!(world.client.decrypt_bit(&carry).unwrap(), a.checked_add(b).is_none());
}

#[test]
fn gates_have_their_tables_at_any_depth() {
    let world = World::new("boot-64-1");
    let bits = world.evaluator().bits().unwrap();
    let mut rng = world.server.public().encryption_rng(5).unwrap();
    let mut pool: Vec<(bool, Ciphertext)> =
        [false, true].map(|bit| (bit, world.server.public().encrypt_bit(bit, &mut rng).unwrap())).into();
    pool.extend([false, true].map(|bit| (bit, bits.constant(bit).unwrap())));
    // A raw product, as the manual operations leave it.
    let raw = bits.manual().multiply_without_switch(&pool[1].1, &pool[1].1).unwrap();
    pool.push((true, bits.manual().key_switch(&raw).unwrap()));
    pool.push((true, raw));
    for i in 0..60usize {
        let ((a, x), (b, y)) = (pool[pool.len() - 1 - i % 3].clone(), pool[i * i % pool.len()].clone());
        let (bit, z) = match i % 4 {
            0 => (a ^ b, bits.xor(&x, &y)),
            1 => (!a, bits.not(&x)),
            _ => (a & b, bits.and(&x, &y)),
        };
        let z = z.unwrap();
        assert_eq!(world.client.decrypt_bit(&z).unwrap(), bit, "gate {i}");
        pool.push((bit, z));
    }
    // More sums than fit, at every level: what comes out can always go on.
    let one = pool[1].1.clone();
    for level in Level::LOWEST.up_to(world.params.fresh_level()) {
        let mut x = bits.manual().automatic().at_level(&one, level).unwrap();
        for i in 0..50 {
            let odd = bits.xor(&bits.xor(&x, &x).unwrap(), &one).unwrap();
            assert!(world.client.decrypt_bit(&odd).unwrap(), "sum {i} at level {level}");
            assert!(!world.client.decrypt_bit(&bits.not(&odd).unwrap()).unwrap());
            x = odd;
        }
        assert!(world.client.decrypt_bit(&bits.refresh(&x).unwrap()).unwrap());
    }
}

#[test]
fn threads_make_no_difference_to_bootstrapping() {
    let run = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let world = World::new("boot-1024-1");
            let x = world.evaluator().bootstrap(&world.encrypt(true, 3)).unwrap();
            world.check(&x, true);
            (world.key, x)
        })
    };
    assert!(run(1) == run(2));
}

#[test]
fn what_bootstrapping_lacks_is_named() {
    let world = World::new("boot-64");
    let x = world.encrypt(true, 1);
    let (other, other_server) = keys(&world.params, 12);
    assert!(matches!(other.server_key(&CANCELLED), Err(Error::Cancelled(_))));
    let mut rng = other_server.public().encryption_rng(1).unwrap();
    let foreign = other_server.public().encrypt_bit(true, &mut rng).unwrap();
    let foreign = Evaluator::new(&other_server).automatic().at_level(&foreign, level(1)).unwrap();
    assert!(matches!(world.evaluator().bootstrap(&foreign), Err(Error::KeyMismatch { .. })));
    let plain = Params::named("tight-512-1").unwrap();
    let (_, server) = keys(&plain, 1);
    assert!(matches!(Evaluator::new(&server).bootstrap(&x), Err(Error::NoBootstrapping { .. })));
    assert!(Evaluator::new(&server).bits().unwrap_err().to_string().contains("boot-1024"));

    // A bootstrapping key belongs to its key pair, and keys of such parameters have one.
    let assemble = |of: &ServerKey, bootstrap: Option<&BootstrapKey>| {
        let hints: Vec<Vec<u64>> = of.hints().map(|hint| hint.words().to_vec()).collect();
        ServerKey::from_parts(of.public().clone(), &hints, bootstrap.cloned(), None)
    };
    assert!(assemble(&world.server, Some(&world.key)).unwrap() == world.server);
    assert!(matches!(assemble(&other_server, Some(&world.key)), Err(Error::KeyMismatch { .. })));
    assert!(matches!(assemble(&world.server, None), Err(Error::Material { .. })));
    assert!(matches!(assemble(&server, Some(&world.key)), Err(Error::Material { .. })));

    // Sums at level 1, until they are too many.
    let evaluator = world.evaluator();
    let mut low = evaluator.automatic().at_level(&x, level(1)).unwrap();
    let error = loop {
        low = match evaluator.bootstrap(&low) {
            Ok(fresh) => {
                assert_eq!(world.client.decrypt(&fresh).unwrap()[0], world.client.decrypt(&low).unwrap()[0]);
                evaluator.add(&low, &low).unwrap()
            }
            Err(error) => break error,
        };
    };
    assert!(matches!(error, Error::Noise { operation: "bootstrapping", .. }), "{error}");

    let words: Vec<&[u64]> = world.key.polynomials().map(|poly| poly.words()).collect();
    let public = world.server.public();
    assert!(BootstrapKey::from_parts(public, words.iter().copied()).unwrap() == world.key);
    assert!(matches!(BootstrapKey::from_parts(public, words[1..].iter().copied()), Err(Error::Ring(_))));
    let (short, long) = (words[..words.len() - 1].iter().copied(), words.iter().chain(&words[..1]).copied());
    assert!(matches!(BootstrapKey::from_parts(public, short), Err(Error::Material { .. })));
    assert!(matches!(BootstrapKey::from_parts(public, long), Err(Error::Material { .. })));
    assert!(BootstrapKey::from_parts(server.public(), words.iter().copied()).is_err());
}

#[test]
fn sets_that_cannot_bootstrap_are_refused_with_their_fix() {
    let good = Params::named("boot-64").unwrap().literal().clone();
    let refused = |literal: ParamsLiteral, words: &str| match Params::try_from(literal) {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(params) => panic!("{} was taken", params.name()),
    };
    let of = |precision, weight| Some(Bootstrapping { precision, weight });
    refused(ParamsLiteral { plaintext_modulus: 3, ..good.clone() }, "plaintext modulus 2");
    refused(ParamsLiteral { depth: 5, ..good.clone() }, "take 6 or more");
    refused(ParamsLiteral { bootstrapping: of(9, 16), ..good.clone() }, "not in 4..=6");
    refused(ParamsLiteral { bootstrapping: of(5, 0), ..good.clone() }, "weight 0");
    refused(ParamsLiteral { bootstrapping: of(5, 48), ..good.clone() }, "take weight 16");
    refused(ParamsLiteral { bits: Some(26), first_bits: None, top_bits: None, ..good.clone() }, "take primes of");
    refused(ParamsLiteral { first_bits: Some(14), ..good.clone() }, "take a first prime of");
    for name in ["boot-64-1", "boot-256-4", "boot-1024", "boot-16384"] {
        let params = Params::named(name).unwrap();
        assert!(params.special_moduli().iter().all(|q| params.moduli().iter().all(|other| other != q)));
        assert!(params.security().status != crate::security::Status::Recommended);
        assert_eq!(Params::try_from(params.literal().clone()).unwrap(), params);
    }
    assert!(matches!(Params::named("boot-64-x"), Err(Error::UnknownParams { .. })));
    assert!(Params::named("boot-16").is_err());
}
