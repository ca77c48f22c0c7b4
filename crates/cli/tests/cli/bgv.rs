//! Encrypted computation under BGV: vectors of slots, bits with levels, and errors.

use crate::common::Place;
use serde_json::Value;

#[test]
fn vectors_run_elementwise_until_the_levels_are_used_up() {
    let place = Place::new();
    let made = place.run("keygen --scheme bgv --params slots-128-2 --research --out k");
    assert!(made.contains("parameters slots-128-2 (no security: for research only"), "{made}");
    assert!(made.contains("holds vectors of 128 values of type mod65537; 2 products in a row"), "{made}");
    place.run("encrypt --research --key k/client.key --type mod65537 1 2 65536 -o a.ct");
    // The server key also encrypts.
    place.run("encrypt --research --key k/server.key --type mod65537 100 200 65536 -o b.ct");
    place.run("encrypt --research --key k/server.key --type mod65537 2 -o two.ct");
    for (operation, values) in [
        ("add a.ct b.ct", "101\n202\n65535\n"),
        ("sub a.ct b.ct", "65438\n65339\n0\n"),
        ("mul a.ct b.ct", "100\n400\n1\n"),
        ("mul a.ct 3", "3\n6\n65534\n"),
        ("sub 5mod65537 a.ct", "4\n3\n6\n"),
        ("add b.ct two.ct", "102\n202\n1\n"),
        ("neg a.ct", "65536\n65535\n1\n"),
        ("rotate a.ct --by 1", "2\n65536\n1\n"),
        ("rotate a.ct --by -1", "65536\n1\n2\n"),
        ("sum a.ct", "2\n"),
        ("dot a.ct b.ct", "501\n"),
        ("dot a.ct two.ct", "4\n"),
        ("dot a.ct 3,2,40", "65504\n"),
        ("dot 3,2,40 a.ct", "65504\n"),
        ("mul 2,3,4 a.ct", "2\n6\n65533\n"),
        ("add a.ct 1,1,1mod65537", "2\n3\n0\n"),
    ] {
        place.run(&format!("eval --key k/server.key {operation} -o c.ct"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    place.run("eval --key k/server.key mul a.ct b.ct -o c.ct");
    place.run("eval --key k/server.key mul c.ct a.ct -o d.ct");
    assert_eq!(place.run("decrypt --key k/client.key d.ct"), "100\n800\n65536\n");
    let cost = place.run("eval --key k/server.key mul a.ct b.ct --estimate");
    assert!(cost.contains("1 product, depth 1") && !cost.contains("bootstrap"), "{cost}");
    let cost = place.run("eval --key k/server.key dot a.ct b.ct --estimate");
    assert!(cost.contains("1 product, 7 rotations, depth 1"), "{cost}");
    let text = place.run("inspect a.ct d.ct k/client.key k/server.key");
    assert!(text.contains("products in a row left: 2, ") && text.contains("products in a row left: 0, "), "{text}");
    let json: Value = serde_json::from_str(&place.run("inspect k/server.key --json")).unwrap();
    let sections: Vec<&str> =
        json[0]["sections"].as_array().unwrap().iter().map(|section| section["name"].as_str().unwrap()).collect();
    assert_eq!(sections, ["seed", "b", "rotations", "seeds", "keys"]);
    #[cfg(unix)]
    assert_eq!(crate::common::mode(place.path("k/client.key")), 0o600);
    for (line, part) in [
        ("eval --key k/server.key mul d.ct a.ct -o e.ct", "allow 0 of the 2"),
        ("eval --key k/server.key max a.ct b.ct -o e.ct", "added, subtracted, multiplied, negated"),
        ("eval --key k/server.key to_bits a.ct -o e.ct", "scheme bgv has no bits ciphertexts"),
        ("encrypt --research --key k/client.key --type u8 1 -o e.ct", "slots-128-2 holds mod65537, not u8"),
        ("encrypt --research --key k/client.key --type mod257 1 -o e.ct", "slots-128-2 holds mod65537, not mod257"),
        ("encrypt --research --key k/client.key --type mod65537 65537 -o e.ct", "an integer in 0..=65536"),
        ("decrypt --key CLIENT a.ct", "a.ct is of scheme bgv, "),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(!place.path("e.ct").exists());
}

#[test]
fn circuits_of_bits_run_leveled() {
    let place = Place::new();
    place.run("keygen --scheme bgv --params bits-64-9 --research --insecure-seed 1 --out k");
    place.run("encrypt --research --key k/client.key --type u8 200 100 7 -o a.ct");
    place.run("encrypt --research --key k/server.key --type u8 99 -o b.ct");
    place.run("circuit build add --type u8 -o add8.txt");
    place.run("eval --key k/server.key --circuit add8.txt --inputs a.ct b.ct -o sum.ct");
    assert_eq!(place.run("decrypt --key k/client.key sum.ct"), "43\n199\n106\n");
    place.run("eval --key k/server.key max a.ct b.ct -o max.ct");
    assert_eq!(place.run("decrypt --key k/client.key max.ct"), "200\n100\n99\n");
    for line in ["div a.ct b.ct -o c.ct", "div a.ct b.ct --estimate"] {
        let message = place.fail(&format!("eval --key k/server.key {line}"), 1);
        assert!(message.contains("products in a row, and the ciphertexts of key bits-64-9 allow 9"), "{message}");
        assert!(message.contains("help: have fewer products in a row"), "{message}");
    }
}

#[test]
fn circuits_of_any_depth_are_bootstrapped() {
    let place = Place::new();
    let made = place.run("keygen --scheme bgv --params boot-64-2 --research --insecure-seed 1 --out k");
    assert!(made.contains("any number of products, 2 in a row between bootstraps"), "{made}");
    place.run("encrypt --research --key k/client.key --type u8 200 100 7 -o a.ct");
    place.run("encrypt --research --key k/server.key --type u8 9 -o b.ct");
    let cost = place.run("eval --key k/server.key div a.ct b.ct --estimate");
    assert!(cost.contains(" bootstraps, ") && !cost.starts_with("0 "), "{cost}");
    place.run("eval --key k/server.key div a.ct b.ct -o c.ct");
    assert_eq!(place.run("decrypt --key k/client.key c.ct"), "22\n11\n0\n");
    let json: Value = serde_json::from_str(&place.run("inspect k/server.key --json")).unwrap();
    let sections = json[0]["sections"].as_array().unwrap();
    assert!(sections.iter().any(|section| section["name"] == "bootstrap"));
    let text = place.run("params");
    let line = text.lines().find(|line| line.starts_with("boot128-16384-8 ")).unwrap();
    assert!(line.contains("bits") && line.contains(" any ") && line.contains("recommended"), "{line}");
}

#[test]
fn sets_are_listed_measured_and_refused_with_the_fix() {
    let place = Place::new();
    let text = place.run("params");
    let line = text.lines().find(|line| line.starts_with("slots128-16384-7 ")).unwrap();
    assert!(
        line.contains("16384 numbers")
            && line.contains("128/121 bits")
            && line.contains("recommended")
            && line.contains("2^-128"),
        "{line}"
    );
    let json: Value = serde_json::from_str(&place.run("params --json")).unwrap();
    let sets: Vec<_> = json.as_array().unwrap().iter().filter(|set| set["scheme"] == "bgv").collect();
    assert!(sets.iter().any(|set| set["name"] == "slots128-8192-3" && set["slots"] == 8192 && set["depth"] == 3));
    let text = place.run("bench --scheme bgv --params slots-128-1 --quick");
    assert!(text.contains("128 x mul mod65537"), "{text}");
    let text = place.run("demo --scheme bgv --params bits-64-20 --research --quick");
    assert!(text.contains("result: Birch wins at 4800 (equal to the plain maximum"), "{text}");
    for (line, part) in [
        ("keygen --scheme bgv --params slots-128-2 --out n", "--research"),
        ("keygen --scheme bgv --params slots-100-2 --research --out n", "power of two"),
        ("keygen --scheme bgv --params nothing --out n", "there is no BGV parameter set"),
        ("keygen --scheme ntru --params slots128-8192-3 --out n", "(--scheme bgv, "),
        ("keygen --params slots-1024-3 --research --out n", "(--scheme bgv, "),
        ("keygen --scheme bgv --params slots-0016-3 --research --out n", "there is no BGV parameter set"),
        ("keygen --scheme ntru --params slots-0016-3 --research --out n", "there is no NTRU parameter set"),
        ("keygen --scheme ntru --params slots-+16-3 --research --out n", "there is no NTRU parameter set"),
        ("demo --scheme bgv --params bits-64-3 --research", "or of one that bootstraps, such as boot128-16384-8"),
    ] {
        let message = place.fail(line, if part.starts_with("there is no") { 2 } else { 1 });
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(!place.path("n").exists());
    // Schemes bgv and ntru have a set of this name, with different moduli. Only bgv lists it.
    place.write("f.json", r#"{"inputs": [{ "name": "a", "ty": { "mod": 65537 } }], "nodes": [
        { "op": { "input": 0 }, "args": [], "ty": { "mod": 65537 } }, { "op": "add", "args": [0, 0], "ty": { "mod": 65537 } }
    ], "outputs": [{ "name": "r", "value": 1 }]}"#);
    place.run("eval --program f.json --estimate --params slots-1024-3");
    place.run("eval --program f.json --estimate --params slots-1024-3 --scheme bgv");
    let message = place.fail("eval --program f.json --estimate --params slots-1024-3 --scheme ntru", 1);
    assert!(message.contains("holds mod12289"), "{message}");
    let output = place
        .command("keygen --scheme bgv --params slots128-8192-3 --out n")
        .env("SOLINAS_MEMORY_MIB", "1")
        .assert()
        .code(1);
    let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(message.contains("a server key takes") && message.contains("SOLINAS_MEMORY_MIB"), "{message}");
    assert!(!place.path("n").exists());
    // A damaged key.
    place.run("keygen --scheme bgv --params slots-64-1 --research --out k");
    let mut bytes = std::fs::read(place.path("k/server.key")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(place.path("k/server.key"), bytes).unwrap();
    place.run("encrypt --research --key k/client.key --type mod65537 1 2 -o a.ct");
    assert!(place.fail("eval --key k/server.key neg a.ct -o b.ct", 1).contains("damaged"));
    assert!(!place.path("b.ct").exists());
}
