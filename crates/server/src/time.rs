//! Times: milliseconds since 1970 in the store, RFC 3339 for callers.

use jiff::Timestamp;

/// Milliseconds of a second, an hour and a day.
pub(crate) const SECOND: i64 = 1000;
pub(crate) const HOUR: i64 = 3600 * SECOND;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Milliseconds since the beginning of 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
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
