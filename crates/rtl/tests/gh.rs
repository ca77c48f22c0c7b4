//! The accelerator against the scheme on the CPU.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use solinas_bigint::Natural;
use solinas_rtl::gh::Accelerator;
use solinas_rtl::{Error, Timing};
use solinas_schemes::gh::{
    Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Evaluator, Noise, Params, RecryptMethod, ServerKey,
    noise,
};
use solinas_schemes::{Control, Entropy};
use tools::figures;

const MEMORY: u64 = 1 << 34;

fn keys(name: &str) -> (ClientKey, ServerKey) {
    let params = Params::named(name).unwrap();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

fn accelerator(server: &ServerKey, stalls: u8) -> Option<Accelerator> {
    tools::or_skip(Accelerator::new(server.public(), Timing { latency: 9, stalls }, &mut |_| {}))
}

/// Random ciphertexts, and the residues 0, 1 and d - 1.
fn residues(server: &ServerKey) -> Vec<Natural> {
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::PartialFft, MEMORY, Arithmetic::default()).unwrap();
    let mut rng = public.encryption_rng(Some(7)).unwrap();
    let mut all: Vec<Natural> = [false, true, true]
        .iter()
        .map(|&bit| Natural::from_words(encryptor.encrypt(bit, &mut rng).unwrap().words().to_vec()))
        .collect();
    all.extend([Natural::ZERO, Natural::one(), public.d().checked_sub(&Natural::one()).unwrap()]);
    all
}

#[test]
fn products_equal_those_of_the_library() {
    let (_, server) = keys("ci-15");
    for stalls in [0, 90] {
        let Some(accelerator) = accelerator(&server, stalls) else { return };
        let all = residues(&server);
        for (i, x) in all.iter().enumerate() {
            for y in all.iter().skip(i).step_by(2) {
                let (product, cost) = accelerator.multiply(x, y).unwrap();
                assert!(product == (x * y).rem(server.public().d()).unwrap(), "{cost:?}");
            }
        }
    }
}

#[test]
fn encryptions_equal_those_of_the_library_and_decrypt() {
    let (client, server) = keys("ci-15");
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::Table, MEMORY, Arithmetic::default()).unwrap();
    for stalls in [0, 90] {
        let Some(mut accelerator) = accelerator(&server, stalls) else { return };
        accelerator.load_powers(&encryptor).unwrap();
        let mut cycles = Vec::new();
        for i in 0..4 {
            let bit = i % 2 == 1;
            // The encryptor draws the same noise from the same generator.
            let mut rng = public.encryption_rng(Some(i)).unwrap();
            let want = encryptor.encrypt(bit, &mut rng).unwrap();
            let noise = Noise::draw(public.params(), &mut public.encryption_rng(Some(i)).unwrap());
            let (ciphertext, cost) = accelerator.encrypt(bit, &noise).unwrap();
            assert!(ciphertext == Natural::from_words(want.words().to_vec()), "encryption {i}: {cost:?}");
            cycles.push(cost.cycles);
            assert_eq!(accelerator.decrypt(&client, &ciphertext).unwrap().0, bit, "decryption {i}");
        }
        assert!(stalls > 0 || cycles.windows(2).all(|pair| pair[0] == pair[1]), "{cycles:?}");
    }
}

#[test]
fn recrypts_equal_those_of_the_library() {
    recrypts(&[("ci-3", 0, 2), ("ci-7", 40, 1)]);
}

// `make rtl` runs this test.
#[test]
#[ignore = "takes half a minute"]
fn long_recrypts_equal_those_of_the_library() {
    recrypts(&[("ci-15", 0, 1), ("ci-15", 70, 1)]);
}

/// Recryptions by parameter set, share of stalls and number.
fn recrypts(cases: &[(&str, u8, usize)]) {
    for &(name, stalls, count) in cases {
        let (_, server) = keys(name);
        let public = server.public();
        let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, MEMORY, Arithmetic::default()).unwrap();
        let Some(mut accelerator) = accelerator(&server, stalls) else { return };
        accelerator.load_server_key(&server, &evaluator).unwrap();
        for x in &residues(&server)[1..][..count] {
            let mut words = x.words().to_vec();
            words.resize(public.words(), 0);
            let ciphertext = Ciphertext::from_parts(public, words, noise::fresh(public.params())).unwrap();
            let want = evaluator.recrypt(&ciphertext).unwrap();
            let (result, cost) = accelerator.recrypt(x).unwrap();
            println!("{name}: {cost:?}");
            assert!(result.unwrap() == Natural::from_words(want.words().to_vec()), "{name}: {cost:?}");
        }
    }
}

