//! The command loses no value, no row and no key.

use crate::common::Place;

#[test]
fn json_has_every_value_of_the_widest_types() {
    let place = Place::new();
    // Texts, where many readers of JSON would round a number.
    for (ty, arguments, values) in [
        ("u128", format!("1 {} 2", u128::MAX), format!("[\"1\",\"{}\",\"2\"]", u128::MAX)),
        ("i128", format!("-1 {} 0", i128::MIN), format!("[\"-1\",\"{}\",\"0\"]", i128::MIN)),
        ("u54", "1 18014398509481983 2".to_owned(), "[\"1\",\"18014398509481983\",\"2\"]".to_owned()),
        ("u53", "1 9007199254740991 2".to_owned(), "[1,9007199254740991,2]".to_owned()),
        ("i53", "-1 -4503599627370496 2".to_owned(), "[-1,-4503599627370496,2]".to_owned()),
    ] {
        place.encrypt(ty, &arguments, "x.ct");
        let json: String = place.run("decrypt --key CLIENT x.ct --json").split_whitespace().collect();
        assert!(json.contains(&format!("\"shape\":[3],\"values\":{values}")), "{json}");
    }
}

#[test]
fn text_never_replaces_a_key_or_a_ciphertext() {
    let place = Place::new();
    place.run("keygen --params gates-toy --research --out k");
    place.run("encrypt --key k/client.key --type u4 5 -o a.ct");
    place.run("circuit build add --type u4 -o add.txt");
    for (target, kind) in [("k/client.key", "client key"), ("k/server.key", "server key"), ("a.ct", "ciphertext")] {
        let before = std::fs::read(place.path(target)).unwrap();
        for line in [
            "decrypt --key k/client.key a.ct",
            "circuit build add --type u4",
            "circuit optimize add.txt",
            "circuit draw add.txt --to svg",
        ] {
            let message = place.fail(&format!("{line} -o {target}"), 1);
            assert!(
                message.contains(&format!("{target} is a {kind}, which this command does not replace")),
                "{message}"
            );
        }
        assert!(std::fs::read(place.path(target)).unwrap() == before, "{target}");
    }
    place.run("circuit build mul --type u4 -o add.txt");
    place.run("decrypt --key k/client.key a.ct -o add.txt");
    assert_eq!(std::fs::read_to_string(place.path("add.txt")).unwrap(), "5\n");
}

#[test]
fn ciphertexts_replace_ciphertexts_but_no_key_and_do_not_go_to_standard_output() {
    let place = Place::new();
    place.run("keygen --params gates-toy --research --out k");
    for _ in 0..2 {
        place.run("encrypt --key k/client.key --type u4 5 -o a.ct");
    }
    place.run("eval --key k/server.key neg a.ct --estimate --save-plan neg.plan");
    for (target, kind) in [("k/client.key", "client key"), ("k/server.key", "server key"), ("neg.plan", "plan")] {
        let before = std::fs::read(place.path(target)).unwrap();
        for line in [
            "encrypt --key k/client.key --type u4 1",
            "eval --key k/server.key neg a.ct",
            "random --key k/server.key --type u4 --seed 1",
        ] {
            let message = place.fail(&format!("{line} -o {target}"), 1);
            assert!(
                message.contains(&format!("{target} is a {kind}, which this command does not replace")),
                "{message}"
            );
        }
        assert!(std::fs::read(place.path(target)).unwrap() == before, "{target}");
    }
    for line in ["encrypt --key k/client.key --type u4 1 -o -", "eval --key k/server.key neg a.ct -o -"] {
        assert!(place.fail(line, 2).contains("./-"));
    }
    assert_eq!(place.files(), ["a.ct", "k", "neg.plan"]);
}

