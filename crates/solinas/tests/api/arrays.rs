//! Encrypted arrays: elements, reductions, public operands, slots.

use crate::{keys, slots};
use solinas::{EncryptedArray, ErrorKind, Mod};

#[test]
fn scalars_that_arrays_need_are_computed_once() {
    let (client, _, server) = keys();
    let x = client.encrypt([1u8, 2, 200]).unwrap();
    let k = client.encrypt(3u8).unwrap();
    let offset = &k * &k;
    let count = |prepared: solinas::Prepared<_>| prepared.count().unwrap().bootstraps;
    let y = (&x + &offset).gt(20).select(&x, &offset);
    let both = server.prepare((&y, &offset)).unwrap();
    let alone = server.prepare(&k * &k).unwrap().count().unwrap().bootstraps;
    let each = server.prepare((&x + &k).gt(20).select(&x, &k)).unwrap().count().unwrap().bootstraps;
    assert_eq!(both.count().unwrap().bootstraps, alone + each);
    let (y, offset) = both.run().unwrap();
    assert_eq!(client.decrypt((&y, &offset)).unwrap(), (vec![9, 9, 200], 9));
    assert_eq!(count(server.prepare(vec![y]).unwrap()), 0);
}

#[test]
fn elements_of_expressions_are_computed_and_rearranged() {
    let (client, _, server) = keys();
    let (x, y) = (client.encrypt([1u8, 2, 200]).unwrap(), client.encrypt(vec![4u8, 5, 6]).unwrap());
    let squares = &x * &x;
    let parts = (
        (squares.sum(), x.dot(&y), x.dot([1, 2, 3])),
        (x.rotate_left(1), squares.slice(1..).unwrap(), squares.get(1).unwrap() + 1),
        (x.min().unwrap(), (&x - 1).max().unwrap(), x.minimum(&y), x.maximum(3)),
        x.iter().rev().collect::<EncryptedArray<u8>>(),
    );
    let got = client.decrypt(server.run(&parts).unwrap()).unwrap();
    let want = (
        ((1 + 4 + 40_000 % 256) as u8, (4 + 10 + 1200 % 256) as u8, (1 + 4 + 600 % 256) as u8),
        (vec![2, 200, 1], vec![4, 64], 5),
        (1, 199, vec![1, 2, 6], vec![3, 3, 200]),
        vec![200, 2, 1],
    );
    assert_eq!(got, want);
    assert_eq!((squares.len(), x.rotate_left(-1).len(), squares.slice(..=1).unwrap().len()), (3, 3, 2));
    let none = client.encrypt(Vec::<u8>::new()).unwrap();
    assert!(none.is_empty() && none.min().is_none() && none.rotate_left(5).is_empty());
    assert_eq!(client.decrypt(server.run(none.sum()).unwrap()).unwrap(), 0);
    for empty in [x.slice(1..1).unwrap(), EncryptedArray::from_iter([])] {
        let error = server.run(empty).unwrap_err();
        assert!(error.kind() == ErrorKind::Shape && error.to_string().contains("this array is empty"), "{error}");
    }
    let (client, server) = slots();
    let none = client.encrypt(Vec::<Mod<65537>>::new()).unwrap();
    assert_eq!(client.decrypt(server.run(none.sum()).unwrap()).unwrap(), Mod(0));
}

#[test]
fn operators_go_element_by_element_with_arrays_scalars_and_public_values() {
    let (client, _, server) = keys();
    let x = client.encrypt([3i8, -4]).unwrap();
    let k = client.encrypt(2i8).unwrap();
    let mut shifted = x.clone();
    shifted <<= 1;
    let (sums, negated, signs, chosen) =
        server.run((&x + &k - 1, 0 - &x * [5, 6], x.lt(0).cast::<u8>(), x.gt(&k).select(&shifted, x.abs()))).unwrap();
    assert_eq!(client.decrypt((sums, negated)).unwrap(), (vec![4, -3], vec![-15, 24]));
    assert_eq!(client.decrypt((signs, chosen)).unwrap(), (vec![0, 1], vec![6, 4]));
    let bits = client.encrypt(&[true, false]).unwrap();
    assert_eq!(client.decrypt(server.run(!bits.ne([true, true])).unwrap()).unwrap(), [true, false]);
    let table: Vec<u8> = (0..=255).rev().collect();
    let looked = client.encrypt([0u8, 9]).unwrap().lookup(&table).unwrap();
    assert_eq!(client.decrypt(server.run(looked).unwrap()).unwrap(), [255, 246]);
}

