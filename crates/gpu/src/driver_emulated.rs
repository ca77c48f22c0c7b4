//! The emulated device: it interprets PTX and checks what the kernels and the host do.
//!
//! Operations run late and in random order, as far as the order of streams allows. The host may forget to let one
//! stream wait for another. Three checks find this fault: the operations touch the same bytes without an order, a
//! kernel reads bytes that nothing has written, or the result is wrong.

use crate::clock::Clock;
use crate::driver::{Argument, CopyId, Driver, GraphId, HostBytes, KernelId, Launch, Operation, StreamId};
use crate::order::{History, Touched, outside};
use crate::{DeviceInfo, Error, Module};
use solinas_ptx::{Fault, FaultKind, Machine, Options};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of the memory of the emulated device. The device takes memory of the host when a buffer is made.
const MEMORY: u64 = 8 << 30;
/// Number of multiprocessors. It is small, so that a few bootstraps already take the launches of a large wave.
const MULTIPROCESSORS: u32 = 2;
/// Bytes of shared memory of a block, as on an H100.
const SHARED_BYTES: u32 = 232_448;
/// Largest number of operations that wait. If there are more, the device runs some of them.
const PENDING: usize = 64;

/// The emulated device.
#[derive(Debug)]
pub(crate) struct Emulated {
    info: DeviceInfo,
    state: Mutex<State>,
}

struct State {
    machine: Machine,
    kernels: Vec<(Arc<solinas_ptx::Module>, String)>,
    graphs: BTreeMap<GraphId, Arc<Vec<Launch>>>,
    next_graph: GraphId,
    streams: Vec<Queue>,
    /// Operations that the host has waited for.
    host: Clock,
    history: History,
    random: u64,
    /// The first error.
    failed: Option<Error>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("streams", &self.streams.len()).finish_non_exhaustive()
    }
}

/// A stream.
#[derive(Debug, Default)]
struct Queue {
    /// Operations that wait, with the operations of every stream that come before them, and themselves.
    pending: VecDeque<(Clock, Action)>,
    /// Operations that have run.
    executed: u64,
    /// The operations of every stream that come before the next one.
    clock: Clock,
}

#[derive(Debug)]
enum Action {
    Run(Operation),
    Repeat(Arc<Vec<Launch>>),
    /// Copies the first bytes of the host. Their values are the values at the time of the copy.
    CopyHostBytes {
        from: Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    },
    /// The host reads these bytes.
    Read(Range<u64>),
}

/// Memory of the host. Its address is a multiple of 8.
#[derive(Debug)]
struct Words(Vec<u64>);

impl HostBytes for Words {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

impl Emulated {
    /// Makes a device. `seed` determines the order of blocks and operations.
    pub(crate) fn new(seed: u64) -> Self {
        let options = Options { memory: MEMORY, seed, multiprocessors: MULTIPROCESSORS, ..Options::default() };
        let info = DeviceInfo {
            name: "the emulated device".into(),
            memory: MEMORY,
            multiprocessors: options.multiprocessors,
            shared_bytes: SHARED_BYTES,
            driver: concat!("solinas-ptx ", env!("CARGO_PKG_VERSION")).into(),
            is_emulated: true,
        };
        let state = State {
            machine: Machine::new(options),
            kernels: Vec::new(),
            graphs: BTreeMap::new(),
            next_graph: 0,
            streams: Vec::new(),
            host: Clock::default(),
            history: History::default(),
            random: seed,
            failed: None,
        };
        Self { info, state: Mutex::new(state) }
    }

    /// The state, unless an earlier call has failed.
    fn state(&self) -> Result<MutexGuard<'_, State>, Error> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.failed {
            Some(error) => Err(error.clone()),
            None => Ok(state),
        }
    }
}

impl Driver for Emulated {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn has_failed(&self) -> bool {
        self.state().is_err()
    }

    fn allocate(&self, bytes: u64) -> Result<Option<u64>, Error> {
        match self.state()?.machine.allocate(bytes) {
            Ok(address) => Ok(Some(address)),
            Err(Fault { kind: FaultKind::Memory, .. }) => Ok(None),
            Err(error) => Err(fault(error)),
        }
    }

