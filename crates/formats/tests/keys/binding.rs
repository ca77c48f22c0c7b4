//! The id of a key binds every byte that its check admits, in each file of each scheme.

use solinas_formats::gh::Gh;
use solinas_formats::tfhe::{self as tfhe_files, ServerFile};
use solinas_formats::{KeyFiles, KeyId, Kind, Reader, Result, digest_of_sections, inspect};
use solinas_schemes::bgv::{self, Bgv};
use solinas_schemes::lwe::{self, Lwe};
use solinas_schemes::ntru::{self, Ntru};
use solinas_schemes::{Control, Entropy, gh, tfhe};
use std::sync::Arc;

use super::altered::altered_headers;
use super::common::{changed, client_file, file, headed, open, public_file, server_file};

const SEED: Entropy = Entropy::Insecure(1);

/// The files of a key pair, and the function that reads one.
struct Files {
    scheme: &'static str,
    files: Vec<Vec<u8>>,
    read: fn(&Reader) -> Result<KeyId>,
    /// Sections that the id does not bind: those of the evaluation keys, and secrets that are not compared with the public key.
    unbound: &'static [&'static str],
}

fn read_any<S: KeyFiles>(reader: &Reader) -> Result<KeyId> {
    let id = |key: &S::PublicKey| S::identity(key).id();
    Ok(match reader.kind() {
        Kind::ClientKey => id(S::of_client(&S::read_client(reader)?)),
        Kind::ServerKey => id(S::of_server(&S::read_server(reader)?)),
        _ => id(&S::read_public(reader)?),
    })
}

fn files<S: KeyFiles>(client: &S::ClientKey, server: &S::ServerKey, unbound: &'static [&'static str]) -> Files {
    let files = vec![client_file::<S>(client), public_file::<S>(S::of_client(client)), server_file::<S>(server)];
    Files { scheme: S::NAME, files, read: read_any::<S>, unbound }
}

fn read_tfhe(reader: &Reader) -> Result<KeyId> {
    Ok(match reader.kind() {
        Kind::ClientKey => tfhe_files::read_client(reader)?.id(),
        Kind::ServerKey => tfhe_files::read_server(reader)?.key.id(),
        _ => tfhe_files::read_public(reader)?.id(),
    })
}

fn of_tfhe() -> Files {
    let params = tfhe::Params::named("gates-40").unwrap();
    let client = tfhe::ClientKey::generate(&params, true, SEED, &Control::default()).unwrap();
    let public = client.public_key().unwrap();
    let packing = Arc::new(client.packing_key().unwrap().into());
    let server = ServerFile { key: client.server_key(&Control::default()).unwrap().into(), packing };
    let files = vec![
        file(tfhe_files::client_header(&client), |writer| tfhe_files::write_client(writer, &client)),
        file(tfhe_files::public_header(&public), |writer| tfhe_files::write_public(writer, &public)),
        file(tfhe_files::server_header(&server.key), |writer| tfhe_files::write_server(writer, &server)),
    ];
    Files { scheme: tfhe_files::SCHEME, files, read: read_tfhe, unbound: &["bootstrap", "keyswitch", "packing"] }
}

