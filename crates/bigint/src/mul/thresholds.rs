//! Crossover lengths between multiplication algorithms, one table for each word multiplier.

use solinas_field::limbs::Multiplier;

/// Lengths in words from which a method is used, of the shorter operand or of the modulus (measured by
/// `cargo measure thresholds` on Zen 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Karatsuba's method instead of the schoolbook method.
    pub karatsuba: usize,
    /// Karatsuba's method for squares.
    pub karatsuba_square: usize,
    /// Transforms instead of Karatsuba's method, or instead of the schoolbook method if this length is less.
    pub fft: usize,
    /// Transforms for squares.
    pub fft_square: usize,
    /// Kept transforms in Barrett's method.
    pub barrett_fft: usize,
    /// Powers modulo odd numbers by transforms instead of word by word.
    pub power_fft: usize,
}

impl Thresholds {
    /// Returns the lengths for this CPU, with the instructions that `SOLINAS_BACKEND` allows.
    pub fn detect() -> Self {
        Self::for_multiplier(Multiplier::detect())
    }

    /// Returns the lengths for one way to multiply words. On 52-bit digits the schoolbook method reaches as far as its
    /// kernels, and then transforms take over. Squares with IFMA are an exception, because their halves are digits
    /// again.
    fn for_multiplier(multiplier: Multiplier) -> Self {
        let [karatsuba, karatsuba_square, fft, fft_square, barrett_fft, power_fft] = match multiplier {
            Multiplier::Portable => [32, 96, 2000, 2500, 1500, 1500],
            Multiplier::Adx(_) => [48, 112, 136, 200, 80, 100],
            Multiplier::Fma(_) => [200, 200, 200, 200, 112, 240],
            Multiplier::Fma512(_) => [136, 192, 136, 192, 120, 128],
            Multiplier::Ifma(_) => [201, 201, 201, 400, 201, 256],
        };
        Self { karatsuba, karatsuba_square, fft, fft_square, barrett_fft, power_fft }
    }
}
