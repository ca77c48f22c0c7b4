//! Products, compared with those of the processor in every word.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_bigint::Natural;
use solinas_gpu::lwe::{Engine, Form, Pieces};
use solinas_gpu::{Device, DeviceOptions, Error, Faults};
use solinas_schemes::lwe::{KeyFile, Layout, Matrix, Modulus, Multiplier, SeededMatrix, Source, Vector};
use solinas_schemes::{Control, DeviceFault, Error as SchemeError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Words of which half or a quarter of the drawn ones are rejected.
const REJECTING: [u32; 3] = [0x0001_0001, 0x8000_0003, 0x00C0_0001];

fn engine(seed: u64, memory: Option<u64>) -> Engine {
    Engine::new(&Device::emulated(DeviceOptions { memory, seed })).unwrap()
}

fn seeded(rows: usize, columns: usize, modulus: &Modulus) -> SeededMatrix {
    SeededMatrix::new(Layout::new(rows, columns, modulus).unwrap(), modulus, &[rows as u8; 32]).unwrap()
}

fn random(modulus: &Modulus, len: usize, seed: u64) -> Vector {
    Vector::uniform(modulus, len, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// Vectors of zeros, ones and the largest residues, the first unit vector, and random ones.
fn corners(modulus: &Modulus, len: usize) -> Vec<Vector> {
    let mut unit = vec![0; len];
    unit[0] = 1;
    let numbers = [vec![0; len], vec![1; len], vec![-1; len], unit];
    let corners = numbers.iter().map(|numbers| Vector::from_signed(modulus, numbers));
    corners.chain([random(modulus, len, 1), random(modulus, len, 2)]).collect()
}

fn on_the_processor(matrix: &impl Source, vectors: &[Vector]) -> Vec<Vector> {
    Multiplier::new().unwrap().multiply(matrix, vectors).unwrap()
}

/// The file of a matrix, removed when dropped.
struct File(PathBuf);

impl File {
    fn new(source: &impl Source) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("solinas-gpu-lwe-{}-{number}", std::process::id()));
        let mut bytes = Vec::new();
        let out = |part: &[u8]| {
            bytes.extend_from_slice(part);
            Ok::<_, SchemeError>(())
        };
        KeyFile::write(source, [1; 32], out, &Control::default()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn open(&self) -> KeyFile {
        KeyFile::open(&self.0).unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn the_three_forms_give_the_words_of_the_processor() {
    let engine = engine(1, None).with_staging(1);
    let control = Control::default();
    let modulus = Modulus::of_primes(5, 31).unwrap();
    let matrix = seeded(300, 300, &modulus).with_first_column(random(&modulus, 300, 9)).unwrap();
    let whole = Matrix::expand(&matrix, u64::MAX).unwrap();
    let file = File::new(&matrix);
    let file = file.open();
    let resident = engine.load(&whole, &control).unwrap();
    let expanded = engine.expand(&matrix, &control).unwrap();
    let vectors = corners(&modulus, 300);
    let want = on_the_processor(&whole, &vectors);
    for (vectors, want) in [(&vectors[..], &want[..]), (&vectors[4..5], &want[4..5]), (&[], &[])] {
        for matrix in [&resident, &expanded] {
            assert_eq!(engine.multiply(matrix, vectors, &control).unwrap(), want);
        }
        assert_eq!(engine.multiply_seeded(&matrix, vectors, &control).unwrap(), want);
        assert_eq!(engine.multiply_streamed(&whole, vectors, &control).unwrap(), want);
        assert_eq!(engine.multiply_streamed(&file, vectors, &control).unwrap(), want);
    }
    drop((resident, expanded));
    assert_eq!(engine.device().live_bytes(), 0);
}

#[test]
fn matrices_of_every_width_and_of_rejected_words_are_those_of_the_processor() {
    let engine = engine(2, None);
    let control = Control::default();
    // Widths of 1, 2, 3, 19, 48 and 63 units; 64 units and 1; 1 row; 2 pieces of rows.
    let shapes = [(100, 16), (40, 20), (1, 48), (700, 300), (70, 768), (33, 1000), (50, 1030), (2100, 30)];
    for (k, (rows, columns)) in shapes.into_iter().enumerate() {
        let modulus = Modulus::new(&REJECTING[..1 + k % 3]).unwrap();
        let matrix = seeded(rows, columns, &modulus);
        let matrix = if k % 2 == 0 { matrix } else { matrix.with_first_column(random(&modulus, rows, 7)).unwrap() };
        let vectors = [random(&modulus, rows, 3), random(&modulus, rows, 4)];
        let want = on_the_processor(&matrix, &vectors);
        let one = engine.multiply_seeded(&matrix, &vectors[..1], &control).unwrap();
        assert_eq!(one, want[..1], "{rows} x {columns}");
        assert_eq!(engine.multiply_seeded(&matrix, &vectors, &control).unwrap(), want, "{rows} x {columns}");
        let resident = engine.expand(&matrix, &control).unwrap();
        assert_eq!(engine.multiply(&resident, &vectors[..1], &control).unwrap(), want[..1], "{rows} x {columns}");
    }
}

/// A block of the generator has 16 words. All of them are rejected once in 65,536 draws, of which there are 400,000.
#[test]
fn words_are_drawn_until_one_is_a_residue() {
    let modulus = Modulus::new(&REJECTING[..2]).unwrap();
    let matrix = seeded(800, 1024, &modulus);
    let vectors = [random(&modulus, 800, 5)];
    let product = engine(3, None).multiply_seeded(&matrix, &vectors, &Control::default()).unwrap();
    assert_eq!(product, on_the_processor(&matrix, &vectors));
}

#[test]
fn the_largest_sums_carry_through_all_words() {
    let modulus = Modulus::new(&[0xFFFF_FFFF, 0xFFFF_FFFD]).unwrap();
    let (rows, columns) = (600, 40);
    let mut matrix = Matrix::zeroed(Layout::new(rows, columns, &modulus).unwrap(), &modulus, u64::MAX).unwrap();
    let largest = |len: usize| Vector::from_signed(&modulus, &vec![-1; len]);
    (0..rows).for_each(|row| matrix.set_row(row, &largest(columns)).unwrap());
    let engine = engine(4, None);
    let vectors = vec![largest(rows); 17];
    let want = on_the_processor(&matrix, &vectors);
    let resident = engine.load(&matrix, &Control::default()).unwrap();
    assert_eq!(engine.multiply(&resident, &vectors, &Control::default()).unwrap(), want);
    assert_eq!(engine.multiply(&resident, &vectors[..1], &Control::default()).unwrap(), want[..1]);
    assert_eq!(engine.multiply_streamed(&matrix, &vectors, &Control::default()).unwrap(), want);
}

#[test]
fn any_interleaving_of_copies_and_products_gives_the_same_words() {
    let modulus = Modulus::of_primes(7, 31).unwrap();
    let matrix = Matrix::expand(&seeded(64, 40, &modulus), u64::MAX).unwrap();
    let vectors = [random(&modulus, 64, 6)];
    let want = on_the_processor(&matrix, &vectors);
    for seed in 0..100 {
        // Seven groups of a piece, or four groups of two pieces.
        let engine = engine(seed, None).with_staging([1, 2 * 4 * 64 * 48][seed as usize % 2]);
        let product = engine.multiply_streamed(&matrix, &vectors, &Control::default()).unwrap();
        assert_eq!(product, want, "seed {seed}");
    }
}

/// The product of a streamed matrix of seven pieces, on a device that forgets a wait.
fn streamed(seed: u64, forgotten_wait: u64) -> Result<(), Error> {
    let modulus = Modulus::of_primes(7, 31).unwrap();
    let matrix = Matrix::expand(&seeded(64, 16, &modulus), u64::MAX).unwrap();
    let vectors = [random(&modulus, 64, 1)];
    let faults = Faults { forgotten_wait: Some(forgotten_wait), ..Faults::default() };
    let device = Device::faulty(DeviceOptions { seed, ..DeviceOptions::default() }, faults);
    let engine = Engine::new(&device).unwrap().with_staging(1);
    let product = engine.multiply_streamed(&matrix, &vectors, &Control::default())?;
    assert_eq!(product, on_the_processor(&matrix, &vectors));
    Ok(())
}

#[test]
fn every_wait_that_is_missing_in_the_pipeline_is_reported() {
    // Each product waits for its copy, and each copy but three for the product from its buffer.
    const WAITS: u64 = 7 + 4;
    for seed in 0..10 {
        for forgotten in 0..WAITS {
            let error = streamed(seed, forgotten).err().map(|error| error.to_string());
            let reports = |error: &String| error.contains("have no order") || error.contains("uninitialised");
            assert!(error.as_ref().is_some_and(reports), "wait {forgotten}, seed {seed}: {error:?}");
        }
        assert_eq!(streamed(seed, WAITS), Ok(()), "there are no more waits");
    }
}

#[test]
fn a_device_that_is_lost_or_full_at_any_place_fails_cleanly() {
    let modulus = Modulus::of_primes(4, 31).unwrap();
    let matrix = Matrix::expand(&seeded(64, 16, &modulus), u64::MAX).unwrap();
    let vectors = [random(&modulus, 64, 1)];
    let run = |faults: Faults| {
        let engine = Engine::new(&Device::faulty(DeviceOptions::default(), faults))?.with_staging(1);
        engine.multiply_streamed(&matrix, &vectors, &Control::default())
    };
    let count = |faults: &dyn Fn(u64) -> Faults| {
        (0..)
            .map(|at| run(faults(at)))
            .take_while(|result| match result {
                Err(error) => {
                    assert!(error.allows_fallback(), "{error}");
                    true
                }
                Ok(product) => {
                    assert_eq!(*product, on_the_processor(&matrix, &vectors));
                    false
                }
            })
            .count()
    };
    // Four copies and products, the copies and notes of new buffers, zeros and the reduction.
    let operations = count(&|at| Faults { lost_at: Some(at), ..Faults::default() });
    assert!(operations >= 15, "{operations}");
    // One slab of small buffers.
    assert_eq!(count(&|at| Faults { full_at: Some(at), ..Faults::default() }), 1);
}

#[test]
fn numbers_are_reconstructed_as_on_the_processor() {
    let engine = engine(5, None);
    for modulus in [
        Modulus::new(&[3]).unwrap(),
        Modulus::new(&REJECTING).unwrap(),
        Modulus::new(&[0xFFFF_FFFF, 0xFFFF_FFFD, 0xFFFF_FFFB]).unwrap(),
        Modulus::of_primes(33, 31).unwrap(),
    ] {
        let one = Natural::from_words(vec![1u64]);
        let mut numbers = vec![Natural::ZERO, one.clone()];
        numbers.extend(modulus.value().checked_sub(&one));
        let count = 70;
        let mut vectors = vec![random(&modulus, count, 8), modulus.decompose(&numbers).unwrap()];
        vectors.push(Vector::zeroed(modulus.len(), 0));
        for vector in &vectors {
            assert_eq!(engine.reconstruct(&modulus, vector).unwrap(), modulus.reconstruct(vector).unwrap());
        }
    }
    let modulus = Modulus::new(&REJECTING).unwrap();
    let foreign = Vector::zeroed(2, 5);
    assert!(matches!(engine.reconstruct(&modulus, &foreign), Err(Error::Scheme(SchemeError::Dimension { .. }))));
}

#[test]
fn vectors_that_do_not_fit_and_memory_that_is_missing_are_refused() {
    let control = Control::default();
    let modulus = Modulus::of_primes(2, 31).unwrap();
    let small = engine(6, Some(64 << 20));
    let wide = seeded(8200, 1100, &modulus);
    let error = small.expand(&wide, &control).unwrap_err();
    let Error::Memory { what, need, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((what.as_str(), *limit), ("a matrix of 8200 rows and 1100 columns", 64 << 20));
    assert_eq!(*need, 4 * 2 * 8224 * 1104);
    assert!(error.to_string().contains("72634368 bytes") && error.to_string().contains("from its seed"), "{error}");
    let high = seeded(1 << 18, 16, &modulus);
    let error = small.multiply_seeded(&high, &vec![Vector::zeroed(2, 1 << 18); 30], &control).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("with 30 vectors") && message.contains("take fewer vectors at a time"), "{message}");
    assert_eq!(small.device().peak_bytes(), 0);

    let (rows, columns) = (300, 300);
    let matrix = seeded(rows, columns, &modulus);
    let vectors = vec![random(&modulus, rows, 1); 20];
    let engine = engine(6, None);
    let layout = matrix.layout();
    for count in [1, 2, 9] {
        let before = engine.memory(Form::Seeded, &layout, count);
        let fresh = Engine::new(&Device::emulated(DeviceOptions::default())).unwrap();
        fresh.multiply_seeded(&matrix, &vectors[..count], &control).unwrap();
        let peak = fresh.device().peak_bytes();
        // The pool rounds sizes up to powers of two.
        assert!(peak <= 2 * before && before <= 2 * peak, "{count}: {before} bytes expected, {peak} taken");
    }
    let dimension = |vector: Vector| {
        let error = engine.multiply_seeded(&matrix, &[vector], &control).unwrap_err();
        matches!(error, Error::Scheme(SchemeError::Dimension { .. }))
    };
    assert!(dimension(random(&modulus, 299, 1)) && dimension(Vector::zeroed(1, 300)));
}

#[test]
fn damaged_files_and_cancellation_stop_a_streamed_product() {
    let modulus = Modulus::of_primes(6, 31).unwrap();
    let matrix = seeded(64, 40, &modulus);
    let vectors = [random(&modulus, 64, 1)];
    let file = File::new(&matrix);
    let engine = engine(7, None).with_staging(1);
    let (reported, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let progress = |progress: solinas_schemes::Progress| {
        assert_eq!(progress.total, 6);
        reported.store(progress.done as usize, Ordering::Relaxed);
        stop.store(progress.done == 2, Ordering::Relaxed);
    };
    let control = Control { progress: Some(&progress), cancel: Some(&stop) };
    let error = engine.multiply_streamed(&file.open(), &vectors, &control).unwrap_err();
    assert!(matches!(error, Error::Scheme(SchemeError::Cancelled(_))), "{error}");
    assert_eq!(reported.load(Ordering::Relaxed), 2);
    // A word of the fifth piece.
    let mut bytes = std::fs::read(&file.0).unwrap();
    bytes[4096 + 4 * (matrix.layout().piece(4).offset + 100)] ^= 1;
    std::fs::write(&file.0, bytes).unwrap();
    let error = engine.multiply_streamed(&file.open(), &vectors, &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Scheme(SchemeError::File { .. })) && error.to_string().contains("piece 4"));
    assert!(engine.load(&file.open(), &Control::default()).is_err());
    // The device takes more work.
    let product = engine.multiply_seeded(&matrix, &vectors, &Control::default()).unwrap();
    assert_eq!(product, on_the_processor(&matrix, &vectors));
    assert_eq!(Pieces::layout(&file.open()), matrix.layout());
}
