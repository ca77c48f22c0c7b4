//! The multiplier by stored transforms of `rtl/stored` (`wang2014` section 5.5).

use solinas_bigint::Natural;

use crate::bus::{BEAT, Reader, Stalls};
use crate::multiplier::{Size, beat};
use crate::{BuildStage, Design, Error, Instance, Model, Port, Timing};

/// Points of a word of the store.
const LANES: usize = 16;
/// Cycles in which words may still come after the store has signalled that it is not ready.
const FLYING: u64 = 16;
/// With stalls, the store is not ready for a given number of cycles out of [`STORE_PERIOD`].
const STORE_PAUSE: u64 = 40;
/// The period of the stalls of the store.
const STORE_PERIOD: u64 = 97;

/// The transform of a factor: words of 16 points, in the order in which the circuit takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spectrum {
    words: Vec<[u64; LANES]>,
}

/// A product, and its cycles from the first load of its operand on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The value.
    pub value: Natural,
    /// Cycles until the product is in the memory of the circuit.
    pub resident: u64,
    /// Cycles until its last beat has left.
    pub unloaded: u64,
}

/// A simulated multiplier by stored transforms.
#[derive(Debug)]
pub struct StoredMultiplier {
    dut: Instance,
    size: Size,
    kernels: Kernels,
    reader: Reader,
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
    error: Port,
    done: Port,
    resident: Port,
    tw_ready: Port,
    tw_req: Port,
    tw_addr: Port,
    tw_data: Port,
    sp_ready: Port,
    sp_valid: Port,
    sp_addr: Port,
    sp_data: Port,
    out_valid: Port,
    out_ready: Port,
    out_data: Port,
}

/// A command of `rtl/stored/sol_sto_pkg.sv`.
#[derive(Debug, Clone, Copy)]
enum Op<'a> {
    Multiply(&'a Spectrum),
    Square,
    Transform,
}

impl Op<'_> {
    fn code(self) -> u64 {
        match self {
            Self::Multiply(_) => 0,
            Self::Square => 1,
            Self::Transform => 2,
        }
    }
}

/// The outcome of a command.
#[derive(Debug, Default)]
struct Outcome {
    words: Vec<u64>,
    spectrum: Vec<[u64; LANES]>,
    resident: u64,
    end: u64,
}

/// Kernels of 32 points of the circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernels {
    /// One kernel, which takes a column at a time.
    One = 1,
    /// Two kernels, which take two columns at a time in all passes but the third.
    Two = 2,
}

/// The design of the multiplier.
///
/// # Errors
/// [`Error::NoSource`].
pub fn design(size: Size, kernels: Kernels) -> Result<Design, Error> {
    let design = Design::new("sol_stored").files("stored/files.f")?;
    let design = design.parameter("LOG_N", size.log_points().into()).parameter("KERNELS", kernels as u64);
    Ok(design.parameter("TW_LATENCY", TW_LATENCY as u64).light(size == Size::Small))
}

/// Cycles from a request to its word of the store.
const TW_LATENCY: usize = 2;

