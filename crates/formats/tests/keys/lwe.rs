//! Files of LWE keys, and of streamed matrices.

use std::sync::LazyLock;

use solinas_formats::lwe;
use solinas_formats::{Error, Kind, inspect};
use solinas_schemes::lwe::fresh::ParamsLiteral as FreshLiteral;
use solinas_schemes::lwe::{ClientKey, Lwe, Params, ParamsLiteral, ServerKey};
use solinas_schemes::{Control, Entropy};
use std::sync::atomic::AtomicBool;

use super::common::{
    changed, check_damage, check_headers, check_read_back, check_refused, client_file, server_file, with_params,
    without,
};

type Keys = (ClientKey, ServerKey);

fn keys(params: &Params) -> Keys {
    let client = ClientKey::generate(params, true, Entropy::Insecure(1), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    (client, server)
}

static KEYS: LazyLock<Keys> = LazyLock::new(|| keys(&Params::named("leveled-8-1").unwrap()));

/// Words of another width, more of them than levels.
fn custom() -> Params {
    let literal = Params::named("leveled-8-1").unwrap().literal().clone();
    let fresh = FreshLiteral { name: "mine".into(), words: 3, word_bits: 20, ..literal.fresh };
    Params::try_from(ParamsLiteral { fresh, ..literal }).unwrap()
}

#[test]
fn keys_are_read_back_as_they_were_written() {
    let named = ["leveled-8-1", "leveled-16-2", "toy-64-2"].map(|name| Params::named(name).unwrap());
    for params in named.into_iter().chain([custom()]) {
        let (client, server) = keys(&params);
        check_read_back::<Lwe>(&client, &server, lwe::stored_server_bytes(&params));
    }
}

#[test]
fn flipped_bits_and_cut_files_are_refused() {
    let (client, server) = &*KEYS;
    check_damage::<Lwe>(client, server, 3);
}

#[test]
fn what_no_key_can_be_is_refused_by_name() {
    let refused = |file: Vec<u8>, word: &str| check_refused::<Lwe>(&file, word);
    let (client, server) = (client_file::<Lwe>(&KEYS.0), server_file::<Lwe>(&KEYS.1));
    for file in [&client, &server] {
        check_headers::<Lwe>(file);
        refused(changed(file, "seed", |seed| seed[0] ^= 1), "key_id");
        refused(changed(file, "seed", |seed| seed.truncate(31)), "section seed");
        refused(changed(file, "b", |b| b[0] ^= 1), "public_digest");
        // Every word is below its modulus.
        for at in [0, 60, 124] {
            refused(changed(file, "b", |b| b[at..at + 4].fill(0xff)), "section b");
        }
        refused(changed(file, "b", |b| b.truncate(8)), "section b");
    }
    for at in [32, 800, 1800] {
        refused(changed(&server, "switch-1", |key| key[at..at + 4].fill(0xff)), "section switch-1");
    }
    refused(changed(&server, "switch-1", |key| key.extend([0; 4])), "section switch-1");
    refused(without(&server, "switch-1"), "switch-1");
    for far in [i32::MIN, i32::MAX, 1 << 20, 100] {
        let alter = |secrets: &mut Vec<u8>| secrets[4..8].copy_from_slice(&far.to_le_bytes());
        refused(changed(&client, "secrets", alter), "section secrets");
    }
    refused(changed(&client, "secrets", |secrets| secrets.extend([0; 4])), "section secrets");
    refused(with_params(&server, |l: &mut ParamsLiteral| l.terms = 3), "params");
    let mine = |alter: fn(&mut ParamsLiteral)| {
        with_params(&server, |l: &mut ParamsLiteral| {
            l.fresh.name = "mine".into();
            alter(l);
        })
    };
    refused(mine(|l| l.fresh.dimension = usize::MAX), "dimension");
    refused(mine(|l| l.fresh.samples = usize::MAX), "samples");
    refused(mine(|l| l.depth = usize::MAX), "depth");
    refused(mine(|l| l.fresh.words = 1), "words");
    refused(mine(|l| l.fresh.sigma = f64::NAN), "standard deviation");
    refused(mine(|l| l.terms = 2), "key_id");
}

#[test]
fn streamed_matrices_are_inspected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("matrix");
    let public = KEYS.0.public();
    lwe::write_matrix(&path, public, &Control::default()).unwrap();
    let summary = inspect(&path).unwrap();
    assert!(summary.is_intact() && summary.kind == Kind::Cache && summary.key_id == Some(public.id()));
    let text = summary.to_string();
    assert!(
        text.contains("scheme lwe") && text.contains("rows: 16") && text.contains("section matrix: 4096"),
        "{text}"
    );
    let bytes = std::fs::read(&path).unwrap();
    let mut altered = bytes.clone();
    altered[5000] ^= 1;
    std::fs::write(&path, &altered).unwrap();
    let summary = inspect(&path).unwrap();
    assert!(!summary.is_intact() && summary.to_string().contains("piece 0"), "{summary}");
    for (at, cut) in [(20, bytes.len()), (5, bytes.len()), (bytes.len() - 1, bytes.len()), (0, 4000)] {
        let mut altered = bytes[..cut].to_vec();
        if cut == bytes.len() {
            altered[at] ^= 1;
        }
        std::fs::write(&path, &altered).unwrap();
        let error = inspect(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. } | Error::NotSolinas { .. }), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn matrices_and_states_of_products_are_replaced_whole_and_states_are_their_owners_alone() {
    use solinas_schemes::lwe::{KeyFile, Selection, StreamedProduct};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (path, state) = (dir.path().join("matrix"), dir.path().join("state"));
    fs::write(&path, "old").unwrap();
    let cancel = AtomicBool::new(true);
    let cancelled = Control { progress: None, cancel: Some(&cancel) };
    let stopped = lwe::write_matrix(&path, KEYS.0.public(), &cancelled);
    assert!(matches!(stopped, Err(Error::Scheme(solinas_schemes::Error::Cancelled { .. }))));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    lwe::write_matrix(&path, KEYS.0.public(), &Control::default()).unwrap();
    let file = KeyFile::open(&path).unwrap();
    let rows = file.layout().rows();
    let product = StreamedProduct::select(&file, vec![Selection::from_bits(&vec![true; rows])]).unwrap();
    // A file that is there before has another mode, and a name that a writer could have guessed leads to another file.
    fs::write(&state, "old").unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o666)).unwrap();
    let planted = dir.path().join(format!("state.{}.partial", std::process::id()));
    std::os::unix::fs::symlink(&path, &planted).unwrap();
    lwe::save_product(&state, &product).unwrap();
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(StreamedProduct::resume(&file, &state).is_ok());
    file.verify().unwrap();
    fs::remove_file(planted).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}
