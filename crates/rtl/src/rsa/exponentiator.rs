//! The simulated exponentiator.

use solinas_bigint::Natural;

use crate::bus::Stalls;
use crate::{BuildStage, Design, Error, Instance, Model, Port, Timing};

/// Points of a transform: digits of a number.
const DIGITS: usize = 512;

/// The size of an instance: the longest modulus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    /// Moduli of 8192 bits, or two of 4096.
    Bits8192,
    /// Moduli of 12,288 bits, or two of 6144.
    Bits12288,
}

impl Size {
    /// Bits of the longest modulus.
    pub fn bits(self) -> usize {
        match self {
            Self::Bits8192 => 8192,
            Self::Bits12288 => 12_288,
        }
    }

    /// Bits of a digit.
    pub fn digit_bits(self) -> usize {
        match self {
            Self::Bits8192 => 17,
            Self::Bits12288 => 25,
        }
    }

    /// n: products are computed modulo 2^n - 1 and 2^n + 1. `half` is for two moduli at a time.
    pub fn ring_bits(self, half: bool) -> usize {
        (self.digit_bits() * DIGITS) >> usize::from(half)
    }

    /// Words of the longest exponent.
    fn exponent_words(self, half: bool) -> usize {
        (if self == Self::Bits8192 { 128 } else { 256 }) >> usize::from(half)
    }
}

/// One power, `base`^`exponent` mod `modulus`.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The modulus, an odd number.
    pub modulus: &'a Natural,
    /// The exponent.
    pub exponent: &'a Natural,
    /// Length of the exponent in bits on which the number of cycles depends. The exponent itself may be shorter.
    pub exponent_bits: usize,
    /// The base, a number below the modulus.
    pub base: &'a Natural,
}

/// Powers, and the cycles of the circuit.
#[derive(Debug, Clone)]
pub struct Powers {
    /// A power for each task.
    pub values: Vec<Natural>,
    /// Cycles of the powers, with the transfers of their bases and results, without those of keys and exponents.
    pub cycles: u64,
    /// Cycles in which keys and exponents were loaded.
    pub load_cycles: u64,
}

/// A simulated exponentiator.
#[derive(Debug)]
pub struct Exponentiator {
    dut: Instance,
    size: Size,
    ports: Ports,
    stalls: Stalls,
    limit: Option<u64>,
}

#[derive(Debug)]
struct Ports {
    valid: Port,
    ready: Port,
    op: Port,
    half: Port,
    moduli: Port,
    words: Port,
    done: Port,
    error: Port,
    in_valid: Port,
    in_ready: Port,
    in_data: Port,
    out_valid: Port,
    out_ready: Port,
    out_data: Port,
}

/// A command of `rtl/rsa/sol_rsa_control.sv`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub op: u64,
    pub half: bool,
    pub moduli: u64,
    pub words: u64,
}

pub(crate) const KEY: u64 = 0;
pub(crate) const EXPONENT: u64 = 1;
pub(crate) const POWER: u64 = 2;

/// The design of the exponentiator.
///
/// # Errors
/// [`Error::NoSource`].
pub fn design(size: Size) -> Result<Design, Error> {
    Ok(Design::new("sol_rsa").files("rsa/files.f")?.parameter("BITS", size.bits() as u64))
}

