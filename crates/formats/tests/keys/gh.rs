//! Files of Gentry-Halevi keys.

use std::sync::{LazyLock, Mutex};

use solinas_formats::gh::{self, Gh};
use solinas_formats::{Error, Expect, KeyFiles, Kind, Overwrite, Reader, Writer};
use solinas_schemes::gh::{
    Arithmetic, ClientKey, EncryptMethod, Encryptor, Evaluator, Params, ParamsLiteral, PublicKey, RecryptMethod,
    ServerKey, Stage,
};
use solinas_schemes::{Control, Entropy, Progress};
use std::sync::atomic::{AtomicBool, Ordering};

use super::common::{
    changed, check_damage, check_headers, check_read_back, check_refused, client_file, headed, open, public_file,
    server_file, with_params, without,
};

/// Runs `work`, which is cancelled once `at` says so of its progress.
fn until<T>(at: impl Fn(Progress) -> bool + Sync, work: impl FnOnce(&Control<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    let listen = |progress: Progress| {
        cancel.fetch_or(at(progress), Ordering::Relaxed);
    };
    work(&Control { progress: Some(&listen), cancel: Some(&cancel) })
}

fn at_stage(progress: Progress, stage: Stage) -> bool {
    progress.stage == Some(stage.name())
}

fn keys(params: &Params, seed: u64) -> (ClientKey, ServerKey) {
    gh::keygen(params, true, Entropy::Insecure(seed), None, &Control::default()).unwrap()
}

static KEYS: LazyLock<(ClientKey, ServerKey)> = LazyLock::new(|| keys(&Params::named("ci-3").unwrap(), 1));

fn custom() -> Params {
    Params::try_from(ParamsLiteral { name: "mine".into(), ..Params::named("ci-7").unwrap().literal().clone() }).unwrap()
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    for params in [Params::named("ci-3").unwrap(), Params::named("ci-15").unwrap(), custom()] {
        let (client, server) = keys(&params, 1);
        check_read_back::<Gh>(&client, &server, gh::stored_server_bytes(&params));
    }
}

#[test]
fn no_other_file_has_a_trace_of_the_secret() {
    let (client, server) = &*KEYS;
    let w = client.w().to_le_bytes();
    for bytes in [server_file::<Gh>(server), public_file::<Gh>(server.public())] {
        assert!(!bytes.windows(32).any(|window| window == &w[..32]));
    }
}

#[test]
fn a_large_server_key_outlives_its_file_and_damage_in_it_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let (client, server) = keys(&Params::named("toy").unwrap(), 2);
    let mut writer = Writer::create(&path, Gh::server_header(&server).unwrap(), Overwrite::Never).unwrap();
    Gh::write_server(&mut writer, &server).unwrap();
    writer.finish().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1 << 24);
    let mut bytes = std::fs::read(&path).unwrap();
    let read = Gh::read_server(&Reader::open(&path, Expect::kind(Kind::ServerKey)).unwrap()).unwrap();
    // As `cp` does over a key in use.
    std::fs::File::create(&path).unwrap();
    assert_eq!(read, server);
    assert_eq!(*client.public(), *read.public());
    // Damage in the last chunk of the indicators is found, and named, before they are used; the public key is untouched by it.
    let at = bytes.len() - 10_000;
    bytes[at] ^= 4;
    let altered = dir.path().join("altered.key");
    std::fs::write(&altered, bytes).unwrap();
    let reader = Reader::open(&altered, Expect::kind(Kind::ServerKey)).unwrap();
    let error = Gh::read_server(&reader).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }) && error.to_string().contains("indicators"), "{error}");
    assert_eq!(Gh::read_public(&reader).unwrap(), *client.public());
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    check_damage::<Gh>(client, server, 37);
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let refused = |file: Vec<u8>, word: &str| check_refused::<Gh>(&file, word);
    let public = KEYS.1.public();
    let (client, server) = (client_file::<Gh>(&KEYS.0), server_file::<Gh>(&KEYS.1));
    for file in [&client, &server] {
        check_headers::<Gh>(file);
    }
    // Another r, with the key id that belongs to it.
    let two = solinas_bigint::Natural::from(2u64);
    let other = PublicKey::from_parts(public.params().clone(), true, public.d().clone(), two).unwrap();
    refused(public_file::<Gh>(&other), "not a root of x^n + 1");

    let change = |name: &str, alter: fn(&mut Vec<u8>)| changed(&server, name, alter);
    refused(change("d", |d| d[0] ^= 1), "d is even");
    refused(change("d", |d| d[0] ^= 2), "public_digest");
    refused(change("d", |d| d.extend([0; 8])), "section r");
    refused(change("d", |d| d.resize(80_000, 1)), "parameters allow");
    refused(change("d", Vec::clear), "section r");
    refused(change("r", |r| r.fill(0xff)), "r is not in 1..d");
    refused(change("r", |r| r[0] ^= 2), "public_digest");
    refused(change("x", |x| x.truncate(40)), "section x");
    refused(change("x", |x| x.fill(0xff)), "not below d");
    refused(change("indicators", |eta| eta.extend([0; 64])), "section indicators");
    refused(change("indicators", |eta| eta.fill(0xff)), "not below d");
    refused(without(&server, "indicators"), "no section indicators");
    // The same key, said to be secure.
    refused(headed(&public_file::<Gh>(public), |header| header.insecure_seed(false)), "insecure_seed");

    // Parameters: other than those of the name, or such as none may be.
    let with = |alter: fn(&mut ParamsLiteral)| with_params(&server, alter);
    refused(with(|l| l.nonzeros = Some(3)), "differ from the parameter set");
    refused(with(|l| (l.name, l.dimension) = ("mine".into(), usize::MAX)), "dimension");
    refused(with(|l| (l.name, l.coefficient_bits) = ("mine".into(), 20)), "bits");
    refused(with(|l| (l.name, l.dimension) = ("mine".into(), 128)), "bits, parameters");
    refused(with(|l| l.name = "mine".into()), "key_id");

    // The section `w` holds an invalid number.
    let d = open(&client).unwrap().section("d").unwrap().to_vec();
    for w in [vec![0; d.len()], d] {
        refused(changed(&client, "w", |bytes| bytes.copy_from_slice(&w)), "w is");
    }
    // The file belongs to another scheme.
    assert!(matches!(solinas_formats::tfhe::params(&open(&server).unwrap()), Err(Error::WrongScheme { .. })));
}

