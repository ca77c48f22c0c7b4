//! Products against big integers.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use rand_core::RngCore;
use solinas_bigint::Natural;
use solinas_field::Backend;

use crate::Control;
use crate::lwe::*;
use crate::random::SecretSeed;

const MEMORY: u64 = 1 << 30;

fn modulus_cases() -> Vec<Modulus> {
    let mut cases = vec![Modulus::new(&[3]).unwrap(), Modulus::new(&[9, 25, 77, 65_537, u32::MAX - 4]).unwrap()];
    for (count, bits) in [(1, 31), (2, 12), (5, 31), (32, 32)] {
        cases.push(Modulus::of_primes(count, bits).unwrap());
    }
    cases
}

/// Numbers below the modulus, corners among them.
fn numbers(modulus: &Modulus, len: usize, rng: &mut impl RngCore) -> Vec<Natural> {
    let m = modulus.value();
    let last = m.checked_sub(&Natural::one()).unwrap();
    let corners = [Natural::from(0u64), Natural::one(), last.clone(), &m >> 1];
    let mut out = Vec::new();
    for _ in 0..len {
        let pick = rng.next_u32() as usize % 8;
        out.push(corners.get(pick).cloned().unwrap_or_else(|| Natural::random_below(&m, rng).unwrap()));
    }
    out
}

fn oracle(modulus: &Modulus, entries: &[Natural], columns: usize, vector: &[Natural]) -> Vec<Natural> {
    let m = modulus.value();
    let column = |j: usize| {
        let mut sum = Natural::from(0u64);
        for (row, x) in entries.chunks(columns).zip(vector) {
            sum += &(&row[j] * x);
        }
        sum.rem(&m).unwrap()
    };
    (0..columns).map(column).collect()
}

fn multipliers() -> Vec<Multiplier> {
    let all = |backend| [Reduction::Lazy, Reduction::Barrett].map(|reduction| Multiplier { backend, reduction });
    solinas_testing::back_ends(Backend::available()).into_iter().flat_map(all).collect()
}

