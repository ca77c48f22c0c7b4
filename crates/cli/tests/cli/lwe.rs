//! Encrypted computation under LWE: bits with levels, sums without levels, inspection of streamed matrices, and errors.

use crate::common::Place;
use serde_json::Value;

#[test]
fn bits_run_from_keygen_to_decrypt_until_the_levels_are_used_up() {
    let place = Place::new();
    let made = place.run("keygen --scheme lwe --params leveled-8-9 --research --out k");
    assert!(made.contains("parameters leveled-8-9 (no security: for research only"), "{made}");
    assert!(made.contains("holds bits; 9 products in a row"), "{made}");
    place.run("encrypt --research --key k/client.key --type u8 200 100 7 -o a.ct");
    // The server key also encrypts.
    place.run("encrypt --research --key k/server.key --type u8 99 -o b.ct");
    for (operation, values) in [("add", "43\n199\n106\n"), ("max", "200\n100\n99\n"), ("and", "64\n96\n3\n")] {
        place.run(&format!("eval --key k/server.key {operation} a.ct b.ct -o c.ct --threads 2"));
        assert_eq!(place.run("decrypt --key k/client.key c.ct"), values, "{operation}");
    }
    place.run("circuit build add --type u8 -o add8.txt");
    let json: Value = serde_json::from_str(
        &place.run("eval --key k/server.key --circuit add8.txt --inputs a.ct b.ct -o sum.ct --json"),
    )
    .unwrap();
    assert!(json["products"].as_u64().unwrap() >= 3 * 7 && json["recrypts"] == 0, "{json}");
    assert_eq!(place.run("decrypt --key k/client.key sum.ct"), "43\n199\n106\n");
    let cost = place.run("eval --key k/server.key add a.ct b.ct --estimate");
    assert!(cost.contains(" products, depth ") && !cost.contains("bootstrap"), "{cost}");
    let text = place.run("inspect a.ct sum.ct k/client.key k/server.key");
    assert!(text.contains("products in a row left: 9, ") && text.contains("can be computed on"), "{text}");
    assert!(text.contains("section switch-9: ") && text.contains("digit_bits 8"), "{text}");
    #[cfg(unix)]
    assert_eq!(crate::common::mode(place.path("k/client.key")), 0o600);
    // The planner reports the error with the fix.
    for line in ["div a.ct b.ct -o d.ct", "div a.ct b.ct --estimate"] {
        let message = place.fail(&format!("eval --key k/server.key {line}"), 1);
        assert!(message.contains("products in a row, and the ciphertexts of key leveled-8-9 allow 9"), "{message}");
        assert!(message.contains("help: have fewer products in a row"), "{message}");
        assert!(message.contains("make keys of scheme "), "{message}");
    }
    assert!(!place.path("d.ct").exists());
    for (line, part) in [
        ("decrypt --key CLIENT a.ct", "a.ct is of scheme lwe, "),
        ("eval --key k/server.key to_radix a.ct -o d.ct", "scheme lwe has no radix ciphertexts"),
        (
            "encrypt --research --key k/client.key --type mod257 1 -o d.ct",
            "leveled-8-9 holds bools and integers such as u8, not mod257",
        ),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn secure_sets_without_products_add_bits() {
    let place = Place::new();
    let made = place.run("keygen --scheme lwe --params secure-31 --out k");
    assert!(made.contains("147 bits of security") && made.contains("holds bits; sums alone"), "{made}");
    place.run("encrypt --research --key k/client.key --type u4 12 -o a.ct");
    place.run("encrypt --research --key k/server.key --type u4 10 -o b.ct");
    place.run("eval --key k/server.key xor a.ct b.ct -o c.ct");
    assert_eq!(place.run("decrypt --key k/client.key c.ct"), "6\n");
    let message = place.fail("eval --key k/server.key and a.ct b.ct -o c.ct", 1);
    assert!(message.contains("it takes 1 product,") && message.contains("leveled-secure-1"), "{message}");
}

#[test]
fn sets_are_listed_measured_and_refused_with_the_fix() {
    let place = Place::new();
    let text = place.run("params");
    assert!(text.contains("leveled-secure-1") && text.contains("More sets by name: leveled-N-DEPTH"), "{text}");
    let json: Value = serde_json::from_str(&place.run("params --json")).unwrap();
    let sets: Vec<_> = json.as_array().unwrap().iter().filter(|set| set["scheme"] == "lwe").collect();
    let first = sets[0];
    assert!(first["name"] == "leveled-secure-1" && first["recommended"] == true && first["depth"] == 1, "{first}");
    assert!(first["classical_bits"].as_f64().unwrap() >= 128.0, "{first}");
    let text = place.run("bench --scheme lwe --params leveled-8-5 --quick");
    assert!(text.contains("add u8") && !text.contains("mul u8"), "{text}");
    let text = place.run("demo --scheme lwe --params leveled-8-20 --research --quick");
    assert!(text.contains("result: Birch wins at 4800 (equal to the plain maximum"), "{text}");
    for (line, part) in [
        ("keygen --scheme lwe --params leveled-8-9 --out n", "--research"),
        ("keygen --scheme lwe --params paper-9326 --out n", "--research"),
        ("keygen --scheme lwe --params leveled-8 --out n", "there is no LWE parameter set"),
        ("keygen --scheme lwe --params leveled-08-3 --research --out n", "there is no LWE parameter set"),
        ("keygen --scheme lwe --params toy-64-+2 --research --out n", "there is no LWE parameter set"),
        ("keygen --scheme lwe --params leveled-4000-2 --research --out n", "dimension 4000"),
        ("keygen --params leveled-8-9 --research --out n", "(--scheme lwe, "),
        ("demo --scheme lwe --params leveled-8-3 --research", "make keys of "),
    ] {
        let message = place.fail(line, if part.starts_with("there is no") { 2 } else { 1 });
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn public_matrices_are_stored_whole_and_give_the_same_ciphertexts() {
    let place = Place::new();
    for (params, name) in [("toy-64-2", "sums"), ("leveled-16-3", "levels")] {
        place.run(&format!("keygen --scheme lwe --params {params} --research --insecure-seed 1 --out {name}"));
        let text = place.run(&format!("expand --key {name}/server.key -o {name}/matrix"));
        let key = text.split(' ').nth(5).unwrap().trim_end_matches(',').to_owned();
        let shown = place.run(&format!("inspect {name}/matrix {name}/server.key"));
        assert!(shown.matches(&format!("key {key}")).count() == 2 && !shown.contains("damaged"), "{shown}");
        // More bits than one pass encrypts, also with the client key.
        let values = "1 2 3 4 5 6 7 8 9 200";
        place.run(&format!("encrypt --research --key {name}/server.key --type u8 {values} -o a.ct"));
        place.run(&format!(
            "encrypt --research --key {name}/client.key --matrix {name}/matrix --type u8 {values} -o b.ct"
        ));
        assert!(std::fs::read(place.path("a.ct")).unwrap() == std::fs::read(place.path("b.ct")).unwrap(), "{params}");
        assert_eq!(place.run(&format!("decrypt --key {name}/client.key b.ct")).lines().last(), Some("200"));
    }
    // A second run replaces its own file, and describes it as JSON.
    let json: Value = serde_json::from_str(&place.run("expand --key sums/client.key -o sums/matrix --json")).unwrap();
    assert_eq!(json["bytes"].as_u64().unwrap(), std::fs::metadata(place.path("sums/matrix")).unwrap().len());
    let mut bytes = std::fs::read(place.path("sums/matrix")).unwrap();
    bytes[5000] ^= 1;
    place.write("damaged", bytes);
    for (line, part, code) in [
        (
            "encrypt --research --key sums/server.key --matrix levels/matrix --type u8 1 -o c.ct",
            "the matrix belongs to key",
            1,
        ),
        (
            "encrypt --research --key sums/server.key --matrix damaged --type u8 1 -o c.ct",
            "piece 0 is not what was written",
            1,
        ),
        ("encrypt --research --key sums/server.key --matrix a.ct --type u8 1 -o c.ct", "a.ct cannot be read", 1),
        ("encrypt --key CLIENT --matrix sums/matrix --type u8 1 -o c.ct", "only keys of scheme lwe have", 1),
        ("expand --key CLIENT -o c", "only keys of scheme lwe have", 1),
        ("expand --key SERVER -o c", "only keys of scheme lwe have", 1),
        ("encrypt --key SERVER --matrix sums/matrix --type u8 1 -o c.ct", "only keys of scheme lwe have", 1),
        ("expand --key a.ct -o c", "is a ciphertext", 1),
        ("expand --key sums/server.key -o sums/client.key", "sums/client.key is a client key", 1),
        ("expand --key sums/server.key -o sums/server.key", "is also an input", 2),
        ("expand --key sums/server.key -o -", "./-", 2),
        ("expand --key sums/server.key -o none/matrix", "cannot write none/matrix", 1),
        ("expand --key sums/server.key -o sums", "name a file, not a folder", 1),
        ("encrypt --research --key sums/server.key --matrix sums --type u8 1 -o c.ct", "not an ordinary file", 1),
        ("encrypt --research --key sums/server.key --matrix a.ct --type u8 1 -o a.ct", "is also an input", 2),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(place.files(), ["a.ct", "b.ct", "damaged", "levels", "sums"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_matrix_that_is_not_finished_leaves_nothing() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params secure-124 --out k");
    let message = crate::terminal::interrupted(&place, "expand --key k/server.key -o k/matrix");
    assert!(message.contains("nothing was written"), "{message}");
    // A limit on file sizes simulates a full disk.
    let command = assert_cmd::cargo::cargo_bin("solinas");
    let line = format!("ulimit -f 2000; {} expand --key k/server.key -o k/matrix", command.display());
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && message.contains("no room left to write k/matrix"), "{message}");
    let names = std::fs::read_dir(place.path("k")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.count(), 2);
}