impl Exponentiator {
    /// An exponentiator of this size. The model is built on first use; `progress` is called at each stage of that.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn new(size: Size, timing: Timing, progress: &mut dyn FnMut(BuildStage)) -> Result<Self, Error> {
        Self::of_design(&design(size)?, size, timing, progress)
    }

    /// An exponentiator of a changed design.
    ///
    /// # Errors
    /// The errors of [`Model::build`].
    pub fn of_design(
        design: &Design,
        size: Size,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let mut dut = Model::build(design, progress)?.instance()?;
        let port = |name: &str| dut.port(name);
        let ports = Ports {
            valid: port("cmd_valid_i")?,
            ready: port("cmd_ready_o")?,
            op: port("cmd_op_i")?,
            half: port("cmd_half_i")?,
            moduli: port("cmd_moduli_i")?,
            words: port("cmd_words_i")?,
            done: port("done_o")?,
            error: port("error_o")?,
            in_valid: port("in_valid_i")?,
            in_ready: port("in_ready_o")?,
            in_data: port("in_data_i")?,
            out_valid: port("out_valid_o")?,
            out_ready: port("out_ready_i")?,
            out_data: port("out_data_o")?,
        };
        dut.reset();
        Ok(Self { dut, size, ports, stalls: Stalls::new(timing.stalls), limit: None })
    }

    /// The size of this instance.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Limits the cycles of a command. The default limit is above the cycles of every command.
    pub fn set_limit(&mut self, cycles: u64) {
        self.limit = Some(cycles);
    }

    /// Computes one power, or two with moduli of half the length at a time. A single power of half the length takes the passes
    /// of half the length too.
    ///
    /// # Errors
    /// [`Error::TooLong`]. [`Error::Refused`] for an even modulus, and for one that shares a factor with 2^n - 1: then
    /// McLaughlin's method does not work. [`Error::Stuck`].
    pub fn powers(&mut self, tasks: &[Task<'_>]) -> Result<Powers, Error> {
        if !(1..=2).contains(&tasks.len()) {
            return Err(refused(&format!("it is for {} powers; give one or two", tasks.len())));
        }
        let (bits, exponent_bits) = (self.size.bits() / 2, 64 * self.size.exponent_words(true));
        let is_half = |task: &Task<'_>| task.modulus.bit_len() <= bits && task.exponent_bits <= exponent_bits;
        let half = tasks.len() == 2 || tasks.iter().all(is_half);
        let start = self.dut.cycles();
        for (slot, task) in tasks.iter().enumerate() {
            self.load(half, slot, task)?;
        }
        let loaded = self.dut.cycles();
        let n = self.size.ring_bits(half);
        let ring = ones(n);
        let mut words = Vec::new();
        for task in tasks {
            let square = (&ring * &ring).rem(task.modulus).map_err(|error| refused(&error.to_string()))?;
            words.extend(padded(&square, n / 64));
            words.extend(padded(task.base, n / 64));
        }
        let command = Command { op: POWER, half, moduli: if tasks.len() == 2 { 3 } else { 1 }, words: 0 };
        let out = self.run(command, &words)?;
        let values = out.chunks(n / 64).map(|words| Natural::from_words(words.to_vec())).collect();
        Ok(Powers { values, cycles: self.dut.cycles() - loaded, load_cycles: loaded - start })
    }

    /// Loads the key and the exponent of a task.
    fn load(&mut self, half: bool, slot: usize, task: &Task<'_>) -> Result<(), Error> {
        let n = self.size.ring_bits(half);
        let most = self.size.bits() >> usize::from(half);
        let length = task.exponent_bits.max(1).div_ceil(64);
        for (what, bits, most) in [
            ("the modulus", task.modulus.bit_len(), most),
            ("the exponent", task.exponent.bit_len(), task.exponent_bits),
            ("the exponent", length * 64, 64 * self.size.exponent_words(half)),
        ] {
            if bits > most {
                return Err(Error::TooLong { what, bits, most });
            }
        }
        if task.base >= task.modulus {
            return Err(refused("the base is not below the modulus"));
        }
        let moduli = 1 << slot;
        self.key(half, moduli, task.modulus, &inverse(task.modulus, n)?)?;
        let command = Command { op: EXPONENT, half, moduli, words: length as u64 };
        self.run(command, &padded(task.exponent, length))?;
        Ok(())
    }

    /// Loads a modulus of at most half the full length, with the inverse of another one. A test checks that the circuit
    /// refuses it.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub fn load_key(&mut self, modulus: &Natural, other: &Natural) -> Result<(), Error> {
        self.key(true, 1, modulus, &inverse(other, self.size.ring_bits(true))?)
    }

    fn key(&mut self, half: bool, moduli: u64, modulus: &Natural, inverse: &Natural) -> Result<(), Error> {
        let words = self.size.ring_bits(half) / 64;
        let stream = [padded(inverse, words), padded(modulus, words)].concat();
        self.run(Command { op: KEY, half, moduli, words: 0 }, &stream).map(|_| ())
    }

    /// Runs a command: sends `words` to the circuit and returns the words that it answers.
    pub(crate) fn run(&mut self, command: Command, words: &[u64]) -> Result<Vec<u64>, Error> {
        let ports = &self.ports;
        // A product takes less than 1000 cycles.
        let bits = 64 * self.size.exponent_words(false) as u64;
        let limit = self.limit.unwrap_or(if command.op == POWER { 2500 * (bits + 20) } else { 1 << 16 });
        let end = self.dut.cycles() + limit;
        let (mut taken, mut sent, mut out) = (false, 0, Vec::new());
        for (port, value) in [
            (ports.op, command.op),
            (ports.half, command.half.into()),
            (ports.moduli, command.moduli),
            (ports.words, command.words),
        ] {
            self.dut.set_u64(port, value);
        }
        loop {
            if self.dut.cycles() > end {
                self.reset();
                return Err(Error::Stuck { top: "exponentiator", cycles: limit });
            }
            let (sends, takes) = (sent < words.len() && self.stalls.flows(), self.stalls.flows());
            self.dut.set_u64(self.ports.valid, (!taken).into());
            self.dut.set_u64(self.ports.in_valid, sends.into());
            self.dut.set_u64(self.ports.in_data, words.get(sent).copied().unwrap_or(0));
            self.dut.set_u64(self.ports.out_ready, takes.into());
            self.dut.eval();
            taken |= self.dut.get_u64(self.ports.ready) == 1;
            sent += usize::from(sends && self.dut.get_u64(self.ports.in_ready) == 1);
            if takes && self.dut.get_u64(self.ports.out_valid) == 1 {
                out.push(self.dut.get_u64(self.ports.out_data));
            }
            self.dut.tick();
            if self.dut.get_u64(self.ports.done) == 1 {
                break;
            }
        }
        self.dut.set_u64(self.ports.valid, 0);
        self.dut.set_u64(self.ports.in_valid, 0);
        match PROBLEMS.get(self.dut.get_u64(self.ports.error) as usize) {
            Some(&"") => Ok(out),
            problem => Err(refused(problem.unwrap_or(&"its error is unknown"))),
        }
    }

    /// Resets the circuit. It then has no keys.
    fn reset(&mut self) {
        self.dut.set_u64(self.ports.valid, 0);
        self.dut.set_u64(self.ports.in_valid, 0);
        self.dut.reset();
    }
}

