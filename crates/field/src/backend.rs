//! The vector unit on which a plan runs.

use crate::Error;
use core::fmt;

/// Vector unit on which a plan runs. A plan selects it once, when it is built. Every back end gives identical results.
///
/// A SIMD variant holds a token that only detection creates, so the token proves that the CPU can run it.
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
    /// Returns every back end that this CPU can run, slowest first.
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

    /// Returns the back end that the environment variable `SOLINAS_BACKEND` names (`scalar`, `avx2`, `avx512`).
    /// Defaults to the fastest one.
    ///
    /// # Errors
    /// [`Error::Backend`] if the variable names a back end that is unknown or that this CPU cannot run.
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

    /// Replaces AVX-512 by AVX2, for kernels that memory bounds: they read more evenly by half a cache line at a time.
    pub(crate) fn narrowed_to_avx2(self) -> Self {
        match self {
            Self::Avx512(_) => Self::Avx2(Avx2(())),
            other => other,
        }
    }

    /// Returns `scalar`, `avx2` or `avx512`.
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
