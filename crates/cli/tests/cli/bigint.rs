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
        ("add -5 3", "-2"),
        ("sub 3 5", "-2"),
        ("mul -12 13", "-156"),
        ("mul -- -0x10 -0b11", "0x30"),
        ("square -12", "144"),
        ("mul -6 6 --mod 7", "6"),
        ("add -5 3 --mod 7", "5"),
        ("div 7 2", "3"),
        ("div -7 2", "-4"),
        ("div 7 -2 --remainder", "-4\n-1"),
        ("div -7 2 --remainder", "-4\n1"),
        ("mod -7 3", "2"),
        ("powm 3 -1 7", "5"),
        ("powm 3 -1 7 --secret", "5"),
        ("powm -3 2 7", "2"),
        ("pow 3 40", "12157665459056928801"),
        ("pow -2 63", "-9223372036854775808"),
        ("pow 0 0", "1"),
        ("pow -1 340282366920938463463374607431768211455", "-1"),
        ("sqrt 0", "0"),
        ("sqrt 99", "9"),
        ("sqrt 1000000000000000000000000000000000000000000", "1000000000000000000000"),
        ("gcd -1071 462", "21"),
        ("gcd 240 46 --cofactors", "2\n-9\n47"),
        ("gcd -240 46 --cofactors", "2\n9\n47"),
        ("gcd 0 -5 --cofactors", "5\n0\n-1"),
        ("prime 2", "true"),
        ("prime 1", "false"),
        ("prime -7", "false"),
        ("prime 0x1ffffffffffffffffffffff", "true"),
        ("prime 618970019642690137449562113", "false"),
        ("convert -255 --out-format hex", "-0xff"),
        ("convert 0b101", "0b101"),
        ("convert --out-format dec -- -0o17", "-15"),
        ("convert 1295 --out-format base36", "zz"),
        ("convert 255 --out-format bin", "0b11111111"),
        ("convert 255 --out-format base16", "0xff"),
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
    for (format, file) in [
        ("hex", "h"),
        ("dec", "d"),
        ("oct", "o"),
        ("bin", "i"),
        ("base3", "3"),
        ("base36", "z"),
        ("bytes", "b"),
        ("bytes-le", "l"),
    ] {
        place.run(&format!("bigint convert dec --out-format {format} -o {file}"));
        let back = place.run(&format!("bigint convert ./{file} --in-format {format} --out-format dec"));
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
    assert!(place.run("bigint div -7 2 --remainder --json").contains("\"remainder\": \"1\""));
    assert!(place.run("bigint gcd 240 46 --cofactors --json").contains("-9"));
    assert!(place.run("bigint prime 97 --json").contains("\"prime\": true"));
    place.run("bigint prime 97 -o verdict");
    assert_eq!(place.text("verdict"), "true\n");
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
fn the_parser_s_own_tip_for_negative_numbers_works() {
    let place = Place::new();
    for (verb, operands, expected) in
        [("add", "-0x5 3", "-0x2"), ("mul", "-0b11 -0o2", "0b110"), ("convert", "-0xff", "-0xff")]
    {
        let tip = place.fail(&format!("bigint {verb} {operands}"), 2);
        assert!(tip.contains("-- -0"), "{tip}");
        assert_eq!(place.run(&format!("bigint {verb} -- {operands}")), format!("{expected}\n"));
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
        ("convert -3 --out-format bytes", 1, "negative"),
        ("sqrt -4", 1, "negative"),
        ("pow 2 -1", 1, "negative"),
        ("pow 2 100000000000", 1, "longer than 1 GiB"),
        ("pow 4294967296 4294967295", 1, "longer than 1 GiB"),
        ("div 5 0", 1, "the divisor is 0"),
        ("powm 2 -1 4", 1, "no inverse"),
        ("mod 5 -3", 1, "the modulus is negative"),
        ("add -- -12x 3", 1, "character 4"),
        ("add -0x5 3", 2, "-- -0"),
        ("div 7 2 --remainder -o q", 2, "cannot be used with"),
        ("gcd 7 2 --cofactors -o q", 2, "cannot be used with"),
        ("convert 12 --out-format base37", 2, "hex"),
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
