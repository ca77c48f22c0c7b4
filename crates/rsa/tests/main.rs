//! PEM in every layout that OpenSSL reads is read, and what is refused names its reason.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_rsa::{KeygenOptions, PrivateFormat, PrivateKey, PublicFormat, PublicKey};
use solinas_schemes::{Control, Entropy};
use std::io::Write;
use std::process::{Command, Stdio};

fn key() -> PrivateKey {
    let options = KeygenOptions { bits: 1024, research: true, entropy: Entropy::Insecure(5), parallel: false };
    PrivateKey::generate(&options, &Control::default()).unwrap()
}

/// Runs `openssl` with arguments on standard input. Returns its output, or `None` if it fails.
fn openssl(arguments: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    output.status.success().then_some(output.stdout)
}

/// The text of a block without its lines BEGIN and END, as one line.
fn digits(pem: &str) -> String {
    pem.lines().filter(|line| !line.contains("---") && !line.contains(':')).collect()
}

struct Layouts {
    rng: ChaCha8Rng,
    /// Other blocks, which precede or follow the key.
    others: Vec<String>,
}

impl Layouts {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rng.next_u32() as usize % limit
    }

    fn block(&mut self, labels: &[&str], digits: &str) -> String {
        let label = self.one_of(labels);
        let width = [1, 3, 60, 64, 65, 76, 253, 254, 255, 256, 1000, 4000][self.below(12)];
        let indent = self.one_of(&["", "", "", "  ", "\t"]);
        let end = self.one_of(&["\n", "\n", "\r\n", " \t\n", " \r\n"]);
        let lines = digits.as_bytes().chunks(width).map(String::from_utf8_lossy);
        let mut body: String = lines.map(|line| format!("{indent}{line}{end}")).collect();
        let middle = body.len() / 2;
        match self.below(12) {
            0 => body.insert_str(0, end),
            1 => body.push_str(end),
            2 => body.insert(middle, ' '),
            3 => body.insert(middle, '?'),
            4 => drop(body.remove(middle)),
            _ => {}
        }
        let other = if self.below(16) == 0 { "DH PARAMETERS" } else { label };
        let margin = self.one_of(&["", "", "", "", " "]);
        format!("{margin}-----BEGIN {label}-----{end}{body}{margin}-----END {other}-----{end}")
    }

    fn file(&mut self, labels: &[&str], digits: &str) -> String {
        let before =
            self.one_of(&["", "", "a comment\n", "0123\n", "\u{feff}", "see -----BEGIN of it\n", "\n\n", "key: 1\n"]);
        let at = self.below(self.others.len());
        let (other, block) = (self.others[at].clone(), self.block(labels, digits));
        let after = self.one_of(&["", "", "end", "\n\n"]);
        let all = match self.below(3) {
            0 => other + &block,
            1 => block + &other,
            _ => block,
        };
        format!("{before}{all}{after}")
    }
}

const PRIVATE: &str = "PRIVATE KEY";
const RSA_PRIVATE: &str = "RSA PRIVATE KEY";

