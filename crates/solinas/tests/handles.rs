//! Typed handles against plain Rust arithmetic, without encryption (recorded programs) and with it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use solinas::{
    ClientKey, Control, Encrypted, EncryptedArray, ErrorKind, Int, Mod, Program, Server, ServerKey, Uint, keygen,
};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Keys that bootstrap in milliseconds.
fn keys() -> &'static (ClientKey, ServerKey, Server) {
    static KEYS: OnceLock<(ClientKey, ServerKey, Server)> = OnceLock::new();
    KEYS.get_or_init(|| {
        let (client, key) = keygen("tfhe").params("integers-40").insecure_seed(1).run().unwrap();
        let server = Server::new(&key).unwrap();
        (client, key, server)
    })
}

type Binary<T, R> = Program<(Encrypted<T>, Encrypted<T>), Encrypted<R>>;

/// What a recorded function gives on plain values.
fn plain<T: solinas::Value, R: solinas::Value>(
    function: impl FnOnce(&Encrypted<T>, &Encrypted<T>) -> Encrypted<R>,
    a: T,
    b: T,
) -> R {
    Binary::record(|(a, b)| function(&a, &b)).unwrap().evaluate((a, b)).unwrap()
}

proptest! {
    #[test]
    fn operators_match_wrapping_arithmetic_of_u32(a: u32, b: u32, s in 0u32..40) {
        prop_assert_eq!(plain(|a, b| a + b, a, b), a.wrapping_add(b));
        prop_assert_eq!(plain(|a, b| a - b, a, b), a.wrapping_sub(b));
        prop_assert_eq!(plain(|a, b| a * b, a, b), a.wrapping_mul(b));
        prop_assert_eq!(plain(|a, b| a / b, a, b), a.checked_div(b).unwrap_or(u32::MAX));
        prop_assert_eq!(plain(|a, b| a % b, a, b), a.checked_rem(b).unwrap_or(a));
        prop_assert_eq!(plain(|a, b| (a & b) | (a ^ !b), a, b), (a & b) | (a ^ !b));
        prop_assert_eq!(plain(|a, b| a.gt(b).select(a - 5, 5 - b), a, b), if a > b { a.wrapping_sub(5) } else { 5u32.wrapping_sub(b) });
        prop_assert_eq!(plain(|a, _| a << s, a, b), a.checked_shl(s).unwrap_or(0));
        prop_assert_eq!(plain(|a, _| a >> s, a, b), a.checked_shr(s).unwrap_or(0));
        prop_assert_eq!(plain(|a, _| a.rotate_left(s), a, b), a.rotate_left(s));
        prop_assert_eq!(plain(|a, b| a.rotate_right(b), a, b), a.rotate_right(b % 32));
        prop_assert_eq!(plain(|a, b| a.min(b) + a.max(b), a, b), a.min(b).wrapping_add(a.max(b)));
        prop_assert_eq!(plain(|a, _| a.leading_zeros(), a, b), a.leading_zeros());
        prop_assert_eq!(plain(|a, b| a.lt(b) & a.ne(b) & a.le(b), a, b), a < b);
        prop_assert_eq!(plain(|a, b| a.ge(b) ^ a.eq(b), a, b), a > b);
    }

    #[test]
    fn operators_match_wrapping_arithmetic_of_i8(a: i8, b: i8) {
        prop_assert_eq!(plain(|a, b| -a + b.abs(), a, b), a.wrapping_neg().wrapping_add(b.wrapping_abs()));
        prop_assert_eq!(plain(|a, b| a / b, a, b), if b == 0 { -1 } else { a.wrapping_div(b) });
        prop_assert_eq!(plain(|a, _| a.cast::<u16>(), a, b), i16::from(a) as u16);
        prop_assert_eq!(plain(|a, _| (a >> 9) + 1, a, b), (a >> 7) + 1);
        prop_assert_eq!(plain(|a, b| { let mut c = a.clone(); c += b; c <<= 1; c ^= 3; c }, a, b), (a.wrapping_add(b) << 1) ^ 3);
    }

    #[test]
    fn numbers_of_other_widths_wrap_there(a in 0u128..4096, b in -2048i128..2048, c: u32) {
        let (x, y) = (Uint::<12>::new(a).unwrap(), Int::<12>::new(b).unwrap());
        prop_assert_eq!(plain(|a, b| a * b, x, x).get(), a * a % 4096);
        prop_assert_eq!(plain(|a, b| (a - b) + 1.into_int(), y, y).get(), 1);
        prop_assert_eq!(plain(|a, b| a * b, Mod::<257>(c), Mod(c)), Mod((u64::from(c % 257).pow(2) % 257) as u32));
    }
}

