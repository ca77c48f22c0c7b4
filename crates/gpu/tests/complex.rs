//! Products by complex transforms on the emulated device equal those of the CPU.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_field::Backend;
use solinas_field::complex::{self, Wrap, max_digit_bits};
use solinas_gpu::complex::{Operand, Plan};
use solinas_gpu::{Buffer, Device, DeviceOptions, Error, Graph, Launch, Stream};

/// A plan on the CPU and on an emulated device.
struct Twin {
    stream: Stream,
    bits: u32,
    cpu: complex::Plan,
    gpu: Plan,
}

impl Twin {
    fn new(digits: usize) -> Self {
        let device = Device::emulated(DeviceOptions { seed: digits as u64, ..DeviceOptions::default() });
        let bits = max_digit_bits(digits, Wrap::Plus, digits, digits, 1);
        let cpu = complex::Plan::new(digits, Wrap::Plus, Backend::detect().unwrap(), 1).unwrap();
        Self { stream: Stream::new(&device).unwrap(), bits, cpu, gpu: Plan::new(&device, digits, bits).unwrap() }
    }

    fn run(&self, launches: &[Launch<'_>]) {
        for launch in launches {
            self.stream.launch(launch).unwrap();
        }
    }

    fn upload(&self, items: &[Vec<u64>]) -> Buffer<u64> {
        self.stream.buffer_of(&items.concat(), "a test").unwrap()
    }

    fn residues(&self, items: usize) -> Buffer<u64> {
        self.stream.buffer(items * self.gpu.words(), "a test").unwrap()
    }

    fn download(&self, residues: &Buffer<u64>) -> Vec<Vec<u64>> {
        let mut words = vec![0; residues.len()];
        self.stream.read(residues, 0, &mut words).unwrap();
        words.chunks(self.gpu.words()).map(<[u64]>::to_vec).collect()
    }

    /// The product on the CPU.
    fn expected(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.gpu.words()];
        let mut scratch = vec![0.0; 2 * self.cpu.spectrum_len()];
        self.cpu.convolve(self.bits, x, Some(y), &mut out, &mut scratch);
        out
    }

    /// Operands of `words` words: 0, 1, 2^M - 1, the top bit, a power of two, long runs, and random ones.
    fn operands(&self, words: usize) -> Vec<Vec<u64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(words as u64);
        let mut of = |f: &dyn Fn(usize, u64) -> u64| (0..words).map(|i| f(i, rng.next_u64())).collect::<Vec<u64>>();
        vec![
            of(&|_, _| 0),
            of(&|i, _| u64::from(i == 0)),
            of(&|_, _| u64::MAX),
            of(&|i, _| u64::from(i == words - 1) << 63),
            // 2^(M / 2), whose square is -1, if there are M / 64 words.
            of(&|i, _| u64::from(i == words / 2) << (32 * (words % 2))),
            of(&|i, random| if i % 7 < 4 { u64::MAX } else { random }),
            of(&|_, random| random),
        ]
    }

    /// Every operand times every operand of a second list.
    fn pairs(x: &[Vec<u64>], y: &[Vec<u64>]) -> [Vec<Vec<u64>>; 2] {
        let (a, b) = x.iter().flat_map(|x| y.iter().map(move |y| (x.clone(), y.clone()))).unzip();
        [a, b]
    }
}

fn operand(words: &Buffer<u64>, items: usize) -> Operand<'_> {
    Operand::new(words, items).unwrap()
}

/// Each first stage, branches of each shape, and passes over columns.
#[test]
fn products_are_those_of_the_processor() {
    for digits in [128, 256, 384, 512, 640, 896, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 3 << 12, 5 << 10, 7 << 13] {
        let twin = Twin::new(digits);
        let words = twin.gpu.words() - 1;
        let (x, y) = (twin.operands(words), twin.operands(words / 2 + 1));
        let few = if digits > 4096 { 5..7 } else { 0..7 };
        let [a, b] = Twin::pairs(&x[few.clone()], &y[few]);
        let (items, scratch) = (a.len(), twin.gpu.scratch(&twin.stream, a.len()).unwrap());
        let (p, q, out) = (twin.upload(&a), twin.upload(&b), twin.residues(items));
        let (p, q) = (operand(&p, items), operand(&q, items));
        twin.run(&twin.gpu.product(p, Some(q), &out, &scratch).unwrap());
        let expected: Vec<_> = a.iter().zip(&b).map(|(a, b)| twin.expected(a, b)).collect();
        assert_eq!(twin.download(&out), expected, "{digits} digits of {} bits", twin.bits);
    }
}

