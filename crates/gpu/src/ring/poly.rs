//! Polynomials on a device.

use super::basis::{Ring, refused, words_of};
use crate::{Arg, Buffer, Error, Kernel};
use solinas_ring::{Automorphism, Coeff, Domain, Eval, RnsPoly};
use std::marker::PhantomData;

/// Most polynomials that a launch handles: the second dimension of a grid.
pub(super) const MAX_ITEMS: usize = 65_535;

/// Polynomials of one basis on a device, as [`RnsPoly`]. Shape: `[items][towers][N]`. They have no secrets.
///
/// An operation on two batches takes equally many polynomials of the same basis, or one as the second operand, which
/// then serves all.
#[derive(Debug)]
pub struct Polys<D: Domain> {
    pub(super) ring: Ring,
    pub(super) items: usize,
    pub(super) words: Buffer<u64>,
    domain: PhantomData<D>,
}

impl<D: Domain> Polys<D> {
    /// Makes polynomials whose words are not written yet.
    pub(super) fn unwritten(ring: &Ring, items: usize) -> Result<Self, Error> {
        if items == 0 || items > MAX_ITEMS {
            return Err(Error::Unsupported { params: format!("a batch of {items} polynomials") });
        }
        let words = ring.stream.buffer(items * ring.basis.words(), "polynomials")?;
        Ok(Self { ring: ring.clone(), items, words, domain: PhantomData })
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// Number of polynomials.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Copies the polynomials from the device.
    ///
    /// # Errors
    /// The errors of the device, and of the operations that made the polynomials.
    pub fn download(&self) -> Result<Vec<RnsPoly<D>>, Error> {
        let basis = &self.ring.basis;
        let mut words = vec![0; self.words.len()];
        self.ring.stream.read(&self.words, 0, &mut words)?;
        let poly = |words: &[u64]| RnsPoly::from_words(basis, words).map_err(refused);
        words.chunks_exact(basis.words()).map(poly).collect()
    }

    /// The same words in the other domain's type.
    fn recast<E: Domain>(self) -> Polys<E> {
        Polys { ring: self.ring, items: self.items, words: self.words, domain: PhantomData }
    }

    /// A copy of the polynomials.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn copy(&self) -> Result<Self, Error> {
        let copy = Self::unwritten(&self.ring, self.items)?;
        self.ring.stream.copy((&self.words, 0), (&copy.words, 0), self.words.len())?;
        Ok(copy)
    }

    /// A copy of polynomial `index`.
    ///
    /// # Errors
    /// [`Error::Launch`] if there are fewer; [`Error::Memory`]; the errors of the device.
    pub fn item(&self, index: usize) -> Result<Self, Error> {
        let (copy, words) = (Self::unwritten(&self.ring, 1)?, self.ring.basis.words());
        self.ring.stream.copy((&self.words, index * words), (&copy.words, 0), words)?;
        Ok(copy)
    }

    /// Refuses another number of polynomials.
    pub(super) fn same_items(&self, what: &'static str, got: usize) -> Result<(), Error> {
        let want = self.items;
        if got == want { Ok(()) } else { Err(refused(solinas_ring::Error::Length { what, got, want })) }
    }

    /// Number of towers of an item of the second operand `x`, or 0 if one item serves all.
    fn stride_of(&self, what: &'static str, x: &Self) -> Result<u32, Error> {
        self.ring.same(what, &x.ring.basis)?;
        match x.items {
            1 => Ok(0),
            items if items == self.items => Ok(self.ring.towers()),
            got => Err(refused(solinas_ring::Error::Length { what: "a batch of polynomials", got, want: self.items })),
        }
    }

    /// `to <- f(self, x)` for the kernel of `f`.
    fn combine(&self, what: &'static str, kernel: &Kernel, x: &Self, to: &Self) -> Result<(), Error> {
        let (stride, towers) = (self.stride_of(what, x)?, self.ring.towers());
        let mut args = vec![Arg::write(&to.words), Arg::read(&self.words), Arg::read(&x.words)];
        args.push(Arg::read(&self.ring.tables.moduli));
        args.extend([towers, towers, towers, stride, self.ring.log()].map(Arg::from));
        self.ring.for_each_word(kernel, self.items, args)
    }