trait IntoInt {
    fn into_int(self) -> Int<12>;
}

impl IntoInt for i128 {
    fn into_int(self) -> Int<12> {
        Int::new(self).unwrap()
    }
}

#[test]
fn lookups_read_their_table_and_refuse_another_length() {
    let squares: Vec<u8> = (0..=255u8).map(|x| x.wrapping_mul(x)).collect();
    let square = Program::<Encrypted<u8>, Encrypted<u8>>::record(|x| x.lookup(&squares).unwrap()).unwrap();
    assert_eq!(square.evaluate(13).unwrap(), 169);
    let (client, ..) = keys();
    let x = client.encrypt(3u8).unwrap();
    let error = x.lookup(&squares[1..]).unwrap_err();
    assert!(error.to_string().contains("256 entries"), "{error}");
    assert!(client.encrypt(3u32).unwrap().lookup(&squares).is_err());
}

#[test]
fn encrypted_results_equal_plain_ones() {
    let (client, _, server) = keys();
    let (a, b) = (client.encrypt(200u8).unwrap(), client.encrypt(99u8).unwrap());
    let (sum, less, list) = server.run((&a + &b, a.lt(&b), vec![&a - &b, a.min(&b)])).unwrap();
    assert_eq!(client.decrypt(&(sum, less, list)).unwrap(), (43, false, vec![101, 99]));
    // A value that is there comes back as it is.
    assert_eq!(client.decrypt(&server.run(&a).unwrap()).unwrap(), 200);
    let total: Encrypted<u8> = [&a, &b, &a].into_iter().cloned().sum();
    assert_eq!(client.decrypt(&server.run(total).unwrap()).unwrap(), 243);
    let index = client.encrypt(1u8).unwrap();
    let chosen = index.choose(&[a, b]).unwrap();
    assert_eq!(client.decrypt(&server.run(chosen).unwrap()).unwrap(), 99);
    assert!(index.choose::<u8>(&[]).is_err());
}

#[test]
fn what_was_computed_is_kept() {
    let (client, _, server) = keys();
    let a = client.encrypt(7u8).unwrap();
    let square = &a * &a;
    assert!(!square.is_computed());
    server.run(&square).unwrap();
    assert!(square.is_computed());
    assert_eq!(client.decrypt(&square).unwrap(), 49);
    assert_eq!(server.prepare(&square).unwrap().estimate().unwrap().bootstraps, 0);
}

