//! Bootstrapping: every step against plain integers, noise at every step, circuits deeper than the levels, and what is refused.

use crate::control::{CANCELLED, Steps};
use crate::level::tests::level;
use crate::{Control, Evaluate, Level, Noise};
use solinas_field::Backend;
use solinas_ring::{Divisor, MixedRadix};

use super::*;
use crate::random::SecretSeed;

struct World {
    params: Params,
    client: ClientKey,
    server: ServerKey,
    key: BootstrapKey,
    /// `s_b`.
    sparse: Vec<i64>,
}

impl World {
    fn new(name: &str) -> Self {
        Self::of(&Params::named(name).unwrap(), Backend::detect().unwrap())
    }

    fn of(params: &Params, backend: Backend) -> Self {
        let context = context::Context::on(params, backend).unwrap();
        let client = keygen::client_key(context, &SecretSeed::insecure(11), true).unwrap();
        let server = client.server_key(&Control::default()).unwrap();
        let plan = crate::bgv::bootstrap::Plan::new(client.public().context()).unwrap();
        // The same key again, with its secret.
        let (key, sparse) = client.bootstrap_key(plan, &Steps::unobserved()).unwrap();
        assert!(server.bootstrap_key() == Some(&key));
        Self { params: params.clone(), client, server, key, sparse: sparse.to_vec() }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        Evaluator::new(&self.server)
    }

    /// An encrypted number, and other coefficients that are not 0.
    fn encrypt(&self, number: u64, nonce: u64) -> Ciphertext {
        let mut plain = random(self.params.plaintext_modulus(), self.params.dimension(), nonce);
        plain[0] = number;
        encrypt(&self.server, &plain, nonce)
    }

    fn near(&self, what: &str, measured: Noise, formula: Noise) {
        self.near_within(what, measured, formula, noise::tolerance_above(self.params.dimension()));
    }

    fn near_within(&self, what: &str, measured: Noise, formula: Noise, above: f64) {
        let name = self.params.name();
        println!("{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula");
        assert!(
            (-noise::TOLERANCE_BELOW..=above).contains(&measured.bits_above(formula)),
            "{name}, {what}: 2^{measured:.2} measured, 2^{formula:.2} by the formula"
        );
    }

    /// Checks a bootstrapped number: it is alone in its polynomial, and it has the noise of the formula.
    fn check(&self, x: &Ciphertext, number: u64) {
        let plain = self.client.decrypt(x).unwrap();
        assert_eq!(plain[0], number, "{}", self.params.name());
        assert!(plain[1..].iter().all(|&x| x == 0));
        assert_eq!(x.level(), self.params.fresh_level());
        self.near("bootstrapped", self.client.measure_noise(x).unwrap(), x.noise());
    }

    /// The constant coefficient of `c_0' + c_1' s_b`, as an integer.
    fn rounded_phase(&self, rounded: &crate::bgv::bootstrap::RoundedPhase) -> i64 {
        let n = self.sparse.len();
        // The constant coefficient of slope(X) s_b(X) is slope[0] s_b[0] minus all slope[j] s_b[N - j] with j > 0.
        let products = (1..n).map(|j| -rounded.slope[j] * self.sparse[n - j]).sum::<i64>();
        rounded.constant + rounded.slope[0] * self.sparse[0] + products
    }

    /// Returns the constant coefficient of the plaintext modulo `2^bits`, and the noise. Checks that the other
    /// coefficients are 0.
    fn open(&self, parts: &[solinas_ring::RnsPoly<solinas_ring::Eval>; 2], bits: u32) -> (u64, Noise) {
        let towers = parts[0].basis().len();
        let x = Ciphertext {
            key: self.client.public().id(),
            level: level(towers),
            stage: Stage::Ready,
            noise: Noise::ONE,
            parts: parts.to_vec(),
        };
        let (basis, phase) = self.client.phase(&x, towers).unwrap();
        let values = MixedRadix::new(&basis).centered_mod(&phase, Divisor::new(1 << bits).unwrap()).unwrap();
        assert!(values[1..].iter().all(|&x| x == 0), "a coefficient is left");
        (values[0], self.client.measure_noise(&x).unwrap())
    }
}

/// Parameters with numbers modulo `p`.
fn of_plaintexts(dimension: usize, p: u64, depth: usize) -> Params {
    Params::try_from(ParamsLiteral {
        name: format!("numbers modulo {p}"),
        dimension,
        plaintext_modulus: p,
        depth,
        switching: KeySwitching::Hybrid { group: 4 },
        first_bits: None,
        bits: None,
        top_bits: None,
        terms: 2,
        failure_bits: 40,
        bootstrapping: Some(Bootstrapping::of_plaintexts(p)),
    })
    .unwrap()
}

