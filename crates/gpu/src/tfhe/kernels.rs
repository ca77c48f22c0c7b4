//! The kernels of a wave, and the shapes of their launches.

use super::offset;
use crate::{Arg, Buffer, Device, Error, Kernel, Launch, Module};
use solinas_schemes::tfhe::Params;

static LINEAR: Module = Module::new("tfhe_linear", include_str!("../../ptx/tfhe_linear.ptx"));
static KEYSWITCH: Module = Module::new("tfhe_keyswitch", include_str!("../../ptx/tfhe_keyswitch.ptx"));
static MODSWITCH: Module = Module::new("tfhe_modswitch", include_str!("../../ptx/tfhe_modswitch.ptx"));
static ROTATE_INTEGERS: Module =
    Module::new("tfhe_blind_rotate_2048_1", include_str!("../../ptx/tfhe_blind_rotate_2048_1.ptx"));
static ROTATE_GATES: Module =
    Module::new("tfhe_blind_rotate_512_3", include_str!("../../ptx/tfhe_blind_rotate_512_3.ptx"));
static ROTATE_INTEGERS_BLOCKS: Module =
    Module::new("tfhe_blind_rotate_blocks_2048_1", include_str!("../../ptx/tfhe_blind_rotate_blocks_2048_1.ptx"));
static ROTATE_GATES_BLOCKS: Module =
    Module::new("tfhe_blind_rotate_blocks_512_3", include_str!("../../ptx/tfhe_blind_rotate_blocks_512_3.ptx"));
static EXTRACT: Module = Module::new("tfhe_extract", include_str!("../../ptx/tfhe_extract.ptx"));

/// Threads of a block, unless the kernel states a larger number.
const BLOCK: u32 = 256;

/// A kernel of blind rotations for one ring dimension, one GLWE dimension, one length of the key's blocks and one digit.
#[derive(Debug)]
struct Rotation {
    ring_dimension: usize,
    glwe_dimension: usize,
    block_bits: usize,
    module: &'static Module,
    /// Threads of an accumulator.
    threads: u32,
    /// Bytes of shared memory of an accumulator.
    shared: u32,
    /// Bytes of shared memory for the stages of the key.
    stages: u32,
    /// Two numbers of accumulators of a block. The smaller one starts more blocks. The larger one reads the key less
    /// often.
    accumulators: [u32; 2],
}

impl Rotation {
    /// Bytes of shared memory of a block with this number of accumulators.
    fn shared_bytes(&self, accumulators: u32) -> u32 {
        self.stages + self.shared * accumulators
    }
}

static ROTATIONS: [Rotation; 4] = [
    Rotation {
        ring_dimension: 2048,
        glwe_dimension: 1,
        block_bits: 3,
        module: &ROTATE_INTEGERS_BLOCKS,
        threads: 128,
        shared: 32_768,
        stages: 102_400,
        accumulators: [1, 2],
    },
    Rotation {
        ring_dimension: 512,
        glwe_dimension: 3,
        block_bits: 3,
        module: &ROTATE_GATES_BLOCKS,
        threads: 64,
        shared: 16_384,
        stages: 101_376,
        accumulators: [2, 4],
    },
    Rotation {
        ring_dimension: 2048,
        glwe_dimension: 1,
        block_bits: 1,
        module: &ROTATE_INTEGERS,
        threads: 128,
        shared: 49_152,
        stages: 0,
        accumulators: [1, 2],
    },
    Rotation {
        ring_dimension: 512,
        glwe_dimension: 3,
        block_bits: 1,
        module: &ROTATE_GATES,
        threads: 64,
        shared: 24_576,
        stages: 0,
        accumulators: [2, 4],
    },
];

/// The kernels for a parameter set on a device.
#[derive(Debug)]
pub(super) struct Kernels {
    linear: Kernel,
    keyswitch: Kernel,
    modswitch: Kernel,
    rotate: Kernel,
    extract: Kernel,
    rotation: &'static Rotation,
    multiprocessors: u32,
    /// Most bytes of shared memory of a block.
    shared_bytes: u32,
    set: Set,
}

/// Numbers of a parameter set, as the kernels take them.
#[derive(Debug, Clone, Copy)]
struct Set {
    ring_dimension: u32,
    glwe_dimension: u32,
    lwe_dimension: u32,
    block_bits: u32,
    base_log: u32,
    keyswitch_base_log: u32,
    keyswitch_levels: u32,
    offset: u32,
}

impl Set {
    /// Dimension `k N` of values.
    fn big(self) -> u32 {
        self.glwe_dimension * self.ring_dimension
    }
}

/// The buffers of a wave.
#[derive(Debug)]
pub(super) struct Wave {
    /// `[slots][k N + 1]`
    pub(super) values: Buffer<u32>,
    /// The place at which the terms of each job start. They end where the terms of the next job start: `[jobs + 1]`
    pub(super) starts: Buffer<u32>,
    /// Pairs of a slot and a coefficient.
    pub(super) terms: Buffer<u32>,
    /// `[jobs]`
    pub(super) constants: Buffer<u32>,
    /// The table of each job: `[jobs]`
    pub(super) tables: Buffer<u32>,
    /// Triples of a job, a slot and a number of steps.
    pub(super) outputs: Buffer<u32>,
    /// `[tables][16]`
    pub(super) boxes: Buffer<u32>,
    /// `[sets][16]`
    pub(super) steps: Buffer<u32>,
    /// `[jobs][k N + 1]`
    pub(super) arguments: Buffer<u32>,
    /// `[jobs][n + 1]`
    pub(super) switched: Buffer<u32>,
    /// `[jobs][n + 1]`: exponents of the mask, then that of the body.
    pub(super) exponents: Buffer<u32>,
    /// `[jobs][k + 1][N]`
    pub(super) accumulators: Buffer<u32>,
}

