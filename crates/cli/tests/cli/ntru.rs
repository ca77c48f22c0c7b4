//! Encrypted computation under NTRU: bits with levels, and vectors of slots.

use crate::common::Place;
use serde_json::Value;

#[test]
fn bits_run_from_keygen_to_decrypt_until_the_levels_are_used_up() {
    let place = Place::new();
    let made = place.run("keygen --scheme ntru --params tight-64-9 --research --out k");
    assert!(made.contains("parameters tight-64-9 (no security: for research only"), "{made}");
    place.run("encrypt --research --key k/client.key --type u8 200 100 7 -o a.ct");
    // The server key also encrypts.
    place.run("encrypt --research --key k/server.key --type u8 99 -o b.ct");
    for (operation, values) in [("add", "43\n199\n106\n"), ("max", "200\n100\n99\n"), ("xor", "171\n7\n100\n")] {
        place.run(&format!("eval --key k/server.key {operation} a.ct b.ct -o c.ct --threads 2"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    place.run("circuit build add --type u8 -o add8.txt");
    let json: Value = serde_json::from_str(
        &place.run("eval --key k/server.key --circuit add8.txt --inputs a.ct b.ct -o sum.ct --json"),
    )
    .unwrap();
    assert!(json["products"].as_u64().unwrap() >= 3 * 7 && json["recrypts"] == 0, "{json}");
    assert!(json["results"][0]["file"] == "sum.ct" && json["seconds"].as_f64().unwrap() > 0.0, "{json}");
    assert_eq!(place.run("decrypt --key k/client.key sum.ct"), "43\n199\n106\n");
    let cost = place.run("eval --key k/server.key add a.ct b.ct --estimate");
    assert!(!cost.contains("bootstrap") && cost.contains(" products, depth "), "{cost}");
    let text = place.run("inspect a.ct sum.ct k/client.key k/server.key");
    assert!(text.contains("products in a row left: 9, ") && text.contains("can be computed on"), "{text}");
    let json: Value = serde_json::from_str(&place.run("inspect sum.ct --json")).unwrap();
    assert!(json[0]["condition"]["products"].as_u64().unwrap() < 9, "{json}");
    #[cfg(unix)]
    assert_eq!(crate::common::mode(place.path("k/client.key")), 0o600);

    // The planner reports the error with the fix.
    for line in ["div a.ct b.ct -o c.ct", "div a.ct b.ct --estimate"] {
        let message = place.fail(&format!("eval --key k/server.key {line}"), 1);
        assert!(message.contains("products in a row, and the ciphertexts of key tight-64-9 allow 9"), "{message}");
        assert!(message.contains("help: have fewer products in a row"), "{message}");
    }
}

#[test]
fn vectors_of_slots_run_elementwise() {
    let place = Place::new();
    place.run("keygen --scheme ntru --params slots-128-3 --research --insecure-seed 1 --out k");
    place.run("encrypt --research --key k/client.key --type mod257 1 2 256 -o a.ct");
    place.run("encrypt --research --key k/server.key --type mod257 100 200 256 -o b.ct");
    place.run("encrypt --research --key k/server.key --type mod257 2 -o two.ct");
    for (operation, values) in [
        ("add a.ct b.ct", "101\n202\n255\n"),
        ("sub a.ct b.ct", "158\n59\n0\n"),
        ("mul a.ct b.ct", "100\n143\n1\n"),
        ("mul a.ct 3", "3\n6\n254\n"),
        ("sub 5mod257 a.ct", "4\n3\n6\n"),
        ("add b.ct two.ct", "102\n202\n1\n"),
        ("neg a.ct", "256\n255\n1\n"),
    ] {
        place.run(&format!("eval --key k/server.key {operation} -o c.ct"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    let cost = place.run("eval --key k/server.key mul a.ct b.ct --estimate");
    assert!(cost.contains("1 product, depth 1"), "{cost}");
    for (line, part) in [
        ("eval --key k/server.key max a.ct b.ct -o c.ct", "added, subtracted, multiplied, negated"),
        ("eval --key k/server.key sum a.ct -o c.ct", "made without rotation keys"),
        ("eval --key k/server.key to_bits a.ct -o c.ct", "scheme ntru has no bits ciphertexts"),
        ("eval --key k/server.key to_u8 a.ct -o c.ct", "added, subtracted"),
        ("encrypt --research --key k/client.key --type u8 1 -o c.ct", "slots-128-3 holds mod257, not u8"),
        ("encrypt --research --key k/client.key --type mod257 257 -o c.ct", "an integer in 0..=256"),
        ("encrypt --key CLIENT --type mod257 1 -o c.ct", "holds bools and integers such as u8, not mod257"),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(place.fail("encrypt --key CLIENT --type mod1 1 -o c.ct", 2).contains("modP"));
    assert!(!place.path("c.ct").exists() || place.run("decrypt --key k/client.key c.ct") == "256\n255\n1\n");
}

#[test]
fn sets_are_listed_measured_and_refused_with_the_fix() {
    let place = Place::new();
    let text = place.run("params");
    assert!(text.contains("secure-16384-2") && text.contains("More sets by name: tight-N-DEPTH"), "{text}");
    let json: Value = serde_json::from_str(&place.run("params --json")).unwrap();
    let sets: Vec<_> = json.as_array().unwrap().iter().filter(|set| set["scheme"] == "ntru").collect();
    assert!(sets[0]["name"] == "secure-8192-1" && sets[0]["recommended"] == true && sets[0]["depth"] == 1, "{sets:?}");
    let text = place.run("bench --scheme ntru --params tight-64-5 --quick");
    assert!(text.contains("add u8") && !text.contains("mul u8"), "{text}");
    let text = place.run("bench --scheme ntru --params slots-128-1 --quick");
    assert!(text.contains("128 x mul mod257"), "{text}");
    let text = place.run("demo --scheme ntru --params tight-64-20 --research --quick");
    assert!(text.contains("result: Birch wins at 4800 (equal to the plain maximum"), "{text}");
    for (line, code, part) in [
        ("keygen --scheme ntru --params tight-64-9 --out n", 1, "--research"),
        ("keygen --scheme ntru --params tight-64 --out n", 2, "there is no NTRU parameter set"),
        ("keygen --scheme ntru --params paper-512-41 --research --out n", 1, "NTRU parameters"),
        ("keygen --params tight-64-9 --research --out n", 1, "(--scheme ntru, "),
        ("keygen --params toy --research --out n", 1, "(--scheme gh, "),
        ("bench --params toy", 2, "--params applies to schemes gh, ntru, bgv and lwe"),
        ("bench --scheme gh --params ci-7", 1, "cannot evaluate this circuit"),
        ("demo --scheme ntru --params tight-64-3 --research", 1, "make keys of a set of depth"),
        ("demo --scheme gh --params ci-7 --research", 1, "cannot evaluate this circuit"),
        ("demo --scheme gh --params toy", 1, "--research"),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(part), "{line}: {message}");
    }
    // Keys and ciphertexts of different schemes.
    place.run("keygen --scheme ntru --params tight-64-2 --research --out k");
    place.run("encrypt --research --key k/client.key --type u4 5 -o a.ct");
    for line in ["eval --key SERVER neg a.ct -o c.ct", "decrypt --key CLIENT a.ct"] {
        assert!(place.fail(line, 1).contains("a.ct is of scheme ntru, "), "{line}");
    }
    assert!(
        place
            .fail("eval --key k/server.key neg a.ct -o c.ct --memory 9", 2)
            .contains("--memory applies to keys of scheme gh")
    );
}

#[test]
fn vectors_of_slots_are_rotated_and_summed() {
    let place = Place::new();
    place.run("keygen --scheme ntru --params slots-128-2 --rotations --research --insecure-seed 1 --out k");
    place.run("encrypt --research --key k/client.key --type mod257 1 2 256 -o a.ct");
    place.run("encrypt --research --key k/client.key --type mod257 100 200 256 -o b.ct");
    place.run("encrypt --research --key k/client.key --type mod257 10 -o ten.ct");
    for (operation, values) in [
        ("sum a.ct", "2\n"),
        ("dot a.ct b.ct", "244\n"),
        ("dot a.ct ten.ct", "20\n"),
        ("dot 2 a.ct", "4\n"),
        ("rotate a.ct --by 1", "2\n256\n1\n"),
        ("rotate a.ct --by -1", "256\n1\n2\n"),
    ] {
        place.run(&format!("eval --key k/server.key {operation} -o c.ct"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    let cost = place.run("eval --key k/server.key dot a.ct b.ct --estimate");
    assert!(cost.contains("1 product, 7 rotations, depth 1"), "{cost}");
    let done: Value =
        serde_json::from_str(&place.run("eval --key k/server.key rotate a.ct --by 1 -o c.ct --json")).unwrap();
    assert!(done["rotations"].as_u64().unwrap() > 0 && done["products"] == 0, "{done}");
    let list = place.run("eval --list");
    assert!(["rotate ", "dot ", "sum "].iter().all(|name| list.contains(name)), "{list}");

    for (line, what) in [
        ("rotate a.ct -o c.ct", "--by"),
        ("sum a.ct --by 1 -o c.ct", "--by applies to rotate"),
        ("sum ten.ct -o c.ct", "holds one value"),
        ("dot ten.ct 3 -o c.ct", "holds one value"),
        ("dot a.ct -o c.ct", "dot takes 2 operands"),
        ("rotat a.ct -o c.ct", "did you mean rotate?"),
    ] {
        let message = place.fail(&format!("eval --key k/server.key {line}"), if line.contains("ten") { 1 } else { 2 });
        assert!(message.contains(what), "{line}: {message}");
    }
    // Without rotation keys, the error names the fix. Some sets cannot have such keys.
    place.run("keygen --scheme ntru --params slots-128-2 --research --insecure-seed 1 --out l");
    let message = place.fail("eval --key l/server.key sum a.ct -o c.ct", 1);
    assert!(message.contains("without rotation keys") && message.contains("--rotations --research"), "{message}");
    let message = place.fail("keygen --scheme tfhe --rotations --out m", 1);
    assert!(message.contains("scheme tfhe has no slots"), "{message}");
}
