//! What a tenant may know of the work and the files of others: their order of magnitude.

/// Seconds of work of others below which they count as none.
const LEAST: u64 = 8;

/// Seconds of the work of others, rounded down to a power of two: 0, 8, 16, 32 and so on. So nobody sees single jobs of others, or how much one of them costs.
pub(crate) fn seconds(exact: f64) -> f64 {
    // A cast of a float saturates.
    match exact as u64 {
        0..LEAST => 0.0,
        exact => (1u64 << exact.ilog2()) as f64,
    }
}

/// Bytes that are free, rounded down to two leading binary digits.
pub(crate) const fn bytes(exact: u64) -> u64 {
    match exact.checked_ilog2() {
        Some(log2 @ 1..) => exact >> (log2 - 1) << (log2 - 1),
        _ => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_shown() {
        let cases =
            [(0.0, 0.0), (7.9, 0.0), (8.0, 8.0), (15.9, 8.0), (16.0, 16.0), (1000.0, 512.0), (1e9, 536_870_912.0)];
        assert!(cases.into_iter().all(|(exact, shown)| seconds(exact) == shown));
        for exact in 0..4096u64 {
            let shown = bytes(exact);
            assert!(shown <= exact && 2 * exact <= 3 * shown && shown.count_ones() <= 2, "{exact}: {shown}");
        }
        assert_eq!([bytes(1), bytes(7), bytes(u64::MAX)], [1, 6, 3 << 62]);
    }
}