impl Kernels {
    /// Loads the kernels.
    ///
    /// # Errors
    /// [`Error::Unsupported`]; the errors of the device.
    pub(super) fn new(device: &Device, params: &Params) -> Result<Self, Error> {
        let p = params.literal();
        let fits = |rotation: &&Rotation| {
            (rotation.ring_dimension, rotation.glwe_dimension, rotation.block_bits, 1)
                == (p.ring_dimension, p.glwe_dimension, p.block_bits, p.decomposition.levels)
        };
        let Some(rotation) = ROTATIONS.iter().find(fits) else {
            let (n, k, bits, levels) = (p.ring_dimension, p.glwe_dimension, p.block_bits, p.decomposition.levels);
            let params = format!("{} (N = {n}, k = {k}, blocks of {bits} bits, {levels} digits)", p.name);
            return Err(Error::Unsupported { params });
        };
        let (need, most) = (rotation.shared_bytes(rotation.accumulators[0]), device.info().shared_bytes);
        if need > most {
            let params =
                format!("{} on a device with {most} bytes of shared memory, of which they take {need}", p.name);
            return Err(Error::Unsupported { params });
        }
        let load = |module: &'static Module| Kernel::load(device, module, module.name());
        Ok(Self {
            linear: load(&LINEAR)?,
            keyswitch: load(&KEYSWITCH)?,
            modswitch: load(&MODSWITCH)?,
            rotate: load(rotation.module)?,
            extract: load(&EXTRACT)?,
            rotation,
            multiprocessors: device.info().multiprocessors,
            shared_bytes: most,
            set: Set {
                ring_dimension: p.ring_dimension as u32,
                glwe_dimension: p.glwe_dimension as u32,
                lwe_dimension: p.lwe_dimension as u32,
                block_bits: p.block_bits as u32,
                base_log: p.decomposition.base_log,
                keyswitch_base_log: p.keyswitch.base_log,
                keyswitch_levels: p.keyswitch.levels,
                offset: offset(params.family()),
            },
        })
    }

    /// `arguments[job] <- constants[job] + sum of coefficient * values[slot]`.
    pub(super) fn linear(&self, wave: &Wave, jobs: u32) -> Launch<'_> {
        let words = self.set.big() + 1;
        let args = vec![
            Arg::write(&wave.arguments),
            Arg::read(&wave.values),
            Arg::read(&wave.starts),
            Arg::read(&wave.terms),
            Arg::read(&wave.constants),
            words.into(),
        ];
        Launch { kernel: &self.linear, grid: [words.div_ceil(BLOCK), jobs, 1], block: BLOCK, shared: 0, args }
    }

    /// The kernels of a wave of a given number of jobs with a given number of outputs, in order.
    pub(super) fn wave(&self, wave: &Wave, key: &super::Engine, jobs: u32, outputs: u32) -> [Launch<'_>; 5] {
        let set = self.set;
        let small = set.lwe_dimension + 1;
        let keyswitch = vec![
            Arg::write(&wave.switched),
            Arg::read(&wave.arguments),
            Arg::read(&key.keyswitch_key),
            jobs.into(),
            set.big().into(),
            set.lwe_dimension.into(),
            set.keyswitch_base_log.into(),
            set.keyswitch_levels.into(),
        ];
        let modswitch = vec![
            Arg::write(&wave.exponents),
            Arg::read(&wave.switched),
            set.lwe_dimension.into(),
            (2 * set.ring_dimension).ilog2().into(),
            set.offset.into(),
            set.block_bits.into(),
        ];
        let mut rotate = vec![
            Arg::write(&wave.accumulators),
            Arg::read(&key.bootstrapping_key),
            Arg::read(&wave.exponents),
            Arg::read(&wave.boxes),
            Arg::read(&wave.tables),
            jobs.into(),
            set.lwe_dimension.into(),
            set.base_log.into(),
            Arg::read(&key.twiddles),
        ];
        rotate.extend(key.monomials.as_ref().map(Arg::read));
        let extract = vec![
            Arg::write(&wave.values),
            Arg::read(&wave.accumulators),
            Arg::read(&wave.outputs),
            Arg::read(&wave.steps),
            set.ring_dimension.into(),
            set.glwe_dimension.into(),
        ];
        let Rotation { threads, accumulators: [few, many], .. } = *self.rotation;
        let fits = self.rotation.shared_bytes(many) <= self.shared_bytes;
        let together = if fits && jobs.div_ceil(few) > self.multiprocessors { many } else { few };
        let launch = |kernel, grid, args| Launch { kernel, grid, block: BLOCK, shared: 0, args };
        [
            self.linear(wave, jobs),
            launch(&self.keyswitch, [small.div_ceil(64), jobs.div_ceil(16), 1], keyswitch),
            launch(&self.modswitch, [jobs, 1, 1], modswitch),
            Launch {
                kernel: &self.rotate,
                grid: [jobs.div_ceil(together), 1, 1],
                block: threads * together,
                shared: self.rotation.shared_bytes(together),
                args: rotate,
            },
            launch(&self.extract, [(set.big() + 1).div_ceil(BLOCK), outputs, 1], extract),
        ]
    }
}
