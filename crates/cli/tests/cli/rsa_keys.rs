//! RSA keys with a passphrase, keys for PSS only, and pairs of files.

use crate::common::Place;
#[cfg(unix)]
use crate::common::mode;
use crate::rsa::MESSAGE;

/// Runs `openssl` with these arguments on the RSA key in `key.pem`, with the passphrase in the file `pass`.
const LOCKED_BY_OPENSSL: [&str; 8] = [
    "pkcs8 -topk8 -in key.pem -passout file:pass",
    "pkcs8 -topk8 -in key.pem -scrypt -passout file:pass",
    "pkcs8 -topk8 -in key.pem -v2 aes-256-cbc -v2prf hmacWithSHA512 -iter 10000 -passout file:pass",
    "pkcs8 -topk8 -in key.pem -v2 aes-128-cbc -v2prf hmacWithSHA1 -passout file:pass",
    "pkcs8 -topk8 -in key.pem -v2 des3 -passout file:pass",
    "pkcs8 -topk8 -in key.pem -outform DER -passout file:pass",
    "rsa -in key.pem -aes256 -passout file:pass",
    "pkey -in key.pem -aes192 -passout file:pass",
];

impl Place {
    /// As [`Place::with_rsa_key`], with files that hold passphrases.
    fn with_passphrases() -> Self {
        let place = Self::with_rsa_key();
        place.write("pass", "correct horse\n");
        place.write("other-pass", "battery staple\n");
        place
    }
}

#[test]
fn every_verb_opens_a_key_with_its_passphrase() {
    let place = Place::with_passphrases();
    place.run(
        "rsa keygen --bits 2048 --insecure-seed 1 --passphrase-file pass -o locked.pem --public locked-public.pem",
    );
    #[cfg(unix)]
    assert_eq!(mode(place.path("locked.pem")), 0o600);
    assert!(place.read("locked.pem").windows(9).any(|part| part == b"ENCRYPTED"));
    assert_eq!(place.read("locked-public.pem"), place.read("public.pem"));
    place.run("rsa encrypt --key public.pem message -o c");
    assert_eq!(place.run("rsa decrypt --key locked.pem --passphrase-file pass c"), MESSAGE);
    place.run("rsa sign --key locked.pem --passphrase-file pass message -o s");
    place.run("rsa verify --key public.pem --signature s message");
    assert_eq!(place.run("rsa public locked.pem --passphrase-file pass").into_bytes(), place.read("public.pem"));
    assert!(place.run("rsa inspect public.pem locked.pem --passphrase-file pass").contains("primes pass"));

    let output = place.command("rsa inspect locked.pem").env("SOLINAS_PASSPHRASE", "correct horse").assert().success();
    assert!(String::from_utf8_lossy(&output.get_output().stdout).contains("primes pass"));
    let output = place.command("rsa inspect locked.pem").env("SOLINAS_PASSPHRASE", "wrong").assert().code(1);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(message.contains("locked.pem: the passphrase does not decrypt"), "{message}");
    // A passphrase for a key without one is ignored.
    assert_eq!(place.run("rsa decrypt --key key.pem --passphrase-file pass c"), MESSAGE);
    place.run("rsa keygen --bits 2048 --insecure-seed 1 --passphrase-file pass --der -o locked.der");
    assert_eq!(place.run("rsa decrypt --key locked.der --passphrase-file pass c"), MESSAGE);
}

#[test]
fn a_passphrase_is_changed_and_removed() {
    let place = Place::with_passphrases();
    let public = |line: &str| place.run(&format!("rsa public {line}")).into_bytes() == place.read("public.pem");
    place.run("rsa keygen --bits 2048 --insecure-seed 1 --der -o key.der");
    for name in ["key.pem", "key.der"] {
        let plain = place.read(name);
        place.run(&format!("rsa passphrase {name} --new-passphrase-file pass"));
        assert!(public(&format!("{name} --passphrase-file pass")));
        place.run(&format!("rsa passphrase {name} --passphrase-file pass --new-passphrase-file other-pass"));
        assert!(place.fail(&format!("rsa public {name} --passphrase-file pass"), 1).contains("does not decrypt"));
        assert!(public(&format!("{name} --passphrase-file other-pass")));
        place.run(&format!("rsa passphrase {name} --passphrase-file other-pass --remove -o plain --force"));
        assert_eq!(place.read("plain"), plain, "{name}");
        #[cfg(unix)]
        assert_eq!((mode(place.path("plain")), mode(place.path(name))), (0o600, 0o600));
        std::fs::remove_file(place.path("plain")).unwrap();
    }
    let mut command = place.command("rsa passphrase key.pem --passphrase-file other-pass");
    let output = command.env("SOLINAS_NEW_PASSPHRASE", "correct horse").assert().success();
    assert!(output.get_output().stderr.is_empty());
    assert!(public("key.pem --passphrase-file pass"));
}

