//! Vector clocks: for each stream, the number of its operations that come before some point.

/// For each stream, a number of operations. A stream without an entry has 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<u64>);

impl Clock {
    /// The operations of a stream.
    pub(crate) fn get(&self, stream: usize) -> u64 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// Raises the operations of a stream to at least `count`.
    pub(crate) fn raise(&mut self, stream: usize, count: u64) {
        if self.0.len() <= stream {
            self.0.resize(stream + 1, 0);
        }
        self.0[stream] = self.0[stream].max(count);
    }

    /// Raises every stream to at least its number in `other`.
    pub(crate) fn join(&mut self, other: &Self) {
        for (stream, count) in other.iter() {
            self.raise(stream, count);
        }
    }

    /// The streams, each with its number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        self.0.iter().copied().enumerate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_takes_the_larger_numbers() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.raise(0, 3);
        a.raise(0, 2);
        b.raise(2, 5);
        b.raise(0, 1);
        a.join(&b);
        assert_eq!([0, 1, 2, 3].map(|stream| a.get(stream)), [3, 0, 5, 0]);
    }
}