/// The outcomes of `error_e` in `rtl/rsa/sol_rsa_pkg.sv`.
const PROBLEMS: [&str; 6] = [
    "",
    "it is unknown, or its moduli or its words are impossible",
    "a modulus has no key or no exponent of this length; load them first",
    "the modulus is even; compute it on the device cpu",
    "the modulus is too long: its two upper digits must be 0",
    "N' is not 1/N modulo 2^n - 1",
];

fn refused(problem: &str) -> Error {
    Error::Refused { top: "exponentiator", problem: problem.into() }
}

/// 2^n - 1.
fn ones(n: usize) -> Natural {
    Natural::from_words(vec![u64::MAX; n / 64])
}

/// 1/`modulus` modulo 2^n - 1.
fn inverse(modulus: &Natural, n: usize) -> Result<Natural, Error> {
    if modulus.words().first().is_none_or(|word| word % 2 == 0) {
        return Err(refused(PROBLEMS[3]));
    }
    let ring = ones(n);
    modulus
        .rem(&ring)
        .and_then(|modulus| modulus.inverse(&ring))
        .map_err(|_| refused(&format!("the modulus shares a factor with 2^{n} - 1; compute it on the device cpu")))
}

/// The words of a number, with zeros above.
fn padded(x: &Natural, words: usize) -> Vec<u64> {
    let mut all = x.words().to_vec();
    all.resize(words, 0);
    all
}
