//! Bad input gives a message with file, cause and fix, and a failing exit code. It gives no output and no panic.

use crate::common::{Place, key};

#[test]
fn keys_and_ciphertexts_of_other_kinds_or_pairs_are_refused() {
    let place = Place::new();
    place.encrypt("u4", "1", "a.ct");
    place.run("encrypt --key OTHER-CLIENT --type u4 1 -o other.ct");
    for (line, part) in [
        ("eval --key SERVER add a.ct other.ct -o r.ct", "other.ct belongs to key"),
        ("eval --key OTHER-SERVER add a.ct a.ct -o r.ct", "a.ct belongs to key"),
        ("decrypt --key OTHER-CLIENT a.ct", "a.ct belongs to key"),
        ("eval --key CLIENT add a.ct a.ct -o r.ct", "client.key is a client key, a server key is needed"),
        ("encrypt --key SERVER --type u4 1 -o r.ct", "do not encrypt: encrypt with the public key (public.key)"),
        ("decrypt --key SERVER a.ct", "server.key is a server key, a client key is needed"),
        ("decrypt --key a.ct a.ct", "a.ct is a ciphertext, a client key is needed"),
        ("decrypt --key CLIENT SERVER", "server.key is a server key, a ciphertext is needed"),
        ("decrypt --key CLIENT absent.ct", "absent.ct"),
        ("decrypt --key CLIENT .", "is a directory"),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(place.files(), ["a.ct", "other.ct"]);
}

#[test]
fn damaged_files_are_refused_wherever_the_damage_is() {
    let place = Place::new();
    place.encrypt("u2", "1", "a.ct");
    let whole = std::fs::read(place.path("a.ct")).unwrap();
    let places: Vec<usize> = (0..64).step_by(5).chain((64..whole.len()).step_by(whole.len() / 25)).collect();
    for at in places {
        let mut altered = whole.clone();
        altered[at] ^= 0x10;
        place.write("altered.ct", altered);
        assert!(place.fail("decrypt --key CLIENT altered.ct", 1).contains("altered.ct"), "byte {at}");
        place.write("cut.ct", &whole[..at]);
        assert!(place.fail("decrypt --key CLIENT cut.ct", 1).contains("cut.ct"), "cut at {at}");
    }
    let mut long = whole.clone();
    long.push(0);
    place.write("long.ct", long);
    assert!(place.fail("eval --key SERVER neg long.ct -o r.ct", 1).contains("long.ct"));
    let mut altered = whole;
    *altered.last_mut().unwrap() ^= 1;
    place.write("altered.ct", altered);
    place.command("inspect altered.ct").assert().code(1);

    let mut server = std::fs::read(key("k/server.key")).unwrap();
    let middle = server.len() / 2;
    server[middle] ^= 1;
    place.write("server.key", server);
    assert!(place.fail("eval --key server.key neg a.ct -o r.ct", 1).contains("server.key is damaged"));
    assert!(!place.path("r.ct").exists());
}

#[test]
fn values_and_types_that_do_not_fit_are_refused() {
    let place = Place::new();
    place.encrypt("u4", "1 2", "two.ct");
    place.encrypt("u4", "1 2 3", "three.ct");
    place.encrypt("u4", "1", "a.ct");
    place.encrypt("u8", "1", "b.ct");
    for (line, code, part) in [
        ("encrypt --key CLIENT --type u4 16 -o r.ct", 1, "0..=15"),
        ("encrypt --key CLIENT --type u4 -1 -o r.ct", 1, "0..=15"),
        ("encrypt --key CLIENT --type i4 8 -o r.ct", 1, "-8..=7"),
        ("encrypt --key CLIENT --type bool 2 -o r.ct", 1, "true, false"),
        ("encrypt --key CLIENT --type u4 abc -o r.ct", 1, "abc"),
        ("encrypt --key CLIENT --type u128 340282366920938463463374607431768211456 -o r.ct", 1, "0..=3402"),
        ("encrypt --key CLIENT --type u2049 1 -o r.ct", 2, "u1 to u2048"),
        ("encrypt --key CLIENT --type uint8 1 -o r.ct", 2, "did you mean u8?"),
        ("encrypt --key CLIENT --type u4 -o r.ct", 2, "VALUES"),
        ("encrypt --key CLIENT --type u4 1 -", 2, "--output"),
        ("encrypt --key CLIENT --type u4 1 - -o r.ct", 2, "standard input"),
        ("encrypt --key CLIENT --type u4 --csv absent.csv --column x -o r.ct", 1, "absent.csv"),
        ("eval --key SERVER add a.ct b.ct -o r.ct", 1, "a.ct (u4), b.ct (u8)"),
        ("eval --key SERVER add two.ct three.ct -o r.ct", 1, "two.ct has 2 values, but three.ct has 3"),
        ("eval --key SERVER add a.ct -o r.ct", 2, "takes 2 operands"),
        ("eval --key SERVER plus a.ct b.ct -o r.ct", 2, "there is no operation 'plus'"),
        ("eval --key SERVER mull a.ct b.ct -o r.ct", 2, "did you mean mul?"),
        ("eval --key SERVER less a.ct b.ct -o r.ct", 2, "did you mean lt?"),
        ("encrypt --key CLIENT --type u4 1 2 --column 0 -o r.ct", 2, "add --csv FILE"),
        ("encrypt --key CLIENT --type u4 1 2 --no-header -o r.ct", 2, "--csv"),
        ("eval --key SERVER to_u2999 a.ct -o r.ct", 2, "to_u2999"),
        ("eval --key SERVER add a.ct #x -o r.ct", 2, "#x is not a constant"),
        ("eval --key SERVER add a.ct a.ct -o r.ct --threads 0", 2, "--threads"),
        ("eval --key SERVER add a.ct a.ct", 2, "--output"),
        ("eval add a.ct a.ct -o r.ct", 2, "--key"),
        ("keygen --scheme rot13 --out k2", 2, "tfhe"),
        ("keygen --params nothing --out k2", 2, "nothing"),
        ("frobnicate", 2, "frobnicate"),
        ("", 2, "Usage"),
    ] {
        let output = place.command(line).assert().code(code);
        let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(message.contains(part) && !message.contains("panicked"), "{line}: {message}");
    }
    assert!(!place.path("r.ct").exists());
    let output = place.command("encrypt --key CLIENT --type u4 16 -o r.ct --json").assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&output.get_output().stderr).unwrap();
    assert!(json["error"].as_str().unwrap().contains("16") && json["help"].as_str().unwrap().contains("0..=15"));
}