#[test]
fn passphrases_that_cannot_be_had_name_the_fix() {
    let place = Place::with_passphrases();
    place.write("empty", "\n");
    place.openssl("pkcs8 -topk8 -in key.pem -passout file:pass -out locked.pem");
    place.openssl("rsa -in key.pem -aes256 -traditional -passout file:pass -out old.pem");
    place.openssl("pkcs8 -topk8 -in key.pem -v1 PBE-SHA1-3DES -passout file:pass -out weak.pem");
    let cut: Vec<u8> = place.read("locked.pem").into_iter().filter(|byte| *byte != b'A').collect();
    place.write("cut.pem", cut);
    for (line, code, expected) in [
        ("rsa public locked.pem --passphrase-file other-pass", 1, "does not decrypt the private key"),
        ("rsa public locked.pem --passphrase-file none", 1, "cannot read none"),
        ("rsa public locked.pem --passphrase-file -", 2, "SOLINAS_PASSPHRASE"),
        ("rsa public old.pem --passphrase-file pass", 1, "openssl pkey -in FILE -aes256"),
        ("rsa public weak.pem --passphrase-file pass", 1, "openssl pkey -in FILE -aes256"),
        ("rsa public cut.pem --passphrase-file pass", 1, "cut.pem: "),
        ("rsa encrypt --key locked.pem message -o c", 1, "this is a private key"),
        ("rsa keygen --bits 2048 --passphrase-file empty -o k", 1, "passphrase is empty"),
        (
            "rsa keygen --bits 2048 --passphrase-file pass --format pkcs1 -o k",
            2,
            "PKCS#1 has no encryption with a passphrase",
        ),
        ("rsa passphrase key.pem --new-passphrase-file empty", 1, "passphrase is empty"),
        ("rsa passphrase key.pem --new-passphrase-file pass -o message", 1, "already exists"),
        ("rsa passphrase key.pem --new-passphrase-file pass -o -", 2, "./-"),
        ("rsa passphrase key.pem --new-passphrase-file pass --remove", 2, "cannot be used with"),
        ("rsa passphrase public.pem --remove", 1, "it is a public key"),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(expected), "{line}: {message}");
    }
    assert!(!place.path("k").exists() && !place.path("c").exists());
}

/// `setsid` runs the command without a terminal, so the test does not prompt.
#[test]
#[cfg(target_os = "linux")]
fn without_a_terminal_the_options_are_named() {
    let place = Place::with_passphrases();
    place.openssl("pkcs8 -topk8 -in key.pem -passout file:pass -out locked.pem");
    for (verb, expected) in [("public", "SOLINAS_PASSPHRASE"), ("passphrase", "SOLINAS_PASSPHRASE")] {
        let mut command = std::process::Command::new("setsid");
        command.args(["--wait", assert_cmd::cargo::cargo_bin("solinas").to_str().unwrap(), "rsa", verb, "locked.pem"]);
        let output = command.current_dir(place.path("")).env_remove("SOLINAS_PASSPHRASE").output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(expected) && message.contains("--passphrase-file FILE"), "{message}");
        assert!(message.contains("locked.pem needs a passphrase"), "{message}");
    }
}

/// `script` runs the command on a new terminal.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_asked_for_passphrases() {
    use std::io::Write;
    let place = Place::with_passphrases();
    let typed = |line: &str, text: &str| {
        let command = format!("{} rsa {line}", assert_cmd::cargo::cargo_bin("solinas").display());
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(place.path(""));
        script.env_remove("SOLINAS_PASSPHRASE").env_remove("SOLINAS_NEW_PASSPHRASE");
        script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = script.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (done, said) = typed("passphrase key.pem", "correct horse\ncorrect horse\n");
    assert!(
        done && said.contains("New passphrase of key.pem: ") && said.contains("Again the new passphrase of key.pem: "),
        "{said}"
    );
    let (done, said) = typed("public key.pem -o ours.pem", "correct horse\n");
    assert!(done && said.contains("Passphrase of key.pem: "), "{said}");
    assert_eq!(place.read("ours.pem"), place.read("public.pem"));
    let (done, said) = typed("public key.pem -o x", "wrong\n");
    assert!(!done && said.contains("does not decrypt"), "{said}");
    let (done, said) = typed("passphrase key.pem --passphrase-file pass", "one\nanother\n");
    assert!(!done && said.contains("differ"), "{said}");
    assert!(place.run("rsa inspect key.pem --passphrase-file pass").contains("primes pass"));
}

