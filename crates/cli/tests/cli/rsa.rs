//! RSA: the complete cycle, exchange with the `openssl` command, and errors for bad input.

use crate::common::Place;
#[cfg(unix)]
use crate::common::mode;
use std::process::{Command, Output};

pub(crate) const MESSAGE: &str = "the message\n";

impl Place {
    /// A 2048-bit key of a fixed seed as `key.pem`, its public key as `public.pem`, and a message.
    pub(crate) fn with_rsa_key() -> Self {
        let place = Self::new();
        place.rsa_key("key", 2048, 1);
        place.write("message", MESSAGE);
        place
    }

    pub(crate) fn rsa_key(&self, name: &str, bits: usize, seed: u64) {
        let public = if name == "key" { "public.pem".to_owned() } else { format!("{name}-public.pem") };
        self.run(&format!("rsa keygen --bits {bits} --insecure-seed {seed} -o {name}.pem --public {public}"));
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn openssl_output(&self, line: &str) -> Output {
        let mut command = Command::new("openssl");
        command.current_dir(self.path("")).args(line.split_whitespace());
        command.output().expect("the openssl command; install the package openssl to run the tests")
    }

    pub(crate) fn openssl(&self, line: &str) -> String {
        let output = self.openssl_output(line);
        assert!(output.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn from_key_to_message_and_signature() {
    let place = Place::new();
    place.write("message", MESSAGE);
    place.run("rsa keygen --bits 2048 -o key.pem --public public.pem");
    #[cfg(unix)]
    assert_eq!(mode(place.path("key.pem")), 0o600);
    for padding in ["", "--hash sha512", "--hash sha384 --mgf-hash sha256 --label l", "--padding pkcs1"] {
        place.run(&format!("rsa encrypt --key public.pem {padding} message -o c"));
        for execution in ["", "--threads 1", "--method fft", "--method word --threads 2"] {
            let line = format!("rsa decrypt --key key.pem {padding} {execution} c");
            assert_eq!(place.run(&line), MESSAGE);
        }
        place.run(&format!("rsa decrypt --key key.pem {padding} c -o back --force"));
        assert_eq!(place.read("back"), MESSAGE.as_bytes());
        #[cfg(unix)]
        assert_eq!(mode(place.path("back")), 0o600);
    }
    for padding in ["", "--hash sha512 --salt-length 0", "--padding pkcs1 --hash sha384"] {
        place.run(&format!("rsa sign --key key.pem {padding} message -o s"));
        assert_eq!(place.run(&format!("rsa verify --key public.pem {padding} --signature s message")), "valid\n");
    }
    assert_eq!(place.run("rsa public key.pem").into_bytes(), place.read("public.pem"));
    assert_eq!(place.files(), ["back", "c", "key.pem", "message", "public.pem", "s"]);
}

#[test]
fn keys_survive_every_format() {
    let place = Place::with_rsa_key();
    let modulus = |file: &str| {
        let json = place.run(&format!("rsa inspect {file} --json"));
        json.lines().find(|line| line.contains("\"modulus\"")).unwrap().to_owned()
    };
    let expected = modulus("key.pem");
    for options in ["--format pkcs8", "--format pkcs1", "--format pkcs8 --der", "--format pkcs1 --der"] {
        place.run(&format!("rsa keygen --bits 2048 --insecure-seed 1 {options} -o again --force"));
        assert_eq!(modulus("again"), expected);
    }
    for options in ["--format spki", "--format pkcs1", "--format spki --der", "--format pkcs1 --der"] {
        place.run(&format!("rsa public key.pem {options} -o public"));
        assert_eq!(modulus("public"), expected);
        place.run("rsa public public -o spki");
        assert_eq!(place.read("spki"), place.read("public.pem"));
    }
}

#[test]
fn inspection_shows_strength_and_nothing_secret() {
    let place = Place::with_rsa_key();
    let text = place.run("rsa inspect key.pem public.pem");
    for expected in [
        "private key, 2048 bits",
        "public key, 2048 bits",
        "112 bits",
        "quantum",
        "0 bits (guessing the seed)",
        "primes pass",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let json = place.run("rsa inspect key.pem --json");
    assert!(json.contains("\"insecure\": true") && json.contains("\"classical_bits\": 0.0"), "{json}");
    let fingerprint = place.openssl("pkey -in key.pem -pubout -outform DER -out public.der")
        + &place.openssl("dgst -sha256 -r public.der");
    assert!(text.contains(&fingerprint[..64]), "{fingerprint}");
}

/// Exchanges encrypted messages and signatures with `openssl` in both directions, with the keys `key` and `public`.
fn exchange(place: &Place, encryption: &[(&str, &str)], signatures: &[(&str, &str)]) {
    for (ours, theirs) in encryption {
        place.run(&format!("rsa encrypt --key public {ours} message -o c"));
        assert_eq!(place.openssl(&format!("pkeyutl -decrypt -inkey key {theirs} -in c")), MESSAGE, "{ours}");
        place.openssl(&format!("pkeyutl -encrypt -pubin -inkey public {theirs} -in message -out c"));
        assert_eq!(place.run(&format!("rsa decrypt --key key {ours} c")), MESSAGE, "{ours}");
    }
    for (ours, theirs) in signatures {
        place.run(&format!("rsa sign --key key {ours} message -o s"));
        place.openssl(&format!("dgst {theirs} -verify public -signature s message"));
        place.openssl(&format!("dgst {theirs} -sign key -out s message"));
        place.run(&format!("rsa verify --key public {ours} -s s message"));
    }
}

const ENCRYPTION: [(&str, &str); 8] = [
    // The default of `openssl pkeyutl`.
    ("--hash sha1", "-pkeyopt rsa_padding_mode:oaep"),
    (
        "--hash sha1 --mgf-hash sha256",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha1 -pkeyopt rsa_mgf1_md:sha256",
    ),
    ("--hash sha3-256", "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha3-256"),
    ("--hash sha256", "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256"),
    ("--hash sha384", "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha384"),
    (
        "--hash sha512 --mgf-hash sha256",
        "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha512 -pkeyopt rsa_mgf1_md:sha256",
    ),
    ("--label label", "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_oaep_label:6c6162656c"),
    ("--padding pkcs1", "-pkeyopt rsa_padding_mode:pkcs1"),
];

const SIGNATURES: [(&str, &str); 10] = [
    ("--hash sha3-256", "-sha3-256 -sigopt rsa_padding_mode:pss"),
    ("--hash sha256 --mgf-hash sha1", "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha1"),
    ("--padding pkcs1 --hash sha3-384", "-sha3-384"),
    ("--padding pkcs1 --hash sha3-512", "-sha3-512"),
    ("--hash sha256", "-sha256 -sigopt rsa_padding_mode:pss"),
    ("--hash sha384", "-sha384 -sigopt rsa_padding_mode:pss"),
    ("--hash sha512 --salt-length 20", "-sha512 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20"),
    ("--padding pkcs1 --hash sha256", "-sha256"),
    ("--padding pkcs1 --hash sha384", "-sha384"),
    ("--padding pkcs1 --hash sha512", "-sha512"),
];

#[test]
fn openssl_and_we_understand_each_other_with_our_keys() {
    let place = Place::with_rsa_key();
    for (private, public) in [("pkcs8", "spki"), ("pkcs1", "pkcs1"), ("pkcs8 --der", "spki --der")] {
        place.run(&format!("rsa keygen --bits 3072 --insecure-seed 2 --format {private} -o key --force"));
        assert!(place.openssl("pkey -in key -noout -check").contains("valid"));
        place.run(&format!("rsa public key --format {public} -o public"));
        let all = private == "pkcs8";
        let (some, others) = if all { (ENCRYPTION.len(), SIGNATURES.len()) } else { (1, 1) };
        exchange(&place, &ENCRYPTION[..some], &SIGNATURES[..others]);
    }
}

#[test]
fn openssl_and_we_understand_each_other_with_its_keys() {
    let place = Place::new();
    place.write("message", MESSAGE);
    place.openssl("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key");
    place.openssl("pkey -in key -pubout -out public");
    exchange(&place, &ENCRYPTION, &SIGNATURES);
    assert!(place.run("rsa inspect key").contains("primes pass"));
    for (private, public) in [
        ("rsa -in key -traditional -outform DER", "rsa -in key -RSAPublicKey_out"),
        ("pkey -in key -outform DER", "pkey -in key -pubout -outform DER"),
    ] {
        place.openssl(&format!("{private} -out ours"));
        place.openssl(&format!("{public} -out ours-public"));
        place.run("rsa encrypt --key ours-public message -o c");
        assert_eq!(place.run("rsa decrypt --key ours c"), MESSAGE);
    }
}

#[test]
fn openssl_and_we_understand_each_other_with_long_keys() {
    for (bits, seed) in [(4096, 3), (8192, 4)] {
        let place = Place::new();
        place.write("message", MESSAGE);
        place.run(&format!("rsa keygen --bits {bits} --insecure-seed {seed} -o key --public public"));
        exchange(&place, &[ENCRYPTION[3], ENCRYPTION[7]], &[SIGNATURES[4], SIGNATURES[9]]);
    }
}

#[test]
fn a_signature_of_something_else_is_refused_on_both_sides() {
    let place = Place::with_rsa_key();
    place.run("rsa sign --key key.pem message -o s");
    place.write("message", "another message\n");
    assert!(
        place
            .fail("rsa verify --key public.pem -s s message", 1)
            .contains("s: the signature is not valid for this message")
    );
    let refused =
        place.openssl_output("dgst -sha256 -sigopt rsa_padding_mode:pss -verify public.pem -signature s message");
    assert!(!refused.status.success());
}

#[test]
fn wrong_padding_key_or_damage_give_one_message() {
    let place = Place::with_rsa_key();
    place.rsa_key("other", 2048, 7);
    place.run("rsa encrypt --key public.pem message -o c");
    let mut damaged = place.read("c");
    damaged[100] ^= 1;
    place.write("damaged", damaged);
    let message = place.fail("rsa decrypt --key key.pem damaged", 1).replace("damaged:", "c:");
    for options in ["--hash sha512", "--hash sha1", "--label x", "--mgf-hash sha512"] {
        assert_eq!(place.fail(&format!("rsa decrypt --key key.pem {options} c"), 1), message, "{options}");
    }
    // The other key's modulus may be below the ciphertext.
    let other = place.fail("rsa decrypt --key other.pem c", 1);
    assert!(other == message.replace("key.pem", "other.pem") || other.contains("not below the modulus"), "{other}");
}

#[test]
fn pkcs1_gives_a_random_message_where_oaep_gives_an_error() {
    let place = Place::with_rsa_key();
    place.run("rsa encrypt --key public.pem message -o c");
    for output in ["one", "two"] {
        place.run(&format!("rsa decrypt --key key.pem --padding pkcs1 c -o {output}"));
    }
    assert_eq!(place.read("one"), place.read("two"));
    assert!(place.read("one").len() < 246 && place.read("one") != MESSAGE.as_bytes());
}

#[test]
fn encryption_with_sha1_says_that_it_is_for_peers_that_know_no_other() {
    let place = Place::with_rsa_key();
    let output = place.command("rsa encrypt --key public.pem --hash sha1 message -o c").assert().success();
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("SHA-1"));
    assert_eq!(place.run("rsa decrypt --key key.pem --hash sha1 c"), MESSAGE);
    assert!(place.fail("rsa sign --key key.pem --hash sha1 message -o s", 2).contains("sha3-256"));
}

#[test]
fn bad_input_names_file_and_fix() {
    let place = Place::with_rsa_key();
    place.write("long", [0; 191]);
    place.write("garbage", "garbage");
    place.write("empty", "");
    place.run("rsa encrypt --key public.pem message -o c");
    place.write("cut", &place.read("c")[1..]);
    place.run("rsa keygen --bits 1024 --research --insecure-seed 1 -o short.pem --public short-public.pem");
    place.openssl("genpkey -algorithm ed25519 -out ed.pem");
    for (line, code, expected) in [
        ("rsa keygen --bits 1024 -o k", 1, "from 2048 to 16384, or add --research"),
        ("rsa keygen --bits 2050 -o k", 1, "multiple of 64"),
        ("rsa keygen --bits 20000 -o k", 1, "multiple of 64"),
        ("rsa keygen --bits 2048 -o key.pem", 1, "already exists"),
        ("rsa keygen --bits 2048 -o -", 2, "./-"),
        ("rsa keygen --bits 2048 -o k --public k", 2, "two files"),
        ("rsa keygen --bits 2048 -o no/k", 1, "check the name"),
        ("rsa keygen --bits 2048 -o k --public key.pem", 1, "is a private key"),
        ("rsa encrypt --key public.pem long -o x", 1, "at most 190"),
        ("rsa encrypt --key key.pem message -o x", 1, "rsa public"),
        ("rsa encrypt --key garbage message -o x", 1, "garbage: not an RSA public key"),
        ("rsa encrypt --key empty message -o x", 1, "empty: not an RSA public key"),
        ("rsa encrypt --key none message -o x", 1, "none"),
        ("rsa encrypt --key short-public.pem message -o x", 1, "--research"),
        ("rsa encrypt --key public.pem message -o key.pem", 1, "is a private key"),
        ("rsa encrypt --key public.pem --padding pkcs1 --label x message -o x", 2, "--label"),
        ("rsa encrypt --key public.pem --label-hex 1g message -o x", 2, "character 2"),
        ("rsa encrypt --key public.pem --label-hex 123 message -o x", 2, "two digits"),
        ("rsa encrypt --key public.pem --hash md5 message -o x", 2, "sha256"),
        ("rsa decrypt --key public.pem c", 1, "it is a public key"),
        ("rsa decrypt --key ed.pem c", 1, "1.3.101.112"),
        ("rsa decrypt --key key.pem cut", 1, "has 255 bytes, this key's have 256"),
        ("rsa decrypt --key key.pem empty", 1, "has 0 bytes"),
        ("rsa decrypt --key key.pem c -o message", 1, "already exists"),
        ("rsa sign --key key.pem --salt-length 300 message -o x", 1, "shorter hash or salt"),
        ("rsa sign --key key.pem --padding pkcs1 --salt-length 3 message -o x", 2, "no salt"),
        ("rsa sign --key short.pem message -o x", 1, "--research"),
        ("rsa sign --key key.pem message -o key.pem", 1, "is a private key"),
        ("rsa verify --key public.pem -s message message", 1, "message: the signature has 12 bytes"),
        ("rsa verify --key public.pem -s - -", 2, "standard input"),
        ("rsa public garbage", 1, "garbage: not an RSA"),
        ("rsa inspect garbage", 1, "garbage: not an RSA"),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(expected), "{line}: {message}");
        if code == 1 {
            assert!(message.contains("help: "), "{line}: {message}");
        }
    }
    assert!(!place.path("x").exists() && !place.path("k").exists());
    assert!(place.run("rsa encrypt --key short-public.pem --research message -o x").contains("128 bytes"));
}

#[test]
fn results_are_json_where_that_is_asked_for() {
    let place = Place::with_rsa_key();
    place.run("rsa sign --key key.pem message -o s");
    assert!(place.run("rsa verify --key public.pem -s s message --json").contains("\"valid\": true"));
    place.write("message", "another message");
    let output = place.command("rsa verify --key public.pem -s s message --json").assert().code(1);
    assert!(String::from_utf8_lossy(&output.get_output().stdout).contains("\"valid\": false"));
    let json = place.run("rsa public key.pem --json");
    assert!(json.starts_with('{') && json.contains("\"public_key\": \"-----BEGIN PUBLIC KEY-----\\n"), "{json}");
    assert!(place.run("rsa public key.pem -o p --json").contains("\"output\": \"p\""));
    for line in [
        "rsa public key.pem --der",
        "rsa keygen --bits 2048 -o k --public -",
        "rsa encrypt --key public.pem message -o -",
        "rsa sign --key key.pem message -o -",
    ] {
        let output = place.command(&format!("{line} --json")).assert().code(2);
        assert!(output.get_output().stdout.is_empty(), "{line}");
        assert!(
            String::from_utf8_lossy(&output.get_output().stderr).contains("--json cannot be combined with"),
            "{line}"
        );
    }
    assert!(!place.path("k").exists());
}

#[test]
fn an_unknown_back_end_is_an_error_of_every_verb() {
    let place = Place::with_rsa_key();
    for line in ["params", "bigint add 1 2", "rsa inspect key.pem"] {
        let output = place.command(line).env("SOLINAS_BACKEND", "nothing").assert().code(1);
        let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(message.contains("\"nothing\"") && message.contains("scalar"), "{line}: {message}");
    }
}

#[test]
fn a_private_key_that_cannot_be_read_is_called_a_private_key() {
    let place = Place::with_rsa_key();
    place.write("cut.pem", &place.read("key.pem")[..300]);
    place.openssl("pkey -in key.pem -outform DER -out key.der");
    place.write("cut.der", &place.read("key.der")[..300]);
    place.write("ssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");
    for (file, expected) in
        [("cut.pem", "not an RSA private key"), ("cut.der", "not an RSA private key"), ("ssh", "ssh-keygen -p -m PEM")]
    {
        for verb in ["inspect", "public"] {
            let message = place.fail(&format!("rsa {verb} {file}"), 1);
            assert!(message.contains(expected), "{verb} {file}: {message}");
        }
    }
}

#[test]
fn a_damaged_private_key_is_refused() {
    let place = Place::with_rsa_key();
    place.run("rsa keygen --bits 2048 --insecure-seed 1 --format pkcs1 --der -o key.der");
    let der = place.read("key.der");
    // One byte in each number: modulus, d, p, q, d mod (p-1), d mod (q-1), coefficient.
    for (at, part) in [
        (100, "modulus"),
        (400, "exponent d"),
        (600, "modulus"),
        (720, "modulus"),
        (850, "mod (p - 1)"),
        (980, "mod (q - 1)"),
        (1150, "coefficient"),
    ] {
        let mut damaged = der.clone();
        damaged[at] ^= 2;
        place.write("damaged", damaged);
        let message = place.fail("rsa sign --key damaged message -o s", 1);
        assert!(message.contains(part), "{at}: {message}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_key_generation_leaves_nothing() {
    let place = Place::new();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("solinas"))
        .args(["rsa", "keygen", "--bits", "16384", "-o", "key.pem", "--public", "public.pem"])
        .current_dir(place.path(""))
        .spawn()
        .unwrap();
    while !crate::terminal::listens(child.id()) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(place.files().is_empty(), "{:?}", place.files());
}