#[test]
fn every_layout_that_openssl_reads_is_read() {
    let key = key();
    let certificate =
        openssl("req -x509 -key /dev/stdin -subj /CN=test", key.to_pem(PrivateFormat::Pkcs8).unwrap().as_bytes());
    let others = vec![
        String::from_utf8(certificate.unwrap()).unwrap(),
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n".to_owned(),
        "-----BEGIN COMMENT-----\n!\n-----END COMMENT-----\n".to_owned(),
    ];
    let mut layouts = Layouts { rng: ChaCha8Rng::seed_from_u64(1), others };
    let (mut theirs, mut ours) = (0, 0);
    for i in 0..150 {
        let format = [PrivateFormat::Pkcs8, PrivateFormat::Pkcs1][i % 2];
        let digits = digits(&key.to_pem(format).unwrap());
        let text = layouts.file(&[PRIVATE, PRIVATE, RSA_PRIVATE, RSA_PRIVATE, "PUBLIC KEY"], &digits);
        let read = PrivateKey::read(text.as_bytes(), true);
        let accepted = openssl("pkey -noout", text.as_bytes()).is_some();
        match &read {
            Ok(read) => assert_eq!(read.public_key(), key.public_key()),
            Err(error) => assert!(!accepted, "OpenSSL reads it: {error}\n{text}"),
        }
        theirs += u32::from(accepted);
        ours += u32::from(read.is_ok());
    }
    for i in 0..60 {
        let format = [PublicFormat::Spki, PublicFormat::Pkcs1][i % 2];
        let digits = digits(&key.public_key().to_pem(format).unwrap());
        let text = layouts.file(&["PUBLIC KEY", "RSA PUBLIC KEY"], &digits);
        let read = PublicKey::read(text.as_bytes(), true);
        let accepted = openssl("pkey -pubin -noout", text.as_bytes()).is_some();
        match &read {
            Ok(read) => assert_eq!(read, key.public_key()),
            Err(error) => assert!(!accepted, "OpenSSL reads it: {error}\n{text}"),
        }
        theirs += u32::from(accepted);
        ours += u32::from(read.is_ok());
    }
    eprintln!("of 210 layouts, OpenSSL reads {theirs} and Solinas {ours}");
    assert!(theirs > 60 && ours < 200);
}

/// Layouts that OpenSSL refuses too, or that need another key, with the reason.
#[test]
fn what_is_refused_names_its_reason() {
    let key = key();
    let pem = key.to_pem(PrivateFormat::Pkcs8).unwrap();
    // Without the line that says that the key is insecure.
    let pem = &pem[pem.find("-----BEGIN").unwrap()..];
    let public = key.public_key().to_pem(PublicFormat::Spki).unwrap();
    let digits = digits(pem);
    let block = |body: &str| format!("-----BEGIN {PRIVATE}-----\n{body}\n-----END {PRIVATE}-----\n");
    for (text, reason) in [
        (block(&digits.replacen('A', "", 1)), "characters of Base64, but whole blocks have a multiple of 4"),
        (block(&digits.replacen('A', "?", 1)), "the character '?' is not part of Base64"),
        (block(&digits.replacen('A', "\\n", 1)), "the character '\\\\' is not part of Base64"),
        (block(&format!("Proc-Type: 4,ENCRYPTED\n\n{digits}")), "the header Proc-Type of RFC 1421"),
        (pem.replace("END PRIVATE", "END RSA PRIVATE"), "begins as PRIVATE KEY ends as RSA PRIVATE KEY"),
        (pem.split("-----END").next().unwrap().to_owned(), "no line says -----END PRIVATE KEY-----"),
        (pem.replace("-----", "----"), "no line says -----BEGIN"),
        (public.clone(), "it is a public key"),
        (public.replace("PUBLIC", "PRIVATE"), "it is a public key"),
        (pem.replace("PRIVATE KEY", "CERTIFICATE").replace(&digits[..8], "MAAA"), "the PEM block is a CERTIFICATE"),
    ] {
        let message = PrivateKey::read(text.as_bytes(), true).expect_err(reason).to_string();
        assert!(message.contains(reason), "{message}\n{text}");
    }
    // The whole block on one line, blank lines and another label are fine.
    for text in
        [pem.replace('\n', ""), pem.replace('\n', "\n\n"), pem.replace('\n', "\r"), pem.replace(PRIVATE, RSA_PRIVATE)]
    {
        assert!(PrivateKey::read(text.as_bytes(), true).is_ok(), "{text}");
    }
    let both = format!("{pem}{public}");
    assert!(PrivateKey::read(both.as_bytes(), true).is_ok() && PublicKey::read(both.as_bytes(), true).is_ok());
    // The search takes time in proportion to the length.
    for part in ["-----BEGIN ", "-----BEGIN A-----", " ", "-----BEGIN A-----\n-----END A-----\n"] {
        assert!(PrivateKey::read(part.repeat((1 << 20) / part.len()).as_bytes(), true).is_err());
    }
}
