//! Charts: a line for each row, with a dot for each figure, on an axis of powers of ten. Rows of one unit share a chart.
//!
//! A whisker through a dot reaches from the smallest to the largest figure of its runs. A line across a row is a target, and a cross on it marks a missed one.
//! The table below the chart has the same figures, so the chart is a picture with a text alternative.

use super::html::Html;
use crate::text::figure;
use crate::{Cell, Row, Table};

/// Sizes, in units of the picture.
const WIDTH: f64 = 860.0;
const LEFT: f64 = 300.0;
const RIGHT: f64 = 20.0;
const LINE: f64 = 22.0;
const TOP: f64 = 8.0;
const AXIS: f64 = 22.0;
/// The most characters of a label.
const LABEL: usize = 44;
/// The most powers of ten of an axis. A wider range comes from a mistake.
const WIDEST: i32 = 30;
/// Columns that have a shape and a colour of their own.
const SHAPES: usize = 6;

/// A figure in a chart.
struct Dot {
    /// The column, or none for the published figure.
    column: Option<usize>,
    value: f64,
    /// The smallest and the largest figure of the runs.
    spread: Option<[f64; 2]>,
    target: Option<f64>,
    misses_target: bool,
}

impl Dot {
    fn ours(column: usize, cell: &Cell) -> Option<Self> {
        is_drawn(&cell.ours).then_some(Self {
            column: Some(column),
            value: cell.ours,
            spread: cell.spread.filter(|ends| ends.iter().all(is_drawn)),
            target: cell.target.filter(is_drawn),
            misses_target: cell.misses_target(),
        })
    }

    fn published(value: f64) -> Option<Self> {
        is_drawn(&value).then_some(Self { column: None, value, spread: None, target: None, misses_target: false })
    }

    /// The figures that the axis must have.
    fn figures(&self) -> impl Iterator<Item = f64> {
        [self.value].into_iter().chain(self.spread.into_iter().flatten()).chain(self.target)
    }
}

/// Whether a figure has a place on the axis.
fn is_drawn(value: &f64) -> bool {
    value.is_normal() && *value > 0.0
}

/// A row with its figures.
struct Line<'a> {
    label: String,
    unit: &'a str,
    dots: Vec<Dot>,
}

/// Draws the charts of a table.
pub(super) fn draw(html: &mut Html, table: &Table) {
    let lines: Vec<_> = table.rows.iter().filter_map(|row| line(table, row)).collect();
    let mut units: Vec<_> = lines.iter().map(|line| line.unit).collect();
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let lines: Vec<_> = lines.iter().filter(|line| line.unit == unit).collect();
        let values = || lines.iter().flat_map(|line| &line.dots).flat_map(Dot::figures).map(f64::log10);
        let low = values().fold(f64::INFINITY, f64::min).floor() as i32;
        let high = values().fold(f64::NEG_INFINITY, f64::max).ceil() as i32;
        if high - low <= WIDEST {
            chart(html, table, unit, &lines, (low, high.max(low + 1)));
        }
    }
}

/// The figures of a row that a logarithm has, if there are two or more to compare.
fn line<'a>(table: &'a Table, row: &'a Row) -> Option<Line<'a>> {
    let of_columns = table.columns.first().and_then(|column| column.unit.as_deref());
    let unit = row.unit.as_deref().or(of_columns).unwrap_or_default();
    let has_unit =
        |column: usize| row.unit.is_some() || table.columns[column].unit.as_deref().unwrap_or_default() == unit;
    let ours = row.cells.iter().enumerate().filter(|(column, _)| has_unit(*column));
    let ours = ours.filter_map(|(column, cell)| Dot::ours(column, cell.as_ref()?));
    let published = row.paper.and_then(Dot::published);
    let dots: Vec<_> = ours.chain(published).collect();
    let bits = row.bits.map(|bits| format!(", {bits} bits")).unwrap_or_default();
    let is_compared = dots.len() > 1 || dots.iter().any(|dot| dot.target.is_some());
    is_compared.then(|| Line { label: format!("{}{bits}", row.name), unit, dots })
}

