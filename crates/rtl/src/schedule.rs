//! The schedule of a product: when each pass starts. It follows the latencies of `rtl/common/sol_pkg.sv`.

use std::fmt::Write as _;

use crate::Error;
use crate::design::text;
use crate::multiplier::Size;

/// A pass of the multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Its name in `rtl/multiplier/sol_multiplier.sv`.
    pub name: &'static str,
    /// Its round; the last pass belongs to both.
    pub round: u32,
    /// The cycle of its first read, from the first read of the product on.
    pub start: u64,
    /// Cycles in which it reads.
    pub cycles: u64,
}

/// Cycles in which the control takes the next product.
const HANDOVER: u64 = 3;

/// The passes of a product, if no operand is late.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The passes in order. The last one is the unload.
    pub passes: Vec<Pass>,
    /// Cycles from one product to the next, if products follow each other. In the small instance the unload adds to them.
    pub interval: u64,
}

impl Schedule {
    /// The schedule of a multiplier.
    ///
    /// # Errors
    /// [`Error::NoSource`] if the package of constants lacks one.
    pub fn new(size: Size) -> Result<Self, Error> {
        let [ram, xnet, d32, d64, s, mul] =
            ["LAT_RAM", "LAT_XNET", "LAT_D32", "LAT_D64", "LAT_S", "LAT_MULROT"].map(latency);
        let carry = latency("LAT_CARRY")?;
        let at_kernel = ram? + xnet? + 1;
        let (d32, d64, mul) = (d32?, d64?, mul?);
        let at_write = at_kernel + d32 + mul;
        let at_write_b = at_write + s? + mul;
        let at_result = at_kernel + d64 + carry;
        let big = size == Size::Full;
        // Cycles without a read after a pass: wait_after of rtl/multiplier/sol_mul_pkg.sv.
        let wait = |name: &str, round: u32| match name {
            "P1" if big => at_write.saturating_sub(62),
            "P1" => at_write,
            "P3" if big || round == 0 => at_write_b - at_write,
            "P3" => at_write_b,
            "IP2" if round == 1 => (at_write - at_result).max(at_write.saturating_sub(33)),
            "IP3" => d64 - d32,
            _ => 0,
        };
        let long = if big { 2048 } else { 64 };
        let round = [("P1", long), ("P2", long), ("P3", long), ("IP2", long / 2)];
        let of_round = |name: &str| big || !["P2", "IP2"].contains(&name);
        let rounds = (0..2).flat_map(|r| {
            round.iter().filter(|(name, _)| of_round(name)).map(move |&(name, cycles)| (name, r, cycles))
        });
        let (mut passes, mut start) = (Vec::new(), 0);
        for (name, round, cycles) in rounds.chain([("IP3", 1, long)]) {
            passes.push(Pass { name, round, start, cycles });
            start += cycles + wait(name, round);
        }
        let end = start - wait("IP3", 1);
        let beats = 1 << (size.log_points() - 4);
        passes.push(Pass { name: "unload", round: 1, start: end + if big { 1 } else { at_write + 3 }, cycles: beats });
        Ok(Self { passes, interval: start + HANDOVER })
    }

    /// A picture of the schedule: one bar for each pass.
    pub fn svg(&self) -> String {
        let end = self.passes.iter().map(|pass| pass.start + pass.cycles).max().unwrap_or(1);
        let (width, row, left) = (900.0, 26.0, 70.0);
        let names = ["P1", "P2", "P3", "IP2", "IP3", "unload"];
        let height = row * (names.len() + 1) as f64 + 20.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <title>Passes of a product, by cycle</title>\n",
            left + width + 20.0
        );
        let x = |cycle: u64| left + width * cycle as f64 / end as f64;
        for (i, name) in names.iter().enumerate() {
            let y = row * i as f64 + 10.0;
            let _ = writeln!(svg, "<text x=\"4\" y=\"{:.0}\">{name}</text>", y + 15.0);
            for pass in self.passes.iter().filter(|pass| pass.name == *name) {
                let (left, right) = (x(pass.start), x(pass.start + pass.cycles));
                let color = if pass.round == 0 { "#4c78a8" } else { "#f58518" };
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left:.1}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"20\" fill=\"{color}\"><title>{name}, round {}: cycles {} to {}</title></rect>",
                    right - left,
                    pass.round,
                    pass.start,
                    pass.start + pass.cycles - 1
                );
            }
        }
        let y = row * names.len() as f64 + 26.0;
        for tick in 0..=4 {
            let cycle = end * tick / 4;
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y:.0}\" text-anchor=\"middle\">{cycle}</text>", x(cycle));
        }
        svg + "</svg>\n"
    }
}

/// A latency of the package of constants.
fn latency(name: &str) -> Result<u64, Error> {
    let value = text("common/sol_pkg.sv")?.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        let value = right.split(';').next()?.trim();
        (left.split_whitespace().last()? == name).then(|| value.parse().ok())?
    });
    value.ok_or_else(|| Error::NoSource { name: format!("of the constant {name}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_follow_each_other_within_the_stated_cycles() {
        let schedule = Schedule::new(Size::Full).unwrap();
        let end = schedule.passes.last().unwrap();
        assert!(end.start + end.cycles <= 20_600 && schedule.interval <= 16_500, "{schedule:?}");
        assert!(schedule.passes.windows(2).all(|pair| pair[0].start + pair[0].cycles <= pair[1].start));
        assert!(schedule.svg().matches("<rect").count() == schedule.passes.len());
    }
}
