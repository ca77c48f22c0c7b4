//! Arrays in the slots of polynomials, and operations across their elements: rotations and sums. They consist of masks,
//! rotations of slots by powers of two, and swaps of rows.
//!
//! The slots of a polynomial form two rows. An array fills row after row, polynomial after polynomial. Element `i` has
//! position `i mod row` in row `i / row` of all rows. Automorphisms can rotate both rows of a polynomial, and swap
//! them. To rotate an array, a mask selects the elements of each polynomial that move in the same way. A mask is a
//! product with a plaintext that is 1 in some slots and 0 in the others. The selected elements are moved and then added
//! up:
//!
//! ```text
//! array of 2.5 rows, by 1 place        row 0: a b c d      row 0: b c d e
//!                                      row 1: e f g h  ->  row 1: f g h i
//!                                      row 2: i j . .      row 2: j a . .
//! ```
//!
//! Masks come before automorphisms, so that they do not multiply the noise of these. An array that fills its
//! polynomials and rotates by whole polynomials needs no mask.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Shape of an array in slots: its number of elements and the length of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    row: usize,
    elements: usize,
}

impl Layout {
    /// Layout of `elements` elements in polynomials of `slots` slots. Range: `slots` is a power of two, at least 4.
    pub fn new(slots: usize, elements: usize) -> Self {
        debug_assert!(slots.is_power_of_two() && slots >= 4);
        Self { row: slots / 2, elements }
    }

    /// Number of slots of a polynomial.
    pub fn slots(&self) -> usize {
        2 * self.row
    }

    /// Number of polynomials of the array.
    pub fn polynomials(&self) -> usize {
        self.elements.div_ceil(self.slots())
    }

    /// Number of elements in the last polynomial, if they do not fill it.
    fn rest(&self) -> Option<usize> {
        Some(self.elements % self.slots()).filter(|&rest| rest > 0)
    }
}

/// The slots of a polynomial that a product with the mask keeps. The other slots become 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask(Vec<Range<usize>>);

impl Mask {
    fn new(slots: Range<usize>) -> Self {
        Self(std::iter::once(slots).collect())
    }

    /// The plaintext slots of the mask: 1 in the slots that it keeps, 0 in the others. Shape: `slots`.
    pub fn slots(&self, slots: usize) -> Vec<u64> {
        let mut values = vec![0; slots];
        self.0.iter().for_each(|range| values[range.clone()].fill(1));
        values
    }

    /// Adds slots that the mask does not keep yet.
    fn extend(&mut self, slots: Range<usize>) {
        match self.0.last_mut() {
            Some(last) if last.end == slots.start => last.end = slots.end,
            _ => self.0.push(slots),
        }
        self.0.sort_by_key(|range| range.start);
    }

    fn len(&self) -> usize {
        self.0.iter().map(Range::len).sum()
    }
}

/// A set of elements of a polynomial that move in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Move {
    /// Index of the polynomial that holds them.
    source: usize,
    /// Index of the mask that selects them; `None` if all slots move.
    mask: Option<usize>,
    /// Whether they change to the other row.
    swap: bool,
    /// Number of places by which they move to the left in their row.
    left: usize,
}

/// The operations of a scheme on ciphertexts with slots.
pub trait SlotEvaluator: Sync {
    /// A ciphertext.
    type Ciphertext: Clone + Send + Sync;
    /// The error of an operation.
    type Error: Send;

    /// Computes `x + y`.
    ///
    /// # Errors
    /// The errors of the scheme.
    fn add(&self, x: &Self::Ciphertext, y: &Self::Ciphertext) -> Result<Self::Ciphertext, Self::Error>;

    /// Multiplies by mask number `mask` of [`RotationPlan::masks`].
    ///
    /// # Errors
    /// The errors of the scheme.
    fn mask(&self, x: &Self::Ciphertext, mask: usize) -> Result<Self::Ciphertext, Self::Error>;

    /// Rotates both rows by `2^log2` places to the left.
    ///
    /// # Errors
    /// The errors of the scheme.
    fn rotate(&self, x: &Self::Ciphertext, log2: u32) -> Result<Self::Ciphertext, Self::Error>;

