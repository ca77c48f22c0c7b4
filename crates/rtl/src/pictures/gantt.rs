//! The schedule of modular products: the passes on the units A and B.

use std::fmt::Write as _;

use crate::rsa::{Shape, Unit};

/// Products that the picture skips: the powers of the window, and the first ones after them.
const SKIPPED: usize = 17;
/// Colors of the products of a modulus, one after the other.
const COLORS: [[&str; 2]; 2] = [["#4c78a8", "#9ecae9"], ["#f58518", "#ffbf79"]];

/// A picture of products in the middle of an exponentiation.
pub(super) fn svg(shape: Shape, moduli: usize, title: &str) -> String {
    let entries = shape.schedule(SKIPPED + 3, moduli);
    let shown = SKIPPED..SKIPPED + 2;
    let start = entries.iter().filter(|e| e.product == shown.start).map(|e| e.start).min().unwrap_or(0);
    let end = entries.iter().filter(|e| shown.contains(&e.product)).map(|e| e.end).max().unwrap_or(start + 1);
    let (width, left, row) = (1000.0, 60.0, 34.0);
    let x = |cycle: u64| left + width * cycle.saturating_sub(start) as f64 / (end - start) as f64;
    let (units, height) = ([(Unit::A, "A"), (Unit::B, "B")], row * 2.0 + 46.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}</title>\n<rect width=\"{}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        left + width + 30.0,
        left + width + 30.0
    );
    for (i, (unit, name)) in units.into_iter().enumerate() {
        let y = 10.0 + row * i as f64;
        let _ = writeln!(svg, "<text x=\"4\" y=\"{:.0}\">unit {name}</text>", y + 18.0);
        let inside = entries.iter().filter(|e| e.units.contains(&unit) && e.start >= start && e.end <= end);
        for entry in inside {
            let (from, to) = (x(entry.start), x(entry.end));
            let color = COLORS[entry.modulus % 2][entry.product % 2];
            let name = format!("{:?}", entry.pass);
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"26\" fill=\"{color}\" stroke=\"#ffffff\">\
                 <title>{name}, modulus {}, product {}: cycles {} to {}</title></rect>",
                to - from,
                entry.modulus,
                entry.product - SKIPPED.min(entry.product),
                entry.start - start,
                entry.end - 1 - start
            );
            // The name in short: the capital letters, as in "FC" for FirstCyclic.
            let short: String = name.chars().filter(char::is_ascii_uppercase).collect();
            if to - from > 16.0 {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\" font-size=\"10\">{short}</text>",
                    f64::midpoint(from, to),
                    y + 17.0
                );
            }
        }
    }
    for tick in 0..=4 {
        let cycle = (end - start) * tick / 4;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{cycle}</text>",
            x(start + cycle),
            row * 2.0 + 30.0
        );
    }
    svg + "</svg>\n"
}
