//! Key generation, encryption, evaluation, Recrypt and decryption, and measured noise compared with its bounds.

use crate::{Control, Entropy, Progress};
use proptest::prelude::*;
use rand_core::RngCore;
use solinas_bigint::Natural;
use solinas_bigint::fft::Engine;
use solinas_field::Backend;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::*;
use crate::random::SecretSeed;

const SETS: [&str; 3] = ["ci-3", "ci-7", "ci-15"];
const MEMORY: u64 = 1 << 30;

fn keys(name: &str, seed: u64) -> (ClientKey, ServerKey) {
    let params = Params::named(name).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(seed), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

fn encryptor(public: &PublicKey, method: EncryptMethod) -> Encryptor<'_> {
    Encryptor::new(public, method, MEMORY, Arithmetic::default()).unwrap()
}

fn evaluator(server: &ServerKey, method: RecryptMethod) -> Evaluator<'_> {
    Evaluator::new(server, method, MEMORY, Arithmetic::default()).unwrap()
}

/// Decrypts both ways, and checks the noise against its bound.
#[track_caller]
fn check(client: &ClientKey, ciphertext: &Ciphertext, bit: bool) {
    let decryptor = client.decryptor().unwrap();
    assert_eq!(decryptor.decrypt(ciphertext).unwrap(), bit);
    assert_eq!(decryptor.decrypt_exact(ciphertext).unwrap(), bit);
    let (measured, bound) = (client.measure_margin(ciphertext).unwrap(), ciphertext.margin(client.params()));
    assert!(measured >= bound, "margin measured {measured}, bound {bound}");
}

#[test]
fn whole_cycle_at_every_set_on_every_back_end() {
    for name in SETS {
        let (client, server) = keys(name, 1);
        let mut outputs = None;
        let backends = solinas_testing::back_ends(Backend::available())
            .into_iter()
            .map(|backend| (Engine::Complex, Some(backend)));
        for (engine, backend) in backends.chain([(Engine::Solinas, None)]) {
            let arithmetic = Arithmetic { engine: Some(engine), backend };
            let encryptor = Encryptor::new(server.public(), EncryptMethod::Table, MEMORY, arithmetic).unwrap();
            let mut rng = server.public().encryption_rng(1).unwrap();
            let inputs = [false, true].map(|bit| encryptor.encrypt(bit, &mut rng).unwrap());
            let mut all = vec![];
            for method in RecryptMethod::ALL {
                let evaluator = Evaluator::new(&server, method, MEMORY, arithmetic).unwrap();
                for i in 0..4 {
                    let (x, y) = (&inputs[i & 1], &inputs[i >> 1]);
                    let (xor, and) = (evaluator.add(x, y).unwrap(), evaluator.multiply(x, y).unwrap());
                    for (ciphertext, bit) in [(xor, i == 1 || i == 2), (and, i == 3)] {
                        check(&client, &ciphertext, bit);
                        let recrypted = evaluator.recrypt(&ciphertext).unwrap();
                        check(&client, &recrypted, bit);
                        all.push(recrypted);
                    }
                }
            }
            // All methods and back ends compute the same residue.
            let (first, rest) = all.split_at(8);
            assert!(rest.chunks(8).all(|other| other == first), "{name} {arithmetic:?}");
            assert_eq!(&all, outputs.get_or_insert_with(|| all.clone()), "{name} {arithmetic:?}");
        }
    }
}

#[test]
fn encryption_methods_compute_the_same_residue() {
    let (client, server) = keys("ci-7", 2);
    let bits = [false, true, true, false, true];
    let batch = {
        let mut rng = server.public().encryption_rng(3).unwrap();
        encrypt_batch(server.public(), &bits, &mut rng, Arithmetic::default(), &Control::default()).unwrap()
    };
    for method in EncryptMethod::ALL {
        let encryptor = encryptor(server.public(), method);
        let mut rng = server.public().encryption_rng(3).unwrap();
        assert_eq!(encryptor.encrypt_batch(&bits, &mut rng).unwrap(), batch, "{method:?}");
        let mut rng = server.public().encryption_rng(3).unwrap();
        assert_eq!(encryptor.encrypt(false, &mut rng).unwrap(), batch[0], "{method:?}");
    }
    for (ciphertext, bit) in batch.iter().zip(bits) {
        check(&client, ciphertext, bit);
    }
}