#[test]
fn a_reset_in_the_middle_of_a_primitive_leaves_nothing_behind() {
    let (client, server) = keys("ci-3");
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::Table, MEMORY, Arithmetic::default()).unwrap();
    let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, MEMORY, Arithmetic::default()).unwrap();
    let Some(mut accelerator) = accelerator(&server, 40) else { return };
    accelerator.load_powers(&encryptor).unwrap();
    accelerator.load_server_key(&server, &evaluator).unwrap();
    let noise = Noise::draw(public.params(), &mut public.encryption_rng(Some(1)).unwrap());
    let want = encryptor.encrypt(true, &mut public.encryption_rng(Some(1)).unwrap()).unwrap();
    let recrypted = evaluator
        .recrypt(&Ciphertext::from_parts(public, want.words().to_vec(), noise::fresh(public.params())).unwrap())
        .unwrap();
    let [want, recrypted] = [&want, &recrypted].map(|ciphertext| Natural::from_words(ciphertext.words().to_vec()));
    // Each primitive is right, and takes the stated number of cycles.
    let primitives: [&dyn Fn() -> Result<u64, Error>; 4] = [
        &|| accelerator.encrypt(true, &noise).map(|(ciphertext, cost)| (assert!(ciphertext == want), cost.cycles).1),
        &|| accelerator.decrypt(&client, &want).map(|(bit, cost)| (assert!(bit), cost.cycles).1),
        &|| accelerator.recrypt(&want).map(|(result, cost)| (assert!(result.unwrap() == recrypted), cost.cycles).1),
        &|| {
            let product = accelerator.multiply(&want, &recrypted);
            product.map(|(x, cost)| (assert!(x == (&want * &recrypted).rem(public.d()).unwrap()), cost.cycles).1)
        },
    ];
    for primitive in primitives {
        accelerator.set_limit(1 << 22);
        let cycles = primitive().unwrap();
        for i in 0..4 {
            accelerator.set_limit(1 + cycles * i / 4);
            assert!(matches!(primitive(), Err(Error::Stuck { .. })));
            accelerator.set_limit(1 << 22);
            primitive().unwrap();
        }
    }
}

/// Cycles of the paper (`doroz2015` table 3, at 666 MHz: units of 98,304 cycles).
const PAPER: [(&str, f64); 3] = [("Decrypt", 10.8e6), ("Encrypt", 12.1e6), ("Recrypt", 2075e6)];

fn report(what: &str, cost: solinas_rtl::gh::PrimitiveCost) {
    let paper = PAPER.iter().find(|(name, _)| *name == what).map_or(0.0, |(_, cycles)| *cycles);
    println!(
        "small, {what}: {} cycles (paper {:.1}M, 1/{:.0}), {:.1} MB read, {:.1} MB written",
        cost.cycles,
        paper / 1e6,
        paper / cost.cycles as f64,
        cost.read_bytes as f64 / 1e6,
        cost.written_bytes as f64 / 1e6
    );
    let values = [("cycles", cost.cycles), ("read_bytes", cost.read_bytes), ("written_bytes", cost.written_bytes)];
    figures::record(&["gh", &what.to_lowercase()], &values);
}

// `make rtl` runs this test.
#[test]
#[ignore = "builds and runs the full accelerator, for minutes"]
fn small_encrypts_and_decrypts_as_the_library_does() {
    let (client, server) = keys("small");
    let public = server.public();
    let encryptor = Encryptor::new(public, EncryptMethod::Table, MEMORY, Arithmetic::default()).unwrap();
    let Some(mut accelerator) = accelerator(&server, 0) else { return };
    accelerator.load_powers(&encryptor).unwrap();
    for i in 0..4 {
        let bit = i % 2 == 1;
        let want = encryptor.encrypt(bit, &mut public.encryption_rng(Some(i)).unwrap()).unwrap();
        let noise = Noise::draw(public.params(), &mut public.encryption_rng(Some(i)).unwrap());
        let (ciphertext, cost) = accelerator.encrypt(bit, &noise).unwrap();
        assert!(ciphertext == Natural::from_words(want.words().to_vec()), "encryption {i}: {cost:?}");
        report("Encrypt", cost);
        let (decrypted, cost) = accelerator.decrypt(&client, &ciphertext).unwrap();
        assert_eq!(decrypted, bit, "decryption {i}");
        report("Decrypt", cost);
    }
    let all = residues(&server);
    for (x, y) in all.iter().zip(all.iter().rev()) {
        let (product, cost) = accelerator.multiply(x, y).unwrap();
        assert!(product == (x * y).rem(public.d()).unwrap(), "{cost:?}");
        report("Product", cost);
    }
}

// `make rtl` runs this test.
#[test]
#[ignore = "simulates 20 million cycles of the full accelerator"]
fn small_recrypts_as_the_library_does() {
    let (_, server) = keys("small");
    let public = server.public();
    let evaluator = Evaluator::new(&server, RecryptMethod::PairTable, MEMORY, Arithmetic::default()).unwrap();
    let Some(mut accelerator) = accelerator(&server, 0) else { return };
    accelerator.load_server_key(&server, &evaluator).unwrap();
    let x = &residues(&server)[1];
    let mut words = x.words().to_vec();
    words.resize(public.words(), 0);
    let ciphertext = Ciphertext::from_parts(public, words, noise::fresh(public.params())).unwrap();
    let want = evaluator.recrypt(&ciphertext).unwrap();
    let (result, cost) = accelerator.recrypt(x).unwrap();
    report("Recrypt", cost);
    assert!(result.unwrap() == Natural::from_words(want.words().to_vec()), "{cost:?}");
}