    /// Swaps the two rows.
    ///
    /// # Errors
    /// The errors of the scheme.
    fn swap(&self, x: &Self::Ciphertext) -> Result<Self::Ciphertext, Self::Error>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The moves into each polynomial of the result.
    Rotation(Vec<Vec<Move>>),
    /// Whether the last polynomial needs a mask.
    Sum { masked: bool },
}

/// A plan of steps for a rotation or a sum of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationPlan {
    row: usize,
    polynomials: usize,
    masks: Vec<Mask>,
    kind: Kind,
}

impl RotationPlan {
    /// Plans a rotation: element `i` of the result is element `(i + by) mod elements`. Slots past the last element
    /// become 0.
    pub fn rotation(layout: Layout, by: usize) -> Self {
        let Layout { row, elements } = layout;
        let mut masks: Vec<Mask> = Vec::new();
        let mut destinations = Vec::with_capacity(layout.polynomials());
        for destination in 0..layout.polynomials() {
            let mut pieces: Vec<(Move, Mask)> = Vec::new();
            for to in [2 * destination, 2 * destination + 1] {
                let end = elements.saturating_sub(to * row).min(row);
                let mut place = 0;
                while place < end {
                    let element = (to * row + place + by) % elements;
                    let (from, start) = (element / row, element % row);
                    let count = (row - start).min(elements - element).min(end - place);
                    let (source, swap, left) = (from / 2, from % 2 != to % 2, (row + start - place) % row);
                    let slots = from % 2 * row + start..from % 2 * row + start + count;
                    let piece = Move { source, mask: None, swap, left };
                    match pieces.iter_mut().find(|(other, _)| *other == piece) {
                        Some((_, mask)) => mask.extend(slots),
                        None => pieces.push((piece, Mask::new(slots))),
                    }
                    place += count;
                }
            }
            let number = |(piece, mask): (Move, Mask)| {
                if mask.len() == 2 * row {
                    return piece;
                }
                let known = masks.iter().position(|other| *other == mask);
                let number = known.unwrap_or_else(|| {
                    masks.push(mask);
                    masks.len() - 1
                });
                Move { mask: Some(number), ..piece }
            };
            destinations.push(pieces.into_iter().map(number).collect());
        }
        Self { row, polynomials: layout.polynomials(), masks, kind: Kind::Rotation(destinations) }
    }

    /// Plans the sum of all elements. Every slot of the resulting polynomial holds it. `clean` states that slots past
    /// the last element hold 0.
    pub fn sum(layout: Layout, clean: bool) -> Self {
        let rest = layout.rest().filter(|_| !clean);
        let masks: Vec<Mask> = rest.map(|rest| Mask::new(0..rest)).into_iter().collect();
        let (row, polynomials) = (layout.row, layout.polynomials());
        Self { row, polynomials, kind: Kind::Sum { masked: !masks.is_empty() }, masks }
    }

    /// Number of polynomials of the array.
    pub fn polynomials(&self) -> usize {
        self.polynomials
    }

    /// The masks of the plan. Encode each once.
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// Number of products with masks.
    pub fn products(&self) -> usize {
        match &self.kind {
            Kind::Rotation(destinations) => destinations.iter().flatten().filter(|piece| piece.mask.is_some()).count(),
            Kind::Sum { masked } => (*masked).into(),
        }
    }

    /// Number of automorphisms. Each is a key switch, which takes most of the time.
    pub fn automorphisms(&self) -> usize {
        let counter = Counter::default();
        // Counting does not fail.
        let _ = self.apply(&counter, &vec![&(); self.polynomials]);
        counter.0.into_inner()
    }

