//! Keys that are recognised by their fingerprints, forged keys, and consent to weak or exposed ones.

use crate::common::{Place, key};
use solinas_formats::{Expect, KeyId, Reader, Writer, tfhe as files};

/// Standard error of a command that must succeed.
fn notes(place: &Place, line: &str) -> String {
    let output = place.command(line).assert().success();
    String::from_utf8(output.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_fingerprint_recognises_all_keys_of_a_pair_and_no_other() {
    let place = Place::new();
    let public = key("k/public.key");
    let told = place.run("inspect --fingerprint CLIENT");
    let told = told.trim();
    assert_eq!((told.len(), told.split('-').count()), (39, 8), "{told}");
    let all = place.run(&format!("inspect --fingerprint {public} SERVER CLIENT"));
    assert!(all.lines().count() == 3 && all.lines().all(|line| line.ends_with(told)), "{all}");
    assert!(place.run("inspect SERVER").contains(&format!("fingerprint: {told}")));
    let json: serde_json::Value = serde_json::from_str(&place.run("inspect --fingerprint CLIENT --json")).unwrap();
    let id = json[0]["id"].as_str().unwrap();
    assert!(json[0]["fingerprint"] == told && place.run("inspect CLIENT --json").contains(id));

    for fingerprint in [told, &told.to_lowercase().replace('-', ""), id] {
        place.run(&format!("encrypt --key {public} --fingerprint {fingerprint} --type u4 5 -o a.ct"));
    }
    let other = place.run("inspect --fingerprint OTHER-CLIENT");
    let message = place.fail(&format!("encrypt --key {public} --fingerprint {} --type u4 5 -o b.ct", other.trim()), 1);
    assert!(message.contains(told) && message.contains(other.trim()), "{message}");
    place.fail(&format!("encrypt --key {public} --fingerprint {told}X --type u4 5 -o b.ct"), 2);
    assert!(place.fail("inspect --fingerprint a.ct", 1).contains("has no fingerprint"));
    assert_eq!(place.files(), ["a.ct"]);
    // A server key has a digest of its own.
    assert!(place.run("inspect --deep SERVER").contains("digest of all sections: "));
}

#[test]
fn trusted_names_stand_for_fingerprints() {
    let place = Place::new();
    let [told, other] = ["CLIENT", "OTHER-CLIENT"].map(|key| place.run(&format!("inspect --fingerprint {key}")));
    let [told, other] = [told.trim(), other.trim()];
    let run = |line: &str, code: i32| {
        let output = place.command(line).env("SOLINAS_TRUST", place.path("folder/names")).assert().code(code);
        let output = output.get_output();
        String::from_utf8([&output.stdout[..], &output.stderr].concat()).unwrap()
    };
    assert_eq!(run("trust list", 0), "");
    assert!(run("encrypt --key SERVER --for alice --type u4 5 -o a.ct", 1).contains("do not encrypt"));
    let public = key("k/public.key");
    assert!(run(&format!("encrypt --key {public} --for alice --type u4 5 -o a.ct"), 1).contains("trust add"));
    run(&format!("trust add alice {told}"), 0);
    run(&format!("trust add alice {}", told.to_lowercase()), 0);
    run(&format!("encrypt --key {public} --for alice --type u4 5 -o a.ct"), 0);
    let replaced = key("other/public.key");
    assert!(run(&format!("encrypt --key {replaced} --for alice --type u4 5 -o b.ct"), 1).contains("another key"));
    assert!(run(&format!("trust add alice {other}"), 2).contains(told));
    run(&format!("trust add alice {other} --force"), 0);
    run(&format!("trust add bob@home {told}"), 0);
    assert_eq!(run("trust list", 0), format!("alice {other}\nbob@home {told}\n"));
    run(&format!("encrypt --key {replaced} --for alice --type u4 5 -o b.ct"), 0);
    run("trust remove alice", 0);
    run("trust remove alice", 1);
    run("trust add two,names 7QK3", 2);
    assert_eq!(run("trust list", 0), format!("bob@home {told}\n"));
    place.write("folder/names", "bob\n");
    assert!(run("trust list", 1).contains("line 1 of"));
}

/// The public key with other bodies and right checksums.
fn with_bodies(place: &Place, name: &str, bodies: impl Fn(usize) -> u64) {
    let reader = Reader::open(key("k/public.key"), Expect::any()).unwrap();
    let mut writer = Writer::in_memory(reader.header().clone());
    let count = reader.section_len("bodies").unwrap() as usize / 8;
    writer.section_u64("bodies", &(0..count).map(bodies).collect::<Vec<_>>()).unwrap();
    place.write(name, &*writer.into_bytes().unwrap());
}

#[test]
fn a_public_key_that_hides_nothing_is_refused_and_shown_as_forged() {
    let place = Place::new();
    with_bodies(&place, "zeros.key", |_| 0);
    with_bodies(&place, "known.key", |i| i as u64);
    for name in ["zeros.key", "known.key"] {
        place.fail(&format!("encrypt --key {name} --type u4 5 -o a.ct"), 1);
        let output = place.command(&format!("inspect {name}")).assert().code(1);
        let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        assert!(text.contains("not the key that it names"), "{text}");
        place.fail(&format!("inspect --fingerprint {name}"), 1);
    }
    assert_eq!(place.files(), ["known.key", "zeros.key"]);
}

#[test]
fn a_key_whose_id_binds_less_is_used_with_a_warning_and_its_fingerprint() {
    let place = Place::new();
    let reader = Reader::open(key("k/client.key"), Expect::any()).unwrap();
    let client = files::read_client(&reader).unwrap();
    let id: KeyId = client.id();
    let public = client.with_version_1_id().public_key().unwrap();
    let mut writer = Writer::in_memory(files::public_header(&public).unwrap());
    files::write_public(&mut writer, &public).unwrap();
    place.write("old.key", &*writer.into_bytes().unwrap());
    let told = id.fingerprint().to_string();
    let shown = place.run("inspect old.key");
    assert!(shown.contains("does not bind this key") && shown.contains(&told), "{shown}");
    let warning = notes(&place, "encrypt --key old.key --type u4 5 -o a.ct --research");
    assert!(warning.contains("does not bind the key") && warning.contains(&told), "{warning}");
    let line = format!("encrypt --key old.key --fingerprint {told} --type u4 5 -o a.ct --research");
    assert_eq!(notes(&place, &line), "");
}

#[test]
fn a_set_for_research_encrypts_with_consent_alone() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params leveled-8-1 --research --out k");
    for key in ["client", "server"] {
        let refused = place.bare(&format!("encrypt --key k/{key}.key --type bool true -o a.ct")).assert().code(1);
        let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(message.contains("leveled-8-1") && message.contains("--research"), "{message}");
        assert_eq!(place.files(), ["k"]);
    }
    place.run("encrypt --research --key k/server.key --type bool true -o a.ct");
    assert_eq!(place.run("decrypt --key k/client.key a.ct"), "true\n");
}

#[cfg(unix)]
#[test]
fn a_client_key_that_others_can_read_needs_consent() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.encrypt("u4", "5", "a.ct");
    std::fs::copy(key("k/client.key"), place.path("client.key")).unwrap();
    std::fs::copy(key("k/server.key"), place.path("server.key")).unwrap();
    let lines = ["decrypt --key client.key a.ct", "encrypt --key client.key --type u4 5 -o b.ct"];
    for line in lines {
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(place.path("client.key"), PermissionsExt::from_mode(mode)).unwrap();
            let message = place.fail(line, 1);
            assert!(message.contains("client.key") && message.contains("chmod 600"), "{line}: {message}");
        }
        place.run(&format!("{line} --allow-exposed-key"));
    }
    std::fs::set_permissions(place.path("client.key"), PermissionsExt::from_mode(0o400)).unwrap();
    place.run(lines[0]);
}