#[test]
fn bad_rows_of_a_csv_file_are_named_by_line() {
    let place = Place::new();
    for (text, part) in
        [("v\n1\n16\n", "v.csv, line 3"), ("v\n1\n\"\"\n", "line 3"), ("w\n1\n", "no column 'v'"), ("", "no values")]
    {
        place.write("v.csv", text);
        let message = place.fail("encrypt --key CLIENT --type u4 --csv v.csv --column v -o r.ct", 1);
        assert!(message.contains(part), "{message}");
    }
    place.write("v.csv", "v,w,v\n1,2,3\n");
    let message = place.fail("encrypt --key CLIENT --type u4 --csv v.csv --column v -o r.ct", 1);
    assert!(message.contains("columns 0 and 2") && message.contains("--column 0"), "{message}");
    for (column, value) in [("w", "2"), ("2", "3")] {
        place.run(&format!("encrypt --key CLIENT --type u4 --csv v.csv --column {column} -o r.ct"));
        assert_eq!(place.run("decrypt --key CLIENT r.ct").trim(), value);
    }
}

#[test]
fn keys_are_never_replaced_unasked() {
    let place = Place::new();
    place.run("keygen --params gates-toy --research --out k");
    let before = std::fs::read(place.path("k/client.key")).unwrap();
    assert!(place.fail("keygen --params gates-toy --research --out k", 1).contains("--force"));
    assert_eq!(std::fs::read(place.path("k/client.key")).unwrap(), before);
    place.run("encrypt --key k/client.key --type u4 1 -o a.ct");
    for output in ["k/client.key", "k"] {
        place.fail(&format!("encrypt --key k/client.key --type u4 1 -o {output}"), 1);
        place.fail(&format!("eval --key k/server.key neg a.ct -o {output}/x/y"), 1);
    }
    place.fail("eval --key k/server.key neg a.ct -o k/client.key", 1);
    assert_eq!(std::fs::read(place.path("k/client.key")).unwrap(), before);
}

