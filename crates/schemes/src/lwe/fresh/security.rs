//! Cost of the primal attack on LWE.
//!
//! The lattice of Bai and Galbraith contains `(t s, e, t)`, where `t` scales the secret. BKZ with blocks of size `beta`
//! finds this vector if `sqrt(beta) sigma <= delta^(2 beta - d - 1) Vol^(1/d)` (Alkim, Ducas, Pöppelmann and Schwabe
//! 2016). It takes `2^(0.292 beta)` operations (classical Core-SVP). The number of samples is the one with the smallest
//! `beta`.

/// An LWE problem.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Dimension of the secret.
    pub dimension: usize,
    /// Number of available samples.
    pub samples: usize,
    /// `log2` of the modulus.
    pub log2_modulus: f64,
    /// Standard deviation of the secret's entries.
    pub secret: f64,
    /// Standard deviation of the noise.
    pub noise: f64,
}

/// Smallest and largest block size.
const BLOCKS: (u32, u32) = (40, 4000);

/// `log2` of the root Hermite factor that blocks of `beta` reach (Chen 2013).
fn log2_delta(beta: f64) -> f64 {
    use core::f64::consts::{E, PI, TAU};
    (libm::log2(PI * beta) / beta + libm::log2(beta / (TAU * E))) / (2.0 * (beta - 1.0))
}

impl Problem {
    /// Whether blocks of size `beta` find the secret.
    fn found(&self, beta: f64) -> bool {
        let delta = log2_delta(beta);
        let n = self.dimension as f64;
        // The volume is q^(d - n - 1) (noise/secret)^n.
        let cost = (n + 1.0) * self.log2_modulus - n * libm::log2(self.noise / self.secret);
        let best = (cost.max(0.0) / delta).sqrt();
        let d = best.clamp(n + 2.0, n + 1.0 + self.samples as f64);
        let right = (2.0 * beta - d - 1.0) * delta + self.log2_modulus - cost / d;
        0.5 * libm::log2(beta) + libm::log2(self.noise) <= right
    }

    /// Block size that finds the secret. If no size does, the largest one considered.
    pub fn block_size(&self) -> u32 {
        let (mut low, mut high) = BLOCKS;
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.found(f64::from(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Classical security in bits: `0.292 beta`, rounded down.
    pub fn classical_bits(&self) -> f64 {
        (0.292 * f64::from(self.block_size())).floor()
    }

    /// Quantum security in bits: `0.265 beta`, rounded down.
    pub fn quantum_bits(&self) -> f64 {
        (0.265 * f64::from(self.block_size())).floor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_the_paper_have_the_known_estimates() {
        for (dimension, bits) in [(9326, 12), (19434, 30), (29749, 64), (40199, 101), (50748, 141), (61376, 183)] {
            let problem = Problem { dimension, samples: dimension, log2_modulus: 1024.0, secret: 3.2, noise: 3.2 };
            let got = problem.classical_bits();
            assert!((got - f64::from(bits)).abs() <= 2.0, "{dimension}: {got}");
        }
    }

    /// The homomorphic encryption standard counts `8 d` times `2^(0.292 beta + 16.4)`, which is about 31 bits more than
    /// Core-SVP.
    #[test]
    fn largest_moduli_of_the_standard_at_128_bits_have_97_by_core_svp() {
        for (dimension, log2_modulus) in [(2048, 54.0), (4096, 109.0), (8192, 218.0), (16384, 438.0)] {
            let secret = (2f64 / 3.0).sqrt();
            let problem = Problem { dimension, samples: dimension, log2_modulus, secret, noise: 3.2 };
            let got = problem.classical_bits();
            assert!((92.0..102.0).contains(&got), "{dimension}: {got}");
        }
    }
}