    fn free(&self, address: u64) -> Result<(), Error> {
        self.state()?.machine.free(address).map_err(fault)
    }

    fn kernel(&self, module: &'static Module, name: &str) -> Result<KernelId, Error> {
        let parsed = module.parsed()?;
        let mut state = self.state()?;
        let loaded = |(of, known): &(Arc<_>, String)| Arc::ptr_eq(of, &parsed) && known == name;
        Ok(state.kernels.iter().position(loaded).unwrap_or_else(|| {
            state.kernels.push((parsed, name.into()));
            state.kernels.len() - 1
        }))
    }

    fn open_stream(&self) -> Result<(), Error> {
        let mut state = self.state()?;
        let clock = state.host.clone();
        state.streams.push(Queue { clock, ..Queue::default() });
        Ok(())
    }

    fn submit(&self, stream: StreamId, operation: Operation) -> Result<(), Error> {
        let mut state = self.state()?;
        let action = match operation {
            Operation::Replay(graph) => {
                let launches = state.graphs.get(&graph).cloned();
                Action::Repeat(launches.ok_or_else(|| Error::Fault(format!("there is no graph {graph}")))?)
            }
            operation => Action::Run(operation),
        };
        state.push(stream, action);
        state.keep_few_pending()
    }

    fn host_bytes(&self, bytes: usize) -> Result<Option<Arc<dyn HostBytes>>, Error> {
        Ok(Some(Arc::new(Words(vec![0; bytes.div_ceil(8)]))))
    }

    fn copy_host_bytes(
        &self,
        stream: StreamId,
        from: &Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    ) -> Result<CopyId, Error> {
        let mut state = self.state()?;
        state.push(stream, Action::CopyHostBytes { from: Arc::clone(from), to, bytes });
        let queue = &state.streams[stream];
        let copy = queue.executed + queue.pending.len() as u64;
        state.keep_few_pending()?;
        Ok(copy)
    }

    fn wait_for_copy(&self, stream: StreamId, copy: CopyId) -> Result<(), Error> {
        let mut state = self.state()?;
        while state.streams[stream].executed < copy {
            state.step()?;
        }
        Ok(())
    }

    fn wait(&self, stream: StreamId, other: StreamId) -> Result<(), Error> {
        let mut state = self.state()?;
        let clock = state.streams[other].clock.clone();
        state.streams[stream].clock.join(&clock);
        Ok(())
    }

    fn synchronize(&self, stream: StreamId) -> Result<(), Error> {
        self.state()?.finish(stream)
    }

    fn read(&self, stream: StreamId, from: u64, out: &mut [u8]) -> Result<(), Error> {
        let mut state = self.state()?;
        state.push(stream, Action::Read(from..from + out.len() as u64));
        state.finish(stream)?;
        let result = state.machine.read(from, out).map_err(fault);
        state.keep(result)
    }

    fn record(&self, launches: Vec<Launch>) -> Result<GraphId, Error> {
        let mut state = self.state()?;
        let graph = state.next_graph;
        state.next_graph += 1;
        state.graphs.insert(graph, Arc::new(launches));
        Ok(graph)
    }

    fn drop_graph(&self, graph: GraphId) {
        if let Ok(mut state) = self.state() {
            state.graphs.remove(&graph);
        }
    }
}

impl State {
    fn push(&mut self, stream: StreamId, action: Action) {
        let queue = &mut self.streams[stream];
        let number = queue.executed + queue.pending.len() as u64 + 1;
        queue.clock.join(&self.host);
        queue.clock.raise(stream, number);
        queue.pending.push_back((queue.clock.clone(), action));
    }

    /// Runs operations while too many wait.
    fn keep_few_pending(&mut self) -> Result<(), Error> {
        while self.streams.iter().map(|queue| queue.pending.len()).sum::<usize>() > PENDING {
            self.step()?;
        }
        Ok(())
    }

    /// Runs operations until a stream has none left.
    fn finish(&mut self, stream: StreamId) -> Result<(), Error> {
        while !self.streams[stream].pending.is_empty() {
            self.step()?;
        }
        let clock = self.streams[stream].clock.clone();
        self.host.join(&clock);
        Ok(())
    }

