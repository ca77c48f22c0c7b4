//! Draws netlists as SVG: every gate of a small netlist, and bars of counts by level for a large one.

use super::layout::{Layout, Placed};
use crate::counted;
use crate::{GateCosts, Netlist};
use std::fmt::Write;

/// Largest number of nodes to draw one by one. Larger netlists are drawn level by level.
const DRAWN: usize = 400;
/// Number of columns in a band, so that a picture is at most 1540 units wide. Further columns go into bands below.
const COLUMNS: usize = 13;
const COLUMN: f64 = 115.0;
const ROW: f64 = 34.0;
const BOX: (f64, f64) = (64.0, 24.0);
const MARGIN: f64 = 50.0;
/// Space between bands of columns.
const GAP: f64 = 40.0;

/// Escapes text for SVG.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Draws the netlist. Gates are in columns by level, with inputs at the left and outputs at the right. If the columns do not fit the page, they continue in
/// bands below each other. Inputs are then next to their first reader, and a line between bands has its name at both ends. For more than a few hundred gates,
/// the picture instead shows the number of bootstraps of each kind by level.
#[must_use]
pub fn write_svg(netlist: &Netlist, costs: &GateCosts) -> String {
    if netlist.gates().len() + netlist.output_bits() <= DRAWN {
        draw_gates(&netlist.prune())
    } else {
        draw_levels(netlist, costs)
    }
}

fn page(width: f64, height: f64, title: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         {body}</svg>\n"
    )
}

const fn color(kind: &str) -> &'static str {
    match kind.as_bytes() {
        b"input" => "#e8f1fb",
        b"output" => "#e6f5ea",
        b"xor" | b"xnor" | b"xor3" => "#fdeccf",
        b"maj" => "#f6d5d5",
        b"mux" => "#e9ddf5",
        b"not" | b"const" => "#f2f2f2",
        _ => "#d9ecec",
    }
}

fn draw_gates(netlist: &Netlist) -> String {
    let layout = Layout::new(netlist, COLUMNS);
    let mut tops = Vec::with_capacity(layout.rows.len());
    let mut bottom = MARGIN;
    for rows in &layout.rows {
        tops.push(bottom);
        bottom += *rows as f64 * ROW + GAP;
    }
    let x = |node: &Placed| MARGIN + (node.column % COLUMNS) as f64 * COLUMN;
    let y = |node: &Placed| tops[node.column / COLUMNS] + node.row * ROW;
    let mut body = String::new();
    for node in &layout.nodes {
        let inputs = node.operands.len() as f64;
        for (k, from) in node.operands.iter().enumerate() {
            let (x2, y2) = (x(node), y(node) + BOX.1 * (k as f64 + 1.0) / (inputs + 1.0));
            let from = &layout.nodes[*from];
            if layout.band(from) != layout.band(node) {
                // The name of a line from another band.
                let _ = writeln!(
                    body,
                    "<path d=\"M{x2:.1} {y2:.1} h-5\" stroke=\"#7a8791\" stroke-width=\"0.8\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"7\" text-anchor=\"end\">{}</text>",
                    x2 - 6.0,
                    y2 + 2.5,
                    escaped(&shortened(&from.name))
                );
                continue;
            }
            let (x1, y1) = (x(from) + BOX.0, y(from) + BOX.1 / 2.0);
            let bend = (x2 - x1) / 2.0;
            let _ = writeln!(
                body,
                "<path d=\"M{x1:.1} {y1:.1} C{:.1} {y1:.1} {:.1} {y2:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#7a8791\" stroke-width=\"0.8\"/>",
                x1 + bend,
                x2 - bend
            );
        }
    }
    for node in &layout.nodes {
        let (x, y) = (x(node), y(node));
        if node.kind == "wire" {
            let _ = writeln!(
                body,
                "<path d=\"M{x:.1} {:.1} h{}\" stroke=\"#7a8791\" stroke-width=\"0.8\"/>",
                y + BOX.1 / 2.0,
                BOX.0
            );
            continue;
        }
        let _ = writeln!(
            body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"#44525c\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            BOX.0,
            BOX.1,
            color(node.kind),
            x + BOX.0 / 2.0,
            y + BOX.1 / 2.0 + 4.0,
            escaped(&shortened(&node.label))
        );
        if node.leaves_band && node.label != node.name {
            let (x, y) = (x + BOX.0 + 2.0, y + BOX.1 / 2.0 - 3.0);
            let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"7\">{}</text>", escaped(&node.name));
        }
    }
    let columns = layout.columns.min(COLUMNS);
    let width = 2.0 * MARGIN + (columns - 1) as f64 * COLUMN + BOX.0;
    page(width, bottom - GAP + MARGIN, "circuit", &body)
}

