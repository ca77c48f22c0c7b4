//! Warps that step together: their registers as one array for each register, and the lanes that wait at each instruction.

use super::Trouble;
use super::block::{Device, State};
use super::copies::Copies;
use super::mask::Mask;
use super::pattern::WARP;
use crate::error::{Fault, FaultKind, Place};
use crate::isa::{Instruction, NONE, Op, Source};
use crate::syntax::Special;

/// A poll takes this much of the budget of instructions, so that other blocks soon get their turn.
const POLL: u64 = 64;

/// Lanes that stand at one instruction.
#[derive(Clone, Copy, Debug)]
struct Fragment {
    pc: usize,
    mask: Mask,
    /// They wait there for other lanes of their warps.
    waiting: bool,
}

/// Lanes that wait at a barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) pc: usize,
    pub(super) mask: Mask,
}

/// Consecutive warps of a block.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of the first thread in the block.
    pub(super) first: u32,
    /// A multiple of [`WARP`].
    pub(super) lanes: usize,
    /// Instructions write the first ones; sources follow.
    pub(super) registers: Vec<Box<[u64]>>,
    carry: Box<[u64]>,
    next_carry: Box<[u64]>,
    pub(super) scratch: Box<[u64]>,
    /// The lanes in which each watched register was written.
    marks: Vec<Mask>,
    /// Lanes that are threads.
    pub(super) all: Mask,
    pub(super) exited: Mask,
    /// By ascending instruction.
    fragments: Vec<Fragment>,
    pub(super) arrived: Vec<Arrival>,
    /// Scratch of memory accesses, see [`super::touch`].
    pub(super) touched: super::touch::Touched,
    pub(super) copies: Copies,
}

/// An instruction that lanes execute now.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) pc: usize,
    pub(super) instruction: &'a Instruction,
    pub(super) active: &'a Mask,
}

/// The effect of an instruction on the flow of control.
pub(super) enum Next {
    /// All lanes go on.
    Straight,
    /// These lanes wait at the instruction; the others go on.
    Wait(Mask),
    /// These lanes wait at the instruction for their warp; the other active lanes arrived at a barrier of the block.
    Arrived(Mask),
}

impl Group {
    pub(super) fn new(first: u32, threads: usize, device: &Device<'_>) -> Self {
        let lanes = threads.next_multiple_of(WARP);
        let program = device.program;
        let array = || vec![0; lanes].into_boxed_slice();
        let count = program.registers + program.sources.len();
        Self {
            first,
            lanes,
            registers: (0..count).map(|_| array()).collect(),
            carry: array(),
            next_carry: array(),
            scratch: array(),
            marks: vec![Mask::NONE; program.marks],
            all: Mask::first(threads),
            exited: Mask::NONE,
            fragments: Vec::new(),
            arrived: Vec::new(),
            touched: super::touch::Touched::new(lanes),
            copies: Copies::default(),
        }
    }

    /// Puts all lanes at the first instruction of a block.
    pub(super) fn start(&mut self, state: &State, device: &Device<'_>) {
        self.marks.fill(Mask::NONE);
        self.exited = Mask::NONE;
        self.arrived.clear();
        self.copies.clear();
        self.fragments.clear();
        self.fragments.push(Fragment { pc: 0, mask: self.all, waiting: false });
        let (registers, first) = (device.program.registers, self.first);
        for (source, register) in device.program.sources.iter().zip(&mut self.registers[registers..]) {
            for (lane, value) in register.iter_mut().enumerate() {
                *value = content(*source, first + lane as u32, state, device);
            }
        }
    }

    /// Whether lanes can step.
    pub(super) fn is_ready(&self) -> bool {
        self.fragments.iter().any(|fragment| !fragment.waiting)
    }

    /// The instruction at which lanes wait for others of their warp, and one of these lanes.
    pub(super) fn stuck(&self) -> Option<(usize, usize)> {
        let fragment = self.fragments.first()?;
        Some((fragment.pc, fragment.mask.lanes().next()?))
    }

    fn enqueue(&mut self, pc: usize, mask: Mask, waiting: bool) {
        if mask.is_empty() {
            return;
        }
        let at = self.fragments.partition_point(|fragment| fragment.pc < pc);
        match self.fragments.get_mut(at) {
            Some(fragment) if fragment.pc == pc => {
                fragment.mask = fragment.mask.or(&mask);
                fragment.waiting = false;
            }
            _ => self.fragments.insert(at, Fragment { pc, mask, waiting }),
        }
    }

    /// Lets lanes that waited at a barrier go on. The barrier's instruction gave `result` for its target.
    pub(super) fn release(&mut self, result: u64, device: &Device<'_>) {
        for Arrival { pc, mask } in std::mem::take(&mut self.arrived) {
            let instruction = &device.program.code[pc];
            if instruction.d[0] != NONE {
                self.scratch.fill(result);
                self.commit(instruction.d[0], &mask);
            }
            self.set_marks(instruction, &mask);
            self.enqueue(pc + 1, mask, false);
        }
    }

