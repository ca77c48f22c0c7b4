//! A device with the kernels under test.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::{Arg, Buffer, Device, DeviceOptions, Kernel, Launch, Module, Stream};

macro_rules! modules {
    ($($file:literal),* $(,)?) => {
        [$(Module::new($file, include_str!(concat!("../../ptx/", $file, ".ptx")))),*]
    };
}

static MODULES: [Module; 7] = modules![
    "solinas_field",
    "solinas_field_portable",
    "solinas_pointwise",
    "carry_coefficients",
    "carry_add",
    "carry_resolve",
    "carry_compare",
];

/// An emulated device and a stream.
pub(crate) struct Lab {
    pub(crate) device: Device,
    pub(crate) stream: Stream,
}

impl Lab {
    /// The order of blocks and warps depends on the seed.
    pub(crate) fn new(seed: u64) -> Self {
        let device = Device::emulated(DeviceOptions { seed, ..DeviceOptions::default() });
        Self { stream: Stream::new(&device).unwrap(), device }
    }

    /// A buffer with these values.
    pub(crate) fn upload<T: bytemuck::Pod>(&self, values: &[T]) -> Buffer<T> {
        self.stream.buffer_of(values, "a test").unwrap()
    }

    /// A buffer whose values nobody has written.
    pub(crate) fn buffer<T: bytemuck::Pod>(&self, len: usize) -> Buffer<T> {
        self.stream.buffer(len, "a test").unwrap()
    }

    /// The values of a buffer.
    pub(crate) fn download<T: bytemuck::Pod>(&self, buffer: &Buffer<T>) -> Vec<T> {
        let mut values = vec![T::zeroed(); buffer.len()];
        self.stream.read(buffer, 0, &mut values).unwrap();
        values
    }

    /// Runs the kernel `name` of the module `file`.
    pub(crate) fn run(&self, file: &str, name: &str, grid: [u32; 2], block: u32, args: Vec<Arg>) {
        let module = MODULES.iter().find(|module| module.name() == file).unwrap();
        let kernel = Kernel::load(&self.device, module, name).unwrap();
        let launch = Launch::new(&kernel, [grid[0], grid[1], 1], block, 0, args);
        self.stream.launch(&launch).unwrap_or_else(|error| panic!("{name}: {error}"));
        self.stream.synchronize().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

impl Lab {
    /// Runs launches of an engine.
    pub(crate) fn run_all(&self, launches: &[Launch<'_>]) {
        launches.iter().for_each(|launch| self.stream.launch(launch).unwrap());
        self.stream.synchronize().unwrap();
    }
}

/// `len` random words.
pub(crate) fn random(seed: u64, len: usize) -> Vec<u64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.next_u64()).collect()
}
