//! The ceilings of a machine, by the kernels of `cuda/lab`.

use crate::{Clock, Size, Timer};
use serde::Serialize;
use solinas_gpu::{Arg, Buffer, Device, Error, Graph, Kernel, Launch, Module, Stream};

static ARITHMETIC: Module = Module::new("lab_arithmetic", include_str!("../../gpu/ptx/lab_arithmetic.ptx"));
static MEMORY: Module = Module::new("lab_memory", include_str!("../../gpu/ptx/lab_memory.ptx"));

/// Threads of a block.
const BLOCK: u32 = 256;

/// Instructions of one kind, as the kernels of `cuda/lab/arithmetic.cu` name them.
const INSTRUCTIONS: [(&str, &str); 6] = [
    ("lab_add", "additions of 32 bits"),
    ("lab_multiply", "multiply-adds of 32 bits"),
    ("lab_multiply_wide", "multiply-adds of 32 bits with a result of 64"),
    ("lab_multiply_high", "multiply-adds of 32 bits, high half"),
    ("lab_shift", "funnel shifts of 32 bits"),
    ("lab_fma", FMA),
];

/// The ceiling of fused multiply-adds of doubles.
pub const FMA: &str = "fused multiply-adds of doubles";
/// The ceiling of copies in the memory of the device, bytes read and written.
pub const COPY: &str = "copies in device memory";

/// A measured ceiling.
#[derive(Debug, Clone, Serialize)]
pub struct Ceiling {
    /// The resource.
    pub name: &'static str,
    /// Its rate, in `unit`.
    pub value: f64,
    /// `operations/s`, `bytes/s` or `s`.
    pub unit: &'static str,
}

/// The shapes of the measurements.
struct Shape {
    blocks: u32,
    steps: u32,
    /// Pairs of words in device memory, in the second-level cache, and between host and device.
    memory: usize,
    cache: usize,
    host: usize,
    rounds: u32,
    launches: usize,
}

impl Shape {
    fn new(size: Size, multiprocessors: u32) -> Self {
        match size {
            Size::Quick => {
                Self { blocks: 2, steps: 4, memory: 1 << 10, cache: 1 << 10, host: 1 << 10, rounds: 2, launches: 10 }
            }
            Size::Full => Self {
                blocks: 8 * multiprocessors,
                steps: 1 << 14,
                memory: 1 << 26,
                cache: 1 << 20,
                host: 1 << 24,
                rounds: 64,
                launches: 1000,
            },
        }
    }
}

/// Measures the ceilings.
///
/// # Errors
/// The errors of the device.
pub fn ceilings(device: &Device, size: Size, clock: Clock) -> Result<Vec<Ceiling>, Error> {
    let lab = Lab {
        stream: Stream::new(device)?,
        timer: Timer::new(clock, size),
        shape: Shape::new(size, device.info().multiprocessors),
    };
    let mut all = Vec::new();
    for (kernel, name) in INSTRUCTIONS {
        all.push(Ceiling { name, value: lab.instructions(kernel)?, unit: "operations/s" });
    }
    let bytes = |name, value| Ceiling { name, value, unit: "bytes/s" };
    all.push(bytes(COPY, lab.copy()?));
    all.push(bytes("reads of the second-level cache", lab.cache()?));
    all.push(bytes("reads of shared memory", lab.shared()?));
    let [there, back] = lab.host()?;
    all.extend([bytes("copies from the host", there), bytes("copies to the host", back)]);
    let [stream, graph] = lab.launches()?;
    let seconds = |name, value| Ceiling { name, value, unit: "s" };
    all.extend([
        seconds("time between launches in a stream", stream),
        seconds("time between launches in a graph", graph),
    ]);
    Ok(all)
}

/// A stream with a timer.
struct Lab {
    stream: Stream,
    timer: Timer,
    shape: Shape,
}

impl Lab {
    fn device(&self) -> &Device {
        self.stream.device()
    }

