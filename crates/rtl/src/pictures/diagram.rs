//! A block diagram: boxes, and lines with arrows.

use std::fmt::Write as _;

/// The kind of a block, which decides its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Memory,
    Arithmetic,
    Control,
    Outside,
}

/// A block at a place, with a title and lines of text.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub at: (u32, u32),
    pub size: (u32, u32),
    pub kind: Kind,
    pub title: &'static str,
    pub lines: Vec<String>,
}

/// A line through points, with an arrow at its end, and a label beside its first part.
#[derive(Debug, Clone)]
pub(super) struct Arrow {
    pub points: &'static [(u32, u32)],
    pub label: &'static str,
}

#[derive(Debug, Clone)]
pub(super) struct Diagram {
    pub title: &'static str,
    pub size: (u32, u32),
    pub blocks: Vec<Block>,
    pub arrows: Vec<Arrow>,
}

impl Kind {
    fn color(self) -> &'static str {
        match self {
            Self::Memory => "#cfe0f3",
            Self::Arithmetic => "#fbe0c3",
            Self::Control => "#e3e3e3",
            Self::Outside => "#ffffff",
        }
    }
}

impl Diagram {
    pub(super) fn svg(&self) -> String {
        let (width, height) = self.size;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#333333\"/></marker></defs>\n",
            self.title
        );
        for arrow in &self.arrows {
            let points: Vec<_> = arrow.points.iter().map(|(x, y)| format!("{x},{y}")).collect();
            let points = points.join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"#333333\" marker-end=\"url(#tip)\"/>"
            );
        }
        for block in &self.blocks {
            let ((x, y), (w, h)) = (block.at, block.size);
            let dash = if block.kind == Kind::Outside { " stroke-dasharray=\"4 3\"" } else { "" };
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"3\" fill=\"{}\" stroke=\"#333333\"{dash}/>",
                block.kind.color()
            );
            let middle = x + w / 2;
            let first = y + (h - 15 * block.lines.len() as u32) / 2 + 4;
            let _ = writeln!(
                svg,
                "<text x=\"{middle}\" y=\"{first}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
                block.title
            );
            for (i, line) in block.lines.iter().enumerate() {
                let y = first + 15 * (i as u32 + 1);
                let _ = writeln!(
                    svg,
                    "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"11\">{line}</text>"
                );
            }
        }
        for arrow in self.arrows.iter().filter(|arrow| !arrow.label.is_empty()) {
            let [(x0, y0), (x1, y1), ..] = arrow.points else { continue };
            // Above a horizontal line, to the right of a vertical one.
            let (x, y, anchor) =
                if y0 == y1 { ((x0 + x1) / 2, y0 - 5, "middle") } else { (x0 + 5, (y0 + y1) / 2 + 4, "start") };
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"#1f4e79\">{}</text>",
                arrow.label
            );
        }
        svg + "</svg>\n"
    }
}
