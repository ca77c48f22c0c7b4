//! Products and powers modulo one number, by Barrett's reduction.
//!
//! Let d have k words, `mu = floor(2^(64 (2 k + 1)) / d)` and `x < 2^(64 (2 k + 1))`. Then the quotient
//! `q = floor(floor(x / 2^(64 (k - 1))) mu / 2^(64 (k + 2)))` is `floor(x / d)` or up to 2 less: the two divisions that
//! round down make it smaller by less than `mu / 2^(64 (k + 2)) <= 1` and `x / 2^(64 (2 k + 1)) < 1`. So `x - q d` is in
//! `0..3 d`, and k + 1 words hold it.

use super::plan_of_sums;
use super::reduce::{Carries, Numbers, Subtraction};
use super::sums::Sums;
use crate::complex::{Operand, Plan, Scratch};
use crate::{Buffer, Device, Error, Graph, Launch, Stream};
use solinas_bigint::Natural;

/// Bits of the exponent that a power takes at once.
const WINDOW: usize = 5;

/// Arithmetic modulo one number on a device.
///
/// Results are those of [`solinas_bigint::Modulus`]. The time and the memory addresses of powers depend on the exponent:
/// do not take a secret exponent to a device.
#[derive(Debug)]
pub struct Modulus {
    device: Device,
    value: Natural,
    /// Words of the modulus: k.
    pub(super) words: usize,
    plan: Plan,
    pub(super) modulus: Buffer<u64>,
    /// Transforms of the modulus and of mu.
    modulus_spectrum: Buffer<f64>,
    reciprocal_spectrum: Buffer<f64>,
    pub(super) subtraction: Subtraction,
    pub(super) sums: Sums,
}

/// Buffers of a batch of products and sums.
#[derive(Debug)]
pub struct Workspace {
    /// Most items of a batch.
    items: usize,
    scratch: Scratch,
    /// The product, the quotient and its multiple, as residues of the plan.
    product: Buffer<u64>,
    quotient: Buffer<u64>,
    multiple: Buffer<u64>,
    /// The remainder, and the remainder less the modulus: k + 1 words each.
    pub(super) remainder: Buffer<u64>,
    pub(super) less: Buffer<u64>,
    pub(super) carries: Carries,
}

impl Modulus {
    /// Copies a modulus to a device, with its reciprocal.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 0 and for moduli that are too long; [`Error::Memory`]; the errors of the device.
    pub fn new(device: &Device, value: &Natural) -> Result<Self, Error> {
        Self::for_sums(device, value, 1)
    }

