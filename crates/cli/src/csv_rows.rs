//! Rows of CSV text (RFC 4180). Malformed quotes are errors, because the reader would accept them and hide fields and rows.

use crate::error::{Result, input};

/// One row, which can span several lines. White space around its fields is removed.
#[derive(Debug)]
pub(crate) struct Row {
    /// Number of its first line, from 1.
    pub(crate) line: usize,
    pub(crate) fields: csv::StringRecord,
}

/// The rows of a text in order. Empty lines are skipped. `place` names the text in errors.
///
/// # Errors
/// For a malformed quote; the error names the line.
pub(crate) fn csv_rows(place: impl std::fmt::Display, text: &str) -> Result<Vec<Row>> {
    // The reader counts the lines of other line ends wrongly.
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    check_quotes(&text).map_err(|(line, what)| {
        let help = "put the whole field in quotes, and write each quote inside it twice";
        input(format!("{place}, line {line}: {what}"), help)
    })?;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let row = |record: csv::Result<csv::StringRecord>| {
        let fields =
            record.map_err(|e| input(format!("{place}: {e}"), "separate the fields of the CSV file by commas"))?;
        // The position is before the empty lines that the reader skipped.
        let (byte, line) = fields.position().map_or((0, 1), |at| (at.byte() as usize, at.line() as usize));
        let skipped = text.as_bytes()[byte..].iter().take_while(|&&byte| byte == b'\n').count();
        Ok(Row { line: line + skipped, fields })
    };
    reader.records().map(row).collect()
}

/// Returns the line and the kind of the first malformed quote.
fn check_quotes(text: &str) -> std::result::Result<(), (usize, &'static str)> {
    enum At {
        Start,
        Unquoted,
        Quoted { since: usize },
        Quote { since: usize },
        Ended,
    }
    let (mut at, mut line) = (At::Start, 1);
    for c in text.chars() {
        at = match (at, c) {
            (At::Quoted { since }, '"') => At::Quote { since },
            (At::Quoted { since }, _) | (At::Quote { since }, '"') => At::Quoted { since },
            (_, ',' | '\n') => At::Start,
            (At::Start, '"') => At::Quoted { since: line },
            (At::Quote { .. } | At::Ended, ' ' | '\t') => At::Ended,
            (At::Quote { .. } | At::Ended, _) => return Err((line, "the quote is closed before the end of the field")),
            (At::Unquoted, '"') => return Err((line, "a quote stands inside a field")),
            _ => At::Unquoted,
        };
        line += usize::from(c == '\n');
    }
    match at {
        At::Quoted { since } => Err((since, "the quote is not closed")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
        let row = |row: Row| (row.line, row.fields.iter().map(str::to_owned).collect());
        csv_rows("v.csv", text).unwrap().into_iter().map(row).collect()
    }

    #[test]
    fn quotes_line_ends_and_white_space_are_understood() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}a,b\n\n\"x \"\"y\"\"\" , \n\"two\nlines\",2\n3,\"\"\n\"\",4".replace('\n', end);
            let want: [(usize, [&str; 2]); 5] =
                [(1, ["a", "b"]), (3, ["x \"y\"", ""]), (4, ["two\nlines", "2"]), (6, ["3", ""]), (7, ["", "4"])];
            let want = want.map(|(line, fields)| (line, fields.map(str::to_owned).to_vec()));
            assert_eq!(rows(&text), want, "{end:?}");
        }
        assert!(rows("").is_empty() && rows("\r\n\n").is_empty());
    }

    #[test]
    fn malformed_quotes_are_errors_that_name_the_line() {
        for end in ["\n", "\r\n"] {
            for (text, want) in [
                ("a,b\n1,\"x\n2,y\n3,z", "line 2: the quote is not closed"),
                ("a\n1\n\"3", "line 3: the quote is not closed"),
                ("\"1\"2", "line 1: the quote is closed before the end of the field"),
                ("a\n\"x\ny\"z\n", "line 3: the quote is closed before the end of the field"),
                ("a\n\"x\" \"\n", "line 2: the quote is closed before the end of the field"),
                ("a\n\n1\"2\"\n", "line 3: a quote stands inside a field"),
                ("a\n \"b, c\"\n", "line 2: a quote stands inside a field"),
            ] {
                let text = text.replace('\n', end);
                let error = csv_rows("v.csv", &text).unwrap_err().to_string();
                assert!(error.starts_with(&format!("v.csv, {want}; ")), "{text:?}: {error}");
            }
        }
    }
}
