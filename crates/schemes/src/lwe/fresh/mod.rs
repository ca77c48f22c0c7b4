//! The scheme without levels (Brakerski, Gentry and Vaikuntanathan 2012; `wang2014`, section 2.1.2): it encrypts and adds bits. The fresh ciphertexts of the
//! leveled scheme are ciphertexts of this one.
//!
//! ```
//! use solinas_schemes::{Control, Entropy};
//! use solinas_schemes::lwe::fresh::{ClientKey, Params};
//!
//! let client = ClientKey::generate(&Params::named("toy-64-2")?, true, Entropy::System, &Control::default())?;
//! let public = client.public();
//! let bits = public.encryptor()?.encrypt(&[true, false], &mut public.encryption_rng(0)?)?;
//! assert!(client.decrypt(&bits[0])? && !client.decrypt(&bits[1])?);
//! # Ok::<(), solinas_schemes::Error>(())
//! ```

mod encrypt;
mod keys;
pub mod noise;
mod params;

use crate::Error;
pub(super) use encrypt::finish;
pub use encrypt::{Ciphertext, Encryptor};
pub use keys::{ClientKey, PublicKey};
pub(super) use keys::{make, masked_product, parts, phase};
pub use params::{Params, ParamsLiteral};
