//! `solinas rsa`: keys, encryption and signatures.

mod encryption;
mod inspect;
mod keys;
mod pair;
mod passphrase;
mod rtl;
mod signature;

use crate::error::{Error, Result, input};
use crate::files::read_bytes;
use crate::output::Output;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Subcommand, ValueEnum};
use passphrase::PassphraseArgs;
use solinas_rsa::{self as rsa, Execution, Hash, Method, PrivateKey, PublicKey};
use solinas_schemes::security::{SecurityClaim, Status};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const EXAMPLES: &str = "\
Examples:
  solinas rsa keygen --bits 3072 -o key.pem --public public.pem
  solinas rsa encrypt --key public.pem message.txt -o message.rsa
  solinas rsa decrypt --key key.pem message.rsa -o message.txt
  solinas rsa sign --key key.pem document.pdf -o document.sig
  solinas rsa verify --key public.pem --signature document.sig document.pdf

Keys are PEM or DER, which other programs read and write too. RSA serves to exchange data with such programs. It computes nothing on ciphertexts, \
and a quantum computer breaks it at every size.";

/// Largest size of a key file, bytes.
const MOST_KEY: u64 = 1 << 20;
/// Largest size of a message to sign: 1 GiB.
const MOST_MESSAGE: u64 = 1 << 30;
/// Largest size of a message to encrypt, a ciphertext or a signature, bytes. The largest key needs 2048.
const MOST_BLOCK: u64 = 1 << 16;

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, subcommand_required = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Generate a private key
    Keygen(keys::KeygenArgs),
    /// Write the public key of a private key, or a public key in another format
    Public(keys::PublicArgs),
    /// Set, change or remove the passphrase of a private key
    Passphrase(passphrase::Args),
    /// Encrypt a short message with a public key
    Encrypt(encryption::EncryptArgs),
    /// Decrypt with a private key
    Decrypt(encryption::DecryptArgs),
    /// Sign a file with a private key
    Sign(signature::SignArgs),
    /// Verify a signature with a public key
    Verify(signature::VerifyArgs),
    /// Describe keys and check them
    Inspect(inspect::InspectArgs),
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.verb {
        Verb::Keygen(args) => keys::keygen(args, out),
        Verb::Public(args) => keys::public(args, out),
        Verb::Passphrase(args) => passphrase::run(args, out),
        Verb::Encrypt(args) => encryption::encrypt(args, out),
        Verb::Decrypt(args) => encryption::decrypt(args, out),
        Verb::Sign(args) => signature::sign(args, out),
        Verb::Verify(args) => signature::verify(args, out),
        Verb::Inspect(args) => inspect::run(args, out),
    }
}

/// Options of commands that read a public key.
#[derive(clap::Args)]
struct PublicKeyArgs {
    /// The public key, PEM or DER
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// Accept keys below 2048 bits and public exponents below 65537
    #[arg(long)]
    research: bool,
}

impl PublicKeyArgs {
    fn read(&self) -> Result<PublicKey> {
        let bytes = read_key(&self.key)?;
        PublicKey::read(&bytes, self.research).map_err(in_file(&self.key))
    }
}

