//! Back ends, which compute the numbers of ciphertexts.

use std::borrow::Cow;

use solinas_ring::{Eval, RnsPoly};

use super::{Ciphertext, Leveled, ServerKey, Value};
use crate::Error;

/// A leveled scheme whose ciphertexts are polynomials.
pub trait RingScheme: Leveled<Parts = Vec<RnsPoly<Eval>>> {
    /// The name of an automorphism, for which a server key may hold a key.
    type Rotation: Copy;
}

/// The polynomials of a ciphertext, in the memory of the processor or of a device. Their sums are the same for every scheme.
pub trait Polynomials: Clone + Send + Sync {
    /// Number of the polynomials.
    fn count(&self) -> usize;

    /// The polynomials in the memory of the processor, after the operations that make them.
    ///
    /// # Errors
    /// From the device, here and below.
    fn read(&self) -> Result<Cow<'_, [RnsPoly<Eval>]>, Error>;

    /// `self + x`. The processor takes zeros for the polynomials that one of them lacks.
    ///
    /// # Errors
    /// For polynomials of another basis, and on a device of another number.
    fn plus(&self, x: &Self) -> Result<Self, Error>;

    /// `self - x`.
    ///
    /// # Errors
    /// As [`Self::plus`].
    fn minus(&self, x: &Self) -> Result<Self, Error>;

    /// `factor self`. A factor of -1 changes the sign.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn scaled(&self, factor: i64) -> Result<Self, Error>;

    /// Adds polynomial `i` of `plain` to polynomial `i`. The others stay.
    ///
    /// # Errors
    /// As [`Self::plus`].
    fn plus_plain(&self, plain: &[RnsPoly<Eval>]) -> Result<Self, Error>;
}

/// The keys of a server in the place where they compute: in the memory of the processor, or on a device.
pub trait LoadedKey<S: RingScheme>: Send + Sync {
    /// The numbers of a ciphertext.
    type Parts: Polynomials;

    /// The key.
    fn key(&self) -> &ServerKey<S>;

    /// Takes the numbers of a ciphertext of the key to the back end.
    ///
    /// # Errors
    /// For a ciphertext that the back end does not compute with.
    fn load(&self, x: Ciphertext<S>) -> Result<Self::Parts, Error>;

    /// Waits for the operations that run on a device.
    ///
    /// # Errors
    /// From the operations.
    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The processor.
impl<S: RingScheme> LoadedKey<S> for &ServerKey<S> {
    type Parts = Vec<RnsPoly<Eval>>;

    fn key(&self) -> &ServerKey<S> {
        self
    }

    fn load(&self, x: Ciphertext<S>) -> Result<Self::Parts, Error> {
        Ok(x.parts)
    }
}

/// A back end.
///
/// An [`Evaluator`](super::Evaluator) checks the keys, levels, stages and noise of operands before it calls a back end, which computes numbers alone. All back ends
/// give the same words. Every operation has the errors of the device.
pub trait Numbers<S: RingScheme>: LoadedKey<S> {
    /// The ciphertext in the form that every operation takes. A back end that loads no other has nothing to do.
    ///
    /// # Errors
    /// From the steps that bring it there.
    fn normalize<'x>(&self, x: &'x Value<S, Self>) -> Result<Cow<'x, Value<S, Self>>, Error> {
        Ok(Cow::Borrowed(x))
    }

    /// The product with a known polynomial, in as many parts as the scheme splits plaintexts into at that level.
    ///
    /// # Errors
    /// From the device, here and below.
    fn multiply_plain(&self, x: &Value<S, Self>, plain: &[RnsPoly<Eval>]) -> Result<Self::Parts, Error>;

    /// `sum_i x_i y_i`, at the level below.
    ///
    /// # Errors
    /// As [`Self::multiply_plain`].
    fn dot(&self, x: &[&Value<S, Self>], y: &[&Value<S, Self>]) -> Result<Self::Parts, Error>;

    /// The same message at the level below.
    ///
    /// # Errors
    /// As [`Self::multiply_plain`].
    fn lower(&self, x: &Value<S, Self>) -> Result<Self::Parts, Error>;

    /// An automorphism.
    ///
    /// # Errors
    /// [`Error::NoRotationKey`]; as [`Self::multiply_plain`].
    fn rotate(&self, x: &Value<S, Self>, rotation: S::Rotation) -> Result<Self::Parts, Error>;

    /// Bootstraps a ciphertext at the first level.
    ///
    /// # Errors
    /// [`Error::NoBootstrapping`]; as [`Self::multiply_plain`].
    fn bootstrap(&self, x: &Value<S, Self>) -> Result<Self::Parts, Error>;
}
