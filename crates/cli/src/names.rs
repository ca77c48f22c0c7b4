//! Types and operations by name, with a suggestion for a name that does not exist.

use solinas_circuits::program::{OPERATIONS, Type};

/// Types that people mean.
const TYPES: [&str; 13] = ["bool", "u4", "u8", "u16", "u32", "u64", "u128", "i4", "i8", "i16", "i32", "i64", "i128"];

/// The most similar of some names, if any is similar.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(&name.to_lowercase(), known), known));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// A type for the argument parser.
///
/// # Errors
/// Says which types there are, and which was probably meant.
pub(crate) fn parse_type(text: &str) -> Result<Type, String> {
    text.parse().map_err(|error: solinas_circuits::Error| {
        let spelt = text.to_lowercase().replace("uint", "u").replace("int", "i").replace("boolean", "bool");
        let meant = if spelt.parse::<Type>().is_ok() { Some(spelt) } else { similar(text, TYPES).map(str::to_owned) };
        meant.map_or_else(|| error.to_string(), |meant| format!("{error}; did you mean {meant}?"))
    })
}

/// What to say about an operation that does not exist: the reductions of arrays are known, too.
pub(crate) fn unknown_operation(name: &str, also: &[&str]) -> crate::error::Error {
    let known = OPERATIONS.iter().map(|op| op.name).chain(also.iter().copied());
    let meant = similar(name, known).map(|meant| format!("did you mean {meant}? "));
    crate::error::usage(
        format!("there is no operation '{name}'"),
        format!("{}`solinas eval --list` prints all", meant.unwrap_or_default()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_the_name_meant() {
        assert_eq!(similar("ad", OPERATIONS.iter().map(|op| op.name)), Some("add"));
        assert_eq!(similar("leadingzeros", OPERATIONS.iter().map(|op| op.name)), Some("leading_zeros"));
        assert_eq!(similar("zzzzzz", OPERATIONS.iter().map(|op| op.name)), None);
        assert!(parse_type("uint32").unwrap_err().ends_with("did you mean u32?"));
        assert!(parse_type("u129").unwrap_err().contains("u1 to u128"));
        assert_eq!(parse_type("i7"), Ok(Type::Int(7)));
    }
}
