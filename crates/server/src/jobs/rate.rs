//! The learnt time of jobs.

/// Core-milliseconds below which a job says more about the time of every job than about that of its effort.
const SHORT: f64 = 100.0;

/// The measured time of jobs under a parameter set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    /// Core-milliseconds of a unit of effort.
    unit: f64,
    /// Core-milliseconds that a job takes besides: it reads its inputs, and its threads begin. None before the first short job.
    job: Option<f64>,
}

impl Rate {
    pub(crate) fn new(unit: f64) -> Self {
        Self { unit, job: None }
    }

    /// Core-milliseconds of a job of this effort.
    pub(crate) fn predict(&self, effort: f64) -> f64 {
        self.unit * effort + self.job.unwrap_or_default()
    }

    /// Learns from a job. Later ones count for a fifth.
    pub(crate) fn learn(&mut self, effort: f64, core_ms: f64) {
        if core_ms < SHORT {
            let new = (core_ms - self.unit * effort).max(0.0);
            let job = self.job.get_or_insert(new);
            *job += (new - *job) / 5.0;
        } else {
            let new = (core_ms - self.job.unwrap_or_default()).max(0.0) / effort;
            self.unit += (new - self.unit) / 5.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_jobs_teach_the_two_parts_of_a_prediction() {
        let mut rate = Rate::new(7.0);
        for _ in 0..40 {
            for effort in [3.0, 1.0, 500.0, 80.0] {
                rate.learn(effort, 5.0 * effort + 20.0);
            }
        }
        for effort in [1.0, 10.0, 1000.0] {
            let (found, want) = (rate.predict(effort), 5.0 * effort + 20.0);
            assert!((found / want - 1.0).abs() < 0.01, "{effort}: {found} of {want}");
        }
        // A job that ends sooner than its effort takes no negative time besides.
        let mut rate = Rate::new(7.0);
        rate.learn(10.0, 20.0);
        assert_eq!(rate.predict(1.0), 7.0);
    }
}
