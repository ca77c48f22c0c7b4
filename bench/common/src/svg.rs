//! Pictures of series of points in SVG.

use std::fmt::Write as _;

/// Points of one kind: measured ones are dots, bounds a line.
pub struct Series {
    /// Its name in the legend.
    pub name: &'static str,
    /// Its colour, as in SVG.
    pub colour: &'static str,
    /// Draws a line through the points instead of dots.
    pub line: bool,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// One picture: series over an axis of numbers, or of names at 0, 1, 2, ..
pub struct Panel {
    /// The title.
    pub title: String,
    /// Name of the axis.
    pub axis: &'static str,
    /// Names on the axis; empty for an axis of numbers.
    pub names: Vec<String>,
    /// The series.
    pub series: Vec<Series>,
    /// Horizontal lines and their names.
    pub levels: Vec<(f64, &'static str)>,
}

const HEIGHT: f64 = 410.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 118.0;
const GAP: f64 = 14.0;

/// Draws panels side by side, each of width `width`, with values from 0 to `top`.
pub fn draw(title: &str, panels: &[Panel], width: f64, top: f64) -> String {
    let total = width * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {HEIGHT}\" width=\"{total}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"11\" role=\"img\" aria-label=\"{title}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for (index, panel) in panels.iter().enumerate() {
        panel.draw(&mut svg, index as f64 * width, width, top);
    }
    svg + "</svg>\n"
}

impl Panel {
    fn draw(&self, svg: &mut String, x0: f64, width: f64, top: f64) {
        let (left, right) = (x0 + LEFT, x0 + width - GAP);
        let bottom = HEIGHT - BOTTOM;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (mut low, mut high) = points().fold((f64::MAX, f64::MIN), |(low, high), &(x, _)| (low.min(x), high.max(x)));
        if !self.names.is_empty() {
            (low, high) = (-0.5, self.names.len() as f64 - 0.5);
        }
        let x = |value: f64| left + (value - low) / (high - low).max(1e-9) * (right - left);
        let y = |value: f64| bottom - value / top * (bottom - TOP);
        let mut text = |x: f64, y: f64, rest: &str, words: &str| {
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {rest}>{words}</text>");
        };
        text(left, 20.0, "font-weight=\"bold\"", &self.title);
        let step = if top > 150.0 { 50 } else { 10 };
        for tick in (0..=top as u32).step_by(step) {
            text(left - 6.0, y(tick.into()) + 4.0, "text-anchor=\"end\" fill=\"#555\"", &tick.to_string());
        }
        if self.names.is_empty() {
            text(f64::midpoint(left, right), bottom + 34.0, "text-anchor=\"middle\" fill=\"#555\"", self.axis);
            let step = [1, 2, 5, 10, 20, 50, 100]
                .into_iter()
                .find(|step| (high - low) / f64::from(*step) <= 10.0)
                .unwrap_or(200);
            for tick in (low.ceil() as u32..=high as u32).filter(|tick| tick % step as u32 == 0) {
                text(x(tick.into()), bottom + 16.0, "text-anchor=\"middle\" fill=\"#555\"", &tick.to_string());
            }
        }
        for (index, name) in self.names.iter().enumerate() {
            let (x, y) = (x(index as f64) + 3.0, bottom + 12.0);
            let turn = format!("text-anchor=\"end\" transform=\"rotate(-40 {x:.1} {y:.1})\" fill=\"#333\"");
            text(x, y, &turn, name);
        }
        for (index, series) in self.series.iter().enumerate() {
            text(
                right - 6.0,
                TOP + 14.0 * (index as f64 + 1.0),
                &format!("text-anchor=\"end\" fill=\"{}\"", series.colour),
                series.name,
            );
        }
        for &(level, name) in &self.levels {
            text(left + 4.0, y(level) - 3.0, "fill=\"#b00\" font-size=\"9\"", name);
        }
        let mut line = |[x1, y1, x2, y2]: [f64; 4], style: &str| {
            let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>");
        };
        for tick in (0..=top as u32).step_by(step) {
            line([left, y(tick.into()), right, y(tick.into())], "stroke=\"#e4e4e4\"");
        }
        line([left, bottom, right, bottom], "stroke=\"#444\"");
        line([left, TOP, left, bottom], "stroke=\"#444\"");
        for &(level, _) in &self.levels {
            line([left, y(level), right, y(level)], "stroke=\"#b00\" stroke-dasharray=\"4 3\"");
        }
        for series in &self.series {
            let at = series.points.iter().map(|&(px, py)| (x(px), y(py.max(0.0))));
            if series.line && self.names.is_empty() {
                let path: Vec<_> = at.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                let (path, colour) = (path.join(" "), series.colour);
                let _ = writeln!(
                    svg,
                    "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
                );
            } else if series.line {
                for (x, y) in at {
                    let (a, b, colour) = (x - 14.0, x + 14.0, series.colour);
                    let _ = writeln!(
                        svg,
                        "<line x1=\"{a:.1}\" y1=\"{y:.1}\" x2=\"{b:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
                    );
                }
            } else {
                for (x, y) in at {
                    let colour = series.colour;
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"{colour}\" fill-opacity=\"0.6\"/>"
                    );
                }
            }
        }
    }
}
