//! Runs one committed kernel on the emulated device, with all checks.

use bytemuck::Pod;
use solinas_ptx::{Kernel, Launch, Machine, Module, Options};
use std::path::Path;

/// A device and the kernel of one file.
pub(crate) struct Emulator {
    machine: Machine,
    module: Module,
    name: String,
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    Buffer(Buffer),
    Word(u32),
}

/// Device memory.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    address: u64,
    bytes: usize,
}

impl Emulator {
    /// The kernel of `crates/gpu/ptx/NAME.ptx`, which has the file's name. `seed` chooses the order of blocks and warps.
    pub(crate) fn new(name: &str, seed: u64) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx").join(format!("{name}.ptx"));
        let module = Module::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        Self { machine: Machine::new(Options { seed, ..Options::default() }), module, name: name.into() }
    }

    /// A buffer that holds `values`.
    pub(crate) fn upload<T: Pod>(&mut self, values: &[T]) -> Buffer {
        let buffer = self.reserve(size_of_val(values));
        self.machine.write(buffer.address, bytemuck::cast_slice(values)).unwrap();
        buffer
    }

    /// A buffer of bytes that nobody has written.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Buffer {
        Buffer { address: self.machine.allocate(bytes as u64).unwrap(), bytes }
    }

    /// The words of a buffer, all of which have been written.
    pub(crate) fn download(&self, buffer: Buffer) -> Vec<u32> {
        let mut words = vec![0u32; buffer.bytes / 4];
        self.machine.read(buffer.address, bytemuck::cast_slice_mut(&mut words)).unwrap();
        words
    }

    /// Launches the kernel. `shared` is the dynamic shared memory of a block, bytes.
    pub(crate) fn launch(&mut self, grid: [u32; 2], block: u32, shared: u32, args: &[Arg]) {
        let kernel = self.module.kernel(&self.name).unwrap();
        let launch = Launch { grid: [grid[0], grid[1], 1], block: [block, 1, 1], shared, cluster: [1, 1, 1] };
        let parameters = parameters(kernel, args);
        let report = self.machine.launch(kernel, &launch, &parameters);
        let report = report.unwrap_or_else(|fault| panic!("{}: {fault}", self.name));
        println!("{} {}", self.name, report.counters.to_json());
    }
}

/// The block of parameters.
fn parameters(kernel: &Kernel, args: &[Arg]) -> Vec<u8> {
    assert_eq!(kernel.parameters().len(), args.len(), "{}", kernel.name());
    let mut block = Vec::new();
    for (parameter, arg) in kernel.parameters().iter().zip(args) {
        block.resize(parameter.offset as usize, 0);
        match arg {
            Arg::Buffer(buffer) => block.extend(buffer.address.to_le_bytes()),
            Arg::Word(word) => block.extend(word.to_le_bytes()),
        }
        assert_eq!(block.len(), (parameter.offset + parameter.bytes) as usize, "{}", kernel.name());
    }
    block
}