    /// Runs the plan on the polynomials of an array, in order, on the current thread pool. Returns the polynomials of
    /// the rotated array, or one polynomial with the sum.
    ///
    /// # Errors
    /// The errors of the scheme.
    pub fn apply<S: SlotEvaluator>(
        &self,
        scheme: &S,
        array: &[&S::Ciphertext],
    ) -> Result<Vec<S::Ciphertext>, S::Error> {
        debug_assert_eq!(array.len(), self.polynomials);
        match &self.kind {
            Kind::Rotation(destinations) => {
                let put = |pieces: &Vec<Move>| gather(scheme, self.row, pieces, array);
                Ok(destinations.par_iter().map(put).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
            Kind::Sum { masked } => {
                let mut sum = None;
                for (index, &x) in array.iter().enumerate() {
                    let last = *masked && index + 1 == array.len();
                    sum = Some(if last { plus(scheme, sum, &scheme.mask(x, 0)?)? } else { plus(scheme, sum, x)? });
                }
                let Some(mut sum) = sum else { return Ok(Vec::new()) };
                for log2 in 0..self.row.ilog2() {
                    sum = scheme.add(&sum, &scheme.rotate(&sum, log2)?)?;
                }
                Ok(vec![scheme.add(&sum, &scheme.swap(&sum)?)?])
            }
        }
    }
}

/// Returns `sum + x`, or `x` if there is no sum yet.
fn plus<S: SlotEvaluator>(
    scheme: &S,
    sum: Option<S::Ciphertext>,
    x: &S::Ciphertext,
) -> Result<S::Ciphertext, S::Error> {
    match sum {
        Some(sum) => scheme.add(&sum, x),
        None => Ok(x.clone()),
    }
}

/// Computes a polynomial of a rotated array from the pieces that move into it. Each piece is masked, swapped if
/// necessary, and rotated by powers of two, from the largest to the smallest. Pieces with the same remaining distance
/// are added and continue together.
fn gather<S: SlotEvaluator>(
    scheme: &S,
    row: usize,
    pieces: &[Move],
    array: &[&S::Ciphertext],
) -> Result<Option<S::Ciphertext>, S::Error> {
    // The key is the distance to the left, then whether the rows are swapped.
    let mut sums: BTreeMap<(usize, bool), S::Ciphertext> = BTreeMap::new();
    for piece in pieces {
        let x = array[piece.source];
        let key = (piece.left, piece.swap);
        let sum = sums.remove(&key);
        let sum = match piece.mask {
            Some(mask) => plus(scheme, sum, &scheme.mask(x, mask)?)?,
            None => plus(scheme, sum, x)?,
        };
        sums.insert(key, sum);
    }
    let mut rest: BTreeMap<usize, S::Ciphertext> = BTreeMap::new();
    for ((left, swap), x) in sums {
        let x = if swap { scheme.swap(&x)? } else { x };
        let sum = rest.remove(&left);
        rest.insert(left, plus(scheme, sum, &x)?);
    }
    for log2 in (0..row.ilog2()).rev() {
        for (left, x) in rest.split_off(&(1 << log2)) {
            let left = left - (1 << log2);
            let sum = rest.remove(&left);
            rest.insert(left, plus(scheme, sum, &scheme.rotate(&x, log2)?)?);
        }
    }
    Ok(rest.remove(&0))
}

/// A scheme that counts automorphisms.
#[derive(Default)]
struct Counter(AtomicUsize);

impl SlotEvaluator for Counter {
    type Ciphertext = ();
    type Error = Infallible;

    fn add(&self, _: &(), _: &()) -> Result<(), Infallible> {
        Ok(())
    }

    fn mask(&self, _: &(), _: usize) -> Result<(), Infallible> {
        Ok(())
    }

    fn rotate(&self, _: &(), _: u32) -> Result<(), Infallible> {
        self.swap(&())
    }

    fn swap(&self, _: &()) -> Result<(), Infallible> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: usize = 16;

    /// A scheme on plain slots that counts automorphisms and products.
    #[derive(Default)]
    struct Plain {
        masks: Vec<Mask>,
        automorphisms: AtomicUsize,
        products: AtomicUsize,
    }

    impl SlotEvaluator for Plain {
        type Ciphertext = Vec<u64>;
        type Error = Infallible;

        fn add(&self, x: &Vec<u64>, y: &Vec<u64>) -> Result<Vec<u64>, Infallible> {
            Ok(x.iter().zip(y).map(|(x, y)| x + y).collect())
        }

        fn mask(&self, x: &Vec<u64>, mask: usize) -> Result<Vec<u64>, Infallible> {
            self.products.fetch_add(1, Ordering::Relaxed);
            Ok(x.iter().zip(self.masks[mask].slots(SLOTS)).map(|(x, y)| x * y).collect())
        }

        fn rotate(&self, x: &Vec<u64>, log2: u32) -> Result<Vec<u64>, Infallible> {
            self.automorphisms.fetch_add(1, Ordering::Relaxed);
            let mut out = x.clone();
            out.chunks_mut(SLOTS / 2).for_each(|row| row.rotate_left(1 << log2));
            Ok(out)
        }

        fn swap(&self, x: &Vec<u64>) -> Result<Vec<u64>, Infallible> {
            self.automorphisms.fetch_add(1, Ordering::Relaxed);
            let mut out = x.clone();
            out.rotate_left(SLOTS / 2);
            Ok(out)
        }
    }

    /// The polynomials of an array. Slots past its end hold `past`.
    fn array(elements: usize, past: u64) -> Vec<Vec<u64>> {
        let mut slots: Vec<u64> = (0..elements as u64).map(|i| i * i + 3 * i + 1).collect();
        slots.resize(elements.div_ceil(SLOTS) * SLOTS, past);
        slots.chunks(SLOTS).map(<[u64]>::to_vec).collect()
    }

    fn apply(moves: &RotationPlan, array: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let plain = Plain { masks: moves.masks().to_vec(), ..Default::default() };
        let Ok(out) = moves.apply(&plain, &array.iter().collect::<Vec<_>>());
        assert_eq!(plain.automorphisms.into_inner(), moves.automorphisms());
        assert_eq!(plain.products.into_inner(), moves.products());
        out
    }

    #[test]
    fn rotations_move_every_element_around_and_clear_the_rest() {
        for elements in (1..=20).chain([31, 32, 33, 40, 47, 48, 63, 64]) {
            let before = array(elements, 999);
            for by in 0..elements {
                let after: Vec<u64> = apply(&RotationPlan::rotation(Layout::new(SLOTS, elements), by), &before)
                    .into_iter()
                    .flatten()
                    .collect();
                let mut want: Vec<u64> = before.iter().flatten().copied().take(elements).collect();
                want.rotate_left(by);
                want.resize(after.len(), 0);
                assert_eq!(after, want, "{elements} by {by}");
            }
        }
    }

    #[test]
    fn sums_are_of_all_elements_in_every_slot() {
        for elements in (1..=20).chain([32, 33, 64]) {
            let want: u64 = array(elements, 0).iter().flatten().sum();
            for (clean, past) in [(true, 0), (false, 0), (false, 7)] {
                let moves = RotationPlan::sum(Layout::new(SLOTS, elements), clean);
                assert_eq!(apply(&moves, &array(elements, past)), [vec![want; SLOTS]], "{elements} {clean}");
                assert_eq!(moves.products(), usize::from(!clean && elements % SLOTS != 0));
                assert_eq!(moves.automorphisms(), 4);
            }
        }
    }

    #[test]
    fn whole_polynomials_move_without_masks() {
        for (elements, by) in [(64, 16), (64, 48), (16, 8), (32, 16), (48, 8)] {
            let moves = RotationPlan::rotation(Layout::new(SLOTS, elements), by);
            let swapped = by % SLOTS != 0;
            // The rows swap. The two rows of a polynomial come from two polynomials, unless there is only one.
            assert_eq!(moves.products() == 0, !swapped || elements == SLOTS, "{elements} by {by}");
            assert!(moves.automorphisms() <= 2 * elements / SLOTS, "{elements} by {by}");
        }
    }

    #[test]
    fn a_full_polynomial_takes_three_masks_and_as_many_automorphisms_as_the_places_have_ones() {
        for by in 1..SLOTS {
            let moves = RotationPlan::rotation(Layout::new(SLOTS, SLOTS), by);
            let left = (by % (SLOTS / 2)).count_ones() as usize;
            assert_eq!(moves.automorphisms(), left + usize::from(left > 0 || by == SLOTS / 2), "{by}");
            assert!(moves.products() <= 3 && moves.masks().len() <= 3, "{by}");
        }
        // The number of masks does not grow with the number of polynomials.
        assert!(RotationPlan::rotation(Layout::new(SLOTS, 100 * SLOTS), 5).masks().len() <= 3);
        assert!(RotationPlan::rotation(Layout::new(SLOTS, 100 * SLOTS + 3), 5).masks().len() <= 12);
    }

    #[test]
    fn nothing_moves_nowhere() {
        let empty = Layout::new(SLOTS, 0);
        assert!(
            apply(&RotationPlan::rotation(empty, 0), &[]).is_empty()
                && apply(&RotationPlan::sum(empty, false), &[]).is_empty()
        );
        assert_eq!((empty.polynomials(), empty.slots()), (0, SLOTS));
    }
}