    /// `self + x`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another basis or number of polynomials; [`Error::Memory`]; the errors of the device.
    pub fn plus(&self, x: &Self) -> Result<Self, Error> {
        let sum = Self::unwritten(&self.ring, self.items)?;
        self.combine("a sum", &self.ring.kernels.add, x, &sum)?;
        Ok(sum)
    }

    /// `self <- self + x` in the first polynomials and towers. Their number is that of `x`.
    ///
    /// # Errors
    /// [`Error::Scheme`] if `x` has more polynomials, or other primes; the errors of the device.
    pub(super) fn add_low(&mut self, x: &Self) -> Result<(), Error> {
        let what = "a sum";
        if x.items > self.items {
            return Err(refused(solinas_ring::Error::Length { what, got: x.items, want: self.items }));
        }
        x.ring.same(what, &self.ring.basis.prefix(x.ring.basis.len()).map_err(refused)?)?;
        let (all, towers) = (self.ring.towers(), x.ring.towers());
        let mut args = vec![Arg::write(&self.words), Arg::read(&self.words), Arg::read(&x.words)];
        args.push(Arg::read(&self.ring.tables.moduli));
        args.extend([towers, all, all, towers, self.ring.log()].map(Arg::from));
        x.ring.for_each_word(&self.ring.kernels.add, x.items, args)
    }

    /// `self - x`.
    ///
    /// # Errors
    /// As [`Self::plus`].
    pub fn minus(&self, x: &Self) -> Result<Self, Error> {
        let difference = Self::unwritten(&self.ring, self.items)?;
        self.combine("a difference", &self.ring.kernels.sub, x, &difference)?;
        Ok(difference)
    }

    /// `factor self`. A factor of -1 changes the sign.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn scaled(&self, factor: i64) -> Result<Self, Error> {
        let ring = &self.ring;
        let factors: Vec<_> = ring.basis.moduli().map(|q| q.shoup(q.reduce_i64(factor))).collect();
        self.scaled_by(&ring.stream.buffer_of(&words_of(&factors), "factors")?)
    }

    /// Each tower times its factor. Shape: `[towers][2]`.
    pub(super) fn scaled_by(&self, factors: &Buffer<u64>) -> Result<Self, Error> {
        let ring = &self.ring;
        let (out, towers) = (Self::unwritten(ring, self.items)?, ring.towers());
        let mut args = vec![Arg::write(&out.words), Arg::read(&self.words), Arg::read(factors)];
        args.push(Arg::read(&ring.tables.moduli));
        args.extend([towers, towers, towers, ring.log()].map(Arg::from));
        ring.for_each_word(&ring.kernels.scale, self.items, args)?;
        Ok(out)
    }
}

impl Polys<Coeff> {
    /// Transforms every tower.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn into_eval(self) -> Result<Polys<Eval>, Error> {
        self.ring.forward(&self.words, self.items, 0..self.ring.towers())?;
        Ok(self.recast())
    }
}

impl Polys<Eval> {
    /// Transforms every tower back.
    ///
    /// # Errors
    /// The errors of the device.
    pub fn into_coeff(self) -> Result<Polys<Coeff>, Error> {
        self.ring.inverse(&self.words, self.items, 0..self.ring.towers())?;
        Ok(self.recast())
    }

    /// The polynomials modulo the first primes, which are those of `ring`.
    ///
    /// # Errors
    /// [`Error::Scheme`] for a ring of other primes; [`Error::Memory`]; the errors of the device.
    pub(super) fn truncated(&self, ring: &Ring) -> Result<Self, Error> {
        ring.same("a truncation", &self.ring.basis.prefix(ring.basis.len()).map_err(refused)?)?;
        let (out, from, to) = (Self::unwritten(ring, self.items)?, self.ring.basis.words(), ring.basis.words());
        for item in 0..self.items {
            ring.stream.copy((&self.words, item * from), (&out.words, item * to), to)?;
        }
        Ok(out)
    }

