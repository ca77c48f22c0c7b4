//! Numbers in names of parameter sets.

use std::fmt::Display;
use std::str::FromStr;

/// The number that a part of a name states. `None` for a number with a sign or leading zeros, so that every set has one name.
pub(crate) fn number<T: FromStr + Display>(part: &str) -> Option<T> {
    part.parse().ok().filter(|number: &T| number.to_string() == part)
}