/// Few enough indicators for a two-level table, in two chunks; otherwise as small as can be.
fn in_chunks() -> Params {
    let literal = ParamsLiteral {
        name: "chunks".into(),
        dimension: 512,
        candidates: Some(200),
        ..Params::named("ci-3").unwrap().literal().clone()
    };
    Params::try_from(literal).unwrap()
}

#[test]
fn key_generation_goes_on_from_wherever_it_was_stopped_and_makes_the_same_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keygen.checkpoint");
    for params in [Params::named("ci-7").unwrap(), in_chunks()] {
        let calls = Mutex::new(vec![]);
        let listen = |progress: Progress| calls.lock().unwrap().push(progress);
        let control = Control { progress: Some(&listen), cancel: None };
        let (client, server) = gh::keygen(&params, true, Entropy::Insecure(1), None, &control).unwrap();
        let calls = calls.into_inner().unwrap();
        let total = calls[0].total;
        assert!(calls.windows(2).all(|pair| pair[0].done <= pair[1].done && pair[1].total == total), "{calls:?}");
        assert_eq!((calls[0].done, calls.last().unwrap().done), (0, total));
        let stages = [Stage::Lattice, Stage::Root, Stage::Squash, Stage::Indicators];
        assert!(stages.iter().all(|&stage| calls.iter().any(|&call| at_stage(call, stage))));

        // Each run is stopped as soon as it is further than the one before.
        let (mut furthest, mut stops) = (None, 0);
        let keys = loop {
            let seen = Mutex::new(furthest);
            let further = |progress: Progress| {
                let place = stages.iter().position(|&stage| at_stage(progress, stage)).map(|at| (at, progress.done));
                let mut seen = seen.lock().unwrap();
                let further = place > *seen && progress.done < total;
                if further {
                    *seen = place;
                }
                further
            };
            let run = until(further, |control| gh::keygen(&params, true, Entropy::Insecure(1), Some(&path), control));
            match run {
                Ok(keys) => break keys,
                Err(Error::Scheme(solinas_schemes::Error::Cancelled { .. })) => stops += 1,
                Err(other) => panic!("{other}"),
            }
            furthest = seen.into_inner().unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(&solinas_formats::SECRET_MAGIC));
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            }
            solinas_formats::inspect(&path).unwrap();
        };
        assert!(stops > 8, "{stops}");
        assert_eq!((keys.0.w(), &keys.1), (client.w(), &server));
        // The key is in the file until the caller has it elsewhere: nothing is left to be done.
        let reader = Reader::open(&path, Expect::kind(Kind::Checkpoint)).unwrap();
        assert!(gh::read_checkpoint(&reader, &params, true).unwrap().is_done());
        let done = |progress: Progress| {
            assert_eq!(progress.done, progress.total);
            false
        };
        let again = until(done, |control| gh::keygen(&params, true, Entropy::Insecure(1), Some(&path), control));
        assert_eq!(again.unwrap().1, server);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn checkpoints_of_another_key_generation_are_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keygen.checkpoint");
    let (ci3, ci7) = (Params::named("ci-3").unwrap(), Params::named("ci-7").unwrap());
    let stop = |seed: Option<u64>| {
        let indicators = |progress| at_stage(progress, Stage::Indicators);
        until(indicators, |control| gh::keygen(&ci3, true, seed.into(), Some(&path), control)).unwrap_err();
    };
    let refused = |params: &Params, seed: Option<u64>, word: &str| {
        let error = gh::keygen(params, true, seed.into(), Some(&path), &Control::default()).unwrap_err();
        assert!(matches!(error, Error::Checkpoint { .. }) && error.to_string().contains(word), "{error}");
        assert!(path.exists());
    };
    stop(Some(1));
    refused(&ci7, Some(1), "\"ci-3\"");
    refused(&ci3, Some(2), "another insecure seed");
    refused(&ci3, None, "randomness");
    let error = gh::keygen(&ci3, false, Entropy::Insecure(1), Some(&path), &Control::default()).unwrap_err();
    assert!(error.to_string().contains("--research"), "{error}");
    std::fs::remove_file(&path).unwrap();

    // From the operating system's randomness, the seed is in the file: both ways to go on make one key.
    stop(None);
    refused(&ci3, Some(1), "randomness");
    let copy = std::fs::read(&path).unwrap();
    let (client, server) = gh::keygen(&ci3, true, Entropy::System, Some(&path), &Control::default()).unwrap();
    assert!(!server.public().is_insecure());
    std::fs::write(&path, &copy).unwrap();
    let again = gh::keygen(&ci3, true, Entropy::System, Some(&path), &Control::default()).unwrap();
    assert_eq!((again.0.w(), again.1), (client.w(), server));

    // A file that is no checkpoint is not touched; neither is a damaged one.
    std::fs::write(&path, client_file::<Gh>(&client)).unwrap();
    let error = gh::keygen(&ci3, true, Entropy::System, Some(&path), &Control::default()).unwrap_err();
    assert!(matches!(error, Error::WrongKind { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), client_file::<Gh>(&client));
    for at in (0..copy.len()).step_by(53) {
        let mut altered = copy.clone();
        altered[at] ^= 1 << (at % 8);
        std::fs::write(&path, &altered).unwrap();
        gh::keygen(&ci3, true, Entropy::System, Some(&path), &Control::default()).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), altered);
    }
    // A folder that is not there is found before the work.
    let missing = dir.path().join("no/such");
    let error =
        until(|_| panic!("no work"), |control| gh::keygen(&ci3, true, Entropy::System, Some(&missing), control))
            .unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
