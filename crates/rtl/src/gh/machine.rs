//! The accelerator with its memory: registers, programs, slots and the table.

use std::collections::HashMap;

use solinas_bigint::Natural;

use super::program::{Program, SKIP, Slot};
use crate::bus::{BEAT, BEAT_BITS, Beat, Reader, Stalls, Writer};
use crate::multiplier::{Size, beat};
use crate::{BuildStage, Design, Error, Instance, Model, Port, Timing};

/// Registers of `rtl/gh/sol_gh_pkg.sv`, by the address of their word.
pub(super) mod registers {
    pub(in crate::gh) const ID: u16 = 0x00;
    pub(in crate::gh) const COMMAND: u16 = 0x01;
    pub(in crate::gh) const STATUS: u16 = 0x02;
    pub(in crate::gh) const BASE: u16 = 0x04;
    pub(in crate::gh) const TABLE: u16 = 0x05;
    pub(in crate::gh) const SHIFT: u16 = 0x06;
    pub(in crate::gh) const POINT: u16 = 0x07;
    pub(in crate::gh) const RATIO: u16 = 0x08;
    pub(in crate::gh) const GUARD: u16 = 0x09;
    pub(in crate::gh) const SIZE: u16 = 0x0a;
    pub(in crate::gh) const BITS: u16 = 0x0b;
    pub(in crate::gh) const CYCLES: u16 = 0x0c;
    pub(in crate::gh) const LIST: u16 = 0x4000;
    pub(in crate::gh) const PROGRAM: u16 = 0x8000;
}

/// The value of [`registers::ID`].
const ID: u64 = 0x4748_0001;
/// The first beat of the table. Slots begin at beat 0.
const TABLE: u64 = 1 << 31;

/// The cycles and the memory traffic of a primitive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrimitiveCost {
    /// Cycles from the command to its end.
    pub cycles: u64,
    /// Bytes that were read from memory outside of the chip.
    pub read_bytes: u64,
    /// Bytes that were written to it.
    pub written_bytes: u64,
}

impl std::ops::AddAssign for PrimitiveCost {
    fn add_assign(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
    }
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) cost: PrimitiveCost,
    /// The result bit.
    pub(super) bit: bool,
    /// The error code: `error_e` of the package.
    pub(super) error: u64,
}

/// Error code of candidates that may be wrong.
pub(super) const GUARD: u64 = 3;

/// A simulated accelerator.
#[derive(Debug)]
pub(super) struct Machine {
    dut: Instance,
    size: Size,
    readers: [Reader; 3],
    writer: Writer,
    write: Port,
    address: Port,
    data: Port,
    read: Port,
    stalls: Stalls,
    latency: u64,
    memory: Memory,
    limit: Option<u64>,
}

/// Memory outside of the chip. Slots are made when they are first written.
#[derive(Debug, Default)]
struct Memory {
    log_slot: u32,
    slots: HashMap<u64, Vec<Beat>>,
    /// For each block, the residues of its candidates one after the other.
    table: Vec<Vec<u64>>,
    candidates: usize,
    words: usize,
}

impl Memory {
    fn read(&self, address: u64) -> Beat {
        if let Some(at) = address.checked_sub(TABLE) {
            // Beat by beat, and within a beat candidate by candidate.
            let (row, i) = (at as usize / self.candidates, at as usize % self.candidates);
            let (block, beat) = (row >> self.log_slot, row & ((1 << self.log_slot) - 1));
            let residue = self.table.get(block).map_or(&[][..], |block| &block[i * self.words..][..self.words]);
            return std::array::from_fn(|w| residue.get(BEAT * beat + w).copied().unwrap_or(0));
        }
        let (slot, beat) = (address >> self.log_slot, address as usize & ((1 << self.log_slot) - 1));
        self.slots.get(&slot).map_or([0; BEAT], |slot| slot[beat])
    }

    fn write(&mut self, address: u64, value: Beat) {
        let (slot, beat) = (address >> self.log_slot, address as usize & ((1 << self.log_slot) - 1));
        let beats = 1 << self.log_slot;
        self.slots.entry(slot).or_insert_with(|| vec![[0; BEAT]; beats])[beat] = value;
    }
}

/// The design of the accelerator.
///
/// # Errors
/// [`Error::NoSource`].
pub fn design(size: Size) -> Result<Design, Error> {
    let design = Design::new("sol_gh").files("gh/files.f")?;
    Ok(design.parameter("LOG_N", size.log_points().into()).light(size == Size::Small))
}

impl Machine {
    pub(super) fn new(
        design: &Design,
        size: Size,
        timing: Timing,
        progress: &mut dyn FnMut(BuildStage),
    ) -> Result<Self, Error> {
        let mut dut = Model::build(design, progress)?.instance()?;
        let readers = [Reader::new(&dut, "la")?, Reader::new(&dut, "lb")?, Reader::new(&dut, "c")?];
        let writer = Writer::new(&dut, "w")?;
        let port = |name: &str| dut.port(name);
        let (write, address) = (port("reg_we_i")?, port("reg_addr_i")?);
        let (data, read) = (port("reg_wdata_i")?, port("reg_rdata_o")?);
        dut.reset();
        let memory = Memory { log_slot: size.log_points() - 5, candidates: 1, ..Memory::default() };
        let stalls = Stalls::new(timing.stalls);
        let latency = timing.latency;
        let mut machine =
            Self { dut, size, readers, writer, write, address, data, read, stalls, latency, memory, limit: None };
        if machine.get(registers::ID) != ID {
            return Err(Error::Refused { top: "accelerator", problem: "its version is unknown".into() });
        }
        machine.set(registers::BASE, 0);
        machine.set(registers::TABLE, TABLE);
        Ok(machine)
    }