    /// The sums of `(x_0 y_0, x_0 y_1 + x_1 y_0)` and of `x_1 y_1` over pairs of ciphertexts of two parts. Shape: one
    /// ciphertext in each.
    ///
    /// # Errors
    /// [`Error::Scheme`] for no pair, for other numbers of parts, and for different bases; [`Error::Memory`]; the errors of
    /// the device.
    pub(super) fn tensor(pairs: &[(&Self, &Self)]) -> Result<(Self, Self), Error> {
        let what = "a product of ciphertexts";
        let length = |got| refused(solinas_ring::Error::Length { what, got, want: 2 });
        let ring = &pairs.first().ok_or_else(|| length(0))?.0.ring;
        let (low, high) = (Self::unwritten(ring, 2)?, Self::unwritten(ring, 1)?);
        for (i, (x, y)) in pairs.iter().enumerate() {
            for factor in [x, y] {
                ring.same(what, &factor.ring.basis)?;
                factor.same_items(what, 2)?;
            }
            let mut args = vec![Arg::write(&low.words), Arg::write(&high.words), Arg::read(&x.words)];
            args.extend([Arg::read(&y.words), Arg::read(&ring.tables.moduli)]);
            args.extend([ring.towers(), ring.log(), u32::from(i > 0)].map(Arg::from));
            ring.for_each_word(&ring.kernels.tensor, 1, args)?;
        }
        Ok((low, high))
    }

    /// `self x`.
    ///
    /// # Errors
    /// As [`Self::plus`].
    pub fn times(&self, x: &Self) -> Result<Self, Error> {
        let product = Self::unwritten(&self.ring, self.items)?;
        self.combine("a product", &self.ring.kernels.multiply, x, &product)?;
        Ok(product)
    }

    /// `self <- self + x y`. Here `x` has as many polynomials as `self`.
    ///
    /// # Errors
    /// As [`Self::plus`].
    pub fn add_product(&mut self, x: &Self, y: &Self) -> Result<(), Error> {
        if self.stride_of("a sum of products", x)? == 0 && self.items > 1 {
            let (got, want) = (x.items, self.items);
            return Err(refused(solinas_ring::Error::Length { what: "a batch of polynomials", got, want }));
        }
        x.combine("a sum of products", &self.ring.kernels.multiply_add, y, self)
    }

    /// `self <- self x`.
    ///
    /// # Errors
    /// As [`Self::plus`].
    pub fn mul_assign(&mut self, x: &Self) -> Result<(), Error> {
        self.combine("a product", &self.ring.kernels.multiply, x, self)
    }

    /// `f(X^g)` for each polynomial `f`: a permutation of the values.
    ///
    /// # Errors
    /// [`Error::Scheme`] for another dimension; [`Error::Memory`]; the errors of the device.
    pub fn permuted(&self, permutation: &Permutation) -> Result<Self, Error> {
        let (ring, got) = (&self.ring, permutation.places.len());
        if got != ring.basis.dimension() {
            let want = ring.basis.dimension();
            return Err(refused(solinas_ring::Error::Length { what: "an automorphism", got, want }));
        }
        let (out, towers) = (Self::unwritten(ring, self.items)?, ring.towers());
        let mut args = vec![Arg::write(&out.words), Arg::read(&self.words), Arg::read(&permutation.places)];
        args.extend([towers, towers, towers, ring.log()].map(Arg::from));
        ring.for_each_word(&ring.kernels.permute, self.items, args)?;
        Ok(out)
    }
}

/// An [`Automorphism`] on a device.
#[derive(Debug)]
pub struct Permutation {
    places: Buffer<u32>,
}

impl Permutation {
    /// Copies an automorphism to the device of a ring.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn new(ring: &Ring, automorphism: &Automorphism) -> Result<Self, Error> {
        Ok(Self { places: ring.stream.buffer_of(automorphism.places(), "an automorphism")? })
    }
}
