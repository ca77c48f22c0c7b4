//! Entry points of the kernels: each enables the instruction set of its plan's back end.

#[cfg(target_arch = "x86_64")]
pub(super) use super::kernel::Pass;
use super::plan::Table;
use super::{Kernel, Modulus};
use crate::Backend;

/// On other processors there are no passes, because only the scalar kernel runs.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Debug)]
pub(super) struct Pass;

/// Arguments of one transform.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) kernel: Kernel,
    pub(super) backend: Backend,
    pub(super) modulus: Modulus,
    pub(super) passes: &'a [Pass],
    pub(super) table: &'a Table,
}

/// Number of 64-bit lanes in a register.
pub(super) fn lanes(backend: Backend) -> usize {
    match backend {
        Backend::Scalar => 1,
        Backend::Avx2(_) => 4,
        Backend::Avx512(_) => 8,
    }
}

/// Returns the passes above the tiles of `lanes x lanes` words. A pass takes as many levels at once as one half of a
/// tile has. The last passes share the remaining levels.
#[cfg(target_arch = "x86_64")]
pub(super) fn passes(dimension: usize, lanes: usize) -> Vec<Pass> {
    let mut passes = Vec::new();
    let mut length = dimension;
    if lanes == 1 {
        return passes;
    }
    let most = lanes.ilog2();
    while length > lanes * lanes {
        let left = (length / (lanes * lanes)).ilog2();
        // Four levels as 2 + 2, not 3 + 1.
        let levels = if left == most + 1 { left / 2 } else { left.min(most) };
        passes.push(Pass { length, radix: 1 << levels });
        length >>= levels;
    }
    passes
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn passes(_dimension: usize, _lanes: usize) -> Vec<Pass> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::FAST_PRIME_BITS;
    use super::super::float::Float;
    use super::super::ifma::{Ifma, LAZY, WIDE};
    use super::super::kernel::{self, Factors, Shape};
    use super::super::word::Word;
    use super::{Call, Kernel};
    use crate::Backend;
    use crate::backend::{Avx2, Avx512};

    macro_rules! entries {
        ($direction:ident, $inverse:literal) => {
            pub(in super::super) fn $direction(call: Call<'_>, x: &mut [u64]) {
                entries!($inverse, avx512_double, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", Avx512, Float::new);
                entries!($inverse, avx512_word, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", Avx512, Word::new);
                entries!(
                    $inverse,
                    ifma,
                    "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma",
                    Avx512,
                    Ifma::<FAST_PRIME_BITS>::new
                );
                entries!(
                    $inverse,
                    lazy,
                    "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma",
                    Avx512,
                    Ifma::<LAZY>::new
                );
                entries!(
                    $inverse,
                    wide,
                    "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2,fma",
                    Avx512,
                    Ifma::<WIDE>::new
                );
                entries!($inverse, avx2_double, "avx2,fma", Avx2, Float::new);
                entries!($inverse, avx2_word, "avx2,fma", Avx2, Word::new);
                let factors = Factors { values: call.table.values.as_ptr(), quotients: call.table.quotients.as_ptr() };
                let shape = Shape { len: x.len(), passes: call.passes, factors };
                let (q, at) = (call.modulus.value(), x.as_mut_ptr());
                // SAFETY: the token proves the instruction set (a plan with the IFMA kernel, that it was detected); `x` holds N words, for
                // which the plan made the passes and the table.
                unsafe {
                    match (call.kernel, call.backend) {
                        (Kernel::Double, Backend::Avx512(token)) => avx512_double(token, q, shape, at),
                        (Kernel::Word, Backend::Avx512(token)) => avx512_word(token, q, shape, at),
                        (Kernel::Ifma, Backend::Avx512(token)) if q >> LAZY == 0 => lazy(token, q, shape, at),
                        (Kernel::Ifma, Backend::Avx512(token)) if q >> FAST_PRIME_BITS == 0 => {
                            ifma(token, q, shape, at)
                        }
                        (Kernel::Ifma, Backend::Avx512(token)) => wide(token, q, shape, at),
                        (Kernel::Double, Backend::Avx2(token)) => avx2_double(token, q, shape, at),
                        (Kernel::Word, Backend::Avx2(token)) => avx2_word(token, q, shape, at),
                        _ => debug_assert!(false, "the plan has the scalar kernel"),
                    }
                }
            }
        };
        ($inverse:literal, $name:ident, $features:literal, $token:ty, $arithmetic:expr) => {
            #[target_feature(enable = $features)]
            unsafe fn $name(token: $token, q: u64, shape: Shape<'_>, at: *mut u64) {
                // SAFETY: the caller's contract is the kernel's.
                unsafe { kernel::transform::<_, $inverse>($arithmetic(token, q), shape, at) }
            }
        };
    }
    entries!(forward, false);
    entries!(inverse, true);
}
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{forward, inverse};

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn forward(_call: Call<'_>, _x: &mut [u64]) {}
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn inverse(_call: Call<'_>, _x: &mut [u64]) {}
