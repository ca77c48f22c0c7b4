//! Order statistics of samples.

use serde::Serialize;

/// Order statistics of samples, in their unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Smallest.
    pub min: f64,
    /// Middle; the mean of the two middle ones if their number is even.
    pub median: f64,
    /// Largest.
    pub max: f64,
    /// Number of samples.
    pub samples: usize,
}

impl Summary {
    /// Summary of `samples`. Without samples, all figures are NaN.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
        Self {
            min: at(0),
            median: f64::midpoint(at(low), at(high)),
            max: at(sorted.len().saturating_sub(1)),
            samples: sorted.len(),
        }
    }

    /// The same in a unit that is `divisor` times as large.
    pub fn divided_by(self, divisor: f64) -> Self {
        Self { min: self.min / divisor, median: self.median / divisor, max: self.max / divisor, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn median_is_the_middle_or_the_mean_of_two() {
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]), Summary { min: 1.0, median: 2.0, max: 3.0, samples: 3 });
        assert_eq!(Summary::of(&[4.0, 1.0]), Summary { min: 1.0, median: 2.5, max: 4.0, samples: 2 });
        assert!(Summary::of(&[]).median.is_nan());
        assert_eq!(Summary::of(&[500.0]).divided_by(1e3), Summary { min: 0.5, median: 0.5, max: 0.5, samples: 1 });
    }
}
