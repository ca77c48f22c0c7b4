//! Tables of figures, as text and as Markdown.

use comfy_table::{CellAlignment, Table, presets};

/// Three significant digits, at most four decimals.
pub fn digits(value: f64) -> String {
    match value {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v if v >= 0.09995 => format!("{v:.3}"),
        v => format!("{v:.4}"),
    }
}

/// Four significant digits, at most three decimals.
pub fn four_digits(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v if v >= 10.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Aligned columns: the first to the left, the others to the right. Shape: lines of equally many cells; the first line is the heading.
pub fn aligned(grid: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(grid);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
        column.set_cell_alignment(if index == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A table in Markdown. Shape: as in [`aligned`].
pub fn markdown(grid: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let columns = grid.first().map_or(0, Vec::len);
    let rule: Vec<_> = (0..columns).map(|column| if column == 0 { ":--" } else { "--:" }.to_owned()).collect();
    grid.iter().enumerate().map(|(i, cells)| if i == 0 { line(cells) + &line(&rule) } else { line(cells) }).collect()
}

/// The header of a run as a list in Markdown.
pub fn header<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let all = [1234.0, 99.96, 9.996, 0.9996, 0.5, 0.09996, 0.01234].map(digits);
        assert_eq!(all, ["1234", "100", "10.0", "1.00", "0.500", "0.100", "0.0123"]);
    }

    #[test]
    fn a_grid_becomes_text_and_markdown() {
        let grid = [["", "ms"], ["sum", "1.5"]].map(|line| line.map(String::from).to_vec());
        assert_eq!(aligned(&grid), "      ms\nsum  1.5\n");
        assert_eq!(markdown(&grid), "|  | ms |\n| :-- | --: |\n| sum | 1.5 |\n");
        assert_eq!((aligned(&[]), markdown(&[])), (String::new(), String::new()));
    }
}