/// Options of commands that use a private key.
#[derive(clap::Args)]
struct PrivateKeyArgs {
    /// The private key, PEM or DER
    #[arg(long, short, value_name = "FILE")]
    key: PathBuf,
    /// Accept keys below 2048 bits and public exponents below 65537
    #[arg(long)]
    research: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Multiplication method; defaults to the fastest measured at this size. The result is the same
    #[arg(long, value_name = "METHOD")]
    method: Option<Multiplication>,
    /// Number of threads, of which at most two are used; defaults to the number of processors
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Device that computes the powers: cpu, or rtl for the simulated hardware; defaults to SOLINAS_DEVICE if it is one of them, else to cpu. The result is the same
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Multiplication {
    /// Montgomery's method, word by word
    Word,
    /// Montgomery's method, with products by FFT
    Fft,
}

impl PrivateKeyArgs {
    /// Reads the key.
    fn read(&self, out: &Output) -> Result<PrivateKey> {
        // A device that cannot be used is reported first.
        rtl::is_asked(self)?;
        let bytes = read_key(&self.key)?;
        let mut key = private_key(&self.key, &bytes, &self.passphrase, self.research)?;
        if key.is_insecure() {
            out.warn(&format!("{} was made from a chosen seed and protects nothing", self.key.display()));
        }
        let method = self.method.map(|method| match method {
            Multiplication::Word => Method::Word,
            Multiplication::Fft => Method::Fft,
        });
        key.set_execution(Execution { method, parallel: parallel(self.threads) })?;
        Ok(key)
    }
}

/// Reads a private key from the bytes of its file, with a passphrase if it is encrypted.
fn private_key(path: &Path, bytes: &[u8], passphrase: &PassphraseArgs, research: bool) -> Result<PrivateKey> {
    let read = match PrivateKey::read(bytes, research) {
        Err(rsa::Error::Encrypted) => PrivateKey::read_encrypted(bytes, &passphrase.read(path)?, research),
        read => read,
    };
    read.map_err(in_file(path))
}

/// A private or a public key.
enum Key {
    Public(PublicKey),
    Private(Box<PrivateKey>),
}

impl Key {
    fn read(path: &Path, passphrase: &PassphraseArgs, research: bool) -> Result<Self> {
        let bytes = read_key(path)?;
        let error = match PrivateKey::read(&bytes, research) {
            Ok(key) => return Ok(Self::Private(key.into())),
            Err(rsa::Error::Encrypted) => {
                return private_key(path, &bytes, passphrase, research).map(|key| Self::Private(key.into()));
            }
            Err(error) => error,
        };
        match PublicKey::read(&bytes, research) {
            Ok(key) => Ok(Self::Public(key)),
            // A damaged private key must not be reported as a bad public key.
            Err(_) if solinas_formats::is_private_key(&bytes) => Err(in_file(path)(error)),
            Err(error) => Err(in_file(path)(error)),
        }
    }

    fn public(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public_key(),
        }
    }
}

/// Reads the bytes of a key file. Fails for OpenSSH's own format.
fn read_key(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = Zeroizing::new(read_bytes(path, MOST_KEY)?);
    let label = b"-----BEGIN OPENSSH PRIVATE KEY-----";
    if bytes.windows(label.len()).any(|part| part == label) {
        let what = format!("{} is a private key in OpenSSH's own format", path.display());
        return Err(input(what, "convert a copy of it first, for example with `ssh-keygen -p -m PEM -f COPY`"));
    }
    Ok(bytes)
}

/// The security claim of a key. A private key from a chosen seed has no security.
fn claim(key: &PublicKey, insecure: bool) -> SecurityClaim {
    let claim = key.security();
    if !insecure {
        return claim;
    }
    let status = Status::ResearchOnly { why: "made from a chosen seed".to_owned() };
    SecurityClaim { classical_bits: 0.0, quantum_bits: 0.0, estimator: "guessing the seed".to_owned(), status, ..claim }
}

/// Whether to use two threads.
fn parallel(threads: Option<u16>) -> bool {
    threads.map_or_else(|| std::thread::available_parallelism().is_ok_and(|n| n.get() > 1), |threads| threads > 1)
}

/// For `map_err`: puts the file in front of the message.
fn in_file(path: &Path) -> impl FnOnce(rsa::Error) -> Error {
    move |error| match Error::from(error) {
        Error::Interrupted => Error::Interrupted,
        error => error.with_place(&path.display().to_string()),
    }
}

/// Parses the name of a hash function, for the argument parser.
fn hash_parser() -> impl TypedValueParser<Value = Hash> {
    PossibleValuesParser::new(Hash::ALL.map(Hash::name)).try_map(|name| name.parse::<Hash>())
}

/// Parses the name of a hash function for signatures.
fn signature_hash_parser() -> impl TypedValueParser<Value = Hash> {
    let names = Hash::ALL.into_iter().filter(|hash| hash.signs()).map(Hash::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Hash>())
}