#[test]
fn arrays_run_element_by_element_and_scalars_once() {
    let (client, _, server) = keys();
    let x = client.encrypt([1u8, 2, 200]).unwrap();
    let k = client.encrypt(3u8).unwrap();
    let offset = &k * &k;
    let y = (&x + &offset).gt(20).select(&x, &offset);
    let work = server.prepare((&y, &offset)).unwrap();
    let alone = server.prepare(&(&k * &k)).unwrap().estimate().unwrap().bootstraps;
    let each = server.prepare((&x + &k).gt(20).select(&x, &k)).unwrap().estimate().unwrap().bootstraps;
    assert_eq!(work.estimate().unwrap().bootstraps, alone + each);
    let (y, offset) = work.run().unwrap();
    assert_eq!(client.decrypt(&y).unwrap(), [9, 9, 200]);
    assert_eq!(client.decrypt(&offset).unwrap(), 9);
    assert_eq!(client.decrypt(&server.run(x.sum().unwrap()).unwrap()).unwrap(), 203);
    assert_eq!(client.decrypt(&EncryptedArray::stack(&[k.clone(), k]).unwrap()).unwrap(), [3, 3]);
    let error = server.run(&x + &client.encrypt([1u8, 2]).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn slots_are_summed_and_rotated() {
    type Z = Mod<65537>;
    let (client, key) = keygen("bgv").params("slots128-8192-3").insecure_seed(2).run().unwrap();
    let server = Server::new(&key).unwrap();
    let values: Vec<Z> = (1..=100).map(Mod).collect();
    let x = client.encrypt(&values).unwrap();
    let (sum, dot, turned) = server.run((x.sum(), x.dot(&x), x.rotate_elements(1) * Mod(2))).unwrap();
    assert_eq!(client.decrypt(&(sum, dot)).unwrap(), (Mod(5050), Mod(338_350 % 65537)));
    assert_eq!(client.decrypt(&turned).unwrap()[..2], [Mod(4), Mod(6)]);
}

#[test]
fn long_chains_are_dropped_and_refused_without_recursion() {
    let (client, _, server) = keys();
    let mut chain = client.encrypt(true).unwrap();
    for _ in 0..1_000_000 {
        chain = !chain;
    }
    assert!(server.run(&chain).is_err_and(|error| error.kind() == ErrorKind::Circuit) || chain.is_computed());
    drop(chain);
}

#[test]
fn programs_are_saved_and_checked_against_their_types() {
    type Add = Program<(Encrypted<u16>, Encrypted<u16>), Encrypted<u16>>;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("add.json");
    Add::record(|(a, b)| a + b).unwrap().save(&path).unwrap();
    assert_eq!(Add::load(&path).unwrap().evaluate((65535, 3)).unwrap(), 2);
    let error = Program::<Encrypted<u16>, Encrypted<u16>>::load(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.to_string().contains("(u16, u16)"), "{error}");
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(Add::load(&path).unwrap_err().kind(), ErrorKind::Format);
    assert_eq!(Add::load(folder.path().join("none")).unwrap_err().kind(), ErrorKind::File);
    let (client, ..) = keys();
    let outside = client.encrypt(1u16).unwrap();
    assert_eq!(Add::record(|(a, _)| a + outside).unwrap_err().kind(), ErrorKind::Type);
}

#[test]
fn values_and_keys_come_back_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (client, key, _) = keys();
    client.save(at("client.key")).unwrap();
    key.save(at("server.key")).unwrap();
    client.encrypt(-5i16).unwrap().save(at("x.ct")).unwrap();
    client.encrypt([1u8, 2]).unwrap().save(at("y.ct")).unwrap();
    let (client, server) =
        (ClientKey::load(at("client.key")).unwrap(), Server::new(&ServerKey::load(at("server.key")).unwrap()).unwrap());
    let x = Encrypted::<i16>::load(at("x.ct")).unwrap();
    let y = EncryptedArray::<u8>::load(at("y.ct")).unwrap();
    assert_eq!(client.decrypt(&server.run((x * 2, y + 1)).unwrap()).unwrap(), (-10, vec![2, 3]));
    for error in [Encrypted::<u16>::load(at("x.ct")).unwrap_err(), Encrypted::<u8>::load(at("y.ct")).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Type);
        assert!(error.to_string().contains(".ct"), "{error}");
    }
    assert!(client.save(at("client.key")).is_err(), "a key is never replaced");
}

#[test]
fn values_that_are_not_computed_and_foreign_ones_are_refused() {
    let (client, _, server) = keys();
    let a = client.encrypt(1u8).unwrap();
    let error = client.decrypt(&(&a + 1)).unwrap_err();
    assert!(error.to_string().contains("Server::run"), "{error}");
    let (other, _) = keygen("tfhe").params("integers-40").insecure_seed(9).run().unwrap();
    assert_eq!(other.decrypt(&a).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(server.run(a + other.encrypt(1u8).unwrap()).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(keygen("rot13").run().unwrap_err().kind(), ErrorKind::Params);
    assert!(keygen("gh").params("toy").run().unwrap_err().to_string().contains("research"));
}

#[test]
fn jobs_tell_progress_and_stop() {
    let (client, _, server) = keys();
    let a = client.encrypt(9u32).unwrap();
    let job = server.prepare(&a * &a).unwrap().start().unwrap();
    while !job.wait_timeout(Duration::from_millis(50)) {}
    assert!(job.is_done() && job.progress().done == job.progress().total && job.progress().total > 0);
    assert_eq!(client.decrypt(&job.wait().unwrap()).unwrap(), 81);
    let job = server.prepare(&a / &a).unwrap().start().unwrap();
    job.cancel();
    assert_eq!(job.wait().unwrap_err().kind(), ErrorKind::Cancelled);
    let control = Control { cancel: Some(&AtomicBool::new(true)), ..Control::default() };
    assert_eq!(server.prepare(&a + 1).unwrap().run_with(&control).unwrap_err().kind(), ErrorKind::Cancelled);
}
