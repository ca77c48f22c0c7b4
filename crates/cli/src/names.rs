//! Types and operations by name, with a suggestion for an unknown name.

use solinas_circuits::program::{OPERATIONS, Type};
use solinas_runtime::Scheme;

/// Types to suggest.
const TYPES: [&str; 13] = ["bool", "u4", "u8", "u16", "u32", "u64", "u128", "i4", "i8", "i16", "i32", "i64", "i128"];

/// The most similar of some names, if any is similar.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(&name.to_lowercase(), known), known));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Parses a type for the argument parser.
///
/// # Errors
/// For an unknown type: lists the types and suggests the most similar one.
pub(crate) fn parse_type(text: &str) -> Result<Type, String> {
    text.parse().map_err(|error: solinas_circuits::Error| {
        let normalized = text.to_lowercase().replace("uint", "u").replace("int", "i").replace("boolean", "bool");
        let meant =
            if normalized.parse::<Type>().is_ok() { Some(normalized) } else { similar(text, TYPES).map(str::to_owned) };
        meant.map_or_else(|| error.to_string(), |meant| format!("{error}; did you mean {meant}?"))
    })
}

/// The error for an unknown operation. It suggests the most similar name among the operations and `also`.
pub(crate) fn unknown_operation(name: &str, also: &[&str]) -> crate::error::Error {
    let known = OPERATIONS.iter().map(|op| op.name).chain(also.iter().copied());
    let meant = similar(name, known).map(|meant| format!("did you mean {meant}? "));
    crate::error::usage(
        format!("there is no operation '{name}'"),
        format!("{}`solinas eval --list` prints all operations", meant.unwrap_or_default()),
    )
}

/// Some schemes as text: `scheme gh`, or `schemes gh, ntru and bgv`.
pub(crate) fn listed(schemes: impl Iterator<Item = Scheme>) -> String {
    let names: Vec<&str> = schemes.map(|scheme| scheme.name()).collect();
    match names.split_last() {
        Some((last, [])) => format!("scheme {last}"),
        Some((last, others)) => format!("schemes {} and {last}", others.join(", ")),
        None => "no scheme".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misnormalized_names_find_the_name_meant() {
        assert_eq!(similar("ad", OPERATIONS.iter().map(|op| op.name)), Some("add"));
        assert_eq!(similar("leadingzeros", OPERATIONS.iter().map(|op| op.name)), Some("leading_zeros"));
        assert_eq!(similar("zzzzzz", OPERATIONS.iter().map(|op| op.name)), None);
        assert!(parse_type("uint32").unwrap_err().ends_with("did you mean u32?"));
        assert!(parse_type("u2049").unwrap_err().contains("u1 to u2048"));
        assert_eq!(parse_type("i7"), Ok(Type::Int(7)));
    }
}
