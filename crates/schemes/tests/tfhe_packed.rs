//! Packed compact results of TFHE: values, noise of every step against the formulas, bounds, and equal bytes everywhere.

#![allow(clippy::unwrap_used, reason = "tests")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::Backend;
use solinas_field::solinas::P;
use solinas_schemes::tfhe::{
    ClientKey, LweCiphertext, Masks, PackedBits, PackedCiphertexts, Packer, PackingKey, Params, ShortCiphertexts,
    encode_bool, encode_value, noise,
};
use solinas_schemes::{Control, Entropy, Error};

fn client(name: &str) -> ClientKey {
    ClientKey::generate(&Params::named(name).unwrap(), true, Entropy::Insecure(23), &Control::default()).unwrap()
}

fn packer(client: &ClientKey) -> Packer {
    Packer::new(&client.packing_key().unwrap()).unwrap()
}

fn message(params: &Params, value: u32) -> u32 {
    if params.message_modulus() == 2 { encode_bool(value == 1) } else { encode_value(value) }
}

/// Values and their ciphertexts, with additional noise of that variance.
fn noisy(client: &ClientKey, count: usize, seed: u64, variance: f64) -> (Vec<u32>, Vec<LweCiphertext>) {
    let params = client.params();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<u32> = (0..count).map(|_| rng.next_u32() % params.message_modulus()).collect();
    let short = client.encrypt_short(&values, &mut rng).unwrap();
    let ciphertext = |index| {
        // Normal noise as the sum of twelve uniform numbers.
        let normal: f64 = (0..12).map(|_| f64::from(rng.next_u32()) / 2f64.powi(32)).sum::<f64>() - 6.0;
        let noise = (normal * variance.sqrt() * 2f64.powi(32)) as i64 as u32;
        LweCiphertext::linear(params.big_dimension(), &[(1, &short.expand(index))], noise).unwrap()
    };
    (values, (0..count).map(ciphertext).collect())
}

/// Square of an error of a phase, in squared turns.
fn square(error: u32) -> f64 {
    (f64::from(error as i32) / 2f64.powi(32)).powi(2)
}

#[track_caller]
fn assert_within(what: &str, got: f64, formula: f64, tolerance: f64) {
    println!("{what}: measured 2^{:.3}, formula 2^{:.3}, ratio {:.3}", got.log2(), formula.log2(), got / formula);
    assert!((got / formula - 1.0).abs() < tolerance, "{what}: variance {got:e}, formula {formula:e}");
}

#[test]
fn bits_are_the_fewest_that_keep_the_failure_probability() {
    let bits = |mask, body| PackedBits { mask, body };
    for (name, want) in [
        ("integers-128", bits(13, 9)),
        ("integers-64", bits(12, 11)),
        ("integers-40", bits(12, 8)),
        ("gates-128", bits(10, 6)),
        ("gates-64", bits(9, 6)),
        ("gates-40", bits(9, 5)),
    ] {
        let params = Params::named(name).unwrap();
        let found = params.packed_bits();
        let weight = params.max_weight();
        let failure = noise::log2_two_tails(noise::margin(&params) / noise::packed(&params, found, weight).sqrt());
        println!(
            "{name}: {found:?}, log2 p = {failure:.1}, packing 2^{:.1}",
            noise::packing(&params, params.packing_levels()).log2()
        );
        assert_eq!(found, want, "{name}");
        assert!(failure <= params.log2_failure(), "{name}: 2^{failure}");
        for fewer in [bits(found.mask - 1, 16), bits(found.mask, found.body - 1)] {
            assert!(noise::packed(&params, fewer, weight) > noise::decision(&params, weight), "{name}: {fewer:?}");
        }
    }
}

