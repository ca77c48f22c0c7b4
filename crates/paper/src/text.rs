//! Reports as text: aligned columns for a terminal, and Markdown for documents.

use crate::{Basis, Cell, Report, Row, Table};
use comfy_table::{CellAlignment, ContentArrangement, presets};
use std::fmt;

/// The cells of a table as text. The heading is the first line.
pub(crate) fn grid(table: &Table) -> Vec<Vec<String>> {
    let has = |f: fn(&Row) -> bool| table.rows.iter().any(f);
    let (bits, unit) = (has(|row| row.bits.is_some()), has(|row| row.unit.is_some()));
    let (paper, note) = (has(|row| row.paper.is_some()), has(|row| row.note.is_some()));
    let line = |name: &str, bits_: &str, unit_: &str, cells: Vec<String>, paper_: [String; 2], note_: &str| {
        let mut line = vec![name.to_owned()];
        line.extend(bits.then(|| bits_.to_owned()));
        line.extend(cells);
        if paper {
            line.extend(paper_);
        }
        line.extend(unit.then(|| unit_.to_owned()));
        line.extend(note.then(|| note_.to_owned()));
        line
    };
    let heading = |column: &crate::Column| match &column.unit {
        Some(unit) => format!("{}, {unit}", column.name),
        None => column.name.clone(),
    };
    let headings = table.columns.iter().map(heading).collect();
    let mut lines = vec![line("", "bits", "unit", headings, ["paper".into(), "ratio".into()], "note")];
    for row in &table.rows {
        let optional = |value: Option<f64>| value.map(figure).unwrap_or_default();
        lines.push(line(
            &row.name,
            &row.bits.map(|bits| bits.to_string()).unwrap_or_default(),
            row.unit.as_deref().unwrap_or_default(),
            row.cells.iter().map(|cell| cell.map(ours).unwrap_or_default()).collect(),
            [optional(row.paper), optional(row.ratio)],
            row.note.as_deref().unwrap_or_default(),
        ));
    }
    lines
}

fn ours(cell: Cell) -> String {
    let ours = match cell.basis {
        Basis::Counted => format!("{}", cell.ours),
        Basis::Measured | Basis::Published => figure(cell.ours),
        Basis::Predicted => format!("~{}", figure(cell.ours)),
    };
    let missed = if cell.misses_target() { ", missed" } else { "" };
    match cell.target {
        Some(target) => format!("{ours} (target {}{missed})", figure(target)),
        None => ours,
    }
}

/// Formats a figure with three digits.
pub(crate) fn figure(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size if size >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// Whether a column holds words, which are aligned to the left. Columns of figures are aligned to the right.
pub(crate) fn is_word(heading: &str) -> bool {
    matches!(heading, "" | "unit" | "note")
}

impl Report {
    pub(crate) fn header(&self) -> Vec<(&'static str, String)> {
        let threads = match self.threads {
            1 => "1 thread".to_owned(),
            threads => format!("1 and {threads} threads"),
        };
        vec![
            ("paper", self.paper_machine.clone()),
            ("ours", format!("{}; {threads}", self.machine)),
            ("run", format!("{}, version {}, {}", self.command, self.version, self.date)),
        ]
    }

    /// Explanation of the marks, if the report has marks.
    pub(crate) fn legend(&self) -> Option<&'static str> {
        let mut cells = self.tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells).flatten();
        cells
            .any(|cell| cell.basis == Basis::Predicted)
            .then_some("~ marks figures predicted from measurements on this machine, by a schedule or a law of growth. All other figures are counted or measured.")
    }

    /// The report as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let escape = |text: &str| text.replace('|', "\\|");
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut out = format!("# {}: {}\n\n", self.name, self.title);
        for (name, value) in self.header() {
            out += &format!("- {name}: {value}\n");
        }
        for table in &self.tables {
            let grid = grid(table);
            let rule = |heading: &String| if is_word(heading) { ":--" } else { "--:" }.to_owned();
            out += &format!("\n## {}\n\n", table.title);
            out += &line(&grid[0]);
            out += &line(&grid[0].iter().map(rule).collect::<Vec<_>>());
            for row in &grid[1..] {
                out += &line(&row.iter().map(|cell| escape(cell)).collect::<Vec<_>>());
            }
        }
        out += "\n";
        for note in self.legend().into_iter().chain(self.notes.iter().map(String::as_str)) {
            out += &format!("- {note}\n");
        }
        out
    }
}

/// Prints the report as text. The width of the format, as in `{report:80}`, limits the width of tables.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.title)?;
        for (name, value) in self.header() {
            writeln!(f, "  {name:<6} {value}")?;
        }
        for table in &self.tables {
            writeln!(f, "\n{}", table.title)?;
            let grid = grid(table);
            let mut text = comfy_table::Table::new();
            text.load_style(presets::NOTHING).add_rows(&grid);
            if let Some(width) = f.width() {
                text.set_content_arrangement(ContentArrangement::Dynamic)
                    .set_width(width.try_into().unwrap_or(u16::MAX));
            }
            for (column, heading) in text.column_iter_mut().zip(&grid[0]) {
                column.set_padding((2, 0));
                if !is_word(heading) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
            writeln!(f, "{}", text.trim_fmt())?;
        }
        writeln!(f)?;
        for note in self.legend().into_iter().chain(self.notes.iter().map(String::as_str)) {
            writeln!(f, "{note}")?;
        }
        Ok(())
    }
}
