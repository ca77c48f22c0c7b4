//! Error type of the scheme.

use super::Hash;

/// Errors of RSA.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The requested key size is not offered.
    #[error("an RSA key cannot have {bits} bits; choose a multiple of 64 from {least} to {most}")]
    KeySize {
        /// Requested bits.
        bits: usize,
        /// Smallest size offered.
        least: usize,
        /// Largest size offered.
        most: usize,
    },
    /// The modulus is so short that it can be factored, or nearly so.
    #[error(
        "a modulus of {bits} bits is too short to be safe; use a key of {least} bits or more, or allow short keys for research (--research)"
    )]
    KeyTooShort {
        /// Bits of the modulus.
        bits: usize,
        /// Smallest size accepted.
        least: usize,
    },
    /// The modulus is longer than Solinas accepts.
    #[error("a modulus of {bits} bits is above the limit of {most} bits; use a shorter key")]
    KeyTooLong {
        /// Bits of the modulus.
        bits: usize,
        /// Largest size accepted.
        most: usize,
    },
    /// The modulus is even, so it is not a product of two odd primes.
    #[error(
        "the modulus is even, so it is not a product of two odd primes: the key is damaged; make or fetch it again"
    )]
    EvenModulus,
    /// The public exponent does not work or is not safe.
    #[error("the public exponent {problem}; use a key with exponent 65537")]
    Exponent {
        /// The problem.
        problem: &'static str,
    },
    /// The parts of a private key are inconsistent.
    #[error("the private key's {part} does not fit its other parts: the key is damaged; restore it from a copy")]
    Inconsistent {
        /// The inconsistent part.
        part: &'static str,
    },
    /// A prime of a private key is composite.
    #[error("the private key's {part} is not prime: the key is damaged or forged; make a new one")]
    NotPrime {
        /// The composite part.
        part: &'static str,
    },
    /// The message is longer than one padded block can hold.
    #[error(
        "the message has {len} bytes, this key and padding take at most {most}; encrypt a symmetric key, and encrypt the message with that key"
    )]
    MessageTooLong {
        /// Bytes of the message.
        len: usize,
        /// Largest number of bytes for this key and padding.
        most: usize,
    },
    /// The key is too short for the hash, or for hash and salt.
    #[error(
        "a key of {bits} bits is too short for {hash} in this padding; use a longer key, or a shorter hash or salt"
    )]
    NoRoom {
        /// Bits of the modulus.
        bits: usize,
        /// The hash.
        hash: Hash,
    },
    /// A ciphertext or signature does not have the length of this key's.
    #[error(
        "the {what} has {got} bytes, this key's have {want}: it belongs to another key or is incomplete; check both"
    )]
    Length {
        /// `"ciphertext"`, `"signature"` or `"hash value"`.
        what: &'static str,
        /// Bytes found.
        got: usize,
        /// Bytes needed.
        want: usize,
    },
    /// A ciphertext or signature is a number that is not below the modulus.
    #[error("the {what} is not below the modulus: it belongs to another key, or is damaged; check both")]
    Range {
        /// `"ciphertext"` or `"signature"`.
        what: &'static str,
    },
    /// The padding is malformed. The error does not tell where, so that it gives an attacker no information.
    #[error(
        "the ciphertext cannot be decrypted: it is damaged, or made for another key, padding, hash or label; check these"
    )]
    Decryption,
    /// The signature is not valid for this message and key.
    #[error("the signature is not valid for this message and key; check message, key, padding and hash")]
    Verification,
    /// Raising the result of a private operation to the public exponent did not return the input. The result was
    /// discarded.
    #[error(
        "a private operation gave a wrong result, which was discarded: the machine has a fault or the key is damaged; check the key and try again"
    )]
    Fault,
    /// The bytes are not a key in a supported format.
    #[error("not an RSA {what} key: {detail}; give PEM or DER of {formats}")]
    Malformed {
        /// `"public"` or `"private"`.
        what: &'static str,
        /// The parser's message.
        detail: String,
        /// The supported formats.
        formats: &'static str,
    },
    /// The private key is encrypted, and no passphrase was given.
    #[error("the private key is encrypted with a passphrase; give the passphrase")]
    Encrypted,
    /// The passphrase does not decrypt the key.
    #[error("the passphrase does not decrypt the private key, or the key is damaged; check both")]
    Passphrase,
    /// The private key is encrypted by an unsupported method.
    #[error(
        "the encryption of the private key is not supported: {detail}; convert the key, as with `openssl pkey -in FILE -aes256 -out NEW`"
    )]
    Encryption {
        /// The unsupported property.
        detail: String,
    },
    /// The key does not allow the operation.
    #[error("the key is for {allowed}, not for {wanted}; use another key, or an operation that this key allows")]
    KeyUse {
        /// Operations that the key allows.
        allowed: String,
        /// The requested operation.
        wanted: String,
    },
    /// The hash function is not secure for signatures.
    #[error("{hash} is not for signatures, because collisions of it are known; choose another hash, such as SHA-256")]
    WeakHash {
        /// The hash function.
        hash: Hash,
    },
    /// The key is of another algorithm.
    #[error(
        "the key is for the algorithm {oid}, not for RSA (1.2.840.113549.1.1.1 or, for PSS, 1.2.840.113549.1.1.10); give an RSA key"
    )]
    Algorithm {
        /// Object identifier of the algorithm found.
        oid: String,
    },
    /// A private key was given where a public key is needed.
    #[error("this is a private key; make its public key first (solinas rsa public) and use that")]
    PrivateKeyGiven,
    /// The operating system returned no randomness.
    #[error(transparent)]
    Entropy(#[from] solinas_schemes::NoEntropy),
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] solinas_schemes::Cancelled),
    /// A back end failed.
    #[error("the accelerator failed: {0}")]
    Backend(String),
    /// An error of the integer arithmetic.
    #[error("an arithmetic operation failed: {0}")]
    Arithmetic(String),
}

/// Result of this module's functions.
pub type Result<T> = std::result::Result<T, Error>;
