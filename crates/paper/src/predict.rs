//! Predicts the time of a circuit on a number of cores from measured gate times and a schedule.

use serde::{Deserialize, Serialize};
use solinas_circuits::{GateCosts, Netlist, NodeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of bootstraps in a batch on one thread, which share passes over the key.
pub(crate) const BATCH: u64 = 16;

/// Measured times of gates on one thread, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GateTimes {
    /// A single gate of one bootstrap.
    pub gate: f64,
    /// An additional gate in a batch. It takes less than a single gate, because a batch shares the passes over the key.
    pub next: f64,
    /// A single MUX, which has two bootstraps.
    pub mux: f64,
}

impl GateTimes {
    /// Times without batches: every bootstrap takes as long as a single one.
    #[must_use]
    pub fn unbatched(gate: f64) -> Self {
        Self { gate, next: gate, mux: 2.0 * gate }
    }

    /// Time of independent bootstraps on one thread, in even batches of at most 16, seconds.
    #[must_use]
    pub fn share(&self, bootstraps: u64) -> f64 {
        let batches = bootstraps.div_ceil(BATCH);
        batches as f64 * (self.gate - self.next) + bootstraps as f64 * self.next
    }
}

/// Time of a schedule that runs wavefront by wavefront, seconds. `fronts` holds the number of bootstraps of each wavefront. The cores share each wavefront
/// evenly: a wavefront of `w` bootstraps on `p` cores takes `ceil(w / p)` gate times. The next wavefront begins when the previous one has ended.
#[must_use]
pub fn wavefronts(fronts: &[u64], cores: usize, times: &GateTimes) -> f64 {
    fronts.iter().map(|front| times.share(front.div_ceil(cores.max(1) as u64))).sum()
}

/// Time if each gate is a separate thread, as in `oh2018`, seconds. A gate starts when its operands are ready and a core is free. Gates start in the order in
/// which they become ready. A MUX is two bootstraps on its thread. The model assumes that the start of a thread costs nothing.
#[must_use]
pub fn thread_per_gate(netlist: &Netlist, cores: usize, times: &GateTimes) -> f64 {
    let gates = netlist.gates();
    let costs = GateCosts::default();
    let nanoseconds = |seconds: f64| (seconds * 1e9).round() as u64;
    let (gate, mux) = (nanoseconds(times.gate), nanoseconds(times.mux));
    let mut readers = vec![Vec::new(); gates.len()];
    let mut missing = vec![0u32; gates.len()];
    let mut ready_at = vec![0u64; gates.len()];
    let mut ready = BinaryHeap::new();
    for (index, of) in gates.iter().enumerate() {
        for operand in of.operands() {
            readers[operand.index()].push(NodeId(index as u32));
            missing[index] += 1;
        }
        if missing[index] == 0 {
            ready.push(Reverse((0, index)));
        }
    }
    let mut free: BinaryHeap<Reverse<u64>> = (0..cores.max(1)).map(|_| Reverse(0)).collect();
    let mut end = 0;
    while let Some(Reverse((at, index))) = ready.pop() {
        let duration = match costs.bootstraps(&gates[index]) {
            0 => 0,
            1 => gate,
            _ => mux,
        };
        let mut done = at;
        if duration > 0 {
            let core = free.pop().map_or(0, |Reverse(core)| core);
            done = at.max(core) + duration;
            free.push(Reverse(done));
        }
        end = end.max(done);
        for reader in &readers[index] {
            let reader = reader.index();
            ready_at[reader] = ready_at[reader].max(done);
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse((ready_at[reader], reader)));
            }
        }
    }
    end as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use solinas_circuits::build::Recipe;
    use solinas_circuits::{Builder, Program, program::Type};

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-6 * want.max(1e-3), "{got}, not {want}");
    }

    #[test]
    fn wavefronts_take_whole_gate_times() {
        let times = GateTimes::unbatched(0.013);
        near(wavefronts(&[1, 4, 5, 8, 9], 4, &times), (1 + 1 + 2 + 2 + 3) as f64 * 0.013);
        near(wavefronts(&[1, 4, 5, 8, 9], 1, &times), 27.0 * 0.013);
        near(wavefronts(&[], 4, &times), 0.0);
    }

    #[test]
    fn batches_pay_for_the_key_once() {
        let times = GateTimes { gate: 3.0, next: 2.0, mux: 5.0 };
        for (bootstraps, want) in [(0, 0.0), (1, 3.0), (2, 5.0), (16, 33.0), (17, 36.0), (32, 66.0)] {
            near(times.share(bootstraps), want);
        }
    }

    /// `oh2018`, figure 2: XOR, then XOR and MUX side by side.
    #[test]
    fn full_adder_on_two_threads_saves_one_gate_of_four() {
        let mut b = Builder::new();
        let bits = b.input("abc", 3, false);
        let either = b.xor(bits[0], bits[1]);
        let (sum, carry) = (b.xor(either, bits[2]), b.mux(either, bits[2], bits[0]));
        b.output("out", &[sum, carry], false);
        let netlist = b.finish().unwrap();
        let times = GateTimes::unbatched(0.013);
        near(thread_per_gate(&netlist, 1, &times), 4.0 * 0.013);
        near(thread_per_gate(&netlist, 2, &times), 3.0 * 0.013);
        near(thread_per_gate(&netlist, 9, &times), 3.0 * 0.013);
        let fronts = netlist.stats(&GateCosts::default()).width;
        assert_eq!(fronts, [1, 3]);
        near(wavefronts(&fronts, 4, &times), 2.0 * 0.013);
    }

    proptest! {
        #[test]
        fn predictions_lie_between_work_and_depth(width in 1u16..=12, cores in 1usize..=9, name in 0usize..2, oh in any::<bool>()) {
            let recipe = if oh { Recipe::oh2018() } else { Recipe::serial() };
            let program = Program::from_op(["add", "mul"][name], &[Type::Uint(width); 2]).unwrap();
            let netlist = program.lower(recipe).unwrap();
            let stats = netlist.stats(&GateCosts::default());
            let times = GateTimes::unbatched(1.0);
            let work = stats.bootstraps as f64;
            let fronts = wavefronts(&stats.width, cores, &times);
            let threads = thread_per_gate(&netlist, cores, &times);
            for seconds in [fronts, threads] {
                prop_assert!(seconds >= work / cores as f64 - 1e-6 && seconds <= work + 1e-6);
            }
            prop_assert!(fronts >= stats.depth as f64);
            if cores == 1 {
                prop_assert!((threads - work).abs() < 1e-6 && (fronts - work).abs() < 1e-6);
            }
        }
    }
}