fn chart(html: &mut Html, table: &Table, unit: &str, lines: &[&Line<'_>], (low, high): (i32, i32)) {
    let bottom = TOP + LINE * lines.len() as f64;
    let x = |value: f64| LEFT + (value.log10() - f64::from(low)) / f64::from(high - low) * (WIDTH - LEFT - RIGHT);
    let height = bottom + AXIS;
    html.raw("<figure>\n<svg role=\"img\" aria-label=\"Chart of ").text(&table.title);
    html.raw(&format!("; the table below has the same figures\" viewBox=\"0 0 {WIDTH} {height}\">\n"));
    // At most about eight labels.
    let step = (high - low).div_euclid(8) + 1;
    for power in (low..=high).step_by(step.unsigned_abs() as usize) {
        let at = x(10f64.powi(power));
        html.raw(&format!("<line class=\"grid\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\"/>"));
        html.raw(&format!("<text class=\"axis\" text-anchor=\"middle\" x=\"{at:.1}\" y=\"{:.1}\">", bottom + 16.0));
        html.text(&power_of_ten(power)).raw("</text>\n");
    }
    for (place, line) in lines.iter().enumerate() {
        let y = TOP + LINE * (place as f64 + 0.5);
        html.raw(&format!("<text text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">", LEFT - 12.0, y + 4.0));
        html.text(&short(&line.label)).raw("</text>\n");
        for dot in &line.dots {
            let name = dot.column.map_or("paper", |column| &table.columns[column].name);
            if let Some([least, most]) = dot.spread {
                let (class, from, to) = (class(dot.column), x(least), x(most));
                html.raw(&format!(
                    "<path class=\"{class} spread\" d=\"M{from:.1} {y:.1}m0-4v8m0-4H{to:.1}m0-4v8\"></path>\n"
                ));
            }
            if let Some(target) = dot.target {
                let cross = if dot.misses_target { MISSED } else { "" };
                html.raw(&format!("<path class=\"target\" d=\"M{:.1} {y:.1}{TARGET}{cross}\"><title>", x(target)));
                html.text(&line.label).text(", ").text(name).text(&format!(": target {} ", figure(target))).text(unit);
                html.text(if dot.misses_target { ", missed" } else { "" }).raw("</title></path>\n");
            }
            html.raw(&shape(dot.column, x(dot.value), y)).raw("<title>").text(&line.label).text(", ").text(name);
            html.text(": ").text(&figure(dot.value)).text(" ").text(unit);
            if let Some([least, most]) = dot.spread {
                html.text(&format!("; {} to {} in all runs", figure(least), figure(most)));
            }
            html.raw("</title></path>\n");
        }
    }
    html.raw("</svg>\n<figcaption>");
    let drawn = |column| lines.iter().any(|line| line.dots.iter().any(|dot| dot.column == column));
    let columns = table.columns.iter().enumerate().map(|(column, about)| (Some(column), about.name.as_str()));
    for (column, name) in columns.chain([(None, "paper")]).filter(|(column, _)| drawn(*column)) {
        html.raw("<svg aria-hidden=\"true\" width=\"14\" height=\"14\" viewBox=\"0 0 14 14\">");
        html.raw(&shape(column, 7.0, 7.0)).raw("</path></svg> ").text(name).text("; ");
    }
    let unit = if unit.is_empty() { "the unit of the table" } else { unit };
    let has = |what: fn(&Dot) -> bool| lines.iter().any(|line| line.dots.iter().any(what));
    if has(|dot| dot.spread.is_some()) {
        html.text("a dot is the median of its runs, and the line through it reaches from the least to the most; ");
    }
    if has(|dot| dot.target.is_some()) {
        html.text("a line across a row is a target, the most that we aim at, and a cross on it marks a missed one; ");
    }
    html.text("the axis is logarithmic, in ").text(unit).raw("</figcaption>\n</figure>\n");
}

/// The line of a target across a row, from the middle of the row.
const TARGET: &str = "m0-9v18";
/// The cross on the line of a missed target, from the lower end of the line.
const MISSED: &str = "m-4-13l8 8m0-8l-8 8";

/// The beginning of a shape around a point. Columns have shapes and colours of their own; the paper's figure is a hollow diamond.
fn shape(column: Option<usize>, x: f64, y: f64) -> String {
    let path = match column.map(|column| column % SHAPES) {
        None => "m0-6l6 6l-6 6l-6-6z",
        Some(0) => "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
        Some(1) => "m-4.5-4.5h9v9h-9z",
        Some(2) => "m0-5.5l5.5 10h-11z",
        Some(3) => "m0 5.5l5.5-10h-11z",
        Some(4) => "m0-6l2 4h4l-3 3l1.5 5l-4.5-3l-4.5 3l1.5-5l-3-3h4z",
        Some(_) => "m-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    };
    format!("<path class=\"{}\" d=\"M{x:.1} {y:.1}{path}\">", class(column))
}

fn class(column: Option<usize>) -> String {
    column.map_or("published".to_owned(), |column| format!("s{}", column % SHAPES))
}

fn power_of_ten(power: i32) -> String {
    match power {
        -4..=6 => format!("{}", 10f64.powi(power)),
        _ => format!("1e{power}"),
    }
}

fn short(label: &str) -> String {
    match label.char_indices().nth(LABEL) {
        Some(_) => label.chars().take(LABEL - 1).chain(['…']).collect(),
        None => label.to_owned(),
    }
}
