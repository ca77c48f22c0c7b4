//! From keys to the decrypted result.

use crate::common::{Place, mode};
use serde_json::Value;

#[test]
fn readme_cycle_gives_the_product() {
    let place = Place::new();
    let made = place.run("keygen --scheme tfhe --params gates-40 --out keys");
    assert!(made.contains("keys/client.key: secret") && made.contains("128 bits of security"), "{made}");
    place.run("encrypt --key keys/client.key --type u8 12 -o a.ct");
    place.run("encrypt --key keys/client.key --type u8 11 -o b.ct");
    place.run("eval --key keys/server.key mul a.ct b.ct -o c.ct --threads 1");
    assert_eq!(place.run("decrypt --key keys/client.key c.ct"), "132\n");
    #[cfg(unix)]
    assert_eq!(mode(place.path("keys/client.key")), 0o600);
    let same = place.run("keygen --params gates-40 --out keys --force --quiet");
    assert_eq!(same, "");
    assert!(place.fail("decrypt --key keys/client.key c.ct", 1).contains("c.ct belongs to key"));
}

#[test]
fn values_of_every_kind_come_back() {
    let place = Place::new();
    for (ty, values, printed) in [
        ("bool", "true", "true\n"),
        ("bool", "0 1 false", "false\ntrue\nfalse\n"),
        ("i8", "-128 127 -1", "-128\n127\n-1\n"),
        ("u128", "340282366920938463463374607431768211455", "340282366920938463463374607431768211455\n"),
        ("i128", "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728\n"),
        ("u1", "--array 1", "1\n"),
    ] {
        place.encrypt(ty, values, "x.ct");
        assert_eq!(place.run("decrypt --key CLIENT x.ct"), printed);
    }
    let output = place.run("decrypt --key CLIENT x.ct --json");
    let json: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&json[0]["type"], &json[0]["shape"][0], &json[0]["values"][0]), (&"u1".into(), &1.into(), &1.into()));
}

#[test]
fn columns_and_standard_input_become_arrays() {
    let place = Place::new();
    place.write("bids.csv", "who,bid\na,3\n\"b, c\",15\n");
    place.run("encrypt --key CLIENT --type u4 --csv bids.csv --column bid -o bids.ct");
    place.run("encrypt --key CLIENT --type u4 --csv bids.csv --column 1 -o same.ct");
    assert_eq!(place.run("decrypt --key CLIENT bids.ct same.ct --csv"), "bids,same\n3,3\n15,15\n");
    place.encrypt("u4", "7", "a,b.ct");
    assert_eq!(place.run("decrypt --key CLIENT a,b.ct bids.ct --csv"), "\"a,b\",bids\n7,3\n,15\n");
    assert_eq!(place.run("decrypt --key CLIENT bids.ct same.ct"), "bids.ct: 3 15\nsame.ct: 3 15\n");
    place.command("encrypt --key CLIENT --type i4 - -o in.ct").write_stdin("-8, 7\n0").assert().success();
    assert_eq!(place.run("decrypt --key CLIENT in.ct"), "-8\n7\n0\n");
    place.run("decrypt --key CLIENT in.ct -o out.txt");
    assert_eq!(std::fs::read_to_string(place.path("out.txt")).unwrap(), "-8\n7\n0\n");
}

#[test]
fn inspecting_keys_and_ciphertexts_shows_no_secret() {
    let place = Place::new();
    place.encrypt("u4", "5", "a.ct");
    let text = place.run("inspect a.ct CLIENT SERVER");
    assert!(text.contains("a.ct: ciphertext, scheme tfhe") && text.contains("type: u4") && text.contains("verified"));
    let json: Value = serde_json::from_str(&place.run("inspect CLIENT --json")).unwrap();
    assert_eq!((&json[0]["kind"], &json[0]["insecure_seed"]), (&"client-key".into(), &true.into()));
    assert!(!json.to_string().contains("seed\":1"), "the seed is the secret");
    let fields = &json[0]["meta"];
    assert!(fields["public_seed"].is_array() && fields["seed"].is_null(), "{fields}");
}

#[test]
fn parameter_sets_are_listed_with_their_claims() {
    let place = Place::new();
    let text = place.run("params");
    assert!(text.contains("integers-128") && text.contains("2^-") && text.contains("recommended"), "{text}");
    let json: Value = serde_json::from_str(&place.run("params --json")).unwrap();
    let default = json.as_array().unwrap().iter().find(|set| set["name"] == "integers-128").unwrap();
    assert!(
        default["classical_bits"].as_f64().unwrap() >= 128.0 && default["log2_failure"].as_f64().unwrap() <= -128.0
    );
}

#[test]
fn every_verb_has_examples_in_its_help() {
    let place = Place::new();
    for verb in ["", "keygen", "encrypt", "eval", "decrypt", "inspect", "circuit", "params", "bench", "demo"] {
        let text = place.run(&format!("{verb} --help"));
        assert!(text.contains("Examples:\n") && text.contains(&format!("solinas {verb}")), "{verb}");
    }
    assert!(place.run("--help").contains("130 for an interruption"));
    // Paragraphs are wrapped once.
    let text = place.run("eval --help");
    assert!(text.contains("is always a constant, and ./5 is always a file.\nOperations"), "{text}");
    for verb in ["stats", "draw", "optimize", "convert", "lower", "build", "run"] {
        assert!(place.run(&format!("circuit {verb} --help")).contains("Example"), "{verb}");
    }
}

#[test]
fn an_auction_of_four_ends_with_the_right_winner_and_no_secret_at_the_server() {
    let place = Place::new();
    let text = place.run("demo --quick --keep auction");
    assert!(text.contains("result: Birch wins at 4800 (equal to the plain maximum"), "{text}");
    assert!(text.contains("none of these is a client key") && text.contains("bid-01.ct   ciphertext"), "{text}");
    let held = std::fs::read_dir(place.path("auction/server")).unwrap();
    let mut held: Vec<_> = held.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    held.sort();
    assert_eq!(held, ["bid-01.ct", "bid-02.ct", "bid-03.ct", "bid-04.ct", "price.ct", "server.key", "winner.ct"]);
    // Each bidder had the public key alone.
    for bidder in ["01", "02", "03", "04"] {
        let folder = std::fs::read_dir(place.path(&format!("auction/bidders/{bidder}"))).unwrap();
        let mut files: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, ["bid.ct", "public.key"]);
    }
    // A set for research only, and the keys of another scheme, which encrypt all bids at the client.
    for set in ["tfhe --params integers-toy", "lwe --params leveled-8-20"] {
        let text = place.run(&format!("demo --quick --scheme {set} --research"));
        assert!(text.contains("result: Birch wins at 4800"), "{text}");
    }
    place.fail("demo --keep auction", 1);
}