/// The sets for tests; all others in a long run.
#[test]
fn packed_results_decrypt_in_groups_of_every_size_and_in_slices() {
    for name in if solinas_testing::is_long() { Params::names() } else { Params::test_names() } {
        let client = client(&name);
        let packer = packer(&client);
        let n = client.params().literal().ring_dimension;
        let (values, ciphertexts) = noisy(&client, n, 4, 0.0);
        for count in [1, 2, 3, 5, 16, 33, n - 1, n] {
            let packed = packer.pack(&ciphertexts[..count]).unwrap();
            let decrypted: Vec<u32> = (0..count).map(|i| client.decrypt_packed(&packed, i)).collect();
            assert_eq!(decrypted, values[..count], "{name}, {count} blocks");
            assert_eq!((packed.len(), packed.mask().len()), (count, client.params().big_dimension()));
            let slice = packed.slice(count / 2, count - count / 2);
            let stored = PackedCiphertexts::from_parts(
                client.params(),
                slice.mask().to_vec(),
                slice.first(),
                slice.bodies().to_vec(),
            );
            assert_eq!(stored.unwrap(), slice);
            for (i, &value) in values[count / 2..count].iter().enumerate() {
                assert_eq!(client.decrypt_packed(&slice, i), value, "{name}, block {i} of a slice of {count}");
            }
        }
    }
}

#[test]
fn bytes_depend_neither_on_threads_nor_on_back_ends() {
    for name in ["integers-40", "gates-40"] {
        let client = client(name);
        let key = client.packing_key().unwrap();
        assert!(key == client.packing_key().unwrap(), "a client key has one packing key");
        let (_, ciphertexts) = noisy(&client, 37, 5, 0.0);
        let want = packer(&client).pack(&ciphertexts).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| packer(&client).pack(&ciphertexts)).unwrap() == want, "{name}, {threads} threads");
        }
        for backend in solinas_testing::back_ends(Backend::available()) {
            let packer = Packer::with_backend(&key, backend).unwrap();
            assert!(packer.pack(&ciphertexts).unwrap() == want, "{name}, {backend:?}");
        }
    }
}

/// Phases of the messages of a GLWE ciphertext.
fn phases(client: &ClientKey, glwe: &[u32], count: usize) -> Vec<u32> {
    let n = client.params().literal().ring_dimension;
    let (mask, bodies) = glwe.split_at(client.params().big_dimension());
    let all = ShortCiphertexts::from_parts(client.params(), Masks::Glwe(mask.to_vec()), 0, bodies.to_vec()).unwrap();
    let place = |i: usize| (0..n.ilog2()).fold(0, |place, bit| place << 1 | i >> bit & 1);
    (0..count).map(|i| client.phase(&all.expand(place(i))).unwrap()).collect()
}

#[test]
fn every_step_has_the_noise_of_its_formula() {
    for name in ["integers-128", "gates-128"] {
        let client = client(name);
        let params = client.params().clone();
        let packer = packer(&client);
        let n = params.literal().ring_dimension;
        let ones = client.glwe_bits().iter().map(|&bit| f64::from(bit)).sum();
        let weight = noise::bootstrap(&params) * params.max_weight();
        for (count, groups) in [(n, 8192 / n), (64, 100)] {
            let (mut packing, mut rounding, mut total) = (0.0, 0.0, 0.0);
            for group in 0..groups {
                let (values, ciphertexts) = noisy(&client, count, group as u64, weight);
                let packed = packer.pack(&ciphertexts).unwrap();
                let merged = phases(&client, &packer.merge(&ciphertexts).unwrap(), count);
                for (i, &merged) in merged.iter().enumerate() {
                    let rounded = client.packed_phase(&packed, i);
                    packing += square(merged.wrapping_sub(client.phase(&ciphertexts[i]).unwrap()));
                    rounding += square(rounded.wrapping_sub(merged));
                    total += square(rounded.wrapping_sub(message(&params, values[i])));
                }
            }
            let (samples, bits) = ((count * groups) as f64, params.packed_bits());
            // 8192 and 6400 samples: a variance errs by 1.6% and 1.8%. That of packing errs by 2.2% more, because the noise of a
            // key has 4096 words of the lowest level.
            let what = |step: &str| format!("{name}, {count} blocks, {step}");
            let formula = noise::packing_of_key(&params, count.ilog2(), ones);
            assert_within(&what("packing"), packing / samples, formula, 0.1);
            let rounded = noise::packed_rounding(&params, bits);
            assert_within(&what("rounding"), rounding / samples, rounded, 0.05);
            assert_within(&what("total"), total / samples, weight + formula + rounded, 0.05);
        }
    }
}

