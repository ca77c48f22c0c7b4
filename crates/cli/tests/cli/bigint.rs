//! Integers of any size, as arguments and in files.

use crate::common::Place;

#[test]
fn operations_are_those_of_integers() {
    let place = Place::new();
    for (line, expected) in [
        ("mul 12 13", "156"),
        ("mul 0xffffffffffffffffffffffffffffffff 2", "0x1fffffffffffffffffffffffffffffffe"),
        (
            "mul 340282366920938463463374607431768211455 340282366920938463463374607431768211457",
            "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        ),
        ("mul 0 5", "0"),
        ("square 12345678901234567890", "152415787532388367501905199875019052100"),
        ("mod 1000000000000000000000 7", "6"),
        ("powm 3 1000003 1000000007", "753256171"),
        ("powm 3 1000003 1000000007 --secret", "753256171"),
        ("powm 3 5 1000", "243"),
        ("powm 0 0 10", "1"),
        ("powm 7 0x10001 0x10000000000000000", "13213338531195781127"),
        ("add 0xffffffffffffffff 1", "0x10000000000000000"),
        ("sub 18446744073709551616 1", "18446744073709551615"),
        ("sub 3 5 --mod 7", "5"),
        ("add 6 6 --mod 7", "5"),
        ("mul 6 6 --mod 7", "1"),
        ("square 6 --mod 7", "1"),
        ("gcd 1071 462", "21"),
        ("gcd 0 5", "5"),
        ("convert 255 --out-format hex", "0xff"),
        ("convert 0xff --in-format bytes --out-format dec", "255"),
        ("convert 0x00 ", "0x0"),
    ] {
        assert_eq!(place.run(&format!("bigint {line}")), format!("{expected}\n"), "{line}");
    }
}

#[test]
fn numbers_go_through_files_of_every_format() {
    let place = Place::new();
    place.run("bigint powm 3 1000003 0x100000000000000000000000000000000000000000000000000 -o dec --out-format dec");
    for (format, file) in [("hex", "h"), ("dec", "d"), ("bytes", "b"), ("bytes-le", "l")] {
        place.run(&format!("bigint convert dec --out-format {format} -o {file}"));
        let back = place.run(&format!("bigint convert {file} --in-format {format} --out-format dec"));
        assert_eq!(back.into_bytes(), std::fs::read(place.path("dec")).unwrap(), "{format}");
    }
    place.write("wrapped", "0x12 34\n56\n\n");
    assert_eq!(place.run("bigint add wrapped 0x1"), "0x123457\n");
    let output = place.command("bigint add - 1").write_stdin("41\n").assert().success();
    assert_eq!(output.get_output().stdout, b"42\n");
    place.write("5", "100");
    assert_eq!(place.run("bigint add 5 ./5"), "105\n");
    let output = place.command("bigint convert 0x000102 --out-format bytes").assert().success();
    assert_eq!(output.get_output().stdout, [1, 2]);
    assert!(place.run("bigint mul 5 7 --json").contains("\"value\": \"35\""));
    let report = place.run("bigint mul 5 7 -o product --json");
    assert!(report.contains("\"bits\": 6") && report.contains("\"output\": \"product\"") && !report.contains("value"));
    assert!(place.run("bigint mul 5 7 -o product").starts_with("product: 6 bits"));
}

impl Place {
    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

#[test]
fn large_products_and_quotients_fit_together() {
    let place = Place::new();
    let digits = |seed: u64, count: usize| -> String {
        let mut state = seed;
        let digit = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from_digit((*state >> 60) as u32, 16).unwrap()
        };
        std::iter::once('1').chain((1..count).map(|_| digit(&mut state))).collect()
    };
    place.write("a", digits(1, 60_000));
    place.write("b", digits(2, 50_001));
    place.run("bigint mul --in-format hex a b -o ab");
    place.run("bigint square --in-format hex a -o aa");
    for options in ["--engine complex", "--engine solinas", "--threads 2", "--engine solinas --threads 2"] {
        assert_eq!(place.run(&format!("bigint mul --in-format hex a b {options}")), place.text("ab"), "{options}");
        assert_eq!(place.run(&format!("bigint square --in-format hex a {options}")), place.text("aa"), "{options}");
        let reduced = place.run(&format!("bigint mul --in-format hex a a --mod b {options}"));
        assert_eq!(reduced, place.run("bigint mod --in-format hex aa b"), "{options}");
        assert_eq!(place.run(&format!("bigint mul 3 5 {options}")), "15\n");
    }
    assert_eq!(place.run("bigint mod --in-format hex ab b"), "0x0\n");
    assert_eq!(place.run("bigint mod --in-format hex aa a"), "0x0\n");
    place.run("bigint gcd --in-format hex ab aa -o g");
    assert_eq!(place.run("bigint mod --in-format hex g a"), "0x0\n");
}

#[test]
fn bad_input_names_place_and_fix() {
    let place = Place::new();
    place.write("text", "12\n34 5x6\n");
    place.write("empty", "\n");
    for (line, code, expected) in [
        ("mul 12 3f --in-format hex", 1, "character 2"),
        ("mul 12 0x3g", 1, "character 4"),
        ("mul 12 none", 1, "none"),
        ("mul 12 text", 1, "text, line 2, column 5: 'x' is not a decimal digit"),
        ("mul 12 empty", 1, "empty holds no decimal digits"),
        ("convert --in-format hex text", 1, "'x' is not a hexadecimal digit"),
        ("mod 12 0", 1, "the modulus is 0"),
        ("powm 2 3 1", 1, "the modulus is 1"),
        ("mul 2 3 --mod 0", 1, "the modulus is 0"),
        ("sub 3 5", 1, "negative"),
        ("mul 2", 2, "<B>"),
        ("mul 2 3 -o no/x", 1, "check the name"),
        ("convert 12 --out-format octal", 2, "hex"),
    ] {
        let message = place.fail(&format!("bigint {line}"), code);
        assert!(message.contains(expected), "{line}: {message}");
        if code == 1 {
            assert!(message.contains("help: "), "{line}: {message}");
        }
    }
    place.command("bigint mul - -").write_stdin("5").assert().code(2);
    assert_eq!(place.files(), ["empty", "text"]);
}