#[cfg(unix)]
fn a_checkpoint_serves_one_key_generation_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keygen.checkpoint");
    let params = Params::named("ci-3").unwrap();
    let busy = || {
        let error = gh::keygen(&params, true, Entropy::System, Some(&path), &Control::default()).unwrap_err();
        assert!(matches!(error, Error::Busy { .. }) && error.to_string().contains("another key generation"), "{error}");
    };
    // Another one is refused at every stage of a new one, and of one that goes on.
    for last in [Stage::Squash, Stage::Indicators] {
        let stop = |progress: Progress| {
            busy();
            at_stage(progress, last)
        };
        let error =
            until(stop, |control| gh::keygen(&params, true, Entropy::System, Some(&path), control)).unwrap_err();
        assert!(matches!(error, Error::Scheme(solinas_schemes::Error::Cancelled { .. })), "{error}");
    }
    gh::keygen(&params, true, Entropy::System, Some(&path), &Control::default()).unwrap();
}

#[test]
fn why_the_work_stopped_is_told_even_where_the_checkpoint_cannot_be_stored() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let params = Params::named("ci-3").unwrap();
    let stop = |progress: Progress| {
        let squash = at_stage(progress, Stage::Squash);
        if squash {
            let _ = std::fs::remove_dir_all(&folder);
        }
        squash
    };
    let path = folder.join("checkpoint");
    let error = until(stop, |control| gh::keygen(&params, true, Entropy::System, Some(&path), control)).unwrap_err();
    assert!(matches!(error, Error::Scheme(solinas_schemes::Error::Cancelled { .. })), "{error}");
}

