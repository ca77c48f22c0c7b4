//! Groups bits into ports by their names.

use super::assemble::WirePort;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The name of a bus and the index of the bit that `name` denotes: `x[3]`, `x<3>` and `x_3` are bit 3 of `x`. The index is a plain decimal
/// number.
pub(crate) fn indexed(name: &str) -> Option<Bit<'_>> {
    let bracketed = |open, close| name.strip_suffix(close)?.rsplit_once(open);
    let ((bus, index), style) = bracketed('[', ']')
        .map(|found| (found, '['))
        .or_else(|| bracketed('<', '>').map(|found| (found, '<')))
        .or_else(|| name.rsplit_once('_').map(|found| (found, '_')))?;
    let plain = index == "0" || index.starts_with(|c: char| ('1'..='9').contains(&c));
    let index = index.parse().ok().filter(|_| plain && !bus.is_empty())?;
    Some(Bit { bus, style, index })
}

/// A bit of a bus.
pub(crate) struct Bit<'a> {
    bus: &'a str,
    /// The character before the index: `[`, `<` or `_`.
    style: char,
    index: usize,
}

/// Groups wires into ports, in order of appearance. The bits `0..n` of a bus, in any order, form one port of `n` bits. Any other wire forms a separate port.
/// A single `x_0` is not a bus.
pub(super) fn group(names: &[Cow<'_, str>], wires: &[u32]) -> Vec<WirePort> {
    let mut buses: HashMap<&str, (char, BTreeMap<usize, u32>)> = HashMap::new();
    let mut broken: HashSet<&str> = HashSet::new();
    for &wire in wires {
        let name = &*names[wire as usize];
        match indexed(name) {
            Some(Bit { bus, style, index }) => {
                let (of_bus, bits) = buses.entry(bus).or_insert((style, BTreeMap::new()));
                if *of_bus != style || bits.insert(index, wire).is_some() {
                    broken.insert(bus);
                }
            }
            // Otherwise two ports would have the name of the bus.
            None => drop(broken.insert(name)),
        }
    }
    buses.retain(|bus, (style, bits)| {
        let complete = bits.keys().next_back().is_some_and(|last| last + 1 == bits.len());
        complete && !broken.contains(bus) && (*style != '_' || bits.len() > 1)
    });
    let singles: HashSet<&str> = wires
        .iter()
        .map(|&wire| &*names[wire as usize])
        .filter(|name| indexed(name).is_none_or(|bit| !buses.contains_key(bit.bus)))
        .collect();
    buses.retain(|bus, _| !singles.contains(bus));
    let mut ports = Vec::new();
    for &wire in wires {
        let name = &*names[wire as usize];
        match indexed(name).and_then(|bit| Some((bit.bus, buses.get_mut(bit.bus)?))) {
            // The first bit has created the port.
            Some((_, (_, bits))) if bits.is_empty() => {}
            Some((bus, (_, bits))) => {
                let wires = std::mem::take(bits).into_values().collect();
                ports.push(WirePort { name: bus.to_owned(), wires, signed: false });
            }
            None => ports.push(WirePort { name: name.to_owned(), wires: vec![wire], signed: false }),
        }
    }
    ports
}
