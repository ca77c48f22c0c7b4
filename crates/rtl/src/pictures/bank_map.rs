//! The banks of a part of an array of the multiplier, with one read and one write.

use std::fmt::Write as _;

/// `fold` of `rtl/multiplier/sol_mul_pkg.sv`.
fn fold(x: u32) -> u32 {
    (x & 15) ^ (x >> 4)
}

const SIDE: u32 = 28;
/// The row of the read and of the write that are shown.
const READ: u32 = 2;
const WRITE: u32 = 5;

/// Banks of the points (x, m, 0), x below 32 and m below 8. The lanes of a pass over x read the points x = 2 l + s and write
/// the points x = l + 16 s.
pub(super) fn svg() -> String {
    let (left, top, rows) = (50, 30, 8);
    let (width, height) = (left + 32 * SIDE + 140, top + rows * SIDE + 20);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Banks of points of an array</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for x in 0..32 {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"20\" text-anchor=\"middle\">{x}</text>", left + x * SIDE + SIDE / 2);
    }
    for m in 0..rows {
        let y = top + m * SIDE;
        let _ = writeln!(svg, "<text x=\"4\" y=\"{}\">m = {m}</text>", y + 18);
        for x in 0..32 {
            let color = match m {
                READ if x % 2 == 1 => "#9ecae9",
                WRITE if x >= 16 => "#ffbf79",
                _ => "#f4f4f4",
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{color}\" stroke=\"#999999\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                left + x * SIDE,
                left + x * SIDE + SIDE / 2,
                y + 18,
                fold(x) ^ fold(m)
            );
        }
    }
    for (row, text) in [(READ, "read, x = 2 l + 1"), (WRITE, "write, x = l + 16")] {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{text}</text>", left + 32 * SIDE + 8, top + row * SIDE + 18);
    }
    let _ = writeln!(svg, "<text x=\"4\" y=\"20\">x =</text>");
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::text;

    #[test]
    fn the_shown_accesses_meet_sixteen_banks() {
        let source = text("multiplier/sol_mul_pkg.sv").unwrap();
        assert!(source.contains("return x[3:0] ^ {3'b0, x[4]};"), "fold has changed");
        for index in [|l: u32| 2 * l + 1, |l: u32| l + 16] {
            let banks = (0..16).map(|l| fold(index(l))).fold(0u32, |set, bank| set | 1 << bank);
            assert_eq!(banks, 0xffff);
        }
    }
}