#[test]
fn openssl_and_we_open_each_others_locked_keys() {
    let place = Place::with_passphrases();
    for line in LOCKED_BY_OPENSSL {
        place.openssl(&format!("{line} -out locked"));
        assert_eq!(
            place.run("rsa public locked --passphrase-file pass").into_bytes(),
            place.read("public.pem"),
            "{line}"
        );
    }
    for options in ["", "--der"] {
        let form = if options.is_empty() { "PEM" } else { "DER" };
        place.run(&format!(
            "rsa keygen --bits 2048 --insecure-seed 1 --passphrase-file pass {options} -o locked --force"
        ));
        for verb in ["pkey", "rsa"] {
            let line = format!("{verb} -in locked -inform {form} -passin file:pass -pubout");
            assert_eq!(place.openssl(&line).into_bytes(), place.read("public.pem"), "{line}");
        }
        place.openssl(&format!("pkcs8 -in locked -inform {form} -passin file:pass -out plain.pem"));
        assert_eq!(place.run("rsa public plain.pem").into_bytes(), place.read("public.pem"));
    }
}

#[test]
fn keys_of_openssl_for_pss_alone_sign_as_they_allow() {
    let place = Place::new();
    place.write("message", MESSAGE);
    let free = "genpkey -quiet -algorithm rsa-pss -pkeyopt rsa_keygen_bits:2048";
    let restriction =
        "-pkeyopt rsa_pss_keygen_md:sha384 -pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:40";
    for (make, md, allowed, refused) in [
        (free.to_owned(), "-sha256", "--hash sha512", "--padding pkcs1"),
        (format!("{free} {restriction}"), "-sha384", "--salt-length 41", "--hash sha256"),
    ] {
        place.openssl(&format!("{make} -out key"));
        place.openssl("pkey -in key -pubout -out public");
        assert!(place.run("rsa inspect key").contains("PSS signatures"));
        place.run("rsa public key -o ours");
        assert_eq!(place.read("ours"), place.read("public"));
        // Without options, both sides use the parameters that the key demands.
        place.run("rsa sign --key key message -o s");
        place.openssl(&format!("dgst {md} -verify public -signature s message"));
        place.openssl(&format!("dgst {md} -sign key -out s message"));
        place.run("rsa verify --key public --signature s message");
        place.run(&format!("rsa sign --key key {allowed} message -o s"));
        place.run(&format!("rsa verify --key public {allowed} --signature s message"));
        for line in [
            format!("rsa sign --key key {refused} message -o x"),
            format!("rsa verify --key public {refused} --signature s message"),
            "rsa encrypt --key public message -o x".to_owned(),
            "rsa decrypt --key key s".to_owned(),
            "rsa public key --format pkcs1 -o x".to_owned(),
        ] {
            let message = place.fail(&line, if line.starts_with("rsa verify") { 2 } else { 1 });
            assert!(message.contains("the key is for PSS signatures"), "{line}: {message}");
        }
        // The restriction stays with a new passphrase.
        place.write("pass", "x");
        place.run("rsa passphrase key --new-passphrase-file pass");
        assert_eq!(place.run("rsa public key --passphrase-file pass").into_bytes(), place.read("public"));
        assert_eq!(place.openssl("pkey -in key -passin file:pass -pubout").into_bytes(), place.read("public"));
        std::fs::remove_file(place.path("key")).unwrap();
    }
}

#[test]
fn a_pair_of_rsa_keys_is_replaced_whole_or_stays() {
    let place = Place::with_rsa_key();
    let pair = || [place.read("key.pem"), place.read("public.pem")];
    let old = pair();
    // The public key cannot be written to a folder that takes no files, such as /proc.
    #[cfg(target_os = "linux")]
    place.fail("rsa keygen --bits 2048 --insecure-seed 5 --force -o key.pem --public /proc/public.pem", 1);
    assert_eq!(pair(), old);
    place.run("rsa keygen --bits 2048 --insecure-seed 5 --force -o key.pem --public public.pem");
    assert!(pair() != old);
    assert_eq!(place.run("rsa public key.pem").into_bytes(), place.read("public.pem"));
    assert_eq!(place.files(), ["key.pem", "message", "public.pem"]);
}