#[test]
fn places_that_cannot_be_written_are_named_before_any_work() {
    let place = Place::new();
    place.encrypt("u4", "1", "a.ct");
    place.write("file", "");
    for line in [
        "eval --key SERVER neg a.ct -o nowhere/r.ct",
        "eval --key SERVER neg a.ct -o file/r.ct",
        "encrypt --key CLIENT --type u4 1 -o nowhere/r.ct",
        "decrypt --key CLIENT a.ct -o nowhere/r.txt",
        "circuit build add --type u4 -o nowhere/add.txt",
        "keygen --params gates-toy --research --out file",
        "keygen --params gates-toy --research --out file/keys",
    ] {
        assert!(place.fail(line, 1).contains("help:"), "{line}");
    }
    assert_eq!(place.files(), ["a.ct", "file"]);
}

/// The JSON on standard error of a command that must fail with exit code 2.
fn mistake(place: &Place, line: &str) -> serde_json::Value {
    let output = place.command(line).assert().code(2);
    let output = output.get_output();
    assert!(output.stdout.is_empty(), "{line}");
    serde_json::from_slice(&output.stderr).unwrap()
}

#[test]
fn wrong_arguments_are_told_as_json_where_that_is_asked_for() {
    let place = Place::new();
    for (line, part, help) in [
        ("encrypt --json", "--key <FILE>", "--help"),
        ("--json encrypt --type uint8 --key k 1 -o r.ct", "did you mean u8?", "--help"),
        ("decrypt --json --kee k a.ct", "--kee", "--key"),
        ("frobnicate --json", "frobnicate", "--help"),
        ("circuit --json", "requires a subcommand", "--help"),
        ("--json circuit", "a subcommand is missing", "--help"),
        ("eval --json --list --estimate", "--list", "--help"),
    ] {
        let json = mistake(&place, line);
        let text = |field: &str| json[field].as_str().unwrap().to_owned();
        assert!(text("error").contains(part) && !text("error").contains('\n'), "{line}: {json}");
        assert!(text("help").contains(help) && json["code"] == 2, "{line}: {json}");
    }
    // After `--`, `--json` is an ordinary value.
    let output = place.command("encrypt --type u8 -- --json").assert().code(2);
    assert!(output.get_output().stderr.starts_with(b"error: "));
}

#[test]
fn warnings_are_json_where_that_is_asked_for() {
    let place = Place::new();
    let output = place.command("keygen --params gates-40 --insecure-seed 1 --out k --json").assert().success();
    let json: serde_json::Value = serde_json::from_slice(&output.get_output().stderr).unwrap();
    assert!(json["warning"].as_str().unwrap().contains("fixed seed"));
}