    /// As [`Self::new`], for sums of up to `terms` products of numbers of k + 1 words. The sums have to be below
    /// `2^(64 (2 k + 1))`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn for_sums(device: &Device, value: &Natural, terms: usize) -> Result<Self, Error> {
        let words = value.words().len();
        let power = &Natural::one() << (64 * (2 * words + 1));
        let reciprocal = power.div_rem(value).map_err(|_| Error::Unsupported { params: "the modulus 0".into() })?.0;
        let plan = plan_of_sums(device, Self::product_bits(words), terms)?;
        let stream = Stream::new(device)?;
        let subtraction = Subtraction::new(device)?;
        let sums = Sums::new(device, value)?;
        let modulus = stream.buffer_of(value.words(), "a modulus")?;
        let spectrum = |x: &Buffer<u64>| -> Result<_, Error> {
            let spectrum = stream.buffer(plan.spectrum_len(), "the transform of a modulus")?;
            plan.transform(Operand::new(x, 1)?, &spectrum)?.iter().try_for_each(|launch| stream.launch(launch))?;
            Ok(spectrum)
        };
        let modulus_spectrum = spectrum(&modulus)?;
        let reciprocal_spectrum = spectrum(&stream.buffer_of(reciprocal.words(), "the reciprocal of a modulus")?)?;
        stream.synchronize()?;
        let (device, value) = (device.clone(), value.clone());
        Ok(Self { device, value, words, plan, modulus, modulus_spectrum, reciprocal_spectrum, subtraction, sums })
    }

    /// Bits of the longest product: that of k + 2 words by the k + 2 words of mu.
    pub(crate) fn product_bits(words: usize) -> usize {
        64 * (2 * words + 4)
    }

    /// The modulus.
    pub fn value(&self) -> &Natural {
        &self.value
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The plan of products.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Words of a residue.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Doubles of the spectrum of a product.
    pub fn spectrum_len(&self) -> usize {
        self.plan.spectrum_len()
    }

    /// Makes the buffers for batches of up to `items` products.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn workspace(&self, stream: &Stream, items: usize) -> Result<Workspace, Error> {
        let residues = || stream.buffer(items * self.plan.words(), "the products of a reduction");
        let remainders = || stream.buffer(items * (self.words + 1), "the remainders of a reduction");
        Ok(Workspace {
            items,
            scratch: self.plan.scratch(stream, items)?,
            product: residues()?,
            quotient: residues()?,
            multiple: residues()?,
            remainder: remainders()?,
            less: remainders()?,
            carries: Subtraction::carries(stream, self.words + 1, items)?,
        })
    }

    /// `out <- x y` modulo d, or `x^2` without `y`. Shape: residues of [`Self::words`] words. All buffers have the same
    /// number of residues. `out` may be the buffer of `x` or `y`.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub fn product<'p>(
        &'p self,
        x: Operand<'_>,
        y: Option<Operand<'_>>,
        out: &Buffer<u64>,
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let items = x.items();
        if x.words() != self.words || y.is_some_and(|y| y.words() != self.words) {
            let words = y.map_or(x, |y| y).words();
            return Err(misfit(format!("factors of {words} words for a modulus of {}", self.words)));
        }
        if out.len() != items * self.words {
            return Err(misfit(format!("{items} items in {} words", out.len())));
        }
        self.product_to(x, y, (out, 0), workspace)
    }

    /// As [`Self::product`], to residue `first` + i of `out`. Shape: `out` has space for them.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn product_to<'p>(
        &'p self,
        x: Operand<'_>,
        y: Option<Operand<'_>>,
        (out, first): (&Buffer<u64>, usize),
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let items = x.items();
        self.check(workspace, items)?;
        let mut launches = self.plan.product(x, y, &workspace.product, &workspace.scratch)?;
        launches.extend(self.reduce(items, out, first, workspace)?);
        Ok(launches)
    }

    /// Item `first` + i of `out` <- item i of spectra, of sums of products, modulo d. Destroys the spectra.
    ///
    /// # Errors
    /// [`Error::Launch`] for other shapes.
    pub(crate) fn reduce_spectra<'p>(
        &'p self,
        spectra: &Buffer<f64>,
        items: usize,
        (out, first): (&Buffer<u64>, usize),
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        self.check(workspace, items)?;
        let mut launches = self.plan.inverse(spectra, items, &workspace.product, &workspace.scratch)?;
        launches.extend(self.reduce(items, out, first, workspace)?);
        Ok(launches)
    }

    /// Item `first` + i of `out` <- product i of the workspace, modulo d.
    fn reduce<'p>(
        &'p self,
        items: usize,
        out: &Buffer<u64>,
        first: usize,
        workspace: &Workspace,
    ) -> Result<Vec<Launch<'p>>, Error> {
        let Workspace { scratch, product, quotient, multiple, remainder, carries, .. } = workspace;
        let (k, stride) = (self.words, self.plan.words());
        // The buffers may have space for more items.
        let all = workspace.items;
        let high = Operand::new(product, all)?.part(k - 1, k + 2)?.first(items)?;
        let mut launches = self.plan.product_by_spectra(high, &self.reciprocal_spectrum, quotient, scratch)?;
        let high = Operand::new(quotient, all)?.part(k + 2, k + 2)?.first(items)?;
        launches.extend(self.plan.product_by_spectra(high, &self.modulus_spectrum, multiple, scratch)?);
        let low = |buffer| Numbers { buffer, stride, words: k + 1 };
        let shape = (k + 1, items);
        launches.extend(self.subtraction.subtract(remainder, low(product), low(multiple), shape, carries));
        launches.extend(self.reduce_once((remainder, 0, k + 1), items, workspace));
        launches.extend(self.reduce_once((out, first, k), items, workspace));
        Ok(launches)
    }

    /// Item `first` + i of `out` <- remainder i of the workspace, less d unless it is below d. The items of `out` have
    /// `words` words.
    pub(super) fn reduce_once<'p>(
        &'p self,
        out: (&Buffer<u64>, usize, usize),
        items: usize,
        workspace: &Workspace,
    ) -> [Launch<'p>; 3] {
        let Workspace { remainder, less, carries, .. } = workspace;
        let k = self.words;
        let modulus = Numbers { buffer: &self.modulus, stride: 0, words: k };
        let current = Numbers { buffer: remainder, stride: k + 1, words: k + 1 };
        let [subtract, resolve] = self.subtraction.subtract(less, current, modulus, (k + 1, items), carries);
        [subtract, resolve, self.subtraction.select(out, remainder, less, (k + 1, items), carries)]
    }

    /// Checks that a workspace has space for a batch.
    pub(super) fn check(&self, workspace: &Workspace, items: usize) -> Result<(), Error> {
        if (1..=workspace.items).contains(&items) && workspace.remainder.len() == workspace.items * (self.words + 1) {
            return Ok(());
        }
        Err(misfit(format!("{items} items, with space for {}", workspace.items)))
    }

    /// The products of pairs of numbers, modulo d.
    ///
    /// # Errors
    /// [`Error::Launch`] for lists of different lengths; [`Error::Memory`]; the errors of the device.
    pub fn mul(&self, a: &[Natural], b: &[Natural]) -> Result<Vec<Natural>, Error> {
        if a.is_empty() && b.is_empty() {
            return Ok(Vec::new());
        }
        let stream = Stream::new(&self.device)?;
        let (x, y) = (self.upload(&stream, a)?, self.upload(&stream, b)?);
        let workspace = self.workspace(&stream, a.len())?;
        let launches = self.product(Operand::new(&x, a.len())?, Some(Operand::new(&y, b.len())?), &x, &workspace)?;
        launches.iter().try_for_each(|launch| stream.launch(launch))?;
        self.download(&stream, &x)
    }

    /// The squares of numbers, modulo d.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub fn square(&self, a: &[Natural]) -> Result<Vec<Natural>, Error> {
        if a.is_empty() {
            return Ok(Vec::new());
        }
        let stream = Stream::new(&self.device)?;
        let x = self.upload(&stream, a)?;
        let workspace = self.workspace(&stream, a.len())?;
        let launches = self.product(Operand::new(&x, a.len())?, None, &x, &workspace)?;
        launches.iter().try_for_each(|launch| stream.launch(launch))?;
        self.download(&stream, &x)
    }

    /// The powers of numbers with one exponent, modulo d. The function calls `proceed` after each bit of the exponent.
    /// An error of `proceed` stops the work.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device and of `proceed`.
    pub fn pow<E: From<Error>>(
        &self,
        bases: &[Natural],
        exponent: &Natural,
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<Natural>, E> {
        if bases.is_empty() {
            return Ok(Vec::new());
        }
        let items = bases.len();
        let stream = Stream::new(&self.device)?;
        let base = self.upload(&stream, bases)?;
        let one = vec![Natural::one(); items];
        let (power, factor) = (self.upload(&stream, &one)?, self.upload(&stream, &one)?);
        let workspace = self.workspace(&stream, items)?;
        let graph = |x: &Buffer<u64>, y: Option<&Buffer<u64>>| {
            let y = y.map(|y| Operand::new(y, items)).transpose()?;
            Graph::new(&self.device, &self.product(Operand::new(x, items)?, y, x, &workspace)?)
        };
        let (square, multiply, times_base) =
            (graph(&power, None)?, graph(&power, Some(&factor))?, graph(&factor, Some(&base))?);
        // The powers base^0 .. base^(2^w - 1).
        let window = WINDOW.min(exponent.bit_len().max(1));
        let len = power.len();
        let table = stream.buffer::<u64>(len << window, "the powers of a base")?;
        for i in 0..1 << window {
            stream.copy((&factor, 0), (&table, i * len), len)?;
            stream.replay(&times_base)?;
        }
        for place in (0..exponent.bit_len().div_ceil(window)).rev() {
            for _ in 0..window {
                stream.replay(&square)?;
                proceed()?;
            }
            let digit = (0..window).filter(|&i| exponent.bit(place * window + i)).map(|i| 1 << i).sum::<usize>();
            stream.copy((&table, digit * len), (&factor, 0), len)?;
            stream.replay(&multiply)?;
            stream.synchronize()?;
        }
        Ok(self.download(&stream, &power)?)
    }

    /// Copies numbers to the device as residues.
    fn upload(&self, stream: &Stream, numbers: &[Natural]) -> Result<Buffer<u64>, Error> {
        let mut words = Vec::with_capacity(numbers.len() * self.words);
        for number in numbers {
            let residue =
                number.div_rem(&self.value).map_err(|_| Error::Unsupported { params: "the modulus 0".into() })?.1;
            words.extend_from_slice(residue.words());
            words.resize(words.len().next_multiple_of(self.words), 0);
            if residue.is_zero() {
                words.resize(words.len() + self.words, 0);
            }
        }
        stream.buffer_of(&words, "residues")
    }

    fn download(&self, stream: &Stream, residues: &Buffer<u64>) -> Result<Vec<Natural>, Error> {
        let mut words = vec![0; residues.len()];
        stream.read(residues, 0, &mut words)?;
        Ok(words.chunks(self.words).map(|residue| Natural::from_words(residue.to_vec())).collect())
    }
}

/// The error for buffers that do not fit a modulus.
pub(super) fn misfit(problem: String) -> Error {
    Error::Launch { kernel: "of a modular product".into(), problem }
}
