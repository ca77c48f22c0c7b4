//! Plans: a ring or a product's lengths, with digits and tables selected once.

use solinas_field::Backend;

use super::cache::Scratch;
use super::kernel::Kernel;
use super::size::{self, Task};
use super::spectrum::{Content, Shape, Spectrum};
use super::{Engine, Ring};
use crate::Error;

/// Largest number of threads; with more, each has next to nothing to do.
const MAX_THREADS: usize = 256;

/// Options of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The engine. Defaults to the faster one.
    pub engine: Option<Engine>,
    /// The vector unit. Defaults to [`Backend::detect`].
    pub backend: Option<Backend>,
    /// Threads that share one transform, at least 1.
    pub threads: usize,
    /// Products that are added up in the transformed domain, at least 1.
    pub terms: usize,
}

impl Default for Options {
    /// Returns the fastest engine on the best vector unit, with one thread and single products.
    fn default() -> Self {
        Self { engine: None, backend: None, threads: 1, terms: 1 }
    }
}

/// Plan for products of integers modulo `2^bits - 1` or `2^bits + 1`, `bits` a multiple of 64, or for products that do
/// not wrap.
///
/// Operations need spectra of one plan, or of plans with equal options. Applying a plan allocates nothing, except the
/// first time on a thread.
#[derive(Clone, Debug)]
pub struct Plan {
    shape: Shape,
    kernel: Kernel,
    /// Number of products that may be added up.
    terms: usize,
    /// For products that do not wrap: largest numbers of words of the longer and of the shorter operand.
    product: Option<[usize; 2]>,
}

impl Plan {
    /// Makes a plan for residues of at least `min_bits` bits. [`Plan::bits`] returns their number of bits.
    ///
    /// # Errors
    /// [`Error::TransformTooLong`] past the longest transform; [`Error::Field`] if the environment names a back end
    /// that this CPU lacks.
    pub fn new(min_bits: usize, ring: Ring, options: &Options) -> Result<Self, Error> {
        let [plan] = Self::alike(min_bits, [ring], options)?;
        Ok(plan)
    }