#[test]
fn key_generation_finds_a_root_and_an_odd_secret_that_the_blocks_sum_to() {
    for name in SETS {
        let (client, server) = keys(name, 4);
        let params = client.params();
        let d = server.public().d();
        let mut power = server.public().r().clone();
        for _ in 0..params.dimension().ilog2() {
            power = power.square().rem(d).unwrap();
        }
        assert_eq!(power, d.checked_sub(&Natural::one()).unwrap(), "r^n = -1");
        let twice = client.w() << 1;
        assert_eq!(client.w().is_even(), twice > *d, "the centred w is odd");
        // Exactly two indicators of a block encrypt 1. Their pair determines the candidate.
        let decryptor = client.decryptor().unwrap();
        let m = params.indicators();
        let mut sum = Natural::ZERO;
        for k in 0..params.blocks() {
            let ones: Vec<usize> = (0..m)
                .filter(|&a| {
                    let words = server.indicator(k, a).to_vec();
                    let eta = Ciphertext::from_parts(server.public(), words, noise::fresh(params)).unwrap();
                    decryptor.decrypt(&eta).unwrap()
                })
                .collect();
            assert_eq!(ones.len(), 2);
            let index = (0..params.candidates()).find(|&i| params::pair(i, m) == (ones[0], ones[1])).unwrap();
            let x = Natural::from_words(server.x_of(k).to_vec());
            sum = (&sum + &(&x << (params.ratio_bits() * index))).rem(d).unwrap();
        }
        assert_eq!(sum, *client.w());
    }
}

/// Measured margins of `count` recrypted ciphertexts and of products of two, minus their bounds.
fn slacks(name: &str, count: usize) -> (Vec<f64>, Vec<f64>) {
    let (client, server) = keys(name, 5);
    let evaluator = evaluator(&server, RecryptMethod::PairTable);
    let encryptor = encryptor(server.public(), EncryptMethod::Table);
    let mut rng = server.public().encryption_rng(5).unwrap();
    let slack = |c: &Ciphertext| client.measure_margin(c).unwrap() - c.margin(client.params());
    let recrypted: Vec<_> =
        (0..count).map(|i| evaluator.recrypt(&encryptor.encrypt(i % 2 == 0, &mut rng).unwrap()).unwrap()).collect();
    let products = if client.params().supports_circuits() {
        recrypted.windows(2).map(|pair| slack(&evaluator.multiply(&pair[0], &pair[1]).unwrap())).collect()
    } else {
        vec![]
    };
    let bounds = [noise::fresh, noise::recrypted, |params: &Params| 2.0 * noise::recrypted(params)];
    let bounds = bounds.map(|noise| noise::margin(client.params(), noise(client.params())));
    println!("{name}: bounds of the margin, fresh, recrypted, product: {bounds:.1?}");
    (recrypted.iter().map(slack).collect(), products)
}

#[test]
fn recrypted_noise_stays_within_its_bound() {
    for (name, count) in [("ci-3", 60), ("ci-7", 60), ("ci-15", 30)] {
        let (recrypted, products) = slacks(name, count);
        for (what, slack) in [("recrypted", recrypted), ("products", products)] {
            let least = slack.iter().copied().fold(f64::INFINITY, f64::min);
            let most = slack.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            println!("{name}: {what}: measured margin less bound {least:.1} to {most:.1}");
            assert!(least >= 0.0, "{name} {what}");
        }
    }
}

/// The wires of a random circuit of `gates` gates with their plain values, and the number of recryptions that the
/// bounds required.
fn random_circuit(
    evaluator: &Evaluator<'_>,
    inputs: &[(Ciphertext, bool)],
    gates: usize,
    rng: &mut impl RngCore,
) -> (Vec<(Ciphertext, bool)>, usize) {
    let mut wires = inputs.to_vec();
    let mut recrypts = 0;
    for _ in 0..gates {
        let mut pick = || rng.next_u32() as usize % wires.len();
        let (i, j) = (pick(), pick());
        let and = rng.next_u32() % 2 == 1;
        let apply = |x: &Ciphertext, y: &Ciphertext| if and { evaluator.multiply(x, y) } else { evaluator.add(x, y) };
        let mut result = apply(&wires[i].0, &wires[j].0);
        // The result must be fit for Recrypt: recrypt the noisier operand, then the other.
        let mut order = [i, j];
        order.sort_by(|&a, &b| wires[b].0.noise().total_cmp(&wires[a].0.noise()));
        for wire in order {
            if result.as_ref().is_ok_and(|c| evaluator.can_recrypt(c.noise())) {
                break;
            }
            wires[wire].0 = evaluator.recrypt(&wires[wire].0).unwrap();
            recrypts += 1;
            result = apply(&wires[i].0, &wires[j].0);
        }
        let bit = if and { wires[i].1 & wires[j].1 } else { wires[i].1 ^ wires[j].1 };
        wires.push((result.unwrap(), bit));
    }
    (wires, recrypts)
}