impl StoredMultiplier {
    /// A multiplier of this size. The model is built on first use; `progress` is called at each stage of that.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn new(
        size: Size,
        kernels: Kernels,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        Self::of_design(&design(size, kernels)?, size, kernels, timing, progress)
    }

    /// A multiplier of a changed design.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn of_design(
        design: &Design,
        size: Size,
        kernels: Kernels,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let mut dut = Model::build(design, progress)?.instance()?;
        let reader = Reader::new(&dut, "la")?;
        let port = |name: &str| dut.port(name);
        let ports = Ports {
            valid: port("cmd_valid_i")?,
            ready: port("cmd_ready_o")?,
            op: port("cmd_op_i")?,
            error: port("err_o")?,
            done: port("done_o")?,
            resident: port("resident_o")?,
            tw_ready: port("tw_ready_i")?,
            tw_req: port("tw_req_o")?,
            tw_addr: port("tw_addr_o")?,
            tw_data: port("tw_data_i")?,
            sp_ready: port("sp_ready_i")?,
            sp_valid: port("sp_valid_o")?,
            sp_addr: port("sp_addr_o")?,
            sp_data: port("sp_data_o")?,
            out_valid: port("out_valid_o")?,
            out_ready: port("out_ready_i")?,
            out_data: port("out_data_o")?,
        };
        dut.reset();
        let (stalls, latency) = (Stalls::new(timing.stalls), timing.latency);
        Ok(Self { dut, size, kernels, reader, ports, stalls, latency, limit: None })
    }

    /// Bits of an operand.
    pub fn bits(&self) -> usize {
        self.size.bits()
    }

    /// Limits the cycles of a command. The default limit is above the cycles of every command.
    pub fn set_limit(&mut self, cycles: u64) {
        self.limit = Some(cycles);
    }

    /// The transform of a factor.
    ///
    /// # Errors
    /// [`Error::TooLong`] for an operand of more than [`Self::bits`] bits. [`Error::Stuck`].
    pub fn transform(&mut self, x: &Natural) -> Result<Spectrum, Error> {
        self.run(Op::Transform, x, u64::MAX).map(|outcome| Spectrum { words: outcome.spectrum })
    }

    /// The product of a number and a factor that was transformed.
    ///
    /// # Errors
    /// [`Error::TooLong`]. [`Error::Refused`] for a transform of another size. [`Error::Stuck`].
    pub fn multiply(&mut self, x: &Natural, factor: &Spectrum) -> Result<Product, Error> {
        if factor.words.len() != self.words() {
            let problem = format!(
                "the transform has {} words of 16 points, but this size takes {}; transform the factor at this size",
                factor.words.len(),
                self.words()
            );
            return Err(Error::Refused { top: "multiplier by stored transforms", problem });
        }
        self.run(Op::Multiply(factor), x, u64::MAX).map(Outcome::product)
    }

    /// The square of a number.
    ///
    /// # Errors
    /// [`Error::TooLong`]. [`Error::Stuck`].
    pub fn square(&mut self, x: &Natural) -> Result<Product, Error> {
        self.run(Op::Square, x, u64::MAX).map(Outcome::product)
    }

    /// Starts a square, and resets the circuit after some cycles.
    ///
    /// # Errors
    /// The errors of [`Self::square`].
    pub fn interrupt(&mut self, x: &Natural, cycles: u64) -> Result<(), Error> {
        self.run(Op::Square, x, cycles).map(|_| ())
    }

    /// Words of a transform.
    fn words(&self) -> usize {
        (1 << self.size.log_points()) / LANES
    }

    fn reset(&mut self) {
        self.reader.reset(&mut self.dut);
        self.dut.set_u64(self.ports.valid, 0);
        self.dut.reset();
    }

    /// Runs a command to its end, or for a given number of cycles.
    fn run(&mut self, op: Op<'_>, x: &Natural, cycles: u64) -> Result<Outcome, Error> {
        if x.bit_len() > self.bits() {
            return Err(Error::TooLong { what: "the operand", bits: x.bit_len(), most: self.bits() });
        }
        let mut outcome = Outcome { spectrum: vec![[0; LANES]; self.words()], ..Outcome::default() };
        let limit = self.limit.unwrap_or(1 << (self.size.log_points() + 6));
        let first = self.dut.cycles();
        let (mut taken, mut begin) = (false, first);
        // Words of the store that were asked for, with the cycle of their answer.
        let mut flying = std::collections::VecDeque::new();
        loop {
            let cycle = self.dut.cycles();
            if cycle - first >= cycles {
                self.reset();
                return Ok(outcome);
            }
            if cycle - first > limit {
                self.reset();
                return Err(Error::Stuck { top: "multiplier by stored transforms", cycles: limit });
            }
            let takes = self.stalls.flows();
            // Cycles for which the store has not been ready.
            let pause = if self.stalls.is_on() { cycle % STORE_PERIOD } else { STORE_PAUSE };
            let ready = pause >= STORE_PAUSE;
            let ports = &self.ports;
            self.dut.set_u64(ports.valid, (!taken).into());
            self.dut.set_u64(ports.op, op.code());
            self.dut.set_u64(ports.out_ready, takes.into());
            self.dut.set_u64(ports.tw_ready, ready.into());
            self.dut.set_u64(ports.sp_ready, ready.into());
            if flying.front().is_some_and(|(due, _)| *due == cycle) {
                let word = flying.pop_front().map_or([0; LANES], |(_, word)| word);
                self.dut.set(ports.tw_data, &word);
            }
            self.reader.drive(&mut self.dut, cycle, &mut self.stalls);
            self.dut.eval();
            if self.dut.get_u64(ports.error) == 1 {
                self.reset();
                let problem = "it is unknown".to_owned();
                return Err(Error::Refused { top: "multiplier by stored transforms", problem });
            }
            // A beat has 384 bits for each kernel.
            let width = self.kernels as usize;
            self.reader.sample(&self.dut, cycle + self.latency, |address| {
                let first = width * address as usize;
                (first..first + width).flat_map(|i| beat(x, i)).collect::<Vec<_>>()
            });
            if !taken && self.dut.get_u64(ports.ready) == 1 {
                (taken, begin) = (true, cycle + 1);
            }
            let uses_store = [self.ports.tw_req, self.ports.sp_valid].iter().any(|port| self.dut.get_u64(*port) == 1);
            if uses_store && !ready && pause > FLYING {
                self.reset();
                let problem = "the circuit uses the store while that is not ready".to_owned();
                return Err(Error::Refused { top: "multiplier by stored transforms", problem });
            }
            if let (Op::Multiply(factor), 1) = (op, self.dut.get_u64(ports.tw_req)) {
                let address = self.dut.get_u64(ports.tw_addr) as usize;
                flying.push_back((cycle + TW_LATENCY as u64, factor.words[address]));
            }
            if self.dut.get_u64(ports.sp_valid) == 1 {
                let address = self.dut.get_u64(ports.sp_addr) as usize;
                self.dut.get(ports.sp_data, &mut outcome.spectrum[address]);
            }
            if self.dut.get_u64(ports.resident) == 1 {
                outcome.resident = cycle + 1 - begin;
            }
            if takes && self.dut.get_u64(ports.out_valid) == 1 {
                let mut words = [0; BEAT];
                self.dut.get(ports.out_data, &mut words);
                outcome.words.extend_from_slice(&words);
                outcome.end = cycle + 1 - begin;
            }
            let done = self.dut.get_u64(ports.done) == 1;
            self.dut.tick();
            if done {
                return Ok(outcome);
            }
        }
    }
}

impl Outcome {
    fn product(self) -> Product {
        Product { value: Natural::from_words(self.words), resident: self.resident, unloaded: self.end }
    }
}