/// Rounding against rationals, the decryption under the sparse secret against a sum of products, all that is encrypted afterwards against its integers modulo the
/// power of two up to which it is meant to be right; and the noise of all.
#[test]
fn every_step_is_that_of_plain_integers() {
    let sets = [
        Params::named("boot-64-1").unwrap(),
        Params::named("boot-256-2").unwrap(),
        of_plaintexts(256, 4, 2),
        of_plaintexts(256, 8, 1),
        Params::named("boot-1024-2").unwrap(),
    ];
    for params in sets {
        let (p, n) = (params.plaintext_modulus(), params.dimension());
        let world = World::of(&params, Backend::detect().unwrap());
        let evaluator = world.evaluator();
        let growth = params.bootstrapping_noise().unwrap();
        let (l, r) = (params.bootstrapping().unwrap().precision, p.ilog2());
        let whole = 1u64 << l;
        for number in 0..p.min(4) {
            let number = p - 1 - number;
            let x = evaluator.automatic().at_level(&world.encrypt(number, 100 + number), level(1)).unwrap();

            let rounded = evaluator.round(&world.key, evaluator.under_sparse(&world.key, x.parts()).unwrap());
            let bounds = -(whole as i64) / 2..whole as i64 / 2;
            assert!(rounded.slope.iter().chain([&rounded.constant]).all(|x| bounds.contains(x)));
            let u = (world.rounded_phase(&rounded) + (1 << (l - r - 1))).rem_euclid(whole as i64) as u64;
            assert_eq!(u >> (l - r), number, "rounded");

            let embedded = evaluator.embed(&world.key, &rounded);
            let times_n = embedded.clone().map(|mut part| {
                part.scale(n as i64);
                part
            });
            let level = params.highest_level();
            let whole_phase =
                Ciphertext { key: x.key, level, stage: Stage::Ready, noise: Noise::ONE, parts: times_n.to_vec() };
            world.near("embedded", world.client.measure_noise(&whole_phase).unwrap(), growth.embedded);
            let (basis, opened) = world.client.phase(&whole_phase, level.number()).unwrap();
            let opened = MixedRadix::new(&basis).centered_mod(&opened, Divisor::new(whole).unwrap()).unwrap();
            assert_eq!(opened[0], u, "embedded");

            let traced = evaluator.trace(&world.key, embedded).unwrap();
            let (value, measured) = world.open(&traced, l);
            assert_eq!(value, u, "traced");
            // One coefficient is left: its error is five times the standard deviation once in a million.
            world.near_within("traced", measured, growth.traced, 5f64.log2());

            let mut depth = 0;
            let found = (l - r) as usize;
            let parts = evaluator
                .highest_digits(&world.key, &traced, |digits| {
                    assert_eq!(digits.len(), found.min(depth + 1));
                    for (i, digit) in digits.iter().enumerate() {
                        let k = depth - i;
                        let (value, measured) = world.open(digit, k as u32 + 1);
                        assert_eq!(value, u >> i & 1, "digit {i} squared {k} times");
                        world.near(&format!("digit {i}, {k} squares"), measured, growth.digits[i][k]);
                    }
                    depth += 1;
                })
                .unwrap();
            let (value, measured) = world.open(&parts, r);
            assert_eq!(value, number);
            world.near("bootstrapped", measured, growth.output);
        }
    }
}

/// Tests the assumption of the failure probability. The error of a rounded number is a sum of uniform roundings, one
/// for each coefficient of the weight and one for the constant part, and of a small noise.
#[test]
fn a_rounded_number_is_off_by_its_roundings() {
    const COUNT: u64 = 600;
    let world = World::new("boot-64-1");
    let evaluator = world.evaluator();
    let bootstrapping = world.params.bootstrapping().unwrap();
    let (l, half) = (bootstrapping.precision, 1i64 << (bootstrapping.precision - 1));
    let mut squares = 0.0;
    for nonce in 0..COUNT {
        let number = nonce % 2;
        let x = evaluator.automatic().at_level(&world.encrypt(number, nonce), level(1)).unwrap();
        let rounded = evaluator.round(&world.key, evaluator.under_sparse(&world.key, x.parts()).unwrap());
        let off = (world.rounded_phase(&rounded) - number as i64 * half + half / 2).rem_euclid(2 * half) - half / 2;
        squares += (off * off) as f64;
    }
    let measured = 0.5 * (squares / COUNT as f64).log2();
    let roundings = 0.5 * ((bootstrapping.weight + 1) as f64 / 12.0).log2();
    // The noise at level 1, halved, in steps of q_1 / 2^l.
    let level_1 = evaluator.automatic().at_level(&world.encrypt(1, 1), level(1)).unwrap();
    let noise = level_1.noise().scaled(f64::from(l) - 1.0 - world.params.log2_modulus(Level::LOWEST));
    let formula = noise.root_sum_squares(Noise::from_log2(roundings)).log2();
    // Five deviations of the mean of these squares are 0.21 bits.
    assert!((roundings - 0.25..formula + 0.25).contains(&measured), "{measured}: {roundings}, {formula}");
}

