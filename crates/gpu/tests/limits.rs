//! Every committed kernel runs at a shape of `limits.json`, and stays within the limits of its line.
//!
//! Addresses and branches of nearly all kernels do not depend on data, so most buffers hold zeros.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use solinas_ptx::{Call, Counters, Machine, Module, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A kernel with its shape and its limits.
#[derive(Debug, Deserialize)]
struct Line {
    file: String,
    kernel: String,
    /// A name for people. A kernel may have several shapes.
    shape: String,
    /// Divisor of the instructions and bytes.
    items: u64,
    /// The words of a [`Call`].
    launch: String,
    #[serde(flatten)]
    limits: Figures,
}

/// The counters of a launch of a kernel, as figures that do not grow with the shape.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Figures {
    /// Instructions of the PTX for an item, summed over the threads.
    instructions: f64,
    /// Bytes in the sectors of global memory that accesses touched, for an item.
    bytes: f64,
    /// Transactions of shared memory over the least number.
    bank_ratio: f64,
    /// Sectors of global memory over the least number.
    sector_ratio: f64,
}

impl Figures {
    fn of(counters: &Counters, items: u64) -> Self {
        let ratio = |count: u64, least: u64| if least == 0 { 1.0 } else { count as f64 / least as f64 };
        Self {
            instructions: counters.total() as f64 / items as f64,
            bytes: (32 * counters.sectors) as f64 / items as f64,
            bank_ratio: ratio(counters.bank_transactions, counters.bank_least),
            sector_ratio: ratio(counters.sectors, counters.sectors_least),
        }
    }

    /// The names of the figures that are above their limit, and of the figures so far below that the limit is useless.
    fn against(&self, limits: &Self) -> Vec<String> {
        let pairs = [
            ("instructions", self.instructions, limits.instructions),
            ("bytes", self.bytes, limits.bytes),
            ("bank_ratio", self.bank_ratio, limits.bank_ratio),
            ("sector_ratio", self.sector_ratio, limits.sector_ratio),
        ];
        let problem = |(name, found, limit): (&str, f64, f64)| match found {
            _ if found > limit => Some(format!("{name} {found:.4} is above its limit {limit}")),
            _ if limit > 1.02 * found + 0.1 => Some(format!("{name} {found:.4} allows a lower limit than {limit}")),
            _ => None,
        };
        pairs.into_iter().filter_map(problem).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx")
}

fn text_of(file: &str) -> String {
    let path = folder().join(format!("{file}.ptx"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lines() -> Vec<Line> {
    serde_json::from_str(include_str!("limits.json")).unwrap()
}

/// Runs the kernel of a line.
fn count(module: &Module, line: &Line) -> Counters {
    let Line { file, kernel: name, launch, .. } = line;
    let kernel = module.kernel(name).unwrap_or_else(|| panic!("limits.json: {file}.ptx has no kernel {name}"));
    let mut machine = Machine::new(Options::default());
    let call = Call::new(&mut machine, kernel, launch.split_whitespace());
    let report = call.map(|call| call.run(&mut machine, kernel).unwrap_or_else(|fault| panic!("{name}: {fault}")));
    report.unwrap_or_else(|problem| panic!("limits.json, kernel {name}: {problem}")).counters
}

#[test]
fn kernels_stay_within_their_limits() {
    let mut files: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            files.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), Vec::new());
        }
    }
    for line in lines() {
        let file = files.get_mut(&line.file);
        file.unwrap_or_else(|| panic!("limits.json: there is no file {}.ptx", line.file)).push(line);
    }
    let counted: Vec<(Line, Counters)> = files
        .into_par_iter()
        .flat_map(|(file, lines)| {
            let module = Module::parse(&text_of(&file)).unwrap();
            let limited: BTreeSet<&str> = lines.iter().map(|line| line.kernel.as_str()).collect();
            for kernel in module.kernels() {
                let name = kernel.name();
                assert!(limited.contains(name), "limits.json has no line for {name} of {file}.ptx: see cuda/README.md");
            }
            let counters: Vec<Counters> = lines.par_iter().map(|line| count(&module, line)).collect();
            lines.into_iter().zip(counters).collect::<Vec<_>>()
        })
        .collect();

    println!("{:<34} {:<42} {:>12} {:>10} {:>6} {:>7}", "kernel", "shape", "instructions", "bytes", "banks", "sectors");
    let (mut json, mut problems) = (Vec::new(), Vec::new());
    for (line, counters) in counted {
        let Line { kernel, shape, items, limits, .. } = line;
        let figures = Figures::of(&counters, items);
        let Figures { instructions, bytes, bank_ratio, sector_ratio } = figures;
        println!("{kernel:<34} {shape:<42} {instructions:>12.1} {bytes:>10.2} {bank_ratio:>6.3} {sector_ratio:>7.3}");
        problems.extend(figures.against(&limits).into_iter().map(|problem| format!("{kernel}, {shape}: {problem}")));
        let counters: serde_json::Value = serde_json::from_str(&counters.to_json()).unwrap();
        json.push(serde_json::json!({
            "kernel": kernel, "shape": shape, "items": items, "figures": figures, "counters": counters
        }));
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    fs::write(target.join("gpu-counters.json"), serde_json::to_string_pretty(&json).unwrap()).unwrap();
    assert!(
        problems.is_empty(),
        "change the kernels, or their lines of crates/gpu/tests/limits.json:\n{}",
        problems.join("\n")
    );
}

/// Neighbouring threads get items 16 apart: accesses scatter over sectors, and collide in banks.
#[test]
fn a_worse_access_pattern_exceeds_its_limits() {
    for (kernel, figures) in [("solinas_multiply", &["bytes", "sector_ratio"][..]), ("lab_shared", &["bank_ratio"])] {
        let line = lines().into_iter().find(|line| line.kernel == kernel).unwrap();
        let text = text_of(&line.file);
        let at = text.find(&format!(".entry {kernel}(")).unwrap();
        let (before, entry) = text.split_at(at);
        let read = entry.lines().find(|line| line.contains("%tid.x;")).unwrap();
        let register = read.split_whitespace().nth(1).unwrap().trim_end_matches(',');
        let turn = format!(
            "{read}\n{{ .reg .b32 %low, %high;\nand.b32 %low, {register}, 15;\nshl.b32 %low, %low, 4;\n\
             shr.u32 %high, {register}, 4;\nor.b32 {register}, %low, %high; }}\n"
        );
        let module = Module::parse(&(before.to_owned() + &entry.replacen(read, &turn, 1))).unwrap();
        let problems = Figures::of(&count(&module, &line), line.items).against(&line.limits);
        for figure in figures {
            let above = |problem: &String| problem.starts_with(figure) && problem.contains("above");
            assert!(problems.iter().any(above), "{kernel}, {figure}: {problems:?}");
        }
    }
}
