//! Writes netlists as files and pictures.

mod blif;
mod bristol;
mod dot;
mod layout;
mod svg;
mod yosys;

pub use blif::write_blif;
pub use bristol::write_bristol;
pub use dot::write_dot;
pub use svg::write_svg;
pub use yosys::write_yosys_json;

use crate::Port;
use std::collections::{HashMap, HashSet};

/// Names of ports that every tool can read: distinct, and of letters, digits and `_` only. Names of internal wires may contain a `$`.
fn plain_names(ports: &[&Port]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut suffixes: HashMap<String, usize> = HashMap::new();
    let plain = |port: &&Port| {
        let mut name: String =
            port.name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, 'p');
        }
        let suffix = suffixes.entry(name.clone()).or_insert(1);
        let mut unique = name.clone();
        while !seen.insert(unique.clone()) {
            *suffix += 1;
            unique = format!("{name}_{suffix}");
        }
        unique
    };
    ports.iter().map(plain).collect()
}