#[test]
fn random_circuits_decrypt_to_their_plain_values() {
    let (client, server) = keys("ci-15", 6);
    let evaluator = evaluator(&server, RecryptMethod::PairTable);
    let encryptor = encryptor(server.public(), EncryptMethod::Table);
    let mut encryption = server.public().encryption_rng(6).unwrap();
    let mut rng = SecretSeed::insecure(6).stream(0);
    let mut recrypts = 0;
    for _ in 0..12 {
        let inputs: Vec<_> = (0..5)
            .map(|i| {
                let bit = rng.next_u32() % 2 == 1;
                let fresh = encryptor.encrypt(bit, &mut encryption).unwrap();
                (if i % 2 == 0 { evaluator.recrypt(&fresh).unwrap() } else { fresh }, bit)
            })
            .collect();
        let (wires, count) = random_circuit(&evaluator, &inputs, 50, &mut rng);
        recrypts += count;
        for (ciphertext, bit) in &wires {
            check(&client, ciphertext, *bit);
        }
    }
    println!("{recrypts} recrypts");
    assert!(recrypts > 10);
}

#[test]
fn chains_of_products_and_recrypts_stay_correct() {
    let (client, server) = keys("ci-15", 7);
    let evaluator = evaluator(&server, RecryptMethod::FullFft);
    let encryptor = encryptor(server.public(), EncryptMethod::TwoLevel);
    let mut rng = server.public().encryption_rng(7).unwrap();
    let mut fresh = |bit| evaluator.recrypt(&encryptor.encrypt(bit, &mut rng).unwrap()).unwrap();
    let (mut chain, mut bit) = (fresh(true), true);
    for i in 0..20 {
        // recrypt(r1 r2 + r3)
        let next = evaluator.multiply(&chain, &fresh(i % 3 != 0)).unwrap();
        let next = evaluator.add(&next, &fresh(i % 2 == 0)).unwrap();
        bit = (bit & (i % 3 != 0)) ^ (i % 2 == 0);
        check(&client, &next, bit);
        chain = evaluator.recrypt(&next).unwrap();
        check(&client, &chain, bit);
    }
}

#[test]
fn operations_beyond_the_bound_are_refused() {
    let (client, server) = keys("ci-15", 8);
    let evaluator = evaluator(&server, RecryptMethod::FullFft);
    let encryptor = encryptor(server.public(), EncryptMethod::PartialFft);
    let mut rng = server.public().encryption_rng(8).unwrap();
    let mut power = encryptor.encrypt(true, &mut rng).unwrap();
    let error = loop {
        match evaluator.multiply(&power, &power) {
            Ok(next) => {
                check(&client, &next, true);
                power = next;
            }
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Margin { .. }) && error.to_string().contains("recrypt"), "{error}");
    let noisy = Ciphertext::from_parts(server.public(), power.words().to_vec(), 379.0).unwrap();
    assert!(matches!(evaluator.recrypt(&noisy), Err(Error::Margin { operation: "recryption", .. })));
    let noisy = Ciphertext::from_parts(server.public(), power.words().to_vec(), 1000.0).unwrap();
    assert!(matches!(client.decryptor().unwrap().decrypt(&noisy), Err(Error::Margin { .. })));
    assert!(matches!(evaluator.add(&noisy, &power), Err(Error::Margin { .. })));
}