#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_is_an_error_that_leaves_nothing() {
    let place = Place::new();
    place.encrypt("u8", "1 2 3 4 5 6 7 8 9", "a.ct");
    for line in
        ["keygen --params gates-toy --research --out .", "encrypt --key CLIENT --type u128 1 2 3 4 5 6 7 8 9 -o b.ct"]
    {
        let command = place.command(line);
        let mut limited = assert_cmd::Command::new("sh");
        limited.args(["-c", "ulimit -f 4; exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
        let output = limited.current_dir(place.path("")).assert().code(1);
        let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(message.contains("no room left") && message.contains("help: "), "{line}: {message}");
    }
    assert_eq!(place.files(), ["a.ct"]);
}

#[test]
fn existing_places_are_named_with_the_way_out() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    place.encrypt("u4", "1", "a.ct");
    place.run("encrypt --key CLIENT --type bool true -o c.ct");
    std::fs::create_dir(place.path("auction")).unwrap();
    assert!(place.fail("demo --keep auction", 1).contains("auction already exists\n  help: name a new folder"));
    // The descriptions of the other files are printed nevertheless.
    let output = place.command("inspect a.ct absent.ct c.ct").assert().code(1);
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(text.contains("a.ct: ciphertext") && text.contains("c.ct: ciphertext"), "{text}");
    // Every bad file is reported.
    let mut damaged = std::fs::read(place.path("a.ct")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    place.write("damaged.ct", damaged);
    for json in ["", " --json"] {
        let line = format!("inspect absent.ct a.ct add.txt damaged.ct{json}");
        let output = place.command(&line).assert().code(1);
        let errors = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        for part in ["absent.ct", "add.txt is a circuit", "damaged.ct is damaged"] {
            assert!(errors.contains(part), "{line}: {errors}");
        }
        if !json.is_empty() {
            let described: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
            assert_eq!(described.as_array().unwrap().len(), 1);
            let codes =
                errors.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].clone());
            assert_eq!(codes.collect::<Vec<_>>(), [1, 1, 1]);
        }
    }
    for (line, part) in [
        ("circuit stats a.ct", "a.ct is a ciphertext, but a text file is needed"),
        ("circuit stats CLIENT", "client.key is a client key, but a text file is needed"),
        ("encrypt --key CLIENT --type u4 --csv a.ct --column 0 -o r.ct", "a.ct is a ciphertext, but"),
        ("eval --key SERVER --program a.ct --inputs a.ct -o r.ct", "a.ct is a ciphertext, but"),
    ] {
        let message = place.fail(line, 1);
        assert!(message.contains(part), "{line}: {message}");
    }
    place.write("long.ct", [std::fs::read(place.path("a.ct")).unwrap(), vec![0]].concat());
    assert!(place.fail("decrypt --key CLIENT long.ct", 1).contains("it has 1 byte after its end"));
    let output = place.command("bigint mul").args(["", "3"]).assert().code(1);
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("cannot read \"\": "));
    for (line, part) in [
        ("eval --key SERVER neg a.ct -o x.ct -o y.ct", "there is 1 result, but 2 output files\n  help: name one file"),
        ("eval --key SERVER lookup a.ct --table 1 -o x.ct", "--table has 1 entry"),
        ("eval --key SERVER lookup a.ct --table= -o x.ct", "--table is empty"),
    ] {
        let message = place.fail(line, 2);
        assert!(message.contains(part), "{line}: {message}");
    }
    let output = place.command("circuit stats -").write_stdin([0xff, 0xfe]).assert().code(1);
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("cannot read standard input"));
    place.write("columns.csv", "a;b\n1;2\n");
    let message = place.fail("encrypt --key CLIENT --type u4 --csv columns.csv --column x -o r.ct", 1);
    assert!(message.contains("no column 'x'\n  help: separate its fields by commas"), "{message}");
}