#[test]
fn checkpoints_with_parts_of_no_key_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keygen.checkpoint");
    let params = Params::named("ci-3").unwrap();
    let (client, server) = &*KEYS;
    let root = || {
        let public = server.public();
        vec![("d", public.d().words().to_vec()), ("r", public.r().words().to_vec()), ("w", client.w().words().to_vec())]
    };
    let with = |mut parts: Vec<(&'static str, Vec<u64>)>, more: &[(&'static str, Vec<u64>)]| {
        parts.extend_from_slice(more);
        parts
    };
    let width = server.public().words();
    let too_many = server.indicators().repeat(2);
    let indicators =
        |draws: usize, words: Vec<u64>| [("x", server.x().to_vec()), ("draws", vec![0; draws]), ("indicators", words)];
    let forge = |attempt: u64, dimension: u64, parts: &[(&str, Vec<u64>)]| {
        let header = solinas_formats::Header::new(Kind::Checkpoint).scheme(Gh::NAME).insecure_seed(true);
        let header = header.params(params.literal()).unwrap().meta("attempt", &attempt).unwrap();
        let header = header.meta("dimension", &dimension).unwrap();
        let mut writer = Writer::create(&path, header, Overwrite::Always).unwrap();
        writer.section("seed", &[7; 32]).unwrap();
        for (name, words) in parts {
            writer.section_u64(name, words).unwrap();
        }
        writer.finish().unwrap();
        gh::keygen(&params, true, Entropy::Insecure(1), Some(&path), &Control::default()).unwrap_err()
    };
    for attempt in [u64::MAX, 1 << 33] {
        assert!(matches!(forge(attempt, 0, &[]), Error::Field { .. }), "{attempt}");
    }
    for (dimension, parts) in [
        (3u64, vec![]),
        (128, vec![]),
        (u64::MAX, vec![]),
        (32, vec![("denominator", vec![1; 64]), ("numerator-0", vec![1; 64])]),
        (32, vec![("denominator", vec![1; 64]), ("numerator-0", vec![1; 33]), ("numerator-1", vec![1; 64])]),
        (32, vec![("denominator", vec![1; 1 << 20]), ("numerator-0", vec![1; 64]), ("numerator-1", vec![1; 64])]),
        (0, with(root()[..2].to_vec(), &[("w", vec![0; width])])),
        (0, with(root()[1..].to_vec(), &[("d", vec![2; width])])),
        (0, with(root(), &[("x", server.x()[..width].to_vec()), ("draws", vec![]), ("indicators", vec![])])),
        (0, with(root(), &indicators(3, vec![u64::MAX; width]))),
        (0, with(root(), &indicators(3, too_many))),
        (0, with(root(), &indicators(3, vec![0; width + 1]))),
        (0, with(root(), &indicators(0, vec![0; width]))),
        (0, with(root(), &indicators(2, vec![]))),
        (0, with(root(), &[("x", server.x().to_vec()), ("draws", vec![1 << 32; 3]), ("indicators", vec![])])),
    ] {
        let error = forge(0, dimension, &parts);
        assert!(matches!(error, Error::Section { .. }), "{dimension} {error}");
    }
    let error = forge(0, 0, &with(root(), &[("x", server.x().to_vec()), ("indicators", vec![])]));
    assert!(error.to_string().contains("an earlier version began it"), "{error}");
}

#[test]
fn tables_from_a_cache_compute_what_new_ones_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.cache");
    let (client, server) = keys(&Params::named("ci-15").unwrap(), 3);
    let (public, memory, arithmetic) = (server.public(), 1 << 30, Arithmetic::default());
    for method in [EncryptMethod::Table, EncryptMethod::TwoLevel, EncryptMethod::PartialFft] {
        let new = Encryptor::new(public, method, memory, arithmetic).unwrap();
        gh::save_encryptor(&path, &new).unwrap();
        let loaded = gh::load_encryptor(&path, public, method, memory, arithmetic).unwrap();
        assert_eq!(loaded.rebuilt, None);
        let encrypt =
            |encryptor: &Encryptor<'_>| encryptor.encrypt(true, &mut public.encryption_rng(1).unwrap()).unwrap();
        assert_eq!(encrypt(&loaded.value), encrypt(&new));
    }
    let full = Encryptor::new(public, EncryptMethod::FullFft, memory, arithmetic).unwrap();
    assert!(matches!(gh::save_encryptor(&path, &full), Err(Error::Unwritable(_))));

    let new = Evaluator::new(&server, RecryptMethod::PairTable, memory, arithmetic).unwrap();
    gh::save_evaluator(&path, &new).unwrap();
    let loaded = gh::load_evaluator(&path, &server, memory, arithmetic).unwrap();
    assert_eq!(loaded.rebuilt, None);
    let one = full.encrypt(true, &mut public.encryption_rng(2).unwrap()).unwrap();
    let recrypted = loaded.value.recrypt(&one).unwrap();
    assert_eq!(recrypted, new.recrypt(&one).unwrap());
    assert!(client.decryptor().unwrap().decrypt(&recrypted).unwrap());
}