#[test]
fn arrays_of_several_lengths_are_computed_in_one_call() {
    let (client, _, server) = keys();
    let (x, y) = (client.encrypt([1u8, 2, 3]).unwrap(), client.encrypt([10u8, 20]).unwrap());
    let (a, b) = server.run((&x + 1, &y + x.sum())).unwrap();
    assert_eq!(client.decrypt((a, b)).unwrap(), (vec![2, 3, 4], vec![16, 26]));
    let error = server.run(&x + &y).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(error.to_string().contains("add at node 2 does not take shapes [3], [2]"), "{error}");
    assert_eq!(server.prepare(&x * [1, 2]).unwrap_err().kind(), ErrorKind::Shape);
    // An array of one element goes with every element.
    let sum = &y.slice(1..).unwrap() + &x;
    assert_eq!((sum.len(), client.decrypt(server.run(sum).unwrap()).unwrap()), (3, vec![21, 22, 23]));
}

#[test]
fn elements_that_do_not_exist_are_refused() {
    let (client, ..) = keys();
    let x = client.encrypt([1u8, 2, 3]).unwrap();
    assert_eq!(x.get(3).unwrap_err().kind(), ErrorKind::Element);
    for range in [(0, 4), (3, 2), (4, 4)] {
        assert_eq!(x.slice(range.0..range.1).unwrap_err().kind(), ErrorKind::Element);
    }
    assert_eq!(x.slice(0..=usize::MAX).unwrap_err().kind(), ErrorKind::Element);
}

#[test]
fn slots_are_summed_and_rotated() {
    type Z = Mod<65537>;
    let (client, server) = slots();
    let values: Vec<Z> = (1..=100).map(Mod).collect();
    let x = client.encrypt(&values).unwrap();
    let weights: Vec<Z> = (0..100).map(|i| Mod(i % 2)).collect();
    let work = (x.sum(), x.dot(&x), x.dot(&weights), x.rotate_left(1) * Mod(2));
    let prepared = server.prepare(&work).unwrap();
    assert!(prepared.count().unwrap().rotations > 0);
    let (sum, dot, weighted, turned) = prepared.run().unwrap();
    assert_eq!(client.decrypt((sum, dot, weighted)).unwrap(), (Mod(5050), Mod(338_350 % 65537), Mod(2550)));
    let turned = client.decrypt(turned).unwrap();
    assert_eq!((turned[0], turned[99]), (Mod(4), Mod(2)));
    let product = server.run((&x * &x) * (&x * &x) * &x * &x * &x).unwrap_err();
    assert_eq!(product.kind(), ErrorKind::Noise, "{product}");
}

#[test]
fn slots_of_different_lengths_share_a_computation() {
    type Z = Mod<65537>;
    let (client, server) = slots();
    let array = |len: u32| client.encrypt((1..=len).map(Mod).collect::<Vec<Z>>()).unwrap();
    let (x, y, z) = (array(3), array(5), client.encrypt(Mod::<65537>(7)).unwrap());
    let work = (&x + &x, &y * x.sum(), x.sum() + y.sum(), (x.sum() + &z) * &z);
    assert!(server.prepare(&work).unwrap().count().unwrap().rotations > 0);
    let (double, scaled, sum, product) = server.run(work).unwrap();
    assert_eq!(client.decrypt(double).unwrap(), [2, 4, 6].map(Mod));
    assert_eq!(client.decrypt(scaled).unwrap(), [6, 12, 18, 24, 30].map(Mod));
    assert_eq!(client.decrypt((sum, product)).unwrap(), (Mod(21), Mod(91)));
    let error = server.run(&x + &array(1)).unwrap_err();
    assert!(error.kind() == ErrorKind::Element && error.to_string().contains("share ciphertexts"), "{error}");
}
