//! Types and operations by name, with a suggestion for an unknown name.

use solinas_circuits::program::{OPERATIONS, Type};
use solinas_engine::Scheme;

/// Types to suggest.
pub(crate) const TYPES: [&str; 13] =
    ["bool", "u4", "u8", "u16", "u32", "u64", "u128", "i4", "i8", "i16", "i32", "i64", "i128"];

/// States of jobs.
pub(crate) const STATES: [&str; 6] = ["queued", "running", "succeeded", "failed", "cancelled", "expired"];

/// Names and symbols of operations in other languages and libraries, each with ours. Spelling alone would lead to another operation.
const SYNONYMS: [(&str, &str); 62] = [
    ("+", "add"),
    ("plus", "add"),
    ("addition", "add"),
    ("-", "sub"),
    ("minus", "sub"),
    ("subtract", "sub"),
    ("difference", "sub"),
    ("negate", "neg"),
    ("negative", "neg"),
    ("*", "mul"),
    ("times", "mul"),
    ("multiply", "mul"),
    ("product", "mul"),
    ("square", "mul a a"),
    ("/", "div"),
    ("divide", "div"),
    ("quotient", "div"),
    ("//", "div_floor"),
    ("floor_divide", "div_floor"),
    ("%", "rem"),
    ("mod", "rem"),
    ("modulo", "rem"),
    ("remainder", "rem"),
    ("&", "and"),
    ("&&", "and"),
    ("bitand", "and"),
    ("|", "or"),
    ("||", "or"),
    ("bitor", "or"),
    ("^", "xor"),
    ("~", "not"),
    ("!", "not"),
    ("invert", "not"),
    ("==", "eq"),
    ("=", "eq"),
    ("equal", "eq"),
    ("equals", "eq"),
    ("!=", "ne"),
    ("not_equal", "ne"),
    ("<", "lt"),
    ("less", "lt"),
    ("less_than", "lt"),
    ("<=", "le"),
    ("less_equal", "le"),
    (">", "gt"),
    ("greater", "gt"),
    ("greater_than", "gt"),
    (">=", "ge"),
    ("greater_equal", "ge"),
    ("<<", "shl"),
    ("left_shift", "shl"),
    (">>", "shr"),
    ("right_shift", "shr"),
    ("if", "select"),
    ("where", "select"),
    ("mux", "select"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("popcount", "count_ones"),
    ("bit_count", "count_ones"),
    ("log2", "ilog2"),
    ("clz", "leading_zeros"),
];

/// What to write in place of an operation that Solinas has under no name.
const REMEDIES: [(&str, &str); 6] = [
    ("cast", "write the type into the name: to_u8, to_i16 or to_bool"),
    ("mean", "take `sum`, decrypt it, and divide it by the number of values"),
    ("average", "take `sum`, decrypt it, and divide it by the number of values"),
    ("median", "Python has it: sl.median"),
    ("sort", "Python has it: sl.sort"),
    ("pow", "multiply: `mul a.ct a.ct` is a square; Python has x ** 3"),
];

/// The one of some names that differs from a name by one typing error: a letter that is missing, too much, changed or exchanged with its
/// neighbour. `_`, `-` and the case do not count.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-'], "");
    let name = plain(name);
    let scored = known.into_iter().map(|known| (strsim::damerau_levenshtein(&name, &plain(known)), known));
    scored.filter(|(errors, _)| *errors <= 1).min_by_key(|(errors, _)| *errors).map(|(_, known)| known)
}

/// Parses a type for the argument parser.
///
/// # Errors
/// For an unknown type: lists the types and suggests the most similar one.
pub(crate) fn parse_type(text: &str) -> Result<Type, String> {
    text.parse().map_err(|error: solinas_circuits::Error| {
        let normalized = text.to_lowercase().replace("uint", "u").replace("int", "i").replace("boolean", "bool");
        // A digit is no typing error: u4096 is not u4.
        let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).count();
        let near =
            || similar(text, TYPES).filter(|near| letters(near) != letters(text) || !near.starts_with(['u', 'i']));
        let meant = if normalized.parse::<Type>().is_ok() { Some(normalized) } else { near().map(str::to_owned) };
        meant.map_or_else(|| error.to_string(), |meant| format!("{error}; did you mean {meant}?"))
    })
}

/// The error for an unknown operation. It suggests our word for it, or the name among the operations and `also` that differs by a letter.
pub(crate) fn unknown_operation(name: &str, also: &[&str]) -> crate::error::Error {
    let lower = name.to_lowercase();
    let of = |table: &[(&str, &'static str)]| table.iter().find(|(known, _)| *known == lower).map(|(_, meant)| *meant);
    let known = || OPERATIONS.iter().map(|op| op.name).chain(also.iter().copied());
    let remedy = of(&REMEDIES).map(|remedy| format!("{remedy}; "));
    let near = || of(&SYNONYMS).or_else(|| similar(name, known()));
    let meant = || near().map(|meant| format!("did you mean {meant}? "));
    crate::error::usage(
        format!("there is no operation '{name}'"),
        format!("{}`solinas eval --list` prints all operations", remedy.or_else(meant).unwrap_or_default()),
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
    fn synonyms_name_operations_that_exist_and_are_none_themselves() {
        let help = |name: &str| match unknown_operation(name, &[]) {
            crate::error::Error::Usage { help, .. } => help,
            other => panic!("{other}"),
        };
        let exists = |name: &str| OPERATIONS.iter().any(|op| op.name == name);
        for (synonym, meant) in SYNONYMS {
            assert!(exists(meant.split(' ').next().unwrap()) && !exists(synonym), "{synonym}");
            let help = help(synonym);
            assert!(help.contains(&format!("did you mean {meant}?")), "{help}");
        }
        for (name, remedy) in REMEDIES {
            assert!(help(name).contains(remedy) && !exists(name), "{name}");
        }
    }

    #[test]
    fn misnormalized_names_find_the_name_meant() {
        assert_eq!(similar("ad", OPERATIONS.iter().map(|op| op.name)), Some("add"));
        assert_eq!(similar("leadingzeros", OPERATIONS.iter().map(|op| op.name)), Some("leading_zeros"));
        assert_eq!(similar("Add", OPERATIONS.iter().map(|op| op.name)), Some("add"));
        for far in ["zzzzzz", "less", "minus", "modulo", "square"] {
            assert_eq!(similar(far, OPERATIONS.iter().map(|op| op.name)), None, "{far}");
        }
        for wide in ["u4096", "u5000", "i0"] {
            assert!(!parse_type(wide).unwrap_err().contains("did you mean"), "{wide}");
        }
        assert!(parse_type("uint32").unwrap_err().ends_with("did you mean u32?"));
        assert!(parse_type("u2049").unwrap_err().contains("u1 to u2048"));
        assert_eq!(parse_type("i7"), Ok(Type::Int(7)));
    }
}