#[test]
fn keys_that_protect_nothing_warn_whoever_encrypts_or_computes() {
    let place = Place::new();
    let warning = |line: &str| {
        let output = place.bare(line).assert().success();
        String::from_utf8(output.get_output().stderr.clone()).unwrap()
    };
    place.run("keygen --params gates-128 --out sound");
    place.run("keygen --params gates-128 --insecure-seed 3 --out seeded");
    place.run("keygen --scheme gh --params ci-3 --research --out gh");
    // A key that encrypts may come from another party, who generated it with --research.
    for (encrypt, eval, why, is_allowed) in [
        ("sound/client.key", "sound/server.key", None, true),
        ("seeded/client.key", "seeded/server.key", Some("chosen seed"), true),
        ("gh/server.key", "gh/server.key", Some("ci-3 is for research only"), false),
    ] {
        let line = format!("encrypt --key {encrypt} --type bool true -o a.ct");
        assert_eq!(warning(&format!("{line} --research")), "", "{encrypt}");
        if !is_allowed {
            let refused = place.bare(&line).assert().code(1);
            assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("--research"), "{encrypt}");
        }
        let encrypts = is_allowed.then_some((encrypt, line));
        for (key, line) in encrypts.into_iter().chain([(eval, format!("eval --key {eval} not a.ct -o r.ct"))]) {
            let said = warning(&line);
            match why {
                Some(why) => assert!(said.starts_with("warning: ") && said.contains(why), "{key}: {said}"),
                None => assert_eq!(said, "", "{key}"),
            }
            assert_eq!(warning(&format!("{line} --research")), "", "{key}");
            let json = warning(&format!("{line} --json"));
            assert_eq!(json.contains("{\"warning\":"), why.is_some(), "{json}");
        }
    }
}

/// A file that another verb takes is named as what it is, with that verb.
#[test]
fn files_of_other_kinds_are_named_with_their_verbs() {
    let place = Place::new();
    place.run("circuit build add --type u4 -o add.txt");
    place.run("circuit build add --type u4 --to blif -o add.blif");
    place.run("circuit build add --type u4 --to yosys -o add.json");
    place.run("rsa keygen --bits 1024 --research --output rsa.pem");
    place.write("program.json", std::fs::read_to_string("tests/cli/golden/program.json").unwrap());
    place.write("notes.txt", "some words");
    for (file, what, verb) in [
        ("program.json", "is a program", "solinas eval --program program.json"),
        ("add.txt", "is a circuit", "solinas circuit stats add.txt"),
        ("add.blif", "is a circuit", "solinas circuit stats add.blif"),
        ("add.json", "is a circuit", "solinas circuit stats add.json"),
        ("rsa.pem", "is a file in PEM", "solinas rsa inspect rsa.pem"),
        ("notes.txt", "is not a Solinas file", "pass a file written by solinas"),
    ] {
        for line in [format!("inspect {file}"), format!("decrypt --key CLIENT {file}")] {
            let message = place.fail(&line, 1);
            assert!(message.contains(what) && message.contains(verb), "{line}: {message}");
        }
    }
}

/// Operands of two types: the help names the one to cast.
#[test]
fn operands_of_two_types_are_cast_by_name() {
    let place = Place::new();
    for (ty, value) in [("u8", "5"), ("u4", "6"), ("i8", "7"), ("bool", "1")] {
        place.run(&format!("encrypt --key CLIENT --type {ty} {value} -o {ty}.ct"));
    }
    for (line, help) in [
        ("add u8.ct u4.ct", "cast u4.ct first: `solinas eval --key KEY to_u8 u4.ct -o cast.ct`"),
        ("sub bool.ct u8.ct", "cast bool.ct first: `solinas eval --key KEY to_u8 bool.ct -o cast.ct`"),
        ("lt u8.ct i8.ct", "cast both to i16, which holds all values of u8 and i8"),
        ("select bool.ct u4.ct u8.ct", "cast u4.ct first: `solinas eval --key KEY to_u8 u4.ct -o cast.ct`"),
        ("add u8.ct 3u4", "write the constant as a u8, as in 1u8"),
    ] {
        let message = place.fail(&format!("eval --key SERVER {line} -o y.ct"), 1);
        assert!(message.contains(help) && message.contains("does not take"), "{line}: {message}");
    }
}