/// Keys of every scheme. Their sets have names of their own where the scheme allows it, so that no reader compares them with a named set.
fn all() -> [Files; 5] {
    let name = || "mine".to_owned();
    let literal = bgv::Params::named("slots-16-2").unwrap().literal().clone();
    let params = bgv::Params::try_from(bgv::ParamsLiteral { name: name(), ..literal }).unwrap();
    let client = bgv::ClientKey::generate(&params, true, SEED, &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    let of_bgv = files::<Bgv>(&client, &server, &["rotations", "seeds", "keys"]);

    let literal = ntru::Params::named("tight-16-2").unwrap().literal().clone();
    let params = ntru::Params::try_from(ntru::ParamsLiteral { name: name(), ..literal }).unwrap();
    let client = ntru::ClientKey::generate(&params, true, SEED, &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    let of_ntru = files::<Ntru>(&client, &server, &["hints", "keys", "wide"]);

    let literal = lwe::Params::named("leveled-8-1").unwrap().literal().clone();
    let fresh = lwe::fresh::ParamsLiteral { name: name(), ..literal.fresh.clone() };
    let params = lwe::Params::try_from(lwe::ParamsLiteral { fresh, ..literal }).unwrap();
    let client = lwe::ClientKey::generate(&params, true, SEED, &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    let of_lwe = files::<Lwe>(&client, &server, &["switch-1", "secrets"]);

    let literal = gh::Params::named("ci-3").unwrap().literal().clone();
    let params = gh::Params::try_from(gh::ParamsLiteral { name: name(), ..literal }).unwrap();
    let mut generation = gh::KeyGeneration::new(&params, true, SEED).unwrap();
    while !generation.is_done() {
        generation.step(&Control::default()).unwrap();
    }
    let (client, server) = generation.finish(&Control::default()).unwrap();
    let of_gh = files::<Gh>(&client, &server, &["w", "x", "indicators"]);
    [of_tfhe(), of_bgv, of_ntru, of_lwe, of_gh]
}

/// A claim is never taken from a file, so that it need not be bound.
fn is_claim(path: &str) -> bool {
    tfhe::ParamsLiteral::CLAIMS.iter().any(|claim| path == format!("params.{claim}"))
}

#[test]
fn no_word_of_a_key_can_be_changed_under_its_id() {
    for Files { scheme, files, read, unbound } in all() {
        for bytes in &files {
            let reader = open(bytes).unwrap();
            let (kind, id) = (reader.kind(), reader.key_id().unwrap());
            assert_eq!(read(&reader).unwrap(), id);
            for (path, header) in altered_headers(reader.header()) {
                let forged = headed(bytes, |_| header);
                let accepted = read(&open(&forged).unwrap()).is_ok();
                assert_eq!(accepted, is_claim(&path), "{scheme}, {kind}: {path}");
            }
            for (section, length) in reader.sections().filter(|(section, _)| !unbound.contains(section)) {
                let length = length as usize;
                for at in (0..8).map(|i| i * (length - 1) / 7) {
                    let forged = changed(bytes, section, |bytes| bytes[at] ^= 1);
                    let found = read(&open(&forged).unwrap());
                    assert!(found.is_err(), "{scheme}, {kind}: byte {at} of section {section}");
                }
            }
        }
    }
}

#[test]
fn evaluation_keys_have_a_digest_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let digest = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        digest_of_sections(&path).unwrap()
    };
    for Files { scheme, files, .. } in all().into_iter().skip(1) {
        let [.., server] = &files[..] else { panic!("three files") };
        let whole = digest(server);
        assert_eq!(digest(&headed(server, |header| header.insecure_seed(false))), whole);
        for (section, length) in open(server).unwrap().sections() {
            for at in [0, length as usize / 2, length as usize - 1] {
                let forged = changed(server, section, |bytes| bytes[at] ^= 1);
                assert_ne!(digest(&forged), whole, "{scheme}: byte {at} of section {section}");
            }
        }
    }
}

/// The attack: a public key under the id of another, whose bodies hide nothing.
#[test]
fn a_public_key_without_bodies_is_refused_and_inspect_says_so() {
    let tfhe = of_tfhe();
    let [client, public, server] = &tfhe.files[..] else { panic!("three files") };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("public.key");
    let inspected = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        inspect(&path).unwrap()
    };
    let whole = inspected(public);
    let fingerprint = whole.identity.clone().unwrap().fingerprint.unwrap();
    assert!(whole.is_intact() && whole.to_string().contains(&format!("fingerprint: {fingerprint}")), "{whole}");
    for other in [client, server] {
        assert_eq!(inspected(other).identity, whole.identity);
    }
    let id = open(public).unwrap().key_id().unwrap();
    assert_eq!(fingerprint, id.fingerprint().to_string());

    let zeros = changed(public, "bodies", |bytes| bytes.fill(0));
    let few = changed(public, "bodies", |bytes| {
        for (i, word) in bytes.chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&(i as u64 % 255).to_le_bytes());
        }
    });
    let others = changed(public, "bodies", |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 0x55));
    for (forged, reason) in [(zeros, "1 different word"), (few, "255 different words"), (others, "public_digest")] {
        let error = tfhe_files::read_public(&open(&forged).unwrap()).unwrap_err().to_string();
        let found = inspected(&forged);
        assert!(error.contains(reason) && !found.is_intact(), "{error}");
        assert!(found.to_string().contains("not the key that it names"), "{found}");
    }
}

/// Files of earlier development versions have ids that bind less. They are read, and their fingerprint is that of version 2.
#[test]
fn ids_of_version_1_are_read_and_known_as_such() {
    let params = tfhe::Params::named("gates-40").unwrap();
    let new = tfhe::ClientKey::generate(&params, true, SEED, &Control::default()).unwrap();
    let bound = new.id();
    let old = new.with_version_1_id();
    assert!(old.id() != bound && !old.identity().binds_key() && old.bound_identity().unwrap().id() == bound);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.key");
    let public = old.public_key().unwrap();
    let packing = Arc::new(old.packing_key().unwrap().into());
    let server = ServerFile { key: old.server_key(&Control::default()).unwrap().into(), packing };
    let files = [
        file(tfhe_files::client_header(&old), |writer| tfhe_files::write_client(writer, &old)),
        file(tfhe_files::public_header(&public), |writer| tfhe_files::write_public(writer, &public)),
        file(tfhe_files::server_header(&server.key), |writer| tfhe_files::write_server(writer, &server)),
    ];
    for bytes in &files {
        let reader = open(bytes).unwrap();
        assert!(!reader.header().meta.contains_key("id_version") && read_tfhe(&reader).unwrap() == old.id());
        std::fs::write(&path, bytes).unwrap();
        let (summary, is_server) = (inspect(&path).unwrap(), reader.kind() == Kind::ServerKey);
        let identity = summary.identity.as_ref().unwrap();
        assert!(!identity.binds_key && identity.id_version_2 == (!is_server).then_some(bound), "{identity:?}");
        assert!(summary.is_intact() && summary.to_string().contains("does not bind this key"), "{summary}");
    }
}

#[test]
fn claims_of_security_come_from_the_library() {
    let public = &of_tfhe().files[1];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("public.key");
    let shown = |params: &tfhe::ParamsLiteral| {
        std::fs::write(&path, headed(public, |header| header.params(params).unwrap())).unwrap();
        inspect(&path).unwrap()
    };
    let literal = tfhe::Params::named("gates-40").unwrap().literal().clone();
    let known = tfhe::ParamsLiteral { classical_bits: 999.0, quantum_bits: 998.0, ..literal.clone() };
    let summary = shown(&known);
    assert!(summary.to_string().contains("security: an attack takes 2^128"), "{summary}");
    assert_eq!(summary.security.as_ref().unwrap().classical_bits, literal.classical_bits);
    let all = format!("{summary:?}");
    assert!(!all.contains("999.0") && !all.contains("998.0"), "{all}");
    let unknown = shown(&tfhe::ParamsLiteral { lwe_dimension: 666, ..known });
    assert!(
        unknown.security.is_none() && unknown.to_string().contains("the file claims classical_bits 999"),
        "{unknown}"
    );
}