    /// Makes plans modulo `2^bits - 1` and `2^bits + 1` for the same `bits`, at least `min_bits`.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn pair(min_bits: usize, options: &Options) -> Result<(Self, Self), Error> {
        let [minus, plus] = Self::alike(min_bits, [Ring::Minus, Ring::Plus], options)?;
        Ok((minus, plus))
    }

    fn alike<const N: usize>(min_bits: usize, rings: [Ring; N], options: &Options) -> Result<[Self; N], Error> {
        let task = Task::ring(min_bits, options.terms.max(1));
        let shape = size::choose(&task, &rings, options.engine())?;
        let plans: Vec<Self> =
            rings.iter().map(|&ring| Self::build(Shape { ring, ..shape }, options, None)).collect::<Result<_, _>>()?;
        plans.try_into().map_err(|_| Error::TransformTooLong { bits: min_bits, max: 0 })
    }

    /// Makes a plan for products of one operand of at most `a_words` words and one of at most `b_words`. They never
    /// wrap: [`Plan::words`] is at least `a_words + b_words`.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn for_product(a_words: usize, b_words: usize, options: &Options) -> Result<Self, Error> {
        let task = Task::product(a_words, b_words, options.terms.max(1))?;
        let engine = options.engine();
        let shape = size::choose(&task, &[engine.product_ring()], engine)?;
        Self::build(shape, options, Some([a_words.max(b_words), a_words.min(b_words)]))
    }

    fn build(shape: Shape, options: &Options, product: Option<[usize; 2]>) -> Result<Self, Error> {
        let backend = options.backend.map_or_else(Backend::detect, Ok)?;
        let kernel = Kernel::new(&shape, backend, options.threads.clamp(1, MAX_THREADS))?;
        Ok(Self { shape, kernel, terms: options.terms.max(1), product })
    }

    /// Bits of a residue, a multiple of 64.
    pub fn bits(&self) -> usize {
        self.shape.digits * self.shape.digit_bits as usize
    }

    /// Words of a residue: `bits / 64`.
    pub fn words(&self) -> usize {
        self.shape.words()
    }

    /// Words that [`Plan::inverse`] writes: [`Plan::words`], and one more modulo `2^bits + 1`, where `2^bits` is a
    /// residue.
    pub fn out_words(&self) -> usize {
        if self.product.is_some() { self.words() } else { self.shape.out_words() }
    }

    /// The engine of this plan.
    pub fn engine(&self) -> Engine {
        self.shape.engine
    }

    /// Digits of a residue, and bits of a digit.
    pub fn digits(&self) -> (usize, u32) {
        (self.shape.digits, self.shape.digit_bits)
    }

    /// Returns zero, transformed.
    pub fn spectrum(&self) -> Spectrum {
        Spectrum { shape: self.shape, content: Content::Zero, data: self.kernel.zeros() }
    }

    fn check(&self, what: &'static str, s: &Spectrum) -> Result<(), Error> {
        if s.shape == self.shape {
            return Ok(());
        }
        Err(Error::SpectrumOfAnotherPlan { what, found: s.shape.to_string(), expected: self.shape.to_string() })
    }

    fn check_operand(&self, words: usize) -> Result<(), Error> {
        let max = self.product.map_or(self.words(), |[longer, _]| longer);
        if words <= max {
            return Ok(());
        }
        Err(Error::OperandTooLong { what: "an operand of the transform", bits: 64 * words, max: 64 * max })
    }

    fn check_output(&self, what: &'static str, out: &[u64]) -> Result<(), Error> {
        let expected = self.out_words();
        if out.len() == expected { Ok(()) } else { Err(Error::OutputLength { what, words: out.len(), expected }) }
    }

    /// `out <-` the transform of `x`. Shape: `x` has at most [`Plan::words`] words, or for a plan of products at most
    /// those of its longer operand.
    ///
    /// # Errors
    /// [`Error::OperandTooLong`] for more words, [`Error::SpectrumOfAnotherPlan`].
    pub fn forward(&self, x: &[u64], out: &mut Spectrum) -> Result<(), Error> {
        self.check("forward", out)?;
        self.check_operand(x.len())?;
        self.kernel.forward(&self.shape, x, &mut out.data)?;
        out.content = Content::Operand { words: x.len() };
        Ok(())
    }

    /// Returns the product's content, if it is within the plan's bounds.
    fn product_of(&self, what: &'static str, a: Content, b: Content) -> Result<Content, Error> {
        let words = |content| match content {
            Content::Zero => Ok(0),
            Content::Operand { words } => Ok(words),
            Content::Products { .. } => {
                Err(Error::SpectrumContent { what, needed: "the transforms of two integers", found: "a product" })
            }
        };
        let (a_words, b_words) = (words(a)?, words(b)?);
        if let Some([a_max, b_max]) = self.product
            && (a_words.max(b_words) > a_max || a_words.min(b_words) > b_max)
        {
            return Err(Error::ProductTooLong { a: a_words, b: b_words, a_max, b_max });
        }
        if a == Content::Zero || b == Content::Zero { Ok(Content::Zero) } else { Ok(Content::Products { terms: 1 }) }
    }

    /// `a <- a b`, for the transforms of two integers.
    ///
    /// # Errors
    /// [`Error::SpectrumOfAnotherPlan`]; [`Error::SpectrumContent`] if one is already a product;
    /// [`Error::ProductTooLong`] for operands that exceed the lengths of a plan for products.
    pub fn multiply(&self, a: &mut Spectrum, b: &Spectrum) -> Result<(), Error> {
        self.check("multiply", a)?;
        self.check("multiply", b)?;
        a.content = self.product_of("multiply", a.content, b.content)?;
        if a.content != Content::Zero {
            self.kernel.multiply(&mut a.data, &b.data)?;
        }
        Ok(())
    }

    /// `a <- a^2`, for the transform of an integer.
    ///
    /// # Errors
    /// As [`Plan::multiply`].
    pub fn square(&self, a: &mut Spectrum) -> Result<(), Error> {
        self.check("square", a)?;
        a.content = self.product_of("square", a.content, a.content)?;
        if a.content != Content::Zero {
            self.kernel.square(&mut a.data)?;
        }
        Ok(())
    }

    /// `sum <- sum + a b`, where `sum` is zero or a sum of products.
    ///
    /// # Errors
    /// As [`Plan::multiply`]; [`Error::SpectrumContent`] if `sum` is the transform of an integer;
    /// [`Error::TooManyTerms`] if it has more products than the plan allows.
    pub fn multiply_add(&self, sum: &mut Spectrum, a: &Spectrum, b: &Spectrum) -> Result<(), Error> {
        const WHAT: &str = "multiply_add";
        for spectrum in [&*sum, a, b] {
            self.check(WHAT, spectrum)?;
        }
        let product = self.product_of(WHAT, a.content, b.content)?;
        match (sum.content, product) {
            (Content::Operand { .. }, _) => {
                return Err(Error::SpectrumContent { what: WHAT, needed: "a sum of products", found: "an integer" });
            }
            (_, Content::Zero) => return Ok(()),
            (Content::Zero, _) => {
                self.kernel.copy(&mut sum.data, &a.data)?;
                self.kernel.multiply(&mut sum.data, &b.data)?;
                sum.content = product;
            }
            (Content::Products { terms }, _) if terms < self.terms => {
                self.kernel.multiply_add(&mut sum.data, &a.data, &b.data)?;
                sum.content = Content::Products { terms: terms + 1 };
            }
            _ => return Err(Error::TooManyTerms { terms: self.terms }),
        }
        Ok(())
    }

    /// `out <-` the canonical residue that `s` represents. `s` is zero afterwards. Shape: [`Plan::out_words`].
    ///
    /// # Errors
    /// [`Error::SpectrumOfAnotherPlan`], [`Error::OutputLength`].
    pub fn inverse(&self, s: &mut Spectrum, out: &mut [u64]) -> Result<(), Error> {
        self.check("inverse", s)?;
        self.check_output("inverse", out)?;
        if core::mem::replace(&mut s.content, Content::Zero) == Content::Zero {
            out.fill(0);
            return Ok(());
        }
        self.kernel.inverse(&self.shape, &mut s.data, out)
    }

    /// `out <- a b`, canonical. Shape: operands as for [`Plan::forward`] and [`Plan::multiply`]; `out`
    /// [`Plan::out_words`].
    ///
    /// It is faster than [`Plan::forward`] twice, [`Plan::multiply`] and [`Plan::inverse`]. The transforms remain in
    /// the thread's scratch: see [`super::wipe_scratch`].
    ///
    /// # Errors
    /// [`Error::OperandTooLong`], [`Error::ProductTooLong`], [`Error::OutputLength`].
    pub fn mul(&self, out: &mut [u64], a: &[u64], b: &[u64]) -> Result<(), Error> {
        self.convolve("mul", out, a, Some(b))
    }

    /// `out <- a^2`, as [`Plan::mul`].
    ///
    /// # Errors
    /// As [`Plan::mul`].
    pub fn mul_square(&self, out: &mut [u64], a: &[u64]) -> Result<(), Error> {
        self.convolve("mul_square", out, a, None)
    }

    fn convolve(&self, what: &'static str, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> Result<(), Error> {
        let [a_words, b_words] = [a, b.unwrap_or(a)].map(<[u64]>::len);
        for words in [a_words, b_words] {
            self.check_operand(words)?;
        }
        self.product_of(what, Content::Operand { words: a_words }, Content::Operand { words: b_words })?;
        self.check_output(what, out)?;
        Scratch::lend(|scratch| self.kernel.convolve(&self.shape, a, b, out, scratch))
    }

    /// `out <- a b`, canonical, for the transform of an integer `b`. Shape: as for [`Plan::mul`].
    ///
    /// It is faster than [`Plan::forward`], [`Plan::multiply`] and [`Plan::inverse`]. The transform of `a` remains in
    /// the thread's scratch: see [`super::wipe_scratch`].
    ///
    /// # Errors
    /// As [`Plan::mul`]; [`Error::SpectrumOfAnotherPlan`]; [`Error::SpectrumContent`] if `b` is a product.
    pub fn mul_transformed(&self, out: &mut [u64], a: &[u64], b: &Spectrum) -> Result<(), Error> {
        const WHAT: &str = "mul_transformed";
        self.check(WHAT, b)?;
        self.check_operand(a.len())?;
        let product = self.product_of(WHAT, Content::Operand { words: a.len() }, b.content)?;
        self.check_output(WHAT, out)?;
        if product == Content::Zero {
            out.fill(0);
            return Ok(());
        }
        Scratch::lend(|scratch| self.kernel.convolve_transformed(&self.shape, a, &b.data, out, scratch))
    }
}

impl Options {
    fn engine(&self) -> Engine {
        self.engine.unwrap_or(Engine::Complex)
    }
}
