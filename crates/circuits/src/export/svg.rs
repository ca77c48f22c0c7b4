//! Pictures of netlists as SVG, drawn here: no other program is needed.

use crate::{Gate, GateCosts, Netlist, NodeId};
use std::fmt::Write;

/// Most nodes drawn one by one; larger netlists are drawn level by level.
const DRAWN: usize = 400;
const COLUMN: f64 = 110.0;
const ROW: f64 = 34.0;
const BOX: (f64, f64) = (64.0, 22.0);
const MARGIN: f64 = 40.0;

/// Text that is safe in SVG.
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

/// A picture of the netlist, inputs at the left, one column for each level of gates, outputs at the right. Beyond a few hundred gates
/// it shows how many bootstraps of which kind each level has instead.
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

struct Drawn {
    label: String,
    kind: &'static str,
    column: usize,
    operands: Vec<usize>,
}

/// Nodes and outputs with their columns. NOTs and constants take a column too, so that lines only run to the right.
fn layout(netlist: &Netlist) -> Vec<Drawn> {
    let mut all: Vec<Drawn> = Vec::new();
    for gate in netlist.gates() {
        let operands: Vec<_> = gate.operands().map(NodeId::index).collect();
        let column = operands.iter().map(|at| all[*at].column + 1).max().unwrap_or(0);
        let label = match gate {
            Gate::Const(value) => u8::from(*value).to_string(),
            gate => gate.kind().to_uppercase(),
        };
        all.push(Drawn { label, kind: gate.kind(), column, operands });
    }
    for port in netlist.inputs() {
        port.bits.iter().enumerate().for_each(|(i, id)| all[id.index()].label = format!("{}[{i}]", port.name));
    }
    let last = all.iter().map(|node| node.column + 1).max().unwrap_or(0);
    for port in netlist.outputs() {
        let output = |(i, id): (usize, &NodeId)| Drawn {
            label: format!("{}[{i}]", port.name),
            kind: "output",
            column: last,
            operands: vec![id.index()],
        };
        let outputs: Vec<_> = port.bits.iter().enumerate().map(output).collect();
        all.extend(outputs);
    }
    all
}

/// Splits the lines that pass over columns: a place in each of them, shared by all readers of one node, keeps gates off the line.
fn route(nodes: &mut Vec<Drawn>) {
    // places[i]: what carries node i in the columns after its own.
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for reader in 0..nodes.len() {
        for k in 0..nodes[reader].operands.len() {
            let from = nodes[reader].operands[k];
            let column = nodes[from].column;
            while column + 1 + places[from].len() < nodes[reader].column {
                let before = places[from].last().copied().unwrap_or(from);
                let next = Drawn {
                    label: String::new(),
                    kind: "wire",
                    column: column + 1 + places[from].len(),
                    operands: vec![before],
                };
                places[from].push(nodes.len());
                nodes.push(next);
            }
            let passed = nodes[reader].column - column - 1;
            nodes[reader].operands[k] = if passed == 0 { from } else { places[from][passed - 1] };
        }
    }
}

fn draw_gates(netlist: &Netlist) -> String {
    let mut nodes = layout(netlist);
    route(&mut nodes);
    let columns = nodes.iter().map(|node| node.column + 1).max().unwrap_or(1);
    let mut members = vec![Vec::new(); columns];
    nodes.iter().enumerate().for_each(|(index, node)| members[node.column].push(index));
    // Within a column, nodes are ordered by the mean height of what they read (the barycentre heuristic), left to right.
    let mut y = vec![0.0; nodes.len()];
    for (column, members) in members.iter_mut().enumerate() {
        if column > 0 {
            let mean = |index: usize| {
                let operands = &nodes[index].operands;
                operands.iter().map(|at| y[*at]).sum::<f64>() / operands.len().max(1) as f64
            };
            members.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        }
        let step = 1.0 / members.len() as f64;
        members.iter().enumerate().for_each(|(row, index)| y[*index] = (row as f64 + 0.5) * step);
    }
    let tallest = members.iter().map(Vec::len).max().unwrap_or(1);
    for members in &members {
        let offset = (tallest - members.len()) as f64 / 2.0;
        members.iter().enumerate().for_each(|(row, index)| y[*index] = MARGIN + (row as f64 + offset) * ROW);
    }
    let x = |index: usize| MARGIN + nodes[index].column as f64 * COLUMN;
    let mut body = String::new();
    for (index, node) in nodes.iter().enumerate() {
        let inputs = node.operands.len() as f64;
        for (k, from) in node.operands.iter().enumerate() {
            let (x1, y1) = (x(*from) + BOX.0, y[*from] + BOX.1 / 2.0);
            let (x2, y2) = (x(index), y[index] + BOX.1 * (k as f64 + 1.0) / (inputs + 1.0));
            let bend = (x2 - x1) / 2.0;
            let _ = writeln!(
                body,
                "<path d=\"M{x1:.1} {y1:.1} C{:.1} {y1:.1} {:.1} {y2:.1} {x2:.1} {y2:.1}\" fill=\"none\" stroke=\"#7a8791\" stroke-width=\"0.8\"/>",
                x1 + bend,
                x2 - bend
            );
        }
    }
    for (index, node) in nodes.iter().enumerate() {
        if node.kind == "wire" {
            let (x, y) = (x(index), y[index] + BOX.1 / 2.0);
            let _ = writeln!(
                body,
                "<path d=\"M{x:.1} {y:.1} H{:.1}\" stroke=\"#7a8791\" stroke-width=\"0.8\"/>",
                x + BOX.0
            );
            continue;
        }
        let label: String = node.label.chars().rev().take(10).collect::<Vec<_>>().into_iter().rev().collect();
        let _ = writeln!(
            body,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"#44525c\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(index),
            y[index],
            BOX.0,
            BOX.1,
            color(node.kind),
            x(index) + BOX.0 / 2.0,
            y[index] + BOX.1 / 2.0 + 4.0,
            escaped(&label)
        );
    }
    let width = 2.0 * MARGIN + (columns - 1) as f64 * COLUMN + BOX.0;
    let height = 2.0 * MARGIN + (tallest.max(1) - 1) as f64 * ROW + BOX.1;
    page(width, height, "circuit", &body)
}

/// Bars of bootstraps by level, colored by kind; several levels share a bar where there are many.
fn draw_levels(netlist: &Netlist, costs: &GateCosts) -> String {
    const KINDS: [&str; 4] = ["xor3", "maj", "mux", "and"];
    const NAMES: [&str; 4] = ["XOR, XNOR, XOR3", "MAJ", "MUX", "other two-input gates"];
    const BARS: usize = 200;
    let stats = netlist.stats(costs);
    let group = stats.depth.div_ceil(BARS).max(1);
    let mut bars = vec![[0u64; 4]; stats.depth.div_ceil(group).max(1)];
    for (gate, level) in netlist.gates().iter().zip(netlist.levels(costs)) {
        let cost = u64::from(costs.of(gate));
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
        "{} input bits, {} output bits, {} gates, {} bootstraps, depth {}",
        stats.input_bits, stats.output_bits, stats.gates, stats.bootstraps, stats.depth
    );
    text(left, 26.0, "start", &summary);
    let per = if group == 1 { String::from("level") } else { format!("{group} levels") };
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
