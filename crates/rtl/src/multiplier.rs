//! The multiplier of `rtl/multiplier` (`wang2014` chapter 5).

use std::path::Path;

use solinas_bigint::Natural;

use crate::bus::{BEAT, Beat, Reader, Stalls};
use crate::{BuildStage, Design, Error, Instance, Model, Port, Timing};

/// The size of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Operands of 24,576 bits, for tests.
    Small,
    /// Operands of 786,432 bits.
    Full,
}

impl Size {
    /// Logarithm of the transform's length.
    pub fn log_points(self) -> u32 {
        match self {
            Self::Small => 11,
            Self::Full => 16,
        }
    }

    /// Bits of an operand.
    pub fn bits(self) -> usize {
        12 << self.log_points()
    }
}

/// The part of a product that is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The product.
    All,
    /// Its lower half.
    Low,
    /// Its upper half, or one less.
    High,
}

/// A simulated multiplier.
#[derive(Debug)]
pub struct Multiplier {
    dut: Instance,
    size: Size,
    readers: [Reader; 2],
    ports: Ports,
    stalls: Stalls,
    latency: u64,
    limit: Option<u64>,
}

#[derive(Debug)]
struct Ports {
    valid: Port,
    ready: Port,
    op: Port,
    part: Port,
    id: Port,
    load: Port,
    out_valid: Port,
    out_ready: Port,
    out_data: Port,
    out_last: Port,
    error: Port,
}

/// A product, and when it was computed, in cycles since the multiplier was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The value, or the part of it that was asked for.
    pub value: Natural,
    /// Cycle of its first load.
    pub first_load: u64,
    /// Cycle of its first beat.
    pub first_beat: u64,
    /// Cycle of its last beat.
    pub last_beat: u64,
}

/// The design of the multiplier.
///
/// # Errors
/// [`Error::NoSource`].
pub fn design(size: Size) -> Result<Design, Error> {
    let design = Design::new("sol_multiplier").files("multiplier/files.f")?;
    // The identifier of a command is its number, modulo IDS.
    Ok(design.parameter("LOG_N", size.log_points().into()).parameter("ID_W", 3).light(size == Size::Small))
}