    /// Runs one operation: the next operation of a random stream, among the streams whose next operation waits for
    /// nothing.
    fn step(&mut self) -> Result<(), Error> {
        let ready = |(stream, queue): (StreamId, &Queue)| {
            let (clock, _) = queue.pending.front()?;
            let waits = |(other, count): (StreamId, u64)| other != stream && self.streams[other].executed < count;
            (!clock.iter().any(waits)).then_some(stream)
        };
        let ready: Vec<StreamId> = self.streams.iter().enumerate().filter_map(ready).collect();
        if ready.is_empty() {
            return self.keep(Err(Error::Fault("streams wait for each other".into())));
        }
        let stream = ready[self.next_random() as usize % ready.len()];
        let queue = &mut self.streams[stream];
        let Some((clock, action)) = queue.pending.pop_front() else { return Ok(()) };
        queue.executed += 1;
        let number = queue.executed;
        let result = self.run(action).and_then(|(what, touched)| {
            self.history.check(what, (stream, number), clock, touched).map_err(Error::Fault)
        });
        self.keep(result)?;
        if self.streams.iter().all(|queue| queue.pending.is_empty()) {
            self.history.retire(&self.host);
        }
        Ok(())
    }

    /// Runs an action. Returns its name and the bytes that it touched.
    fn run(&mut self, action: Action) -> Result<(String, Touched), Error> {
        let machine = &mut self.machine;
        let write = |what: &str, at: u64, bytes: u64| (what.to_owned(), Touched::new(None, Some(at..at + bytes)));
        Ok(match action {
            Action::Run(Operation::Write { to, bytes }) => {
                machine.write(to, &bytes).map_err(fault)?;
                write("a copy from the host", to, bytes.len() as u64)
            }
            Action::CopyHostBytes { from, to, bytes } => {
                machine.write(to, &from.bytes()[..bytes]).map_err(fault)?;
                write("a copy from the host", to, bytes as u64)
            }
            Action::Run(Operation::Fill { to, bytes, value }) => {
                machine.fill(to, value, bytes).map_err(fault)?;
                write("a fill", to, bytes)
            }
            Action::Run(Operation::Forget { at, bytes }) => {
                machine.forget(at, bytes).map_err(fault)?;
                write("a new buffer", at, bytes)
            }
            Action::Run(Operation::Copy { from, to, bytes }) => {
                machine.copy(from, to, bytes).map_err(fault)?;
                let (what, mut touched) = write("a copy", to, bytes);
                touched.reads.push(from..from + bytes);
                (what, touched)
            }
            Action::Run(Operation::Launch(launch)) => self.launch(&launch)?,
            Action::Run(Operation::Replay(graph)) => {
                return Err(Error::Fault(format!("graph {graph} was not looked up")));
            }
            Action::Read(range) => ("a copy to the host".into(), Touched::new(Some(range), None)),
            Action::Repeat(launches) => {
                let (mut reads, mut writes) = (Vec::new(), Vec::new());
                for launch in launches.iter() {
                    let (_, touched) = self.launch(launch)?;
                    reads.extend(touched.reads);
                    writes.extend(touched.writes);
                }
                ("a graph".into(), Touched { reads: joined(reads), writes: joined(writes) })
            }
        })
    }

    fn launch(&mut self, launch: &Launch) -> Result<(String, Touched), Error> {
        let (module, name) = &self.kernels[launch.kernel];
        let kernel = module.kernel(name).ok_or_else(|| Error::Fault(format!("{name} is gone")))?;
        let mut parameters: Vec<u8> = Vec::new();
        for argument in &launch.arguments {
            parameters.resize(parameters.len().next_multiple_of(argument.bytes() as usize), 0);
            match argument {
                Argument::Word32(word) => parameters.extend(word.to_le_bytes()),
                Argument::Word64(word) => parameters.extend(word.to_le_bytes()),
            }
        }
        let Launch { grid, block, shared, .. } = *launch;
        let shape = solinas_ptx::Launch { grid, block: [block, 1, 1], shared, cluster: [1; 3] };
        let report = self.machine.launch(kernel, &shape, &parameters).map_err(fault)?;
        let (reads, writes) = (report.reads, report.writes);
        // Neighbouring ranges of the report are joined, so neighbouring ranges of buffers are joined too.
        let readable = joined(launch.reads.iter().chain(&launch.writes).cloned().collect());
        let writable = joined(launch.writes.clone());
        for (verb, touched, buffers) in [("reads", &reads, readable), ("writes", &writes, writable)] {
            if let Some(Range { start, end }) = outside(touched, &buffers) {
                return Err(Error::Fault(format!(
                    "kernel {name} {verb} bytes {start:#x}..{end:#x}, but its buffers are {buffers:x?}"
                )));
            }
        }
        Ok((name.clone(), Touched { reads, writes }))
    }

