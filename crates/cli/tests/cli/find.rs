//! `solinas params find`.

use crate::common::Place;
use serde_json::Value;

#[test]
fn the_smallest_secure_parameters_are_found() {
    let place = Place::new();
    let text = place.run("params find --scheme ntru --depth 2");
    assert!(text.contains("secure-16384-2") && text.contains("3: 17 bits for the last level"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("plaintexts") && line.ends_with("bits")), "{text}");
    for (task, holds) in
        [("--modulus 3", "single numbers; for vectors add --slots"), ("--modulus 65537 --slots", "vectors of ")]
    {
        let text = place.run(&format!("params find --scheme ntru --depth 1 --security 0 {task}"));
        assert!(text.contains(holds), "{text}");
    }
    let json: Value =
        serde_json::from_str(&place.run("params find --scheme ntru --depth 1 --security 40 --modulus 3 --json"))
            .unwrap();
    assert!(json["classical_bits"].as_f64().unwrap() >= 40.0, "{json}");
    assert_eq!((json["literal"]["depth"].as_u64(), json["literal"]["plaintext_modulus"].as_u64()), (Some(1), Some(3)));
    let refused = place.fail("params find --scheme ntru --depth 30", 1);
    assert!(refused.contains("take depth ") && refused.contains("bits of security at this depth"), "{refused}");
    place.fail("params find --scheme gh --depth 3", 2);
    place.fail("params find --scheme ntru", 2);
}

#[test]
fn the_smallest_sets_of_bgv_are_found_and_make_keys() {
    let place = Place::new();
    let text = place.run("params find --scheme bgv --depth 8 --modulus 65537");
    assert!(text.contains("slots128-16384-8") && text.contains("128/121 bits\n"), "{text}");
    let text = place.run("params find --scheme bgv --depth 2 --modulus 65537 --slots --security 0");
    assert!(text.contains("slots-16-2") && text.contains("keygen needs --research"), "{text}");
    place.run("keygen --scheme bgv --params slots-16-2 --research --out k");
    let json: Value =
        serde_json::from_str(&place.run("params find --scheme bgv --depth 3 --security 192 --json")).unwrap();
    assert!(json["name"] == "bits192-8192-3" && json["classical_bits"] == 192.0, "{json}");
    for (line, part, code) in [
        ("--depth 30 --modulus 65537", "take depth 20 (slots128-32768-20), or 0 bits of security at this depth", 1),
        ("--depth 1 --modulus 257", "a plaintext modulus of 2, 65537, 1073479681", 1),
        ("--depth 1 --terms 2", "--terms applies to scheme ntru only", 2),
        ("--depth 1 --slots", "--modulus 65537", 2),
    ] {
        let message = place.fail(&format!("params find --scheme bgv {line}"), code);
        assert!(message.contains(part), "{line}: {message}");
    }
}