#[test]
fn caches_that_are_of_no_use_are_rebuilt_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.cache");
    let (client, server) = &*KEYS;
    let (public, memory, arithmetic) = (server.public(), 1 << 30, Arithmetic::default());
    let load = |word: &str| {
        let encryptor = gh::load_encryptor(&path, public, EncryptMethod::Table, memory, arithmetic).unwrap();
        let note = encryptor.rebuilt.unwrap();
        assert!(note.contains(word), "{note}");
        let one = encryptor.value.encrypt(true, &mut public.encryption_rng(1).unwrap()).unwrap();
        let evaluator = gh::load_evaluator(&path, server, memory, arithmetic).unwrap();
        assert!(evaluator.rebuilt.is_some());
        let recrypted = evaluator.value.recrypt(&one).unwrap();
        assert!(client.decryptor().unwrap().decrypt(&recrypted).unwrap());
    };
    load("No such file");
    std::fs::write(&path, server_file::<Gh>(server)).unwrap();
    load("server key");
    let error = gh::save_encryptor(&path, &Encryptor::new(public, EncryptMethod::Table, memory, arithmetic).unwrap());
    assert!(matches!(error, Err(Error::Exists { .. })), "a key is not replaced");
    std::fs::remove_file(&path).unwrap();

    let (_, other) = keys(public.params(), 9);
    gh::save_encryptor(&path, &Encryptor::new(other.public(), EncryptMethod::Table, memory, arithmetic).unwrap())
        .unwrap();
    load("belongs to key");
    gh::save_encryptor(&path, &Encryptor::new(public, EncryptMethod::TwoLevel, memory, arithmetic).unwrap()).unwrap();
    load("another method");
    let table = Encryptor::new(public, EncryptMethod::Table, memory, arithmetic).unwrap();
    gh::save_encryptor(&path, &table).unwrap();
    let good = std::fs::read(&path).unwrap();
    let mut altered = good.clone();
    let at = good.len() - 300;
    altered[at] ^= 1;
    std::fs::write(&path, altered).unwrap();
    load("damaged");
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    load("cut short");

    // Tables with right checksums and wrong numbers.
    let forged = |method: &str, layout: u64, table: &[u64]| {
        let header = Gh::key_header(Kind::Cache, public).unwrap();
        let header = header.meta("method", method).unwrap().meta("layout", &layout).unwrap();
        let mut writer = Writer::create(&path, header, Overwrite::Always).unwrap();
        writer.section_u64("table", table).unwrap();
        writer.finish().unwrap();
    };
    let words = public.words();
    let powers = table.table().unwrap().to_vec();
    forged("table", 2, &powers);
    load("layout");
    forged("table", 1, &powers[words..]);
    load("section table");
    for i in [0, 1, 17, 63] {
        let mut wrong = powers.clone();
        wrong[i * words] ^= 2;
        forged("table", 1, &wrong);
        load(if i == 0 { "not 1" } else { "not the powers of r" });
        wrong[i * words..][..words].fill(u64::MAX);
        forged("table", 1, &wrong);
        load("not below d");
    }
    let evaluator = Evaluator::new(server, RecryptMethod::PairTable, memory, arithmetic).unwrap();
    let pairs = evaluator.pair_table().unwrap().to_vec();
    forged("pair_table", 1, &pairs);
    assert_eq!(gh::load_evaluator(&path, server, memory, arithmetic).unwrap().rebuilt, None);
    for at in (0..pairs.len()).step_by(97) {
        let mut wrong = pairs.clone();
        wrong[at] ^= 1;
        forged("pair_table", 1, &wrong);
        let note = gh::load_evaluator(&path, server, memory, arithmetic).unwrap().rebuilt.unwrap();
        assert!(note.contains("does not belong to this key") || note.contains("not below d"), "{at} {note}");
    }
    // Only what Encryptor::new refuses is an error.
    assert!(gh::load_encryptor(&path, public, EncryptMethod::Table, 100, arithmetic).is_err());
}