    /// Bits of a slot.
    pub(super) fn bits(&self) -> usize {
        self.size.bits()
    }

    /// Writes an integer to a slot.
    pub(super) fn store(&mut self, slot: Slot, value: &Natural) -> Result<(), Error> {
        if value.bit_len() > self.bits() {
            return Err(Error::TooLong { what: "a value", bits: value.bit_len(), most: self.bits() });
        }
        let beats = 1 << self.memory.log_slot;
        self.memory.slots.insert(slot.into(), (0..beats).map(|i| beat(value, i)).collect());
        Ok(())
    }

    /// Reads the integer of a slot.
    pub(super) fn load(&self, slot: Slot) -> Natural {
        let beats = self.memory.slots.get(&u64::from(slot)).map_or(&[][..], |beats| beats);
        Natural::from_words(beats.as_flattened().to_vec())
    }

    /// Sets the table: for each block, `candidates` residues of `words` words.
    pub(super) fn set_table(&mut self, table: Vec<Vec<u64>>, candidates: usize, words: usize) {
        (self.memory.table, self.memory.candidates, self.memory.words) = (table, candidates, words);
    }

    /// Writes a register.
    pub(super) fn set(&mut self, address: u16, value: u64) {
        self.dut.set_u64(self.write, 1);
        self.dut.set_u64(self.address, address.into());
        self.dut.set_u64(self.data, value);
        self.cycle();
        self.dut.set_u64(self.write, 0);
    }

    /// Sets a register to a place: a bit of an integer.
    pub(super) fn set_place(&mut self, address: u16, bit: usize) {
        self.set(address, (bit / BEAT_BITS) as u64 * 512 + (bit % BEAT_BITS) as u64);
    }

    fn get(&mut self, address: u16) -> u64 {
        self.dut.set_u64(self.address, address.into());
        self.cycle();
        self.dut.get_u64(self.read)
    }

    /// Writes a program to the stores.
    pub(super) fn load_program(&mut self, program: &Program) {
        for (i, code) in program.code.iter().enumerate() {
            self.set(registers::PROGRAM + i as u16, code.encode());
        }
        for (i, term) in program.list.iter().enumerate() {
            self.set(registers::LIST + i as u16, term.encode());
        }
    }

    /// Writes an entry of the list: a term, or [`SKIP`].
    pub(super) fn set_term(&mut self, entry: u16, term: Option<super::program::Term>) {
        self.set(registers::LIST + entry, term.map_or(SKIP, super::program::Term::encode));
    }

    /// Limits the cycles of a program. This limit replaces the argument of [`Self::run`].
    pub(super) fn set_limit(&mut self, cycles: u64) {
        self.limit = Some(cycles);
    }

    /// Resets the circuit. Its settings, its stores and the memory outside of it keep their values.
    fn reset(&mut self) {
        for reader in &mut self.readers {
            reader.reset(&mut self.dut);
        }
        self.dut.set_u64(self.write, 0);
        self.dut.reset();
    }

    /// Runs the program from its first instruction on. A program that takes more than `limit` cycles or that ends with an
    /// error is followed by a reset.
    pub(super) fn run(&mut self, limit: u64) -> Result<End, Error> {
        let limit = self.limit.unwrap_or(limit);
        let beats = |machine: &Self| (machine.readers.iter().map(Reader::beats).sum::<u64>(), machine.writer.beats());
        let before = beats(self);
        self.set(registers::COMMAND, 0);
        self.dut.set_u64(self.address, registers::STATUS.into());
        let end = self.dut.cycles() + limit;
        loop {
            self.cycle();
            // The status word: busy, done, three bits of the error, the result bit.
            let status = self.dut.get_u64(self.read);
            if status & 3 == 2 {
                let after = beats(self);
                let bytes = |beats: u64| beats * (8 * BEAT) as u64;
                let cycles = self.get(registers::CYCLES);
                let (read_bytes, written_bytes) = (bytes(after.0 - before.0), bytes(after.1 - before.1));
                let cost = PrimitiveCost { cycles, read_bytes, written_bytes };
                if status >> 2 & 7 != 0 {
                    self.reset();
                }
                return Ok(End { cost, bit: status >> 5 & 1 == 1, error: status >> 2 & 7 });
            }
            if self.dut.cycles() > end {
                self.reset();
                return Err(Error::Stuck { top: "accelerator", cycles: limit });
            }
        }
    }

    /// Simulates a cycle.
    fn cycle(&mut self) {
        let cycle = self.dut.cycles();
        for reader in &mut self.readers {
            reader.drive(&mut self.dut, cycle, &mut self.stalls);
        }
        self.writer.drive(&mut self.dut, &mut self.stalls);
        self.dut.eval();
        for reader in &mut self.readers {
            reader.sample(&self.dut, cycle + self.latency, |address| self.memory.read(address));
        }
        if let Some((address, value)) = self.writer.sample(&self.dut) {
            self.memory.write(address, value);
        }
        self.dut.tick();
    }
}
