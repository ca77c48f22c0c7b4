//! Back ends, which compute the numbers of ciphertexts.

use std::borrow::Cow;

use solinas_ring::{Eval, RnsPoly};

use super::{Ciphertext, Leveled, ServerKey};
use crate::Error;

/// A leveled scheme whose ciphertexts are polynomials.
pub trait RingScheme: Leveled<Parts = Vec<RnsPoly<Eval>>> {
    /// The name of an automorphism, for which a server key may hold a key.
    type Rotation: Copy;
}

/// The keys of a server in the place where they compute: in the memory of the processor, or on a device.
///
/// An [`Evaluator`](super::Evaluator) checks the keys, levels, stages and noise of operands before it calls a back end, which computes numbers alone. All back ends
/// give the same words.
///
/// # Errors
/// Every operation has the errors of the device. No operation is called with operands that the evaluator refuses.
pub trait Numbers<S: RingScheme>: Send + Sync {
    /// The numbers of a ciphertext.
    type Parts: Clone + Send + Sync;

    /// The key.
    fn key(&self) -> &ServerKey<S>;

    /// Takes the numbers of a ciphertext of the key to the back end.
    ///
    /// # Errors
    /// For a ciphertext that the back end does not compute with.
    fn load(&self, x: Ciphertext<S>) -> Result<Self::Parts, Error>;

    /// The polynomials of a ciphertext.
    fn store<'x>(&self, x: &'x Ciphertext<S, Self::Parts>) -> Result<Cow<'x, [RnsPoly<Eval>]>, Error>;

    /// Waits for the operations that run on a device.
    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Number of the polynomials of a ciphertext.
    fn count(&self, x: &Ciphertext<S, Self::Parts>) -> usize;

    /// The ciphertext as every operation takes it, if the back end computes with others too.
    fn normalize<'x>(&self, x: &'x Ciphertext<S, Self::Parts>) -> Result<Cow<'x, Ciphertext<S, Self::Parts>>, Error> {
        Ok(Cow::Borrowed(x))
    }

    /// `x + y`.
    fn add(&self, x: &Ciphertext<S, Self::Parts>, y: &Ciphertext<S, Self::Parts>) -> Result<Self::Parts, Error>;

    /// `x - y`.
    fn sub(&self, x: &Ciphertext<S, Self::Parts>, y: &Ciphertext<S, Self::Parts>) -> Result<Self::Parts, Error>;

    /// `factor x`. A factor of -1 changes the sign.
    fn scale(&self, x: &Ciphertext<S, Self::Parts>, factor: i64) -> Result<Self::Parts, Error>;

    /// Adds polynomial `i` to polynomial `i` of `x`. The others stay.
    fn add_plain(&self, x: &Ciphertext<S, Self::Parts>, plain: &[RnsPoly<Eval>]) -> Result<Self::Parts, Error>;

    /// The product with a known polynomial, in as many polynomials as the scheme splits a plaintext of that level into.
    fn multiply_plain(&self, x: &Ciphertext<S, Self::Parts>, plain: &[RnsPoly<Eval>]) -> Result<Self::Parts, Error>;

    /// `sum_i x_i y_i`, at the level below.
    fn dot(&self, x: &[&Ciphertext<S, Self::Parts>], y: &[&Ciphertext<S, Self::Parts>]) -> Result<Self::Parts, Error>;

    /// The same message at the level below.
    fn lower(&self, x: &Ciphertext<S, Self::Parts>) -> Result<Self::Parts, Error>;

    /// An automorphism, for which there is a key.
    fn rotate(&self, x: &Ciphertext<S, Self::Parts>, rotation: S::Rotation) -> Result<Self::Parts, Error>;

    /// Bootstraps a ciphertext at the first level.
    fn bootstrap(&self, x: &Ciphertext<S, Self::Parts>) -> Result<Self::Parts, Error>;
}
