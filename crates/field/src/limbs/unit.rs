//! The instructions that multiply words.

use crate::Backend;
use crate::backend::{Avx2, Avx512};
use std::sync::OnceLock;

/// Instructions that multiply words. A plan selects them once, when it is built. All give identical results.
///
/// A variant holds a token that only detection creates, so the token proves that the CPU can run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplier {
    /// Portable Rust on 64-bit words.
    Portable,
    /// x86-64 `mulx`, `adcx`, `adox` (BMI2 and ADX): 64-bit words, two carry chains.
    Adx(Adx),
    /// Fused multiply-adds of doubles on 52-bit digits, 4 lanes.
    Fma(Avx2),
    /// The same, 8 lanes.
    Fma512(Avx512),
    /// AVX-512 IFMA: 52-bit digits, 8 lanes.
    Ifma(Ifma),
}

/// Proof that BMI2 and ADX were detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adx(());
/// Proof that AVX-512 F, BW, DQ, VL and IFMA were detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ifma(());

impl Multiplier {
    /// Returns every choice that this CPU can run within the instructions of `backend`, slowest first for long numbers.
    pub fn available(backend: Backend) -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        if backend != Backend::Scalar {
            all.extend(adx().map(Self::Adx));
        }
        match backend {
            Backend::Scalar => {}
            Backend::Avx2(token) => all.push(Self::Fma(token)),
            Backend::Avx512(token) => {
                all.push(Self::Fma512(token));
                #[cfg(target_arch = "x86_64")]
                if is_x86_feature_detected!("avx512ifma") {
                    all.push(Self::Ifma(Ifma(())));
                }
            }
        }
        all
    }

    /// Returns the last of [`Self::available`] for [`Backend::detect`]. The first call detects it; later calls reuse
    /// the result.
    pub fn detect() -> Self {
        static FOUND: OnceLock<Multiplier> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let all = Self::available(detected());
            all[all.len() - 1]
        })
    }

    /// Returns the kernels that it uses on 64-bit words.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn words(self) -> Option<Adx> {
        match self {
            Self::Portable => None,
            Self::Adx(token) => Some(token),
            _ => adx(),
        }
    }

    /// Returns `portable`, `adx`, `fma`, `fma512` or `ifma`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Adx(_) => "adx",
            Self::Fma(_) => "fma",
            Self::Fma512(_) => "fma512",
            Self::Ifma(_) => "ifma",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn adx() -> Option<Adx> {
    (is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")).then_some(Adx(()))
}

/// Returns [`Backend::detect`], called once. If `SOLINAS_BACKEND` names a back end that is not available, it returns
/// portable code; every plan refuses that name with an error.
pub(super) fn detected() -> Backend {
    static FOUND: OnceLock<Backend> = OnceLock::new();
    *FOUND.get_or_init(|| Backend::detect().unwrap_or(Backend::Scalar))
}
