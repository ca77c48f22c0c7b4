//! The kernels on words that products and divisions call. Tests count the words that pass through them.

use solinas_field::limbs;

#[cfg(test)]
thread_local! {
    static COUNT: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Counts operations on words, in tests only.
#[inline(always)]
pub(crate) fn count(words: usize) {
    #[cfg(test)]
    COUNT.set(COUNT.get() + words as u64);
    #[cfg(not(test))]
    let _ = words;
}

/// Returns how many words `work` read or multiplied: one for each word of a sum and for each product of two words, and
/// the words of a transform times the logarithm of their number.
#[cfg(test)]
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> u64 {
    let before = COUNT.get();
    core::hint::black_box(work());
    COUNT.get() - before
}

/// As [`limbs::add`].
pub(crate) fn add(a: &mut [u64], b: &[u64]) -> u64 {
    count(a.len());
    limbs::add(a, b)
}

/// As [`limbs::add_1`].
pub(crate) fn add_1(a: &mut [u64], w: u64) -> u64 {
    count(a.len());
    limbs::add_1(a, w)
}

/// As [`limbs::sub`].
pub(crate) fn sub(a: &mut [u64], b: &[u64]) -> u64 {
    count(a.len());
    limbs::sub(a, b)
}

/// As [`limbs::sub_1`].
pub(crate) fn sub_1(a: &mut [u64], w: u64) -> u64 {
    count(a.len());
    limbs::sub_1(a, w)
}

/// As [`limbs::submul_1`].
pub(crate) fn submul_1(a: &mut [u64], b: &[u64], w: u64) -> u64 {
    count(a.len());
    limbs::submul_1(a, b, w)
}

/// As [`limbs::mul_1`].
pub(crate) fn mul_1(out: &mut [u64], a: &[u64], w: u64) -> u64 {
    count(a.len());
    limbs::mul_1(out, a, w)
}

/// As [`limbs::mul`].
pub(crate) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    count(a.len() * b.len());
    limbs::mul(out, a, b);
}

/// As [`limbs::square`].
pub(crate) fn square(out: &mut [u64], a: &[u64]) {
    count(a.len() * a.len());
    limbs::square(out, a);
}

/// Counts a transform of `words` words.
#[inline(always)]
pub(crate) fn transformed(words: usize) {
    count(words * words.max(2).ilog2() as usize);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fft::Options;
    use crate::modular::Barrett;
    use crate::{Modulus, Natural, mul};

    /// Lengths of the short operand, on both sides of the thresholds of every multiplier.
    const SHORT: [usize; 18] = [1, 2, 7, 19, 20, 30, 47, 48, 100, 135, 136, 199, 201, 256, 400, 700, 1500, 2000];

    fn number(words: usize) -> Natural {
        let mut state = words as u64;
        let word = |_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 31 | 1
        };
        Natural::from_words((0..words).map(word).collect::<Vec<_>>())
    }

    fn barrett(transforms: bool) -> impl Fn(&Natural, &Natural) {
        move |long, short| {
            let (n, options) = (short.words().len(), Options::default());
            let barrett = Barrett::with_transforms(short, &options, transforms).unwrap();
            let (mut remainder, mut workspace) = (vec![0; n], barrett.workspace());
            for block in long.words().chunks_exact(n).rev() {
                let x = [block, &remainder].concat();
                barrett.reduce_words(&mut remainder, &x, &mut workspace).unwrap();
            }
        }
    }

    /// An operation on a long and a short number.
    type Operation = Box<dyn Fn(&Natural, &Natural)>;

    /// Operations with their names.
    fn operations() -> Vec<(&'static str, Operation)> {
        vec![
            ("product", Box::new(|long, short| drop(mul::product(long.words(), short.words())))),
            ("product, the short one first", Box::new(|long, short| drop(short * long))),
            ("sum", Box::new(|long, short| drop(long + short))),
            ("difference", Box::new(|long, short| drop(long.abs_diff(short)))),
            (
                "sum of a long number and of many short ones, as long together",
                Box::new(|long, short| {
                    let many = std::iter::repeat_n(short, long.words().len() / short.words().len());
                    drop(std::iter::once(long).chain(many).sum::<Natural>());
                }),
            ),
            ("quotient", Box::new(|long, short| drop(long.div_rem(short).unwrap()))),
            (
                "short quotient",
                Box::new(|long, short| drop(long.div_rem(&(long >> (64 * short.words().len()))).unwrap())),
            ),
            ("remainder", Box::new(|long, short| drop(Modulus::new(&(short << 1)).unwrap().reduce(long).unwrap()))),
            ("remainder by Barrett's method on words", Box::new(barrett(false))),
            ("remainder by Barrett's method with transforms", Box::new(barrett(true))),
            ("greatest common divisor", Box::new(|long, short| drop(long.vartime_gcd(short)))),
        ]
    }

    #[test]
    fn the_work_is_linear_in_the_longer_operand() {
        for (name, operation) in operations() {
            for short in SHORT {
                let len = 3000.max(16 * short);
                let [once, twice] = [len, 2 * len].map(|len| {
                    let (long, short) = (number(len), number(short));
                    counted(|| operation(&long, &short))
                });
                assert!(once > 0, "{name}");
                assert!(
                    twice as f64 <= 2.2 * once as f64,
                    "{name}, {short} words: {once} for {len} words, {twice} for twice as many"
                );
            }
        }
    }

    #[test]
    fn squares_take_less_than_four_times_the_work_at_twice_the_length() {
        for len in SHORT {
            let [once, twice] = [len, 2 * len].map(|len| counted(|| number(len).square()));
            assert!(twice <= 4 * once, "{len} words: {once}, twice as many: {twice}");
        }
    }
}