#[test]
fn no_row_and_no_field_of_a_csv_file_is_left_out() {
    let place = Place::new();
    let encrypt = |text: &str, column: &str| {
        place.write("v.csv", text);
        format!("encrypt --key CLIENT --type u8 --csv v.csv --column {column} -o v.ct")
    };
    for (text, column, part) in [
        ("bid\n1,000\n2\n", "bid", "line 2: it has 2 fields, but the first line has 1"),
        ("5,6\n7,8\n", "5", "give a column from 0 to 1"),
        ("1\n2\n", "1", "give 0, its only column"),
        ("300\n2\n", "0", "line 1"),
        ("-1\n2\n", "0", "line 1"),
        ("1.5\n2\n", "0", "line 1"),
        ("a,b\n1,\"x\n2,y\n3,z", "a", "v.csv, line 2: the quote is not closed"),
        ("a\n1\n\"3", "a", "line 3: the quote is not closed"),
        ("\"1\"2\n", "0", "line 1: the quote is closed before the end of the field"),
        // The first line is data only if it is all numbers, and a header only if it has no number in the column.
        ("name,24\nAlder,31\nBirch,47\n", "1", "add --no-header if it is a row"),
        ("a;b\n1;2\n", "b", "separate its fields by commas"),
        ("v\r\n1\r\n\r\n300\r\n", "v", "line 4: "),
        ("v\r\n1\r\n\"\"\r\n", "v", "line 3: column 'v' is empty"),
    ] {
        let message = place.fail(&encrypt(text, column), 1);
        assert!(message.contains(part), "{text:?}: {message}");
    }
    for (text, column, values) in [
        ("5,6\n7,8\n", "1", "6\n8\n"),
        ("who,5\na,6\n", "5", "6\n"),
        ("bid\n7\n", "0", "7\n"),
        ("a,b\n1,2\n3\n", "a", "1\n3\n"),
        ("name,24\nAlder,31\nBirch,47\n", "24", "31\n47\n"),
        ("name,24\nAlder,31\n", "1 --no-header", "24\n31\n"),
        ("a,b\r\n\"x, \"\"y\"\"\r\nz\",\"5\"\r\n", "b", "5\n"),
    ] {
        place.run(&encrypt(text, column));
        assert_eq!(place.run("decrypt --key CLIENT v.ct"), values, "{text:?}");
    }
}

#[test]
fn a_pair_of_keys_is_replaced_whole_or_stays() {
    let place = Place::new();
    place.run("keygen --params gates-toy --research --out k");
    let server = std::fs::read(place.path("k/server.key")).unwrap();
    std::fs::rename(place.path("k/client.key"), place.path("client.key")).unwrap();
    std::fs::create_dir(place.path("k/client.key")).unwrap();
    place.fail("keygen --params gates-toy --research --out k --force", 1);
    assert!(std::fs::read(place.path("k/server.key")).unwrap() == server);
    std::fs::remove_dir(place.path("k/client.key")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", place.path("k/client.key")).unwrap();
        place.fail("keygen --params gates-toy --research --out k --force", 1);
        assert!(std::fs::read(place.path("k/server.key")).unwrap() == server);
        std::fs::remove_file(place.path("k/client.key")).unwrap();
    }
    assert!(place.fail("keygen --params gates-toy --research --out k", 1).contains("without its client key"));
    place.run("keygen --params gates-toy --research --out k --force");
    place.run("encrypt --key k/client.key --type u4 5 -o a.ct");
    place.run("eval --key k/server.key neg a.ct -o a.ct");
    assert_eq!(place.run("decrypt --key k/client.key a.ct"), "11\n");
    let left = std::fs::read_dir(place.path("k")).unwrap().count();
    assert_eq!(left, 3, "no temporary folder stays");
    // Another scheme has no public key, and the old one goes.
    place.run("keygen --scheme lwe --params toy-256-8 --research --out k --force");
    let left = std::fs::read_dir(place.path("k")).unwrap().count();
    assert_eq!(left, 2, "the public key belonged to the replaced pair");
}

#[test]
fn a_failed_keygen_leaves_no_folder() {
    let place = Place::new();
    place.fail("keygen --params nothing --out k", 2);
    assert!(place.files().is_empty());
}

#[test]
#[cfg(unix)]
fn decrypted_values_are_in_a_file_of_their_owners_alone() {
    let place = Place::new();
    place.encrypt("u4", "1", "a.ct");
    for before in [false, true] {
        if before {
            place.write("values", "old");
            let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            std::fs::set_permissions(place.path("values"), everyone).unwrap();
        }
        place.run("decrypt --key CLIENT a.ct -o values");
        assert_eq!(crate::common::mode(place.path("values")), 0o600, "a file before: {before}");
    }
}

#[test]
fn what_a_terminal_obeys_is_printed_as_escapes() {
    use solinas_formats::{Header, Kind, Value, Writer};
    let evil = "\u{1b}[2J\u{9b}0m\u{202e}\r";
    let header = Header::new(Kind::Ciphertext).scheme(evil).params(&[(evil, evil)]).unwrap();
    let header = header.meta(evil, &Value::Map(vec![(evil.into(), evil.into())])).unwrap();
    let place = Place::new();
    place.write("evil.ct", Writer::in_memory(header).into_bytes().unwrap().as_slice());
    let obeyed = |text: &str| text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\r']);
    let text = place.run("inspect evil.ct");
    assert!(!obeyed(&text) && text.contains("2J"), "{text:?}");
    let text = place.run("inspect evil.ct --json");
    assert!(!obeyed(&text), "{text:?}");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value[0]["scheme"], evil);
    for line in ["decrypt --key CLIENT evil.ct", "decrypt --key CLIENT evil.ct --json"] {
        let message = String::from_utf8(place.command(line).assert().code(1).get_output().stderr.clone()).unwrap();
        assert!(!obeyed(&message) && message.contains("2J"), "{message:?}");
    }
}