    /// Keeps the first error.
    fn keep<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// SplitMix64.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn fault(fault: Fault) -> Error {
    Error::Fault(fault.to_string())
}

/// Sorts ranges and joins neighbours.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let joins = next.start <= range.end;
        if joins {
            range.end = range.end.max(next.end);
        }
        joins
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two streams, 64 bytes of 7, and a write of 9 to a part of them on each stream, in which the second one waits for
    /// the first one if `waits`. Returns the result of the host's wait for both.
    fn two_writes(seed: u64, parts: [Range<u64>; 2], waits: bool) -> Result<(), Error> {
        let device = Emulated::new(seed);
        device.open_stream().unwrap();
        device.open_stream().unwrap();
        let at = device.allocate(64).unwrap().unwrap();
        device.submit(0, Operation::Fill { to: at, bytes: 64, value: 7 }).unwrap();
        device.synchronize(0).unwrap();
        for (stream, part) in parts.into_iter().enumerate() {
            if stream == 1 && waits {
                device.wait(1, 0).unwrap();
            }
            let fill = Operation::Fill { to: at + part.start, bytes: part.end - part.start, value: stream as u8 };
            device.submit(stream, fill).unwrap();
        }
        device.synchronize(1)?;
        device.synchronize(0)?;
        let mut bytes = [0; 64];
        device.read(0, at, &mut bytes)?;
        if waits {
            assert_eq!(bytes[63], 1);
        }
        Ok(())
    }

    #[test]
    fn writes_without_an_order_are_found_whatever_runs_first() {
        for seed in 0..20 {
            let error = two_writes(seed, [0..32, 31..64], false).unwrap_err().to_string();
            assert!(
                error.contains("have no order") && error.contains("stream 0") && error.contains("stream 1"),
                "{error}"
            );
            assert_eq!(two_writes(seed, [0..32, 32..64], false), Ok(()));
            assert_eq!(two_writes(seed, [0..32, 31..64], true), Ok(()));
        }
    }

    #[test]
    fn a_read_of_the_host_without_an_order_is_found() {
        let mut found = 0;
        for seed in 0..20 {
            let device = Emulated::new(seed);
            device.open_stream().unwrap();
            device.open_stream().unwrap();
            let at = device.allocate(64).unwrap().unwrap();
            device.submit(0, Operation::Fill { to: at, bytes: 64, value: 7 }).unwrap();
            // The fill may not have run yet. Then the bytes are unwritten.
            found += usize::from(device.read(1, at, &mut [0; 4]).is_err());
            found += usize::from(device.synchronize(0).is_err());
        }
        assert_eq!(found, 2 * 20, "the error stays");
    }

    #[test]
    fn different_seeds_run_streams_in_different_orders() {
        let first = |seed: u64| {
            let device = Emulated::new(seed);
            for stream in 0..2 {
                device.open_stream().unwrap();
                let at = device.allocate(1).unwrap().unwrap();
                device.submit(stream, Operation::Fill { to: at, bytes: 1, value: 0 }).unwrap();
            }
            let mut state = device.state().unwrap();
            state.step().unwrap();
            state.streams[0].executed
        };
        let runs: Vec<u64> = (0..20).map(first).collect();
        assert!(runs.contains(&0) && runs.contains(&1), "{runs:?}");
    }

    #[test]
    fn neighbours_join() {
        assert_eq!(joined(vec![8..9, 0..4, 4..6, 3..5]), [0..6, 8..9]);
    }
}
