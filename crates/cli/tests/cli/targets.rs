//! Outputs never replace private keys, inputs, or the private key that the command has just made.

use crate::common::{Place, key};
use std::process::Command;
use std::sync::LazyLock;

/// A 2048-bit key of a fixed seed as PEM and DER, its public key and a ciphertext, made once.
static FILES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let place = Place::new();
    place.write("message", "message");
    place.run("rsa keygen --bits 2048 --insecure-seed 1 -o key.pem --public public.pem");
    place.run("rsa keygen --bits 2048 --insecure-seed 1 --format pkcs1 --der -o pkcs1.der");
    place.run("rsa encrypt --key public.pem message -o c");
    for line in [
        "pkey -in key.pem -outform DER -out pkcs8.der",
        "pkey -in key.pem -aes128 -passout pass:x -out locked.pem",
        "pkcs8 -topk8 -in key.pem -outform DER -passout pass:x -out locked.der",
        "genpkey -algorithm ed25519 -out ed.pem",
    ] {
        let status = Command::new("openssl").current_dir(place.path("")).args(line.split_whitespace()).status();
        assert!(status.unwrap().success(), "openssl {line}");
    }
    ["message", "key.pem", "public.pem", "pkcs1.der", "c", "pkcs8.der", "locked.pem", "locked.der", "ed.pem"]
        .map(|name| (name, std::fs::read(place.path(name)).unwrap()))
        .into()
});

fn place() -> Place {
    let place = Place::new();
    FILES.iter().for_each(|(name, bytes)| place.write(name, bytes));
    place
}

impl Place {
    /// Runs a command that must fail and leave the file unchanged.
    fn spares(&self, line: &str, code: i32, file: &str, expected: &str) {
        let before = std::fs::read(self.path(file)).unwrap();
        let message = self.fail(line, code);
        assert!(message.contains(expected), "{line}: {message}");
        assert!(std::fs::read(self.path(file)).unwrap() == before, "{line}");
    }
}

#[test]
fn nothing_but_a_forced_key_replaces_a_private_key() {
    let place = place();
    place.write("ssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");
    place.write("damaged", "some text\n-----BEGIN RSA PRIVATE KEY-----\n!");
    place.write("cut.der", &std::fs::read(place.path("pkcs1.der")).unwrap()[..100]);
    place.encrypt("u4", "5", "a.ct");
    place.run("circuit build add --type u4 -o add.txt");
    let keys = ["key.pem", "pkcs1.der", "pkcs8.der", "locked.pem", "locked.der", "ed.pem", "ssh", "damaged", "cut.der"];
    for target in keys {
        place.spares(&format!("bigint add 1 2 -o {target}"), 1, target, "is a private key");
    }
    for line in [
        "rsa encrypt --key public.pem message -o pkcs8.der",
        "rsa decrypt --key key.pem c --force -o pkcs8.der",
        "rsa sign --key key.pem message -o pkcs8.der",
        "rsa public key.pem -o pkcs8.der",
        "rsa public key.pem --der -o pkcs8.der",
        "rsa keygen --bits 2048 -o new.pem --public pkcs8.der",
        "rsa keygen --bits 2048 -o new.pem --force --public pkcs8.der",
        "bigint add 1 2 --out-format bytes -o pkcs8.der",
        "paper oh2018 --quick --save pkcs8.der",
        "encrypt --key CLIENT --type u4 5 -o pkcs8.der",
        "eval --key SERVER neg a.ct -o pkcs8.der",
        "decrypt --key CLIENT a.ct -o pkcs8.der",
        "circuit build add --type u4 -o pkcs8.der",
        "circuit draw add.txt --to svg -o pkcs8.der",
    ] {
        place.spares(line, 1, "pkcs8.der", "is a private key");
    }
    std::fs::create_dir(place.path("keys")).unwrap();
    std::fs::copy(place.path("key.pem"), place.path("keys/client.key")).unwrap();
    place.spares("keygen --params gates-toy --research --out keys --force", 1, "keys/client.key", "is a private key");
    place.spares("rsa keygen --bits 2048 --insecure-seed 3 -o key.pem", 1, "key.pem", "already exists");
    place.run("rsa keygen --bits 2048 --insecure-seed 3 -o key.pem --public public.pem --force");
    assert_ne!(std::fs::read(place.path("key.pem")).unwrap(), FILES[1].1);
    // A key of another scheme stays nevertheless.
    std::fs::copy(key("k/client.key"), place.path("client.key")).unwrap();
    place.spares("rsa keygen --bits 2048 -o client.key --force", 1, "client.key", "is a client key");
}

