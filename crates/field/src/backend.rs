//! Which vector unit a plan runs on.

use crate::Error;
use core::fmt;

/// Vector unit a plan runs on, chosen once when the plan is built. Every back end gives identical results.
///
/// The SIMD variants hold a token that only detection creates, so that holding one proves the CPU can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Portable Rust, one lane.
    Scalar,
    /// AVX2 and FMA: 4 lanes.
    Avx2(Avx2),
    /// AVX-512 F, BW, DQ and VL: 8 lanes.
    Avx512(Avx512),
}

/// Portable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scalar;
/// Proof that AVX2 and FMA were detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());
/// Proof that AVX-512 F, BW, DQ and VL were detected, and with them AVX2 and FMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(());

impl Backend {
    /// Every back end this CPU can run, slowest first.
    pub fn available() -> Vec<Self> {
        let mut all = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2 {
                all.push(Self::Avx2(Avx2(())));
            }
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                all.push(Self::Avx512(Avx512(())));
            }
        }
        all
    }

    /// The back end named by the environment variable `SOLINAS_BACKEND` (`scalar`, `avx2`, `avx512`), else the fastest.
    ///
    /// # Errors
    /// [`Error::Backend`] when the variable names one that is unknown or that this CPU cannot run.
    pub fn detect() -> Result<Self, Error> {
        let available = Self::available();
        let fastest = available[available.len() - 1];
        match std::env::var("SOLINAS_BACKEND") {
            Err(_) => Ok(fastest),
            Ok(name) if name.is_empty() => Ok(fastest),
            Ok(name) => available.iter().copied().find(|b| b.name() == name).ok_or_else(|| Error::Backend {
                name,
                available: available.iter().map(|b| b.name()).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// AVX2 in place of AVX-512: for kernels that memory bounds, and that read more evenly by half a cache line at a time.
    pub(crate) fn narrowed_to_avx2(self) -> Self {
        match self {
            Self::Avx512(_) => Self::Avx2(Avx2(())),
            other => other,
        }
    }

    /// `scalar`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2(_) => "avx2",
            Self::Avx512(_) => "avx512",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