/// Decrypts `count` results of the largest noise that a set allows, and compares their noise with the formula.
fn check_results(name: &str, count: usize) {
    let client = client(name);
    let params = client.params().clone();
    let packer = packer(&client);
    let n = params.literal().ring_dimension;
    let weight = noise::bootstrap(&params) * params.max_weight();
    let (mut done, mut sum, mut largest) = (0, 0.0, 0.0f64);
    while done < count {
        let (values, ciphertexts) = noisy(&client, n, 100 + done as u64, weight);
        let packed = packer.pack(&ciphertexts).unwrap();
        for (i, &value) in values.iter().enumerate() {
            assert_eq!(client.decrypt_packed(&packed, i), value);
            let error = square(client.packed_phase(&packed, i).wrapping_sub(message(&params, value)));
            (sum, largest) = (sum + error, largest.max(error));
        }
        done += n;
    }
    println!("{name}: {done} blocks, largest error {:.3} of the margin", largest.sqrt() / noise::margin(&params));
    assert_within(name, sum / done as f64, noise::packed(&params, params.packed_bits(), params.max_weight()), 0.05);
}

#[test]
fn packed_results_of_the_largest_noise_are_right() {
    for name in ["integers-128", "gates-128"] {
        check_results(name, solinas_testing::rounds(6000, 100_000));
    }
}

#[test]
fn wrong_parts_are_refused() {
    let client = client("integers-40");
    let params = client.params().clone();
    let packer = packer(&client);
    let (n, bits) = (params.literal().ring_dimension, params.packed_bits());
    let short = LweCiphertext::from_words(vec![0; 7]);
    assert!(matches!(packer.pack(&[short]), Err(Error::CiphertextLength { got: 7, want: 2049 })));
    assert!(matches!(packer.pack(&[]), Err(Error::Dimension { got: 0, .. })));
    let trivial = LweCiphertext::trivial(params.big_dimension(), 0);
    assert!(matches!(packer.pack(&vec![trivial; n + 1]), Err(Error::Dimension { .. })));

    let packed = |mask: Vec<u16>, first, bodies: Vec<u16>| PackedCiphertexts::from_parts(&params, mask, first, bodies);
    let most = |bits: u32| ((1u32 << bits) - 1) as u16;
    assert!(packed(vec![most(bits.mask); n], n - 1, vec![most(bits.body)]).is_ok());
    assert!(matches!(packed(vec![0; n - 1], 0, vec![0]), Err(Error::CiphertextLength { .. })));
    for (first, count) in [(0, 0), (n, 1), (n - 1, 2), (usize::MAX, 1)] {
        assert!(matches!(packed(vec![0; n], first, vec![0; count]), Err(Error::Dimension { .. })), "{first}, {count}");
    }
    assert!(matches!(packed(vec![1 << bits.mask; n], 0, vec![0]), Err(Error::Range { index: 0, .. })));
    assert!(matches!(packed(vec![0; n], 0, vec![0, 1 << bits.body]), Err(Error::Range { index: 1, .. })));

    let len = PackingKey::len(&params);
    let key = |bodies| PackingKey::from_parts(params.clone(), [0; 32], false, None, bodies);
    assert!(matches!(key(vec![0; len - 1]), Err(Error::KeyLength { .. })));
    let mut bodies = vec![P - 1; len];
    assert!(key(bodies.clone()).is_ok());
    bodies[len - 1] = P;
    assert!(matches!(key(bodies), Err(Error::Range { .. })));
}