#[test]
fn public_keys_ciphertexts_and_signatures_are_replaced() {
    let place = place();
    for _ in 0..2 {
        place.run("rsa public key.pem -o other.pem");
        place.run("rsa public key.pem --format pkcs1 --der -o other.der");
        place.run("rsa encrypt --key public.pem message -o d");
        place.run("rsa sign --key key.pem message -o d");
        place.run("rsa decrypt --key key.pem c --force -o d");
        place.run("bigint mul 12345678901234567890 98765432109876543210 --out-format bytes -o n");
    }
}

#[test]
fn private_and_public_key_are_never_one_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("kd")).unwrap();
    let absolute = place.path("a.pem").display().to_string();
    let mut names = vec!["a.pem", "./a.pem", "kd/../a.pem", &absolute];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("kd/../a.pem", place.path("link")).unwrap();
        std::os::unix::fs::symlink("link", place.path("link-to-link")).unwrap();
        std::os::unix::fs::symlink(".", place.path("here")).unwrap();
        names.extend(["link", "link-to-link", "here/a.pem"]);
    }
    for name in &names {
        for (private, public) in [("a.pem", *name), (*name, "a.pem")] {
            for force in ["", " --force"] {
                let line = format!("rsa keygen --bits 2048 --insecure-seed 1 -o {private} --public {public}{force}");
                assert!(place.fail(&line, 2).contains("two files"), "{line}");
                assert!(!place.path("a.pem").exists(), "{line}");
            }
        }
    }
}

#[test]
#[cfg(unix)]
fn links_pipes_and_devices_are_no_outputs() {
    let place = place();
    place.encrypt("u4", "5", "a.ct");
    place.run("circuit build add --type u4 -o add.txt");
    place.run("bigint mul 3 5 -o n");
    place.write("target", "a text");
    std::os::unix::fs::symlink("target", place.path("link")).unwrap();
    std::os::unix::fs::symlink("/nowhere/x", place.path("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let before = place.files();
    for line in [
        "encrypt --key CLIENT --type u4 5 -o",
        "eval --key SERVER neg a.ct -o",
        "eval --key SERVER neg a.ct --estimate --save-plan",
        "eval --key SERVER neg a.ct -o r.ct --checkpoint",
        "random --key SERVER --type u4 --seed 1 -o",
        "decrypt --key CLIENT a.ct -o",
        "circuit build add --type u4 -o",
        "circuit draw add.txt -o",
        "bigint add 1 2 -o",
        "bigint add 1 2 --out-format bytes -o",
        "rsa keygen --bits 2048 --insecure-seed 1 --force -o",
        "rsa keygen --bits 2048 --insecure-seed 1 -o new.pem --public",
        "rsa encrypt --key public.pem message -o",
        "rsa decrypt --key key.pem c --force -o",
        "rsa sign --key key.pem message -o",
        "rsa public key.pem -o",
        "paper oh2018 --quick --save",
    ] {
        for (target, part) in [
            (
                "link",
                "link is a symbolic link to target, and a new file replaces no link\n  help: name the target itself",
            ),
            ("dangling", "dangling is a symbolic link to /nowhere/x"),
            ("pipe", "pipe is a pipe\n  help: an ordinary file is needed"),
            ("/dev/full", "/dev/full is a device\n  help: an ordinary file is needed"),
        ] {
            let draws = line.starts_with("circuit draw");
            let line = format!("{line} {target}{}", if draws { " --to svg" } else { "" });
            let message = place.fail(&line, 1);
            assert!(message.contains(part), "{line}: {message}");
        }
        assert_eq!(place.files(), before, "{line}");
        assert!(std::fs::symlink_metadata(place.path("link")).unwrap().is_symlink(), "{line}");
    }
    assert_eq!(std::fs::read_to_string(place.path("target")).unwrap(), "a text");
}

#[test]
fn an_output_is_no_input() {
    let place = place();
    std::fs::create_dir(place.path("kd")).unwrap();
    place.write("n", "12");
    for (line, file) in [
        ("rsa encrypt --key public.pem message -o ./message", "message"),
        ("rsa encrypt --key public.pem message -o kd/../public.pem", "public.pem"),
        ("rsa decrypt --key key.pem c --force -o ./c", "c"),
        ("rsa sign --key key.pem message -o ./message", "message"),
        ("rsa public public.pem --format pkcs1 -o ./public.pem", "public.pem"),
        ("bigint square n -o ./n", "n"),
        ("bigint powm 3 5 kd/../n -o n", "n"),
        ("bigint add 1 2 --mod n -o n", "n"),
        ("encrypt --key CLIENT --type u8 --csv n --column 0 -o ./n", "n"),
    ] {
        place.spares(line, 2, file, "is also an input");
    }
    // Numbers are not files.
    place.run("bigint add 5 7 -o 5");
    assert_eq!(place.run("bigint add 5 ./5"), "17\n");
}
