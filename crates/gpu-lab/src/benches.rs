//! Times of the engines beside their lower bounds.

mod bigint;
mod gh;
mod lwe;
mod ring;
mod tfhe;

use crate::checks::problem;
use crate::micro::{COPY, Ceiling, FMA};
use crate::{Clock, Size, Timer};
use serde::Serialize;
use solinas_gpu::{Device, Error};

/// A bench of an engine.
pub struct Bench {
    /// Its name in the results.
    pub name: &'static str,
    /// The name of the items that it computes, such as `bootstrap`.
    pub item: &'static str,
    /// Measures it.
    pub run: fn(&Device, Size, &Timer) -> Result<Measured, Error>,
}

/// A measured time, and the work that a run cannot do without.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Seconds of a run.
    pub seconds: f64,
    /// Items that a run makes.
    pub count: u64,
    /// Operations on doubles of a run.
    pub fp64: f64,
    /// Bytes that a run reads and writes in device memory.
    pub bytes: f64,
    /// Part of the multiprocessors that the run can use, from 0 to 1.
    pub share: f64,
}

/// All benches. An engine adds its lines here.
pub const BENCHES: &[Bench] = &[
    Bench { name: "tfhe gates-128, one", item: "bootstrap", run: |d, s, t| tfhe::waves(d, "gates-128", false, s, t) },
    Bench { name: "tfhe gates-128, many", item: "bootstrap", run: |d, s, t| tfhe::waves(d, "gates-128", true, s, t) },
    Bench {
        name: "tfhe integers-128, one",
        item: "bootstrap",
        run: |d, s, t| tfhe::waves(d, "integers-128", false, s, t),
    },
    Bench {
        name: "tfhe integers-128, many",
        item: "bootstrap",
        run: |d, s, t| tfhe::waves(d, "integers-128", true, s, t),
    },
    Bench { name: "integers of 785,006 bits, one", item: "product", run: |d, s, t| bigint::products(d, 1, s, t) },
    Bench { name: "integers of 785,006 bits, 16", item: "product", run: |d, s, t| bigint::products(d, 16, s, t) },
    Bench { name: "modulo 785,006 bits, one", item: "product", run: |d, s, t| bigint::modular(d, 1, s, t) },
    Bench { name: "modulo 785,006 bits, 16", item: "product", run: |d, s, t| bigint::modular(d, 16, s, t) },
    Bench { name: "lwe 9326 x 9326, resident", item: "product", run: |d, s, t| lwe::products(d, false, s, t) },
    Bench { name: "lwe 9326 x 9326, from the seed", item: "product", run: |d, s, t| lwe::products(d, true, s, t) },
    Bench { name: "gh small, batches of 256", item: "encryption", run: |d, s, t| gh::encrypt(d, "small", s, t) },
    Bench { name: "gh small, pair table", item: "recrypt", run: |d, s, t| gh::recrypt(d, "small", s, t) },
    Bench { name: "gh medium, pair table", item: "recrypt", run: |d, s, t| gh::recrypt(d, "medium", s, t) },
    Bench { name: "ntru boot-16384", item: "product", run: |d, s, t| ring::ntru(d, false, s, t) },
    Bench { name: "ntru boot-16384", item: "bootstrap", run: |d, s, t| ring::ntru(d, true, s, t) },
    Bench { name: "bgv boot128-16384-8", item: "product", run: |d, s, t| ring::bgv(d, false, s, t) },
    Bench { name: "bgv boot128-16384-8", item: "bootstrap", run: |d, s, t| ring::bgv(d, true, s, t) },
];

/// A row of the results.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name of the bench.
    pub name: &'static str,
    /// The name of the items.
    pub item: &'static str,
    /// Items of a run. None if the bench was skipped or failed.
    pub count: Option<u64>,
    /// Median seconds of a run.
    pub seconds: Option<f64>,
    /// The lower bound of the seconds, from the measured ceilings.
    pub bound: Option<f64>,
    /// The reason why there is no figure.
    pub problem: Option<String>,
}

/// Runs the benches whose name contains `only`, as far as the time allows. Bounds come from these ceilings.
pub fn run(device: &Device, size: Size, only: &str, ceilings: &[Ceiling], clock: Clock) -> Vec<Row> {
    let timer = Timer::new(clock, size);
    let row = |bench: &Bench| {
        let measured = match clock.is_over() {
            true => Err("skipped: the time was over".to_owned()),
            false => (bench.run)(device, size, &timer).map_err(problem),
        };
        let empty = Row { name: bench.name, item: bench.item, count: None, seconds: None, bound: None, problem: None };
        match measured {
            Err(problem) => Row { problem: Some(problem), ..empty },
            Ok(measured) => Row {
                count: Some(measured.count),
                seconds: Some(measured.seconds),
                bound: bound(&measured, ceilings),
                ..empty
            },
        }
    };
    BENCHES.iter().filter(|bench| bench.name.contains(only)).map(row).collect()
}

/// The least seconds of a run at the measured ceilings. None if they were not measured.
fn bound(measured: &Measured, ceilings: &[Ceiling]) -> Option<f64> {
    let rate = |name| ceilings.iter().find(|ceiling| ceiling.name == name).map(|ceiling| ceiling.value);
    Some((measured.fp64 / (rate(FMA)? * measured.share)).max(measured.bytes / rate(COPY)?))
}

/// The rows as a table of Markdown.
pub fn markdown(device: &str, size: Size, rows: &[Row]) -> String {
    let shapes = match size {
        Size::Quick => "Small shapes: no row has the size that its name states.",
        Size::Full => "Medians.",
    };
    let mut text = format!("Device: {device}. {shapes}\n\n");
    text += "| bench | item | items | time | items a second | bound | time / bound |\n|---|---|---|---|---|---|---|\n";
    for row in rows {
        let (Some(count), Some(seconds)) = (row.count, row.seconds) else {
            text += &format!("| {} | {} | | | | | |\n", row.name, row.problem.as_deref().unwrap_or_default());
            continue;
        };
        let of_bound = |of: fn(f64, f64) -> String| row.bound.map_or_else(String::new, |bound| of(bound, seconds));
        text += &format!(
            "| {} | {} | {count} | {:.3} ms | {:.0} | {} | {} |\n",
            row.name,
            row.item,
            1e3 * seconds,
            count as f64 / seconds,
            of_bound(|bound, _| format!("{:.3} ms", 1e3 * bound)),
            of_bound(|bound, seconds| format!("{:.2}", seconds / bound)),
        );
    }
    text
}