/// The rounding of step 1 is to the nearest step, as rationals have it.
#[test]
fn rounding_is_to_the_nearest() {
    let world = World::new("boot-64-1");
    let evaluator = world.evaluator();
    let x = evaluator.automatic().at_level(&world.encrypt(1, 7), level(1)).unwrap();
    let parts = evaluator.under_sparse(&world.key, x.parts()).unwrap();
    let rounded = evaluator.round(&world.key, parts.clone());
    let [_, second] = parts;
    let q = i128::from(second.basis().modulus(0).value());
    let whole = 1i128 << world.params.bootstrapping().unwrap().precision;
    for (&x, &step) in second.into_coeff().tower(0).iter().zip(&rounded.slope) {
        // (q - 1)/2 x modulo q, 2^l / q of it: off by half a step at most, wherever it wraps.
        let exact = (q - 1) / 2 * i128::from(x) % q * whole;
        let off = (exact - i128::from(step) * q).rem_euclid(whole * q);
        assert!(2 * off.min(whole * q - off) <= q);
    }
}

#[test]
fn numbers_are_bootstrapped_again_and_again() {
    for params in [Params::named("boot-64-2").unwrap(), Params::named("boot-256-1").unwrap(), of_plaintexts(64, 2, 3)] {
        let world = World::of(&params, Backend::detect().unwrap());
        let evaluator = world.evaluator();
        let one = world.encrypt(1, 50);
        let mut x = world.encrypt(1, 51);
        for i in 0..20u64 {
            let y = world.encrypt(i % 3 % 2, 60 + i);
            // Deeper than the levels: x y + 1, the product of bootstrapped numbers.
            let product = evaluator.automatic().multiply(&x, &evaluator.bootstrap(&y).unwrap()).unwrap();
            let sum = evaluator.automatic().add(&product, &one).unwrap();
            let want = world.client.decrypt(&sum).unwrap()[0];
            x = evaluator.bootstrap(&sum).unwrap();
            world.check(&x, want);
        }
    }
    for p in [4, 8] {
        let world = World::of(&of_plaintexts(256, p, 2), Backend::detect().unwrap());
        let evaluator = world.evaluator();
        let (three, mut x, mut want) = (evaluator.bootstrap(&world.encrypt(3, 1)).unwrap(), world.encrypt(1, 2), 1);
        for _ in 0..6 {
            x = evaluator.bootstrap(&x).unwrap();
            world.check(&x, want);
            x = evaluator.automatic().add(&evaluator.automatic().multiply(&x, &three).unwrap(), &three).unwrap();
            want = (want * 3 + 3) % p;
        }
    }
}