/// The end of a long name, which distinguishes the bits of a port.
fn shortened(name: &str) -> String {
    let skipped = name.chars().count().saturating_sub(10);
    name.chars().skip(skipped).collect()
}

/// Bars of bootstraps by level, coloured by kind. If there are many levels, several share a bar.
fn draw_levels(netlist: &Netlist, costs: &GateCosts) -> String {
    const KINDS: [&str; 4] = ["xor3", "maj", "mux", "and"];
    const NAMES: [&str; 4] = ["XOR, XNOR, XOR3", "MAJ", "MUX", "other two-input gates"];
    const BARS: usize = 200;
    let stats = netlist.stats(costs);
    let group = stats.depth.div_ceil(BARS).max(1);
    let mut bars = vec![[0u64; 4]; stats.depth.div_ceil(group).max(1)];
    for (gate, level) in netlist.gates().iter().zip(netlist.levels(costs)) {
        let cost = u64::from(costs.bootstraps(gate));
        if cost > 0 {
            let kind = KINDS.iter().position(|kind| color(kind) == color(gate.kind())).unwrap_or(3);
            bars[(level as usize - 1) / group][kind] += cost;
        }
    }
    let most = bars.iter().map(|bar| bar.iter().sum::<u64>()).max().unwrap_or(1).max(1) as f64;
    let (left, top, height) = (70.0, 90.0, 260.0);
    let step = (900.0 / bars.len() as f64).min(40.0);
    let mut body = String::new();
    let mut text = |x: f64, y: f64, anchor: &str, text: &str| {
        let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(text));
    };
    let summary = format!(
        "{}, {}, {}, {}, depth {}",
        counted(stats.input_bits, "input bit"),
        counted(stats.output_bits, "output bit"),
        counted(stats.gates, "gate"),
        counted(stats.bootstraps, "bootstrap"),
        stats.depth
    );
    text(left, 26.0, "start", &summary);
    let per = if group == 1 { String::from("level") } else { counted(group, "level") };
    text(left, 46.0, "start", &format!("bootstraps per {per}, from the inputs (left) to the outputs (right)"));
    text(left - 8.0, top + 10.0, "end", &format!("{most:.0}"));
    text(left - 8.0, top + height, "end", "0");
    text(left, top + height + 18.0, "start", "1");
    text(left + step * bars.len() as f64, top + height + 18.0, "end", &stats.depth.to_string());
    for (k, name) in NAMES.iter().enumerate() {
        text(left + 18.0 + 190.0 * k as f64, 70.0, "start", name);
    }
    for (k, kind) in KINDS.iter().enumerate() {
        let x = left + 190.0 * k as f64;
        let fill = color(kind);
        let _ = writeln!(
            body,
            "<rect x=\"{x:.1}\" y=\"61\" width=\"12\" height=\"10\" fill=\"{fill}\" stroke=\"#44525c\"/>"
        );
    }
    for (i, bar) in bars.iter().enumerate() {
        let mut y = top + height;
        for (kind, count) in KINDS.iter().zip(bar).filter(|(_, count)| **count > 0) {
            let tall = *count as f64 / most * height;
            y -= tall;
            let _ = writeln!(
                body,
                "<rect x=\"{:.2}\" y=\"{y:.2}\" width=\"{step:.2}\" height=\"{tall:.2}\" fill=\"{}\" stroke=\"#44525c\" stroke-width=\"0.3\"/>",
                left + step * i as f64,
                color(kind)
            );
        }
    }
    page(left + 900.0 + MARGIN, top + height + MARGIN, "circuit by level", &body)
}
