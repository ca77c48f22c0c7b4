//! Expressions of scalars, arrays of several lengths, elements, stacks, circuits and reductions, which run as one program.

use crate::circuits::circuit;
use crate::keys;
use proptest::prelude::*;
use solinas::{Control, Encrypted, EncryptedArray, Progress, Server, Type, keygen};
use std::sync::Mutex;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn mixed_expressions_equal_plain_ones(a: u8, k: u8, x: [u8; 5], y: [u8; 3]) {
        let (client, _, server) = keys();
        let weights = [3u8, 0, 200];
        let add = circuit("add", &[Type::Uint(8); 2]);
        let (ea, ek) = (client.encrypt(a).unwrap(), client.encrypt(k).unwrap());
        let (ex, ey) = (client.encrypt(x).unwrap(), client.encrypt(y).unwrap());
        let products = &ex * &ek;
        let total = products.sum();
        let mixed = products.slice(1..4).unwrap() + &ey * weights;
        let sum: Encrypted<u8> = add.call((mixed.get(2).unwrap(), &ea)).unwrap();
        let stack: EncryptedArray<u8> = [ex.get(4).unwrap(), total.clone(), &ea ^ &ek].into_iter().collect();
        let work = (
            (mixed.rotate_left(-1) - &sum, &stack + &ey, mixed.max().unwrap()),
            total.lt(&sum).select(&ea, stack.min().unwrap()),
            mixed.iter().rev().collect::<EncryptedArray<_>>(),
        );
        let prepared = server.prepare(&work).unwrap();
        let count = prepared.count().unwrap();
        let last = Mutex::new((0, 0));
        let report = |progress: Progress| *last.lock().unwrap() = (progress.done, progress.total);
        let control = Control { progress: Some(&report), ..Control::default() };
        let results = prepared.run_with(&control).unwrap();
        prop_assert_eq!(*last.lock().unwrap(), (count.bootstraps, count.bootstraps));

        let products = x.map(|x| x.wrapping_mul(k));
        let total = products.iter().fold(0u8, |sum, value| sum.wrapping_add(*value));
        let mixed: Vec<u8> =
            (0..3).map(|i| products[i + 1].wrapping_add(y[i].wrapping_mul(weights[i]))).collect();
        let sum = mixed[2].wrapping_add(a);
        let stack = [x[4], total, a ^ k];
        let turned: Vec<u8> = [2, 0, 1].map(|i: usize| mixed[i].wrapping_sub(sum)).into();
        let stacked: Vec<u8> = (0..3).map(|i| stack[i].wrapping_add(y[i])).collect();
        let chosen = if total < sum { a } else { *stack.iter().min().unwrap() };
        let reversed: Vec<u8> = mixed.iter().rev().copied().collect();
        let want = ((turned, stacked, *mixed.iter().max().unwrap()), chosen, reversed);
        prop_assert_eq!(client.decrypt(results).unwrap(), want);
        // The results are kept.
        prop_assert_eq!(server.prepare(&work).unwrap().count().unwrap().bootstraps, 0);
    }
}

#[test]
fn moves_of_ciphertexts_and_public_values_take_no_bootstraps() {
    let (client, _, server) = keys();
    let x = client.encrypt([1u8, 2, 3]).unwrap();
    let zero: Encrypted<u8> = Vec::<Encrypted<u8>>::new().into_iter().sum();
    let stack: EncryptedArray<u8> = x.iter().chain([zero]).collect();
    let prepared = server.prepare((x.rotate_left(1), stack, x.get(2).unwrap(), &x)).unwrap();
    assert_eq!(prepared.count().unwrap().bootstraps, 0);
    let results = prepared.run().unwrap();
    assert_eq!(client.decrypt(results).unwrap(), (vec![2, 3, 1], vec![1, 2, 3, 0], 3, vec![1, 2, 3]));
}

#[test]
fn elements_of_a_computed_stack_are_not_computed_again() {
    let (client, _, server) = keys();
    let a = client.encrypt(5u8).unwrap();
    let stack: EncryptedArray<u8> = [&a * &a, a.clone()].into_iter().collect();
    server.run(&stack).unwrap();
    let prepared = server.prepare((stack.get(0).unwrap(), stack.slice(..1).unwrap())).unwrap();
    assert_eq!(prepared.count().unwrap().bootstraps, 0);
    assert_eq!(client.decrypt(prepared.run().unwrap()).unwrap(), (25, vec![25]));
}

#[test]
fn arrays_of_several_dimensions_keep_them() {
    let (client, _, server) = keys();
    let x = client.encrypt([1u8, 2, 3, 4, 5, 6]).unwrap();
    let x = EncryptedArray::<u8>::from_ciphertext(x.ciphertext().unwrap().reshape(Some(vec![2, 3])).unwrap()).unwrap();
    let (more, rows) = (&x + 1, &x + [10, 20, 30]);
    assert_eq!((more.len(), rows.len()), (6, 6));
    let parts = (x.sum(), more.get(4).unwrap(), x.slice(2..4).unwrap(), x.rotate_left(1));
    let (more, rows, parts) = server.run((more, rows, parts)).unwrap();
    assert_eq!(more.ciphertext().unwrap().shape(), Some(&[2, 3][..]));
    assert_eq!(client.decrypt((more, rows)).unwrap(), (vec![2, 3, 4, 5, 6, 7], vec![11, 22, 33, 14, 25, 36]));
    assert_eq!(client.decrypt(parts).unwrap(), (21, 6, vec![3, 4], vec![2, 3, 4, 5, 6, 1]));
}

#[test]
fn schemes_of_bits_run_mixed_expressions_too() {
    let (client, key) = keygen("gh").params("toy").research().insecure_seed(1).run().unwrap();
    let server = Server::new(&key).unwrap();
    let (x, a) = (client.encrypt([1u8, 3, 2]).unwrap(), client.encrypt(3u8).unwrap());
    let masked = &x & &a;
    let stack: EncryptedArray<u8> = [masked.get(1).unwrap() ^ &a, a.clone()].into_iter().collect();
    let results = server.run((x.max().unwrap(), masked.rotate_left(1) ^ [1, 2, 3], stack)).unwrap();
    assert_eq!(client.decrypt(results).unwrap(), (3, vec![2, 0, 2], vec![0, 3]));
}

#[test]
fn a_private_program_hides_each_result_anew() {
    let (client, _, server) = keys();
    let (a, x) = (client.encrypt(5u8).unwrap(), client.encrypt([1u8, 2, 3]).unwrap());
    let (sum, double) = (x.sum(), &a + &a);
    let private = |values: Vec<&Encrypted<u8>>| {
        let prepared = server.prepare(values).unwrap().private_program();
        let count = prepared.count().unwrap().bootstraps;
        let results = prepared.run().unwrap();
        assert_ne!(results[0].to_bytes().unwrap(), results[1].to_bytes().unwrap());
        (count, client.decrypt(results).unwrap())
    };
    let (known, values) = private(vec![&a, &a]);
    assert_eq!(values, [5, 5]);
    let (of_one_step, values) = private(vec![&double, &double]);
    assert_eq!(values, [10, 10]);
    let (of_several, values) = private(vec![&a, &sum, &sum]);
    assert_eq!(values, [5, 6, 6]);
    assert!(0 < known && known < of_one_step && known < of_several);
}
