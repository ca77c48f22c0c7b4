//! Constants of the packages of the designs.

use crate::Error;
use crate::design::text;

/// The packages, in the order in which they use each other.
const PACKAGES: [&str; 4] =
    ["common/sol_pkg.sv", "multiplier/sol_mul_pkg.sv", "rsa/sol_rsa_pkg.sv", "gh/sol_gh_pkg.sv"];

/// The value of a constant that is a sum of numbers and constants.
///
/// # Errors
/// [`Error::NoSource`] if there is no such constant.
pub(super) fn constant(name: &str) -> Result<u64, Error> {
    let missing = || Error::NoSource { name: format!("of the constant {name}") };
    let mut expression = None;
    for package in PACKAGES {
        expression = expression.or_else(|| text(package).ok()?.lines().find_map(|line| definition(line, name)));
    }
    expression.ok_or_else(missing)?.split('+').map(|term| term.trim().parse().or_else(|_| constant(term.trim()))).sum()
}

/// The right side of the definition of a constant.
fn definition<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (left, right) = line.split_once('=')?;
    let words: Vec<&str> = left.split_whitespace().collect();
    let is_parameter = matches!(words.first(), Some(&"parameter" | &"localparam"));
    (is_parameter && words.last() == Some(&name)).then(|| right.split(';').next())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_constants_are_evaluated() {
        assert_eq!(constant("LAT_RAM").unwrap(), 1);
        let sum = 3 + constant("LAT_NORM").unwrap();
        assert_eq!(constant("LAT_DFT8").unwrap(), sum);
        assert!(constant("LAT_NONE").is_err());
    }
}