impl Multiplier {
    /// A multiplier of this size. The model is built on first use; `progress` is called at each stage of that.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn new(size: Size, timing: Timing, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        Self::of_design(&design(size)?, size, timing, progress)
    }

    /// A multiplier of a changed design.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn of_design(
        design: &Design,
        size: Size,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        Self::of(Model::build(design, progress)?.instance()?, size, timing)
    }

    /// A multiplier that writes its waveform (VCD) to a file.
    ///
    /// # Errors
    /// The errors of [`Model::build`] and [`Instance::trace`].
    pub fn traced(
        size: Size,
        timing: Timing,
        path: &Path,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let mut dut = Model::build(&design(size)?.traced(), progress)?.instance()?;
        dut.trace(path)?;
        Self::of(dut, size, timing)
    }

    fn of(mut dut: Instance, size: Size, timing: Timing) -> Result<Self, Error> {
        let readers = [Reader::new(&dut, "la")?, Reader::new(&dut, "lb")?];
        let port = |name: &str| dut.port(name);
        let ports = Ports {
            valid: port("cmd_valid_i")?,
            ready: port("cmd_ready_o")?,
            op: port("cmd_op_i")?,
            part: port("cmd_part_i")?,
            id: port("cmd_id_i")?,
            load: port("ld_id_o")?,
            out_valid: port("out_valid_o")?,
            out_ready: port("out_ready_i")?,
            out_data: port("out_data_o")?,
            out_last: port("out_last_o")?,
            error: port("err_o")?,
        };
        dut.reset();
        Ok(Self { dut, size, readers, ports, stalls: Stalls::new(timing.stalls), latency: timing.latency, limit: None })
    }

    /// Bits of an operand.
    pub fn bits(&self) -> usize {
        self.size.bits()
    }

    /// Limits the cycles of a call. A call that takes more resets the circuit and returns [`Error::Stuck`].
    pub fn set_limit(&mut self, cycles: u64) {
        self.limit = Some(cycles);
    }

    /// Computes products, one after the other, each with the loads of the next one under its last pass. Equal operands are
    /// squared.
    ///
    /// # Errors
    /// [`Error::TooLong`] for an operand of more than [`Self::bits`] bits. [`Error::Stuck`], [`Error::Refused`].
    pub fn multiply(&mut self, operands: &[(&Natural, &Natural)], part: Part) -> Result<Vec<Product>, Error> {
        let mut job = self.job(operands, part)?;
        // Several times those of a product, for memory that answers once in a while.
        let limit = self.limit.unwrap_or((1 + operands.len() as u64) << (self.size.log_points() + 6));
        let end = self.dut.cycles() + limit;
        while job.products.len() < operands.len() {
            let late = self.dut.cycles() > end;
            let outcome =
                if late { Err(Error::Stuck { top: "multiplier", cycles: limit }) } else { self.cycle(&mut job) };
            if outcome.is_err() {
                // No beat of these products may reach the next ones.
                self.reset();
            }
            outcome?;
        }
        Ok(job.products)
    }

    /// Starts products, and resets the circuit after some cycles.
    ///
    /// # Errors
    /// The errors of [`Self::multiply`].
    pub fn interrupt(&mut self, operands: &[(&Natural, &Natural)], part: Part, cycles: u64) -> Result<(), Error> {
        let mut job = self.job(operands, part)?;
        for _ in 0..cycles {
            self.cycle(&mut job)?;
        }
        self.reset();
        Ok(())
    }

    fn reset(&mut self) {
        for reader in &mut self.readers {
            reader.reset(&mut self.dut);
        }
        self.dut.set_u64(self.ports.valid, 0);
        self.dut.reset();
    }

    fn job<'a>(&self, operands: &'a [(&'a Natural, &'a Natural)], part: Part) -> Result<Job<'a>, Error> {
        let all = operands.iter().flat_map(|(a, b)| [("the first operand", *a), ("the second operand", *b)]);
        for (what, x) in all {
            if x.bit_len() > self.bits() {
                return Err(Error::TooLong { what, bits: x.bit_len(), most: self.bits() });
            }
        }
        Ok(Job { operands, part, loads: Vec::new(), products: Vec::new(), first_beat: None, words: Vec::new() })
    }

    /// Simulates one cycle.
    fn cycle(&mut self, job: &mut Job<'_>) -> Result<(), Error> {
        let cycle = self.dut.cycles();
        let flows = self.stalls.flows();
        self.dut.set_u64(self.ports.out_ready, flows.into());
        let command = job.operands.get(job.loads.len());
        self.dut.set_u64(self.ports.valid, command.is_some().into());
        if let Some((a, b)) = command {
            self.dut.set_u64(self.ports.op, (a == b).into());
            self.dut.set_u64(self.ports.part, job.part as u64);
            self.dut.set_u64(self.ports.id, job.loads.len() as u64 % IDS);
        }
        for reader in &mut self.readers {
            reader.drive(&mut self.dut, cycle, &mut self.stalls);
        }
        self.dut.eval();
        if self.dut.get_u64(self.ports.error) == 1 {
            return Err(Error::Refused { top: "multiplier", problem: "it is illegal".into() });
        }
        // The operands that are fetched are those of one of the last commands.
        let load = self.dut.get_u64(self.ports.load);
        let now = (0..job.loads.len()).rev().find(|i| *i as u64 % IDS == load).unwrap_or(0);
        for (side, reader) in self.readers.iter_mut().enumerate() {
            let operand = job.operands.get(now).map(|(a, b)| if side == 0 { *a } else { *b });
            let read = |address: u64| operand.map_or([0; BEAT], |operand| beat(operand, address as usize));
            reader.sample(&self.dut, cycle + self.latency, read);
        }
        if command.is_some() && self.dut.get_u64(self.ports.ready) == 1 {
            job.loads.push(cycle + 1);
        }
        if flows && self.dut.get_u64(self.ports.out_valid) == 1 {
            job.first_beat.get_or_insert(cycle);
            let mut beat = [0; BEAT];
            self.dut.get(self.ports.out_data, &mut beat);
            job.words.extend_from_slice(&beat);
            if self.dut.get_u64(self.ports.out_last) == 1 {
                job.products.push(Product {
                    value: Natural::from_words(std::mem::take(&mut job.words)),
                    first_load: job.loads[job.products.len()],
                    first_beat: job.first_beat.take().unwrap_or(cycle),
                    last_beat: cycle,
                });
            }
        }
        self.dut.tick();
        Ok(())
    }
}

/// Identifiers of commands.
const IDS: u64 = 8;

/// Products under way.
#[derive(Debug)]
struct Job<'a> {
    operands: &'a [(&'a Natural, &'a Natural)],
    part: Part,
    /// Cycle of the first load of each command that was taken.
    loads: Vec<u64>,
    products: Vec<Product>,
    /// The first beat and the words of the product that comes.
    first_beat: Option<u64>,
    words: Vec<u64>,
}

/// Beat `index` of an integer.
pub(crate) fn beat(x: &Natural, index: usize) -> Beat {
    let words = x.words();
    std::array::from_fn(|i| words.get(BEAT * index + i).copied().unwrap_or(0))
}
