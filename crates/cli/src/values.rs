//! Plain values from arguments, standard input and CSV columns.

use crate::csv_rows::{Row, csv_rows};
use crate::error::{Error, Result, input, usage};
use crate::files::read_text;
use solinas_circuits::program::{MAX_WIDTH, Type};
use solinas_engine::Plain;
use std::path::Path;

/// The values of a CSV column and its name, if the file says it. The column is given by its name or by its index from 0. With `no_header`, the first line is data. Without it, the first
/// line is data if all its cells are values or numbers and the column is given by its index. It is a header if its cell of the column is no value.
///
/// # Errors
/// For a column that is missing, that has the name of another one, or that holds other values; the error names the line. For a first line that
/// may be either.
pub(crate) fn csv_column(
    path: &Path,
    column: &str,
    ty: Type,
    no_header: bool,
) -> Result<(Option<String>, Vec<String>)> {
    let text = read_text(path)?;
    let mut rows = csv_rows(path.display(), &text)?.into_iter();
    let empty =
        || input(format!("{} has no values", path.display()), "give a CSV file with at least one row of values");
    let first = rows.next().ok_or_else(empty)?;
    let is_data = |text: &str| text.parse::<f64>().is_ok() || Plain::parse(ty, &[text], None).is_ok();
    let index = column.parse::<usize>().ok();
    let headless = no_header || index.is_some() && first.fields.iter().all(is_data);
    if no_header && index.is_none() {
        return Err(usage(format!("column '{column}' has no name with --no-header"), "give its number, from 0"));
    }
    let cell = index.and_then(|at| first.fields.get(at)).filter(|cell| is_data(cell));
    if let (false, Some(cell)) = (headless || first.fields.iter().any(|name| name == column), cell) {
        return Err(input(
            format!("{}, line 1: it may be a header or a row, since column {column} holds {cell}", path.display()),
            format!("add --no-header if it is a row, or write --column {cell} if {cell} is the name of the column"),
        ));
    }
    let named = |name: &str| name == column && !headless;
    let mut places = first.fields.iter().enumerate().filter(|(_, name)| named(name)).map(|(at, _)| at);
    let named = places.next();
    if let (Some(at), Some(other)) = (named, places.next()) {
        let what = format!("{} has several columns '{column}', such as columns {at} and {other}", path.display());
        return Err(input(what, format!("give the number of one of them, such as --column {at}")));
    }
    let at = match named.or_else(|| column.parse().ok().filter(|at| *at < first.fields.len())) {
        Some(at) => at,
        None => {
            let what = format!("{} has no column '{column}'", path.display());
            let help = match (headless, first.fields.len()) {
                (true, 1) => "give 0, its only column, since its first line has no names".to_owned(),
                (true, count) => format!("give a column from 0 to {}, since its first line has no names", count - 1),
                (false, 1) if first.fields[0].contains([';', '\t', '|']) => {
                    "separate its fields by commas, since no other sign separates them".to_owned()
                }
                (false, _) => format!(
                    "use one of its columns {}, or a number from 0",
                    first.fields.iter().collect::<Vec<_>>().join(", ")
                ),
            };
            return Err(input(what, help));
        }
    };
    let name = if headless { None } else { first.fields.get(at).map(str::to_owned) };
    let fields = first.fields.len();
    let data = headless.then_some(first);
    let mut values = Vec::new();
    for row in data.into_iter().chain(rows) {
        let Row { line, fields: row } = row;
        if row.len() > fields {
            let what = format!(
                "{}, line {line}: it has {} fields, but the first line has {fields}",
                path.display(),
                row.len()
            );
            return Err(input(what, "quote fields that contain commas, and write numbers without commas"));
        }
        let text = row.get(at).filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| {
            input(format!("{}, line {line}: column '{column}' is empty", path.display()), "give every row a value")
        })?;
        // The values are checked again later. This check knows the line.
        Plain::parse(ty, &[text], None)
            .map_err(|e| Error::from(e).with_place(&format!("{}, line {line}", path.display())))?;
        values.push(text.to_owned());
    }
    if values.is_empty() { Err(empty()) } else { Ok((name, values)) }
}

/// Reads values from standard input, separated by white space or commas.
pub(crate) fn from_stdin() -> Result<Vec<String>> {
    let text = read_text(Path::new("-"))?;
    let values: Vec<_> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect();
    if values.is_empty() { Err(usage("standard input has no values", "give at least one number")) } else { Ok(values) }
}

/// The text of a constant operand, such as `5` or `#5`; `None` for the name of a file.
///
/// # Errors
/// If the text is a constant and the name of a file.
pub(crate) fn constant_text(text: &str) -> Result<Option<&str>> {
    if let Some(text) = text.strip_prefix('#') {
        return Ok(Some(text));
    }
    match Literal::parse(text) {
        Some(_) if Path::new(text).exists() => Err(usage(
            format!("{text} is a number and a file of this folder"),
            format!("write #{text} for the number, or ./{text} for the file"),
        )),
        literal => Ok(literal.map(|_| text)),
    }
}

