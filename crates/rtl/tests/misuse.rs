//! Commands that the designs refuse, at their ports: nothing is computed, and the error says why.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use solinas_rtl::multiplier::Size;
use solinas_rtl::{Design, Instance, Model, Port, gh, multiplier};

fn instance(design: &Design) -> Option<Instance> {
    let mut dut = tools::or_skip(Model::build(design, &mut |_| {}))?.instance().unwrap();
    dut.reset();
    Some(dut)
}

#[test]
fn the_multiplier_drops_illegal_commands() {
    let Some(mut dut) = instance(&multiplier::design(Size::Small).unwrap()) else { return };
    let [valid, ready, op, part, error, request] =
        ["cmd_valid_i", "cmd_ready_o", "cmd_op_i", "cmd_part_i", "err_o", "la_req_o"]
            .map(|name| dut.port(name).unwrap());
    for (operation, of) in [(2, 0), (3, 0), (0, 3), (1, 3), (3, 3)] {
        [(valid, 1), (op, operation), (part, of)].into_iter().for_each(|(port, value)| dut.set_u64(port, value));
        dut.eval();
        assert_eq!(dut.get_u64(ready), 1);
        dut.tick();
        assert_eq!((dut.get_u64(error), dut.get_u64(request)), (1, 0), "operation {operation}, part {of}");
        dut.set_u64(valid, 0);
        for _ in 0..50 {
            dut.tick();
            assert_eq!((dut.get_u64(error), dut.get_u64(request), dut.get_u64(ready)), (0, 0, 1));
        }
    }
    [(valid, 1), (op, 0), (part, 0)].into_iter().for_each(|(port, value)| dut.set_u64(port, value));
    dut.tick();
    assert_eq!((dut.get_u64(error), dut.get_u64(request)), (0, 1), "a legal command is taken");
}

/// The register port of an accelerator, and a memory that answers with one beat only.
struct Registers {
    dut: Instance,
    write: Port,
    address: Port,
    data: Port,
    read: Port,
    /// Grant, request, valid, ready and data of the read master of the small units.
    memory: [Port; 5],
    flying: usize,
}

/// Addresses of `rtl/gh/sol_gh_pkg.sv`.
const COMMAND: u64 = 1;
const STATUS: u64 = 2;
const BASE: u64 = 4;
const SIZE: u64 = 10;
const PROGRAM: u64 = 0x8000;
/// Operations, as the top bits of an instruction.
const MULTIPLY: u64 = 1 << 61;
const CANDIDATES: u64 = 4 << 61;
const UNKNOWN: u64 = 7 << 61;

impl Registers {
    fn new() -> Option<Self> {
        let dut = instance(&gh::design(Size::Small).unwrap())?;
        let [write, address, data, read] =
            ["reg_we_i", "reg_addr_i", "reg_wdata_i", "reg_rdata_o"].map(|name| dut.port(name).unwrap());
        let memory =
            ["c_gnt_i", "c_req_o", "c_rvalid_i", "c_rready_o", "c_rdata_i"].map(|name| dut.port(name).unwrap());
        Some(Self { dut, write, address, data, read, memory, flying: 0 })
    }

    fn set(&mut self, address: u64, value: u64) {
        self.dut.set_u64(self.write, 1);
        self.dut.set_u64(self.address, address);
        self.dut.set_u64(self.data, value);
        self.dut.tick();
        self.dut.set_u64(self.write, 0);
    }

    fn get(&mut self, address: u64) -> u64 {
        self.dut.set_u64(self.address, address);
        self.dut.tick();
        self.dut.get_u64(self.read)
    }

    /// Busy, done and the error of the status register.
    fn status(&mut self) -> (u64, u64, u64) {
        let status = self.get(STATUS);
        (status & 1, status >> 1 & 1, status >> 2 & 7)
    }

    /// Runs a program, with memory that holds this word everywhere.
    fn run(&mut self, program: &[u64], word: u64) -> (u64, u64, u64) {
        for (i, code) in program.iter().enumerate() {
            self.set(PROGRAM + i as u64, *code);
        }
        self.set(COMMAND, 0);
        let [grant, request, valid, ready, data] = self.memory;
        self.dut.set_u64(self.address, STATUS);
        self.dut.set_u64(grant, 1);
        self.dut.set(data, &[word; 6]);
        for _ in 0..200 {
            self.dut.set_u64(valid, u64::from(self.flying > 0));
            self.dut.eval();
            self.flying += self.dut.get_u64(request) as usize;
            self.flying -= usize::from(self.dut.get_u64(valid) == 1 && self.dut.get_u64(ready) == 1);
            self.dut.tick();
        }
        self.status()
    }
}

#[test]
fn a_command_while_a_program_runs_is_refused_and_a_reset_ends_the_program() {
    let Some(mut registers) = Registers::new() else { return };
    registers.set(BASE, 0x1234);
    registers.set(PROGRAM, MULTIPLY);
    registers.set(PROGRAM + 1, 0);
    assert_eq!(registers.status(), (0, 0, 0));
    // No memory answers, so the product waits for its operands.
    registers.set(COMMAND, 0);
    assert_eq!(registers.status(), (1, 0, 0));
    registers.set(COMMAND, 1);
    assert_eq!(registers.status(), (1, 0, 1));
    registers.set(BASE, 0x5678);
    registers.set(PROGRAM, UNKNOWN);
    assert_eq!((registers.status(), registers.get(BASE)), ((1, 0, 1), 0x1234));
    registers.dut.reset();
    assert_eq!(registers.status(), (0, 0, 0));
    // The program store kept its instruction, and a program without one ends at once.
    assert_eq!(registers.run(&[0], 0), (0, 1, 0));
}

#[test]
fn an_unknown_instruction_and_unsafe_guard_bits_stop_a_program() {
    let Some(mut registers) = Registers::new() else { return };
    assert_eq!(registers.run(&[UNKNOWN, 0], 0), (0, 1, 2));
    assert_eq!(registers.run(&[0, UNKNOWN], 0), (0, 1, 0), "a program ends before it");
    // One candidate of three bits.
    registers.set(SIZE, 3 << 10 | 1);
    for (word, error) in [(0, 3), (u64::MAX, 3), (0x5555_5555_5555_5555, 0), (1, 0)] {
        assert_eq!(registers.run(&[CANDIDATES, 0], word), (0, 1, error), "{word:x}");
    }
}

#[test]
fn the_errors_of_the_status_register_name_the_fix() {
    for (code, fault, fix) in [
        (1, "while a program ran", "wait until"),
        (2, "unknown instruction", "delete the model"),
        (3, "guard bits", "on the device cpu"),
        (4, "the multiplier refused", "delete the model"),
        (7, "error code 7", "delete the model"),
    ] {
        let problem = gh::problem(code);
        assert!(problem.contains(fault) && problem.contains(fix), "{problem}");
    }
}