    /// Median seconds of a launch, measured as a graph of one kernel.
    fn seconds(&self, kernel: &Kernel, blocks: u32, args: Vec<Arg>) -> Result<f64, Error> {
        let launch = Launch::new(kernel, [blocks, 1, 1], BLOCK, 0, args);
        let graph = Graph::new(self.device(), &[launch])?;
        self.timer.median(|| {
            self.stream.replay(&graph)?;
            self.stream.synchronize()
        })
    }

    fn words(&self, len: usize) -> Result<Buffer<u64>, Error> {
        let buffer = self.stream.buffer(len, "a measurement")?;
        self.stream.fill(&buffer, 1)?;
        Ok(buffer)
    }

    fn instructions(&self, name: &str) -> Result<f64, Error> {
        let Shape { blocks, steps, .. } = self.shape;
        let kernel = Kernel::load(self.device(), &ARITHMETIC, name)?;
        let out = self.stream.buffer::<u32>((blocks * BLOCK) as usize, "a measurement")?;
        let seconds = self.seconds(&kernel, blocks, vec![Arg::write(&out), 0x9e37_79b9u32.into(), steps.into()])?;
        Ok(32.0 * f64::from(steps) * f64::from(blocks * BLOCK) / seconds)
    }

    fn copy(&self) -> Result<f64, Error> {
        let pairs = self.shape.memory;
        let kernel = Kernel::load(self.device(), &MEMORY, "lab_copy")?;
        let (from, to) = (self.words(2 * pairs)?, self.words(2 * pairs)?);
        let args = vec![Arg::write(&to), Arg::read(&from), (pairs as u64).into()];
        Ok(32.0 * pairs as f64 / self.seconds(&kernel, self.shape.blocks, args)?)
    }

    fn cache(&self) -> Result<f64, Error> {
        let Shape { blocks, cache: pairs, rounds, .. } = self.shape;
        let kernel = Kernel::load(self.device(), &MEMORY, "lab_read")?;
        let (from, out) = (self.words(2 * pairs)?, self.words((blocks * BLOCK) as usize)?);
        let args = vec![Arg::write(&out), Arg::read(&from), (pairs as u64).into(), rounds.into()];
        Ok(16.0 * pairs as f64 * f64::from(rounds) / self.seconds(&kernel, blocks, args)?)
    }

    fn shared(&self) -> Result<f64, Error> {
        let Shape { blocks, steps: rounds, .. } = self.shape;
        let kernel = Kernel::load(self.device(), &MEMORY, "lab_shared")?;
        let out = self.words((blocks * BLOCK) as usize)?;
        let seconds = self.seconds(&kernel, blocks, vec![Arg::write(&out), rounds.into()])?;
        Ok(64.0 * f64::from(rounds) * f64::from(blocks * BLOCK) / seconds)
    }

    /// Bytes a second from the host, and to it.
    fn host(&self) -> Result<[f64; 2], Error> {
        let mut values = vec![1u64; 2 * self.shape.host];
        let buffer = self.words(values.len())?;
        let there = self.timer.median(|| {
            self.stream.write(&buffer, 0, &values)?;
            self.stream.synchronize()
        })?;
        let back = self.timer.median(|| self.stream.read(&buffer, 0, &mut values))?;
        Ok([there, back].map(|seconds| 16.0 * self.shape.host as f64 / seconds))
    }

    /// Seconds of a launch in a stream and in a graph.
    fn launches(&self) -> Result<[f64; 2], Error> {
        let count = self.shape.launches;
        let kernel = Kernel::load(self.device(), &MEMORY, "lab_nothing")?;
        let out = self.stream.buffer::<u32>(BLOCK as usize, "a measurement")?;
        let launch = Launch::new(&kernel, [1; 3], BLOCK, 0, vec![Arg::write(&out)]);
        let stream = self.timer.median(|| {
            (0..count).try_for_each(|_| self.stream.launch(&launch))?;
            self.stream.synchronize()
        })?;
        let graph = Graph::new(self.device(), &vec![launch; count])?;
        let graph = self.timer.median(|| {
            self.stream.replay(&graph)?;
            self.stream.synchronize()
        })?;
        Ok([stream, graph].map(|seconds| seconds / count as f64))
    }
}