/// A constant operand such as `5`, `-3` or `true`, or with its type, such as `5u8`. A list such as `3,2,40` or `3,2,40u8` is a public array.
pub(crate) struct Literal {
    texts: Vec<String>,
    ty: Option<Type>,
}

impl Literal {
    /// Parses a constant; `None` if the text is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let "true" | "false" = text {
            return Some(Self { texts: vec![text.to_owned()], ty: None });
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let hexadecimal = digits.starts_with("0x") || digits.starts_with("0b");
        let suffix = if hexadecimal { None } else { text.find(['u', 'i', 'm']) };
        let (number, ty) = match suffix {
            Some(at) => (&text[..at], Some(text[at..].parse().ok()?)),
            None => (text, None),
        };
        let texts = || number.split(',').map(|text| text.trim().to_owned()).collect();
        digits.starts_with(|c: char| c.is_ascii_digit()).then(|| Self { texts: texts(), ty })
    }

    /// Type of the constant: its own, else `suggested` (by the other operands). If there is neither and `amount` is set, the narrowest unsigned type that holds it.
    pub(crate) fn ty(&self, suggested: Option<Type>, amount: bool) -> Result<Type> {
        if let Some(ty) = self.ty {
            return Ok(ty);
        }
        if amount {
            let all = self.plain(Type::Uint(MAX_WIDTH))?;
            let width = all.values.iter().map(|bits| bits.bit_length()).max().unwrap_or(0).max(1);
            return Ok(Type::Uint(width as u16));
        }
        suggested.ok_or_else(|| {
            usage(
                format!("the type of the constant {} is not known", self.texts.join(",")),
                "write it with its type, such as 5u8",
            )
        })
    }

    /// Whether a value of the constant is 0.
    pub(crate) fn has_zero(&self) -> bool {
        let plain = self.plain(self.ty.unwrap_or(Type::Uint(MAX_WIDTH)));
        plain.is_ok_and(|plain| plain.values.iter().any(|bits| *bits == 0))
    }

    /// The constant in a type. A list is an array.
    pub(crate) fn plain(&self, ty: Type) -> Result<Plain> {
        let shape = (self.texts.len() > 1).then(|| vec![self.texts.len()]);
        Plain::parse(ty, &self.texts, shape).map_err(Error::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_the_type_they_say_or_one_from_the_context() {
        let literal = |text| Literal::parse(text).unwrap();
        assert_eq!(literal("5u8").ty(None, false).unwrap(), Type::Uint(8));
        assert_eq!(literal("-5i8").plain(Type::Int(8)).unwrap().values, [0xfb]);
        let list = literal("3,2,40u8").plain(Type::Uint(8)).unwrap();
        assert_eq!((list.shape, list.values), (Some(vec![3]), [3, 2, 40].map(solinas_engine::Natural::from).to_vec()));
        assert_eq!(literal("3,0,40").ty(None, true).unwrap(), Type::Uint(6));
        assert!(literal("3,0").has_zero() && !literal("3,1").has_zero());
        assert_eq!(literal("5").ty(Some(Type::Int(4)), false).unwrap(), Type::Int(4));
        assert_eq!(literal("5").ty(None, true).unwrap(), Type::Uint(3));
        assert_eq!(literal("0").ty(None, true).unwrap(), Type::Uint(1));
        assert!(literal("5").ty(None, false).is_err());
        assert_eq!(literal("true").plain(Type::Bool).unwrap().values, [1]);
        assert!(
            Literal::parse("a.ct").is_none() && Literal::parse("5x8").is_some_and(|l| l.plain(Type::Uint(8)).is_err())
        );
    }

    #[test]
    fn columns_are_found_by_name_or_number_with_or_without_header() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bids.csv");
        std::fs::write(&path, "who,bid\n\"a, b\",3\nc,5\n").unwrap();
        let column = |name: &str| csv_column(&path, name, Type::Uint(8), false).map(|(_, values)| values);
        assert_eq!(column("bid").unwrap(), ["3", "5"]);
        assert_eq!(column("1").unwrap(), ["3", "5"]);
        assert!(column("price").unwrap_err().to_string().contains("who, bid"));
        std::fs::write(&path, "3\n300\n").unwrap();
        assert!(column("0").unwrap_err().to_string().contains("line 2"));
        std::fs::write(&path, "3\n30\n").unwrap();
        assert_eq!(column("0").unwrap(), ["3", "30"]);
        std::fs::write(&path, "").unwrap();
        assert!(column("0").is_err());
        std::fs::write(&path, "who;bid\na;3\n").unwrap();
        assert!(format!("{:?}", column("bid").unwrap_err()).contains("by commas"));
    }

    #[test]
    fn a_first_line_with_a_name_and_a_number_is_no_header_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bids.csv");
        std::fs::write(&path, "Alder,24\nBirch,47\n").unwrap();
        let column =
            |name: &str, no_header: bool| csv_column(&path, name, Type::Uint(8), no_header).map(|(_, values)| values);
        assert!(format!("{:?}", column("1", false).unwrap_err()).contains("--no-header"));
        assert_eq!(column("1", true).unwrap(), ["24", "47"]);
        assert_eq!(column("24", false).unwrap(), ["47"], "the name of the column is 24");
        assert!(column("Alder", true).is_err());
    }
}
