//! A run of a benchmark: its header and its table, as text, Markdown and JSON.

use serde::Serialize;

use crate::table::{aligned, header, markdown};

/// A row of a table.
pub trait Row {
    /// Names of the columns, separated by `|`.
    const HEADING: &str;

    /// One cell for each column.
    fn cells(&self) -> Vec<String>;
}

/// A whole run, or a section of one.
#[derive(Clone, Debug, Serialize)]
pub struct Run<R> {
    /// Machine, command and peers.
    pub header: Vec<String>,
    /// The table.
    pub rows: Vec<R>,
}

impl<R: Row> Run<R> {
    fn grid(&self) -> Vec<Vec<String>> {
        let heading = R::HEADING.split('|').map(String::from).collect();
        core::iter::once(heading).chain(self.rows.iter().map(R::cells)).collect()
    }

    /// The table as aligned text, without the header.
    pub fn to_text(&self) -> String {
        aligned(&self.grid())
    }

    /// Header and table as Markdown.
    pub fn to_markdown(&self) -> String {
        format!("{}\n{}", header(&self.header), markdown(&self.grid()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum(u32);

    impl Row for Sum {
        const HEADING: &str = "|ms";

        fn cells(&self) -> Vec<String> {
            vec!["sum".into(), self.0.to_string()]
        }
    }

    #[test]
    fn a_run_is_its_header_and_a_line_for_each_row() {
        let run = Run { header: vec!["here".into()], rows: vec![Sum(1), Sum(20)] };
        assert_eq!(run.to_text(), "     ms\nsum   1\nsum  20\n");
        assert!(run.to_markdown().starts_with("- here\n\n|  | ms |\n"));
    }
}