#[test]
fn products_match_big_integers_by_all_methods_backends_and_threads() {
    let mut rng = SecretSeed::insecure(1).stream(0);
    for modulus in modulus_cases() {
        for (rows, columns) in [(1, 1), (33, 17), (70, 40)] {
            let layout = Layout::new(rows, columns, &modulus).unwrap();
            let entries = numbers(&modulus, rows * columns, &mut rng);
            let matrix = Matrix::decompose(layout, &modulus, &entries, MEMORY).unwrap();
            let vectors: Vec<_> = (0..3).map(|_| numbers(&modulus, rows, &mut rng)).collect();
            let want: Vec<_> = vectors.iter().map(|x| oracle(&modulus, &entries, columns, x)).collect();
            let residues: Vec<_> = vectors.iter().map(|x| modulus.decompose(x).unwrap()).collect();
            let selections: Vec<_> = (0..3).map(|_| Selection::uniform(rows, &mut rng)).collect();
            let bits = |r: &Selection| (0..rows).map(|i| Natural::from(u64::from(r.get(i)))).collect::<Vec<_>>();
            let wanted: Vec<_> = selections.iter().map(|r| oracle(&modulus, &entries, columns, &bits(r))).collect();
            let numbers = |products: Vec<Vector>| -> Vec<Vec<Natural>> {
                products.iter().map(|product| modulus.reconstruct(product).unwrap()).collect()
            };
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    for multiplier in multipliers() {
                        assert_eq!(numbers(multiplier.multiply(&matrix, &residues).unwrap()), want, "{multiplier:?}");
                        let one = multiplier.multiply(&matrix, &residues[..1]).unwrap();
                        assert_eq!(numbers(one), want[..1], "{multiplier:?}");
                    }
                    for backend in solinas_testing::back_ends(Backend::available()) {
                        let multiplier = Multiplier { backend, reduction: Reduction::Lazy };
                        for access in [Access::Masked, Access::VartimeRows, Access::VartimeTables] {
                            let products = multiplier.select(&matrix, &selections, access).unwrap();
                            assert_eq!(numbers(products), wanted, "{backend}, {access:?}");
                            let one = multiplier.select(&matrix, &selections[1..2], access).unwrap();
                            assert_eq!(numbers(one), wanted[1..2], "{backend}, {access:?}");
                        }
                    }
                });
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_matrix_in_memory_and_in_pieces_on_every_backend() {
    let modulus = Modulus::of_primes(3, 31).unwrap();
    // Three blocks, the last of them narrow; four pieces of rows.
    let layout = Layout::new(101, 2 * 1024 + 20, &modulus).unwrap();
    let mut rng = SecretSeed::insecure(2).stream(0);
    let column = Vector::uniform(&modulus, 101, &mut rng);
    let seeded = |backend| {
        SeededMatrix::with_backend(layout, &modulus, &[3; 32], backend).with_first_column(column.clone()).unwrap()
    };
    let matrix = Matrix::expand(&seeded(Backend::Scalar), MEMORY).unwrap();
    let (x, r) = (Vector::uniform(&modulus, 101, &mut rng), [Selection::uniform(101, &mut rng)]);
    let multiplier = Multiplier::new().unwrap();
    let want = multiplier.multiply(&matrix, core::slice::from_ref(&x)).unwrap();
    let wanted = multiplier.select(&matrix, &r, Access::Masked).unwrap();
    for backend in solinas_testing::back_ends(Backend::available()) {
        let seeded = seeded(backend);
        assert_eq!(Matrix::expand(&seeded, MEMORY).unwrap().words(), matrix.words(), "{backend}");
        assert_eq!(multiplier.multiply(&seeded, core::slice::from_ref(&x)).unwrap(), want, "{backend}");
        for access in [Access::Masked, Access::VartimeRows, Access::VartimeTables] {
            assert_eq!(multiplier.select(&seeded, &r, access).unwrap(), wanted, "{backend}, {access:?}");
        }
    }
}

#[test]
fn mistakes_are_told() {
    assert_eq!(Modulus::new(&[15, 7, 21]), Err(Error::NotCoprime { first: 15, second: 21 }));
    assert_eq!(Modulus::new(&[7, 10]), Err(Error::Word { word: 10 }));
    assert_eq!(Modulus::new(&[]), Err(Error::Word { word: 0 }));
    assert!(Modulus::of_primes(2, 33).is_err());
    let modulus = Modulus::of_primes(32, 32).unwrap();
    assert_eq!(modulus.bits(), 1024);
    let layout = Layout::new(9326, 9326, &modulus).unwrap();
    assert!((11.1e9..11.2e9).contains(&(layout.bytes() as f64)), "{}", layout.bytes());
    let error = Matrix::uniform(layout, &modulus, &[0; 32], 4 << 30).unwrap_err().to_string();
    assert!(error.contains("seed form") && error.contains("stream") && error.contains("4096 MiB"), "{error}");
    assert!(Layout::new(0, 1, &modulus).is_err() && Layout::new(1, (1 << 17) + 1, &modulus).is_err());
    assert!(modulus.decompose(&[modulus.value()]).is_err());
    let layout = Layout::new(4, 4, &modulus).unwrap();
    let matrix = Matrix::zeroed(layout, &modulus, MEMORY).unwrap();
    let multiplier = Multiplier::new().unwrap();
    assert!(multiplier.multiply(&matrix, &[Vector::zeroed(32, 5)]).is_err());
    assert!(multiplier.multiply(&matrix, &[Vector::zeroed(31, 4)]).is_err());
    assert!(multiplier.select(&matrix, &[Selection::from_bits(&[true; 3])], Access::Masked).is_err());
    assert!(Vector::from_residues(&Modulus::new(&[3]).unwrap(), 2, &[1, 3]).is_err());
}

proptest! {
    #[test]
    fn reconstruction_undoes_decomposition(words in 1usize..34, bits in 12u32..=32, limbs in proptest::collection::vec(any::<u64>(), 17)) {
        let modulus = Modulus::of_primes(words, bits).unwrap();
        let x = Natural::from_words(limbs).rem(&modulus.value()).unwrap();
        let residues = modulus.decompose(std::slice::from_ref(&x)).unwrap();
        for (w, word) in modulus.words().iter().enumerate() {
            prop_assert_eq!(u64::from(residues.word(w)[0]), x.rem_word(word.value().into()).unwrap());
        }
        prop_assert_eq!(modulus.reconstruct(&residues).unwrap(), vec![x]);
    }
}

/// A matrix that counts the pieces that are read, and cancels once a given number of them are.
struct Watched<'a> {
    matrix: &'a SeededMatrix,
    pieces: AtomicUsize,
    last: usize,
    cancel: AtomicBool,
}

impl Source for Watched<'_> {
    fn layout(&self) -> Layout {
        self.matrix.layout()
    }

    fn modulus(&self) -> &Modulus {
        self.matrix.modulus()
    }

    fn visit(&self, tile: (usize, usize), rows: usize, each: &mut Visitor<'_>) -> ControlFlow<()> {
        self.matrix.visit(tile, rows, &mut |first, piece| {
            let read = self.pieces.fetch_add(1, Ordering::Relaxed) + 1;
            self.cancel.fetch_or(read > self.last, Ordering::Relaxed);
            each(first, piece)
        })
    }
}

#[test]
fn a_cancelled_product_ends_at_the_next_piece() {
    let modulus = Modulus::of_primes(3, 31).unwrap();
    let matrix = SeededMatrix::new(Layout::new(5000, 40, &modulus).unwrap(), &modulus, &[9; 32]).unwrap();
    let vectors = vec![Vector::uniform(&modulus, 5000, &mut SecretSeed::insecure(3).stream(0)); 2];
    let run = |last: usize| {
        let (pieces, cancel) = (AtomicUsize::new(0), AtomicBool::new(false));
        let source = Watched { matrix: &matrix, pieces, last, cancel };
        let control = Control { progress: None, cancel: Some(&source.cancel) };
        let product = Multiplier::new().unwrap().multiply_with(&source, &vectors, &control);
        (product, source.pieces.into_inner())
    };
    let (whole, all) = run(usize::MAX);
    assert_eq!(whole.unwrap(), Multiplier::new().unwrap().multiply(&matrix, &vectors).unwrap());
    for last in [0, 10] {
        let (stopped, read) = run(last);
        assert!(matches!(stopped, Err(Error::Cancelled(_))), "{last}");
        // Each of the three tiles may read one piece more.
        assert!(read <= last + 3 && last + 3 < all, "{last}: {read} of {all} pieces");
    }
}