#[test]
fn objects_of_different_keys_are_refused() {
    let params = Params::named("ci-3").unwrap();
    let error = ClientKey::generate(&params, false, Entropy::System, &Control::default()).unwrap_err();
    assert!(error.to_string().contains("--research"), "{error}");
    let cancel = AtomicBool::new(false);
    let stop = |progress: Progress| {
        cancel.store(progress.stage == Some(Stage::Indicators.name()), Ordering::Relaxed);
    };
    let control = Control { progress: Some(&stop), cancel: Some(&cancel) };
    let client = ClientKey::generate(&params, true, Entropy::System, &control).unwrap();
    assert!(matches!(client.server_key(&control), Err(Error::Cancelled { .. })));

    let (client, server) = keys("ci-3", 1);
    let (_, other) = keys("ci-3", 2);
    let mut rng = other.public().encryption_rng(1).unwrap();
    let foreign = encryptor(other.public(), EncryptMethod::Table).encrypt(true, &mut rng).unwrap();
    let evaluator = evaluator(&server, RecryptMethod::FullFft);
    assert!(matches!(evaluator.recrypt(&foreign), Err(Error::KeyMismatch { .. })));
    assert!(matches!(evaluator.add(&foreign, &foreign), Err(Error::KeyMismatch { .. })));
    assert!(matches!(client.decryptor().unwrap().decrypt(&foreign), Err(Error::KeyMismatch { .. })));

    let error = Encryptor::new(server.public(), EncryptMethod::Table, 1000, Arithmetic::default()).unwrap_err();
    assert!(error.to_string().contains("MiB"), "{error}");
    let large = Params::named("large").unwrap();
    let error = RecryptMethod::PairTable.memory(&large);
    assert!(error > 20 << 30);
    assert_eq!(RecryptMethod::fitting(&large, 12 << 30).unwrap(), RecryptMethod::FullFft);
    assert_eq!(EncryptMethod::fitting(&large, 8 << 30).unwrap(), EncryptMethod::EighthTable);
    assert_eq!(EncryptMethod::fitting(&large, 4 << 30).unwrap(), EncryptMethod::TwoLevel);
    assert!(matches!(RecryptMethod::fitting(&large, 1 << 20), Err(Error::Memory { .. })));

    // Stored material that is invalid.
    let public = server.public();
    let words = public.words();
    assert!(Ciphertext::from_parts(public, vec![0; words + 1], 1.0).is_err());
    assert!(Ciphertext::from_parts(public, public.d().words().to_vec(), 1.0).is_err());
    assert!(Ciphertext::from_parts(public, vec![0; words], f64::NAN).is_err());
    assert!(ServerKey::from_parts(public.clone(), server.x()[1..].to_vec(), server.indicators().to_vec()).is_err());
    assert!(
        ServerKey::from_parts(public.clone(), vec![u64::MAX; server.x().len()], server.indicators().to_vec()).is_err()
    );
    assert!(ClientKey::from_parts(public.clone(), Natural::ZERO).is_err());
    assert!(ClientKey::from_parts(public.clone(), Natural::from(2u64)).is_err());
    // A noise that is too small for this residue.
    assert!(Ciphertext::from_parts(public, public.r().words().to_vec(), 2.0).is_err());
    assert!(Ciphertext::from_parts(public, vec![0; words], 0.0).is_ok());
    assert!(ClientKey::from_parts(public.clone(), public.d().clone()).is_err());
    assert!(PublicKey::from_parts(params.clone(), false, public.d() << 1, public.r().clone()).is_err());
    assert!(PublicKey::from_parts(params.clone(), false, Natural::from(15u64), Natural::one()).is_err());

    // The same numbers with the mark "secure" are another key, which refuses a chosen seed.
    let secure = PublicKey::from_parts(params, false, public.d().clone(), public.r().clone()).unwrap();
    assert_ne!(secure.id(), public.id());
    assert_eq!(secure.encryption_rng(1).err(), Some(Error::ChosenSeed));
    let draw = |public: &PublicKey| public.encryption_rng(None).unwrap().next_u64();
    assert!(draw(&secure) != draw(&secure) && draw(public) != draw(public));
    assert_eq!(
        &ServerKey::from_parts(public.clone(), server.x().to_vec(), server.indicators().to_vec()).unwrap(),
        &server
    );
    assert!(!format!("{client:?}").contains(&client.w().to_string()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn linear_decryption_agrees_with_the_exact_product(seed in any::<u64>()) {
        // Any residue, not only a ciphertext: its fraction can have any value.
        let (client, server) = keys("ci-3", 9);
        let d = server.public().d();
        let words = Natural::random_below(d, &mut SecretSeed::insecure(seed).stream(0)).unwrap();
        let mut words = words.into_words();
        words.resize(server.public().words(), 0);
        let any = Ciphertext::from_parts(server.public(), words, noise::fresh(server.params())).unwrap();
        let decryptor = client.decryptor().unwrap();
        prop_assert_eq!(decryptor.decrypt(&any).unwrap(), decryptor.decrypt_exact(&any).unwrap());
    }
}