    /// Writes the scratch register to the lanes of a register.
    #[inline]
    pub(super) fn commit(&mut self, register: u32, mask: &Mask) {
        let target = &mut self.registers[register as usize];
        if *mask == self.all {
            std::mem::swap(&mut self.scratch, target);
        } else {
            for lane in mask.lanes() {
                target[lane] = self.scratch[lane];
            }
        }
    }

    fn set_marks(&mut self, instruction: &Instruction, mask: &Mask) {
        for &mark in &instruction.sets {
            let mark = &mut self.marks[mark as usize];
            *mark = mark.or(mask);
        }
    }

    /// Steps until no lane is ready or the budget of instructions is spent.
    pub(super) fn run(&mut self, state: &mut State, device: &mut Device<'_>, budget: &mut u64) -> Result<(), Fault> {
        while let Some(at) = self.fragments.iter().position(|fragment| !fragment.waiting) {
            let Fragment { mut pc, mask, .. } = self.fragments.remove(at);
            // The lanes run alone until they reach others.
            let limit = self.fragments.get(at).map_or(usize::MAX, |next| next.pc);
            let count = u64::from(mask.count());
            loop {
                if pc >= limit || *budget == 0 {
                    self.enqueue(pc, mask, false);
                    break;
                }
                *budget -= 1;
                let program = device.program;
                let instruction = &program.code[pc];
                let active = match instruction.guard {
                    None => mask,
                    Some((register, wanted)) => {
                        self.check_marks(instruction.guard_needs.as_slice(), &mask, device)
                            .map_err(|trouble| self.fault(trouble, pc, state, device))?;
                        Mask::of(&self.registers[register as usize], wanted).and(&mask)
                    }
                };
                device.counts[pc] += if instruction.guard.is_none() { count } else { u64::from(active.count()) };
                match instruction.op {
                    Op::Branch(target) => {
                        let others = self.fragments.is_empty();
                        if others && active == mask {
                            pc = target;
                        } else if active.is_empty() {
                            pc += 1;
                        } else {
                            self.enqueue(target, active, false);
                            self.enqueue(pc + 1, mask.without(&active), false);
                            break;
                        }
                        continue;
                    }
                    Op::Exit => {
                        let left = self.leave(&active, state, device);
                        left.map_err(|trouble| self.fault(trouble, pc, state, device))?;
                        self.exited = self.exited.or(&active);
                        device.advance();
                        // Lanes may have waited for these ones alone.
                        self.fragments.iter_mut().for_each(|fragment| fragment.waiting = false);
                        self.enqueue(pc + 1, mask.without(&active), false);
                        break;
                    }
                    _ if active.is_empty() => {
                        pc += 1;
                        continue;
                    }
                    _ => {}
                }
                let polls = device.polls;
                let next = self.execute(Step { pc, instruction, active: &active }, state, device);
                match next.map_err(|trouble| self.fault(trouble, pc, state, device))? {
                    Next::Straight => {
                        if device.polls > polls {
                            *budget = budget.saturating_sub(POLL);
                        }
                        if !instruction.sets.is_empty() {
                            self.set_marks(instruction, &active);
                        }
                        pc += 1;
                    }
                    Next::Wait(waiting) => {
                        // They execute the instruction when they no longer wait.
                        device.counts[pc] -= u64::from(waiting.count());
                        self.set_marks(instruction, &active.without(&waiting));
                        self.enqueue(pc + 1, mask.without(&waiting), false);
                        self.enqueue(pc, waiting, true);
                        break;
                    }
                    Next::Arrived(waiting) => {
                        device.counts[pc] -= u64::from(waiting.count());
                        self.enqueue(pc + 1, mask.without(&active), false);
                        self.enqueue(pc, waiting, true);
                        break;
                    }
                }
            }
            if *budget == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Checks that these lanes have written the registers of the marks.
    fn check_marks(&self, marks: &[u32], mask: &Mask, device: &Device<'_>) -> Result<(), Trouble> {
        if !device.checks.uninitialised {
            return Ok(());
        }
        for &mark in marks {
            if let Some(lane) = mask.without(&self.marks[mark as usize]).lanes().next() {
                let what = "a register or the carry flag is read before it is written";
                return Err(Trouble::new(FaultKind::Uninitialised, lane, what));
            }
        }
        Ok(())
    }

    /// Adds the place to a fault.
    pub(super) fn fault(&self, trouble: Trouble, pc: usize, state: &State, device: &Device<'_>) -> Fault {
        let statement = device.statement(pc);
        let place = Place {
            kernel: device.program.entry.name.clone(),
            block: state.index3,
            thread: unflatten(self.first + trouble.lane as u32, device.launch.block),
            line: statement.map_or(0, |statement| statement.line),
            instruction: statement.map_or_else(String::new, |statement| statement.text.clone()),
        };
        Fault { kind: trouble.kind, what: trouble.what, address: trouble.address, place: Some(Box::new(place)) }
    }

    #[inline]
    fn execute(&mut self, step: Step<'_>, state: &mut State, device: &mut Device<'_>) -> Result<Next, Trouble> {
        let Step { pc, instruction, active } = step;

        self.check_marks(&instruction.needs, active, device)?;
        let register = |at: usize| &self.registers[instruction.s[at] as usize];
        match instruction.op {
            Op::Unary(f) => f(&mut self.scratch, register(0)),
            Op::Binary(f) => f(&mut self.scratch, register(0), register(1)),
            Op::Quotient(f) => {
                if let Some(lane) = active.lanes().find(|&lane| register(1)[lane] == 0) {
                    let what = "a division of integers by 0 has no defined result";
                    return Err(Trouble::new(FaultKind::Trap, lane, what));
                }
                f(&mut self.scratch, register(0), register(1));
            }
            Op::Ternary(f) => f(&mut self.scratch, register(0), register(1), register(2)),
            Op::Quaternary(f) => f(&mut self.scratch, register(0), register(1), register(2), register(3)),
            Op::Carry(f) => {
                if *active == self.all {
                    f(&mut self.scratch, &mut self.carry, register(0), register(1), register(2));
                } else {
                    self.next_carry.copy_from_slice(&self.carry);
                    f(&mut self.scratch, &mut self.next_carry, register(0), register(1), register(2));
                    active.lanes().for_each(|lane| self.carry[lane] = self.next_carry[lane]);
                }
            }
            Op::ActiveMask => {
                for lane in active.lanes() {
                    self.scratch[lane] = u64::from(active.warp(lane / WARP));
                }
            }
            Op::Load(access) => {
                self.load(step, access, state, device)?;
                return Ok(Next::Straight);
            }
            Op::Store(access) => {
                self.store(step, access, state, device)?;
                return Ok(Next::Straight);
            }
            Op::Atomic(atomic) => {
                self.atomic(step, atomic, state, device)?;
                return Ok(Next::Straight);
            }
            Op::Copy(access) => {
                self.copy(step, access, state, device)?;
                return Ok(Next::Straight);
            }
            Op::CloseCopies => {
                self.copies.close(self.lanes, active);
                return Ok(Next::Straight);
            }
            Op::AwaitCopies(left) => {
                self.land(active, left, state, device)?;
                return Ok(Next::Straight);
            }
            Op::Shuffle(_) | Op::Vote(_) | Op::Reduce(_) | Op::WarpBarrier => {
                return self.exchange(instruction, active, state);
            }
            Op::Barrier(_) => return Ok(self.arrive(pc, active, device)),
            Op::Fence { grid } => {
                if device.program.strong {
                    for lane in active.lanes() {
                        device.knowledge.fence(&state.who(self.first + lane as u32), grid);
                    }
                    state.advance();
                }
                return Ok(Next::Straight);
            }
            Op::Trap => {
                let lane = active.lanes().next().unwrap_or(0);
                return Err(Trouble::new(FaultKind::Trap, lane, "the kernel stopped itself with trap"));
            }
            Op::Nothing | Op::Branch(_) | Op::Exit => return Ok(Next::Straight),
        }
        self.commit(instruction.d[0], active);
        Ok(Next::Straight)
    }

    /// Lanes reach a barrier of the block. A lane waits if its warp is not complete.
    fn arrive(&mut self, pc: usize, active: &Mask, device: &Device<'_>) -> Next {
        let alive = self.all.without(&self.exited);
        let mut waiting = Mask::NONE;
        for warp in 0..self.lanes / WARP {
            let (here, expected) = (active.warp(warp), alive.warp(warp));
            if here != expected && device.checks.barriers {
                waiting.set_warp(warp, here);
            }
        }
        let mask = active.without(&waiting);
        if !mask.is_empty() {
            self.arrived.push(Arrival { pc, mask });
        }
        Next::Arrived(waiting)
    }
}

fn unflatten(index: u32, size: [u32; 3]) -> [u32; 3] {
    [index % size[0], index / size[0] % size[1], index / size[0] / size[1]]
}

/// The value of a source in a thread.
fn content(source: Source, thread: u32, state: &State, device: &Device<'_>) -> u64 {
    let lane = thread % 32;
    match source {
        Source::Constant(value) => value,
        Source::Parameter { offset, bytes } => {
            let (start, bytes) = (offset as usize, bytes as usize);
            let mut value = [0; 8];
            if let Some(parameter) = device.parameters.get(start..start + bytes) {
                value[..bytes].copy_from_slice(parameter);
            }
            u64::from_le_bytes(value)
        }
        Source::Special(special) => u64::from(match special {
            Special::Thread(axis) => unflatten(thread, device.launch.block)[axis],
            Special::BlockSize(axis) => device.launch.block[axis],
            Special::Block(axis) => state.index3[axis],
            Special::GridSize(axis) => device.launch.grid[axis],
            Special::Lane => lane,
            Special::LanesLess => (1 << lane) - 1,
            Special::LanesUpTo => u32::MAX >> (31 - lane),
            Special::LanesFrom => u32::MAX << lane,
            Special::LanesGreater => (u32::MAX << lane) ^ (1 << lane),
        }),
    }
}
