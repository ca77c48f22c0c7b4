//! RSA (Rivest, Shamir, Adleman 1978) with the paddings of RFC 8017. `wang2014`, chapter 7, describes it in hardware.
//!
//! ```
//! use solinas_schemes::Control;
//! use solinas_rsa::{EncryptionPadding, KeygenOptions, PrivateKey, SignaturePadding};
//! # fn main() -> Result<(), solinas_rsa::Error> {
//! let key = PrivateKey::generate(&KeygenOptions { bits: 2048, ..Default::default() }, &Control::default())?;
//! let public = key.public_key();
//!
//! let ciphertext = public.encrypt(&EncryptionPadding::default(), b"a session key")?;
//! assert_eq!(*key.decrypt(&EncryptionPadding::default(), &ciphertext)?, b"a session key");
//!
//! let signature = key.sign(SignaturePadding::default(), b"a document")?;
//! public.verify(SignaturePadding::default(), b"a document", &signature)?;
//! # Ok(())
//! # }
//! ```
//!
//! A private operation computes modulo p and modulo q separately (Chinese remainder theorem), on a blinded number. It
//! checks the result by raising it to e. The steps of an exponentiation do not depend on the secret exponent. The
//! multiplication is word-level Montgomery or by FFT ([`Method`]); the default is the one that was measured fastest at
//! the size.
//!
//! RSA without padding is homomorphic for products, `(x y)^e = x^e y^e`. This property makes it insecure, so this
//! crate does not offer it, and the paddings remove the property. RSA is not one of Solinas' homomorphic schemes.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod backend;
mod encoding;
mod error;
mod hash;
mod key_use;
mod keygen;
mod padding;
mod passphrase;
mod pem;
mod prime;
mod private;
mod public;
mod ring;
mod secret;

pub use backend::{Backend, Power};
pub use encoding::{PrivateFormat, PublicFormat};
pub use error::{Error, Result};
pub use hash::Hash;
pub use key_use::{KeyUse, PssParameters};
pub use keygen::KeygenOptions;
pub use padding::{EncryptionPadding, SignaturePadding};
pub use private::{Execution, PrivateKey};
pub use public::PublicKey;
pub use ring::Method;

use solinas_schemes::security::{SecurityClaim, Status};

/// Smallest key size in bits, without research.
pub const MIN_BITS: usize = 2048;
/// Smallest key size in bits, for research.
pub const RESEARCH_MIN_BITS: usize = 512;
/// Largest key size in bits.
pub const MAX_BITS: usize = 16_384;

/// The security claim for a key of `bits` bits. Source: NIST SP 800-57 Part 1, revision 5, table 2, at the largest size
/// of the table that is not above `bits`. No size resists a quantum computer, which factors in polynomial time (Shor
/// 1994).
pub fn security(bits: usize) -> SecurityClaim {
    const TABLE: [(usize, f64); 5] = [(15_360, 256.0), (7680, 192.0), (3072, 128.0), (2048, 112.0), (1024, 80.0)];
    let classical_bits = TABLE.iter().find(|(size, _)| bits >= *size).map_or(0.0, |(_, strength)| *strength);
    let quantum = "a quantum computer breaks every size (Shor 1994)";
    let status = if bits < MIN_BITS {
        Status::ResearchOnly { why: format!("{bits} bits are within reach of factoring; {quantum}") }
    } else if classical_bits < 128.0 {
        Status::Compatibility { why: format!("{classical_bits} bits of security, below 128; {quantum}") }
    } else {
        Status::Compatibility { why: quantum.into() }
    };
    SecurityClaim {
        classical_bits,
        quantum_bits: 0.0,
        estimator: "NIST SP 800-57 Part 1 Rev. 5, table 2".into(),
        date: "2020-05-04".into(),
        status,
    }
}

#[cfg(test)]
mod tests;

// Examples of the book.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/book/rsa.md")]
    struct Rsa;
}