#[test]
fn back_ends_and_threads_make_no_difference_to_bootstrapping() {
    for (name, backends) in [
        ("boot-64-1", solinas_testing::back_ends(Backend::available())),
        ("boot-1024-2", vec![Backend::detect().unwrap()]),
    ] {
        let params = Params::named(name).unwrap();
        let mut results = Vec::new();
        for backend in backends {
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                results.push(pool.install(|| {
                    let world = World::of(&params, backend);
                    let x = world.evaluator().bootstrap(&world.encrypt(1, 3)).unwrap();
                    world.check(&x, 1);
                    (world.key, x)
                }));
            }
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn what_bootstrapping_lacks_is_named() {
    let world = World::new("boot-64-2");
    let x = world.encrypt(1, 1);
    let none = Rotations::none(&world.params);
    let (other, other_server) = keys_with(&world.params, &none, 12);
    assert!(matches!(other.server_key(&CANCELLED), Err(Error::Cancelled(_))));
    let foreign =
        Evaluator::new(&other_server).automatic().at_level(&encrypt(&other_server, &[0; 64], 1), level(1)).unwrap();
    assert!(matches!(world.evaluator().bootstrap(&foreign), Err(Error::KeyMismatch { .. })));
    let plain = Params::named("bits-64-2").unwrap();
    let (_, server) = keys_with(&plain, &Rotations::none(&plain), 1);
    assert!(server.bootstrap_key().is_none());
    assert!(server.bootstrapping().unwrap_err().to_string().contains("boot128-16384-8"));

    // A bootstrapping key belongs to its key pair, and keys of such parameters have one.
    let assemble = |of: &ServerKey, bootstrap: Option<&BootstrapKey>| {
        ServerKey::from_parts(of.public().clone(), &of.relinearization().parts(), &[], bootstrap.cloned())
    };
    assert!(assemble(&world.server, Some(&world.key)).unwrap() == world.server);
    assert!(matches!(assemble(&other_server, Some(&world.key)), Err(Error::KeyMismatch { .. })));
    assert!(matches!(assemble(&world.server, None), Err(Error::Material { .. })));
    assert!(matches!(assemble(&server, Some(&world.key)), Err(Error::Material { .. })));

    // Sums at level 1, until they are too many.
    let evaluator = world.evaluator();
    let one = evaluator.automatic().at_level(&x, level(1)).unwrap();
    let mut even = evaluator.add(&one, &one).unwrap();
    let error = loop {
        let odd = evaluator.add(&even, &one).unwrap();
        assert_eq!(evaluator.can_bootstrap(&odd), evaluator.bootstrap(&odd).is_ok());
        match evaluator.bootstrap(&odd) {
            Ok(fresh) => assert_eq!(world.client.decrypt(&fresh).unwrap()[0], 1),
            Err(error) => break error,
        }
        even = evaluator.add(&even, &even).unwrap();
    };
    assert!(matches!(error, Error::Noise { operation: "bootstrapping", .. }), "{error}");

    let parts: Vec<SwitchKeyParts> = world.key.keys().map(SwitchKey::parts).collect();
    let public = world.server.public();
    assert!(BootstrapKey::from_parts(public, &parts).unwrap() == world.key);
    let shapes = BootstrapKey::shapes(&world.params).unwrap();
    let words = |(bits, rows): &(Vec<u32>, usize)| vec![bits.len() * 64; *rows];
    let lengths = |parts: &SwitchKeyParts| parts.rows.iter().map(Vec::len).collect::<Vec<_>>();
    assert!(shapes.iter().map(words).eq(parts.iter().map(lengths)));
    assert!(matches!(BootstrapKey::from_parts(public, &parts[1..]), Err(Error::Material { .. })));
    assert!(matches!(BootstrapKey::from_parts(server.public(), &parts), Err(Error::NoBootstrapping { .. })));
    let mut rows = parts.clone();
    rows[3].rows.pop();
    assert!(matches!(BootstrapKey::from_parts(public, &rows), Err(Error::Material { .. })));
    let mut words = parts;
    words[2].rows[0][5] = u64::MAX;
    assert!(matches!(BootstrapKey::from_parts(public, &words), Err(Error::Ring(_))));
}

#[test]
fn sets_that_cannot_bootstrap_are_refused_with_their_fix() {
    let good = Params::named("boot-64-2").unwrap().literal().clone();
    let refused = |literal: ParamsLiteral, words: &str| match Params::try_from(literal) {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(params) => panic!("{} was taken", params.name()),
    };
    let of = |precision, weight| Some(Bootstrapping { precision, weight, bits: None });
    refused(ParamsLiteral { plaintext_modulus: 3, ..good.clone() }, "a power of two as plaintext modulus");
    refused(ParamsLiteral { switching: KeySwitching::Digits { bits: 8 }, ..good.clone() }, "hybrid key switching");
    refused(ParamsLiteral { depth: 0, ..good.clone() }, "take 1 or more");
    refused(ParamsLiteral { bootstrapping: of(9, 16), ..good.clone() }, "not in 4..=7");
    refused(
        ParamsLiteral { plaintext_modulus: 8, bootstrapping: of(8, 48), ..good.clone() },
        "a dimension that allows it",
    );
    refused(ParamsLiteral { bootstrapping: of(6, 0), ..good.clone() }, "weight 0");
    refused(ParamsLiteral { bootstrapping: of(5, 48), ..good.clone() }, "take weight 48 and precision 6");
    let bits = Some(Bootstrapping { precision: 6, weight: 48, bits: Some(9) });
    refused(
        ParamsLiteral { bootstrapping: bits, first_bits: None, bits: None, top_bits: None, ..good.clone() },
        "bits",
    );
    refused(ParamsLiteral { first_bits: Some(9), ..good.clone() }, "take a first prime of");
    for name in ["boot-64-1", "boot-256-4", "boot-1024-2", "boot128-16384-8", "boot128-32768-20"] {
        let params = Params::named(name).unwrap();
        assert_eq!(Params::try_from(params.literal().clone()).unwrap(), params);
        let claim = params.security();
        assert_eq!(claim.status == crate::security::Status::Recommended, name.starts_with("boot128"));
        assert!(claim.estimator.contains("circular security"));
    }
    // A modulus of the standard's 192 bits does not make the sparse secret stronger.
    assert_eq!(Params::named("boot-16384-1").unwrap().security().classical_bits, 128.0);
    assert!(matches!(Params::named("boot-64-x"), Err(Error::UnknownParams { .. })));
    assert!(Params::named("boot-16-2").is_err());
}
