//! Numbers in messages.

use std::fmt::Display;

/// A count and its noun: `1 thread`, `2 threads`. The plural of `noun` must end in `s`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "thread")), ["0 threads", "1 thread", "2 threads"]);
        assert_eq!(counted(1_usize, "bit"), "1 bit");
    }
}
