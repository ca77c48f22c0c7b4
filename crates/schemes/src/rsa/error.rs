//! Error type of the scheme.

use super::Hash;

/// Everything that can go wrong for a caller of the scheme.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A key size that is not offered.
    #[error("no RSA keys of {bits} bits are made; choose a multiple of 64 from {least} to {most}")]
    KeySize {
        /// Bits asked for.
        bits: usize,
        /// Least that is offered.
        least: usize,
        /// Most that is offered.
        most: usize,
    },
    /// A modulus that can be factored, or nearly.
    #[error(
        "a modulus of {bits} bits is too short to be safe; use a key of {least} bits or more, or allow short keys for research (--research)"
    )]
    KeyTooShort {
        /// Bits of the modulus.
        bits: usize,
        /// Least that is accepted.
        least: usize,
    },
    /// A modulus beyond what is accepted from outside.
    #[error("a modulus of {bits} bits is longer than the {most} that are accepted; use a shorter key")]
    KeyTooLong {
        /// Bits of the modulus.
        bits: usize,
        /// Most that is accepted.
        most: usize,
    },
    /// A modulus that no two odd primes have.
    #[error("the modulus is even, so it is not a product of two odd primes: the key is damaged; make or fetch it anew")]
    EvenModulus,
    /// A public exponent that does not work, or is not safe.
    #[error("the public exponent {problem}; use a key with exponent 65537")]
    Exponent {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Parts of a private key that do not belong together.
    #[error("the private key's {part} does not fit its other parts: the key is damaged; restore it from a copy")]
    Inconsistent {
        /// The part.
        part: &'static str,
    },
    /// A prime of a private key that is composite.
    #[error("the private key's {part} is not prime: the key is damaged or forged; make a new one")]
    NotPrime {
        /// The part.
        part: &'static str,
    },
    /// More than one block of the padding holds.
    #[error(
        "the message has {len} bytes, this key and padding take at most {most}; encrypt a symmetric key instead, and the message with that"
    )]
    MessageTooLong {
        /// Bytes of the message.
        len: usize,
        /// Most that fit.
        most: usize,
    },
    /// A hash, or hash and salt, that the key has no room for.
    #[error("a key of {bits} bits has no room for {hash} in this padding; use a longer key, or a shorter hash or salt")]
    NoRoom {
        /// Bits of the modulus.
        bits: usize,
        /// The hash.
        hash: Hash,
    },
    /// A ciphertext or signature that is none of this key's.
    #[error("the {what} has {got} bytes, this key's have {want}: it belongs to another key, or was cut; check both")]
    Length {
        /// Ciphertext or signature.
        what: &'static str,
        /// Bytes found.
        got: usize,
        /// Bytes needed.
        want: usize,
    },
    /// A number from 0 to n - 1 that is not below n.
    #[error("the {what} is not below the modulus: it belongs to another key, or is damaged; check both")]
    Range {
        /// Ciphertext or signature.
        what: &'static str,
    },
    /// The padding was not as it should be; nothing is said of where.
    #[error(
        "the ciphertext cannot be decrypted: it is damaged, or made for another key, padding, hash or label; check these"
    )]
    Decryption,
    /// Not a signature of this message by this key.
    #[error("the signature is not one of this message by this key; check message, key, padding and hash")]
    Verification,
    /// The result of a private operation did not give the input back, so it was not used.
    #[error(
        "a private operation gave a wrong result, which was discarded: a fault of the machine, or a damaged key; check the key and try again"
    )]
    Fault,
    /// Not a key in a format that is read.
    #[error("not an RSA {what} key: {detail}; give PEM or DER of {formats}")]
    Malformed {
        /// Public or private.
        what: &'static str,
        /// What the parser met.
        detail: String,
        /// Formats that are read.
        formats: &'static str,
    },
    /// A private key under a passphrase, which was not given.
    #[error("the private key is encrypted with a passphrase; give the passphrase")]
    Encrypted,
    /// A passphrase that does not open the key.
    #[error("the passphrase does not open the private key, or the key is damaged; check both")]
    Passphrase,
    /// An encrypted private key that is not read.
    #[error(
        "the private key is encrypted in a way that is not read: {detail}; convert it, as with `openssl pkey -in FILE -aes256 -out NEW`"
    )]
    Encryption {
        /// What is not read.
        detail: String,
    },
    /// An operation that the key does not allow.
    #[error("the key is for {allowed}, not for {wanted}; use another key, or keep to what this one allows")]
    KeyUse {
        /// Operations that it allows.
        allowed: String,
        /// What it was to do.
        wanted: String,
    },
    /// A hash function that signatures must not use.
    #[error(
        "{hash} is not for signatures, as two messages with one hash value are known; choose another hash, such as SHA-256"
    )]
    WeakHash {
        /// The hash function.
        hash: Hash,
    },
    /// A key of another algorithm.
    #[error(
        "the key is for the algorithm {oid}, not for RSA (1.2.840.113549.1.1.1 or, for PSS, 1.2.840.113549.1.1.10); give an RSA key"
    )]
    Algorithm {
        /// Object identifier found.
        oid: String,
    },
    /// A secret key where a public one is needed.
    #[error("this is a private key; make its public key first (solinas rsa public) and give that away")]
    PrivateKeyGiven,
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness: {0}; try again later")]
    Entropy(String),
    /// Stopped by the caller.
    #[error("cancelled")]
    Cancelled,
    /// From the arithmetic.
    #[error("the arithmetic refused: {0}")]
    Arithmetic(String),
}

/// Result of this module's functions.
pub type Result<T> = std::result::Result<T, Error>;
