//! Times: milliseconds since 1970 in the store, RFC 3339 for callers.

use jiff::Timestamp;
use std::sync::LazyLock;
use std::time::Instant;

/// Milliseconds of a second, an hour and a day.
pub(crate) const SECOND: i64 = 1000;
pub(crate) const HOUR: i64 = 3600 * SECOND;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Milliseconds since the beginning of 1970.
pub(crate) fn now() -> i64 {
    let now = Timestamp::now().as_millisecond();
    #[cfg(test)]
    let now = now + tests::JUMP.get();
    now
}

/// Milliseconds for the ends of leases and of pauses. Leases hold when somebody sets the clock of the machine, because
/// these milliseconds only begin at [`now`], with the process.
pub(crate) fn steady() -> i64 {
    static BEGIN: LazyLock<(Instant, i64)> = LazyLock::new(|| (Instant::now(), now()));
    BEGIN.1 + i64::try_from(BEGIN.0.elapsed().as_millis()).unwrap_or(i64::MAX / 2)
}

/// A time as RFC 3339.
pub(crate) fn text(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

/// A time as headers of HTTP have it (RFC 9110).
pub(crate) fn http(milliseconds: i64) -> String {
    let time = Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH);
    // It has no form for years before 0.
    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&time).unwrap_or_default()
}

/// The time of a text in RFC 3339, with its offset from UTC.
pub(crate) fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

/// The number of the day since the beginning of 1970.
pub(crate) fn day(milliseconds: i64) -> i64 {
    milliseconds.div_euclid(DAY)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Milliseconds by which somebody has set the clock of this thread.
        pub(crate) static JUMP: Cell<i64> = const { Cell::new(0) };
    }
}
