//! Compact results, and conversion of files of earlier versions.

use crate::common::{Place, key};
use serde_json::Value;
use solinas_formats::{Expect, Overwrite, Reader, Writer};
use std::path::Path;

/// Copies a file, without that section and as another program wrote it.
fn older(from: &Path, to: &Path, without: &str) {
    let reader = Reader::open(from, Expect::any()).unwrap();
    let mut header = reader.header().clone();
    header.library = "solinas 0.0.9".into();
    let mut writer = Writer::create(to, header, Overwrite::Never).unwrap();
    for (name, _) in reader.sections().filter(|(name, _)| *name != without) {
        writer.section(name, &reader.section(name).unwrap()).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn a_server_key_without_the_packing_key_computes_and_is_completed() {
    let place = Place::new();
    older(Path::new(&key("packs/server.key")), &place.path("old.key"), "packing");
    place.run("encrypt --key PACKS-CLIENT --type u8 100 -o a.ct");
    place.run("eval --key old.key add a.ct 1 --compact -o alone.ct");
    place.run("eval --key PACKS-SERVER add a.ct 1 --compact -o packed.ct");
    assert_eq!(place.run("decrypt --key PACKS-CLIENT alone.ct packed.ct"), "alone.ct: 101\npacked.ct: 101\n");
    let size = |file: &str| std::fs::metadata(place.path(file)).unwrap().len();
    assert!(2 * size("packed.ct") < size("alone.ct"));

    let text = place.run("inspect old.key PACKS-SERVER");
    assert!(text.contains("can: compute\n") && text.contains("can: compute, pack compact results\n"), "{text}");
    assert!(text.contains("lacks the section packing: `solinas convert --key client.key` adds it"), "{text}");
    let json: Value = serde_json::from_str(&place.run("inspect old.key PACKS-CLIENT --json")).unwrap();
    assert_eq!(json[0]["lacks"], serde_json::json!(["packing"]));
    assert_eq!(json[1]["can"], serde_json::json!(["encrypt", "decrypt"]));

    let text = place.run("convert old.key");
    let want = "old.key: server key, now in the present form, written by solinas 0.0.9 before; it has no section packing, \
                which `--key client.key` adds\n";
    assert_eq!(text, want);
    assert!(place.run("convert old.key").contains("was in the present form already; it has no section packing"));
    let message = place.fail("convert --key OTHER-CLIENT old.key", 1);
    assert!(message.contains("old.key") && message.contains("key"), "{message}");
    assert!(place.run("convert --key PACKS-CLIENT old.key -o new.key").contains("section packing added"));
    assert!(place.run("convert --key PACKS-CLIENT old.key").contains("section packing added"));
    let want = std::fs::read(key("packs/server.key")).unwrap();
    for file in ["old.key", "new.key"] {
        assert!(std::fs::read(place.path(file)).unwrap() == want, "{file} is the key of key generation");
    }
    let json: Value = serde_json::from_str(&place.run("convert --key PACKS-CLIENT old.key packed.ct --json")).unwrap();
    assert_eq!((&json[0]["converted"], &json[1]["converted"]), (&false.into(), &false.into()));
}

#[test]
fn conversion_refuses_what_it_cannot_convert_and_leaves_it_alone() {
    let place = Place::new();
    place.encrypt("u4", "5", "a.ct");
    place.write("text", "a text");
    place.run("circuit build add --type u4 -o add.txt");
    std::fs::copy(place.path("a.ct"), place.path("b.ct")).unwrap();
    let mut damaged = std::fs::read(place.path("a.ct")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    place.write("damaged.ct", &damaged);
    for (line, code, part) in [
        ("convert missing.ct", 1, "missing.ct"),
        ("convert text", 1, "text"),
        ("convert damaged.ct", 1, "damaged.ct"),
        ("convert a.ct b.ct -o c.ct", 2, "-o takes one file"),
        ("convert a.ct -o a.ct", 2, "a.ct"),
        ("convert a.ct -o SERVER", 1, "is a server key"),
        ("convert .", 1, ". is a directory"),
        ("convert --key OTHER-CLIENT a.ct", 1, "a.ct belongs to key"),
        ("convert a.ct -o missing/c.ct", 1, "missing"),
        ("convert --key SERVER a.ct", 1, "a client key is needed"),
        ("convert", 2, "FILES"),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(place.files(), ["a.ct", "add.txt", "b.ct", "damaged.ct", "text"]);
    assert!(std::fs::read(place.path("damaged.ct")).unwrap() == damaged);
}

#[test]
fn a_key_in_the_present_form_is_verified_whole_and_compared_with_the_client_key() {
    let place = Place::new();
    place.encrypt("u4", "5", "a.ct");
    std::fs::copy(key("k/server.key"), place.path("server.key")).unwrap();
    let message = place.fail("convert --key OTHER-CLIENT server.key", 1);
    assert!(message.contains("server.key belongs to key"), "{message}");
    assert!(place.run("convert --key CLIENT server.key").contains("was in the present form already"));
    assert_eq!(
        place.run("convert a.ct -o b.ct"),
        "b.ct: ciphertext, a copy of a file that was in the present form already\n"
    );
    assert!(std::fs::read(place.path("a.ct")).unwrap() == std::fs::read(place.path("b.ct")).unwrap());

    // The last section is the key that packs, which is read when it is first needed.
    let mut damaged = std::fs::read(place.path("server.key")).unwrap();
    let end = damaged.len() - 1000;
    damaged[end] ^= 1;
    place.write("server.key", &damaged);
    for line in ["convert server.key", "convert --key CLIENT server.key", "convert server.key -o new.key"] {
        let message = place.fail(line, 1);
        assert!(message.contains("server.key is damaged"), "{line}: {message}");
    }
    assert!(std::fs::read(place.path("server.key")).unwrap() == damaged && !place.path("new.key").exists());
}

#[test]
fn compact_results_are_refused_as_operands_with_the_fix() {
    let place = Place::new();
    place.run("encrypt --key PACKS-CLIENT --type u8 100 -o a.ct");
    place.run("eval --key PACKS-SERVER not a.ct --compact -o packed.ct");
    for operation in ["add packed.ct a.ct", "to_bits packed.ct", "add a.ct packed.ct --compact"] {
        let message = place.fail(&format!("eval --key PACKS-SERVER {operation} -o c.ct"), 1);
        assert!(
            message.contains("packed.ct is a compact result") && message.contains("without `--compact`"),
            "{message}"
        );
    }
    assert!(place.run("inspect packed.ct").contains("blocks: packed"));
}
