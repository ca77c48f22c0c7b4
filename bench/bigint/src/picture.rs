//! A picture of the products of unequal lengths beside GMP.

use bench_common::svg::{Panel, Series, draw};

use crate::cases::OURS;
use crate::cases::products::{LONG, SHORT, unequal_id};
use crate::report::Run;

/// Our smallest time in percent of GMP's, over the words of the short operand. Each long operand has a panel.
pub fn unequal(run: &Run) -> String {
    let rows = || run.sections.iter().flat_map(|section| &section.rows);
    let panel = |long: usize| {
        let ratio = |(place, short): (usize, &usize)| {
            let id = unequal_id(long, *short);
            let row = rows().find(|row| row.id == id)?;
            let [ours, gmp] = [OURS, "GMP"].map(|name| row.figure(name));
            Some((place as f64, 100.0 * ours?.wall.min / gmp?.wall.min))
        };
        Panel {
            title: format!("{long} words by as many as below: our time in % of GMP's"),
            axis: "words of the short operand",
            names: SHORT.iter().map(usize::to_string).collect(),
            series: vec![Series {
                name: "smallest time",
                colour: "#1565c0",
                line: false,
                points: SHORT.iter().enumerate().filter_map(ratio).collect(),
            }],
            levels: vec![(100.0, "GMP"), (150.0, "target: at most")],
        }
    };
    draw("products of unequal lengths beside GMP", &LONG.map(panel), 520.0, 200.0)
}