/// Squares, products by spectra of one and of all items, and sums of products in the transformed domain.
#[test]
fn spectra_can_be_kept() {
    for digits in [256, 3 << 8, 1 << 13] {
        let twin = Twin::new(digits);
        let words = twin.gpu.words() - 1;
        let a = twin.operands(words);
        let (items, scratch) = (a.len(), twin.gpu.scratch(&twin.stream, a.len()).unwrap());
        let (p, out) = (twin.upload(&a), twin.residues(items));
        let square: Vec<_> = a.iter().map(|a| twin.expected(a, a)).collect();
        let check = |what: &str, expected: &[Vec<u64>]| {
            assert!(twin.download(&out) == expected, "{what}, {digits} digits");
        };
        twin.run(&twin.gpu.product(operand(&p, items), None, &out, &scratch).unwrap());
        check("a square", &square);
        let spectra = |count: usize| twin.stream.buffer::<f64>(count * twin.gpu.spectrum_len(), "a test").unwrap();
        let (all, one) = (spectra(items), spectra(1));
        twin.run(&twin.gpu.transform(operand(&p, items), &all).unwrap());
        twin.run(&twin.gpu.product_by_spectra(operand(&p, items), &all, &out, &scratch).unwrap());
        check("a product by spectra", &square);
        let last = twin.upload(&a[items - 1..]);
        twin.run(&twin.gpu.transform(operand(&last, 1), &one).unwrap());
        twin.run(&twin.gpu.product_by_spectra(operand(&p, items), &one, &out, &scratch).unwrap());
        let by_last: Vec<_> = a.iter().map(|x| twin.expected(x, &a[items - 1])).collect();
        check("a product by one spectrum", &by_last);
        let sums = spectra(items);
        twin.run(&[twin.gpu.multiply(&sums, &all, &one, items, false).unwrap()]);
        twin.run(&twin.gpu.inverse(&sums, items, &out, &scratch).unwrap());
        check("a pointwise product", &by_last);
    }
}

#[test]
fn sums_of_products_are_exact() {
    let (digits, bits) = (512, 16);
    let device = Device::emulated(DeviceOptions::default());
    let cpu = complex::Plan::new(digits, Wrap::Plus, Backend::Scalar, 1).unwrap();
    let twin =
        Twin { stream: Stream::new(&device).unwrap(), bits, cpu, gpu: Plan::new(&device, digits, bits).unwrap() };
    let a = twin.operands(twin.gpu.words() - 1);
    let (items, scratch) = (a.len(), twin.gpu.scratch(&twin.stream, a.len()).unwrap());
    let (p, out) = (twin.upload(&a), twin.residues(items));
    let [spectra, sums] =
        [(); 2].map(|()| twin.stream.buffer::<f64>(items * twin.gpu.spectrum_len(), "a test").unwrap());
    twin.run(&twin.gpu.transform(operand(&p, items), &spectra).unwrap());
    twin.run(&[twin.gpu.multiply(&sums, &spectra, &spectra, items, false).unwrap()]);
    twin.run(&[twin.gpu.multiply(&sums, &spectra, &spectra, items, true).unwrap()]);
    twin.run(&twin.gpu.inverse(&sums, items, &out, &scratch).unwrap());
    // The CPU's plan adds up the same two spectra.
    let expected = a.iter().map(|a| {
        let (mut spectrum, mut out) = (twin.cpu.spectrum(), vec![0; twin.gpu.words()]);
        twin.cpu.forward(bits, a, &mut spectrum);
        let mut sum = twin.cpu.spectrum();
        for _ in 0..2 {
            twin.cpu.multiply_add(&mut sum, &spectrum, &spectrum);
        }
        twin.cpu.inverse(bits, &mut sum, &mut out);
        out
    });
    assert_eq!(twin.download(&out), expected.collect::<Vec<_>>());
}

/// 785,006 bits times as many, in 7 * 2^14 digits: the length of the papers.
#[test]
fn a_product_of_785_006_bits() {
    let twin = Twin::new(7 << 14);
    let words = 785_006_usize.div_ceil(64);
    assert!(twin.gpu.modulus_bits() >= 2 * 785_006);
    let mut a = vec![twin.operands(words)[6].clone(), vec![u64::MAX; words]];
    for a in &mut a {
        a[words - 1] &= (1 << (785_006 % 64)) - 1;
    }
    let (p, out, scratch) = (twin.upload(&a), twin.residues(2), twin.gpu.scratch(&twin.stream, 2).unwrap());
    let launches = twin.gpu.product(operand(&p, 2), Some(operand(&p, 2)), &out, &scratch).unwrap();
    twin.stream.replay(&Graph::new(twin.gpu.device(), &launches).unwrap()).unwrap();
    assert_eq!(twin.download(&out), [twin.expected(&a[0], &a[0]), twin.expected(&a[1], &a[1])]);
}

#[test]
fn other_shapes_are_refused() {
    let device = Device::emulated(DeviceOptions::default());
    for (digits, bits) in [(100, 10), (0, 10), (2 * 11 * 64, 10), (256, 1), (256, 26), (1 << 20, 25)] {
        assert!(matches!(Plan::new(&device, digits, bits), Err(Error::Unsupported { .. })), "{digits} of {bits}");
    }
    let twin = Twin::new(256);
    let words = twin.gpu.words();
    let (long, short) = (twin.upload(&[vec![1; words]]), twin.upload(&[vec![1; words - 1]]));
    let (out, scratch) = (twin.residues(1), twin.gpu.scratch(&twin.stream, 1).unwrap());
    assert!(twin.gpu.product(operand(&long, 1), None, &out, &scratch).is_err());
    assert!(Operand::new(&short, 0).is_err() && Operand::new(&short, words).is_err());
    assert!(operand(&short, 1).part(1, words - 1).is_err() && operand(&short, 1).part(usize::MAX, 2).is_err());
    assert!(twin.gpu.product(operand(&short, 1), None, &short, &scratch).is_err());
    assert!(twin.gpu.product(operand(&short, 1), None, &out, &scratch).is_ok());
}
