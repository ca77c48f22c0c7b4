//! Loads, stores and atomic operations of a group: values move between registers and the places that [`super::touch`]
//! checked.

use super::Trouble;
use super::block::{Device, State};
use super::group::{Group, Step};
use super::touch::{CONST, Does, NOWHERE, SHARED, Touched};
use crate::buffer::Buffer;
use crate::isa::{Access, Atomic, NONE};

/// The number of `N` bytes at an offset; 0 outside of the bytes.
#[inline(always)]
fn part<const N: usize>(bytes: &[u8], offset: usize) -> u64 {
    let mut value = [0; 8];
    if let Some(bytes) = bytes.get(offset..offset.wrapping_add(N)) {
        value[..N].copy_from_slice(bytes);
    }
    u64::from_le_bytes(value)
}

#[inline(always)]
fn set_part<const N: usize>(bytes: &mut [u8], offset: usize, value: u64) {
    if let Some(bytes) = bytes.get_mut(offset..offset.wrapping_add(N)) {
        bytes.copy_from_slice(&value.to_le_bytes()[..N]);
    }
}

/// Reads a number of `N` bytes into each of the lanes.
#[inline(always)]
fn gather<const N: usize>(out: &mut [u64], lanes: &[usize], from: Origin<'_>, offsets: &[usize], shift: usize) {
    match from {
        Origin::Bytes(bytes) => each(out, lanes, offsets, |offset| part::<N>(bytes, offset + shift)),
        Origin::Buffer(buffer) => each(out, lanes, offsets, |offset| buffer.load::<N>(offset + shift)),
    }
}

/// Sets the lanes of a register to the numbers at their offsets.
#[inline(always)]
fn each(out: &mut [u64], lanes: &[usize], offsets: &[usize], load: impl Fn(usize) -> u64) {
    if lanes.len() == out.len() {
        for (out, &offset) in out.iter_mut().zip(offsets) {
            *out = load(offset);
        }
    } else {
        for &lane in lanes {
            out[lane] = load(offsets[lane]);
        }
    }
}

/// The memory of a load.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Bytes(&'a [u8]),
    Buffer(&'a Buffer),
}

/// Writes a number of `N` bytes from each of the lanes.
#[inline(always)]
fn scatter<const N: usize>(values: &[u64], lanes: &[usize], bytes: &mut [u8], offsets: &[usize], shift: usize) {
    for &lane in lanes {
        set_part::<N>(bytes, offsets[lane] + shift, values[lane]);
    }
}

#[inline(always)]
fn load_global<const N: usize>(buffer: &Buffer, offset: usize) -> u64 {
    buffer.load::<N>(offset)
}

#[inline(always)]
fn store_global<const N: usize>(buffer: &Buffer, offset: usize, value: u64) {
    buffer.store::<N>(offset, value);
}

/// As [`scatter`], to global memory.
#[inline(always)]
fn scatter_global<const N: usize>(values: &[u64], lanes: &[usize], buffer: &Buffer, offsets: &[usize], shift: usize) {
    for &lane in lanes {
        buffer.store::<N>(offsets[lane] + shift, values[lane]);
    }
}

/// Calls `$f` for a size of 1, 2, 4 or 8 bytes.
macro_rules! of_size {
    ($bytes:expr, $f:ident($($argument:expr),*)) => {
        match $bytes {
            8 => $f::<8>($($argument),*),
            4 => $f::<4>($($argument),*),
            2 => $f::<2>($($argument),*),
            _ => $f::<1>($($argument),*),
        }
    };
}

impl Group {
    pub(super) fn load(
        &mut self,
        step: Step<'_>,
        access: Access,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, active, .. } = step;

        self.touch(step, access, Does::Read, state, device)?;
        if access.order.strong && device.program.strong {
            device.polls += 1;
            for &lane in &self.touched.list {
                let who = state.who(self.first + lane as u32);
                device.knowledge.read(&who, state.key(self.touched.addresses[lane]), access.order);
            }
        }
        for (element, &target) in instruction.d.iter().enumerate().take(access.count as usize) {
            if target == NONE {
                continue;
            }
            let shift = element * access.bytes as usize;
            let touched = &self.touched;
            for (slot, lanes) in touched.runs() {
                let from = match slot {
                    SHARED => Origin::Bytes(&state.shared),
                    CONST => Origin::Bytes(&device.program.constants),
                    NOWHERE => Origin::Bytes(&[]),
                    slot => Origin::Buffer(device.memory.buffer(slot as usize)),
                };
                of_size!(access.bytes, gather(&mut self.scratch, lanes, from, &touched.offsets, shift));
            }
            if let Some(mask) = access.signed {
                let unused = 64 - 8 * access.bytes;
                for &lane in &self.touched.list {
                    self.scratch[lane] = ((self.scratch[lane] << unused) as i64 >> unused) as u64 & mask;
                }
            }
            self.commit(target, active);
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        step: Step<'_>,
        access: Access,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, .. } = step;

        self.touch(step, access, Does::Write, state, device)?;
        device.advance();
        if access.order.strong && device.program.strong {
            for &lane in &self.touched.list {
                let who = state.who(self.first + lane as u32);
                device.knowledge.write(&who, state.key(self.touched.addresses[lane]), access.order, false);
            }
            state.advance();
        }
        for element in 0..access.count as usize {
            let shift = element * access.bytes as usize;
            let values = &self.registers[instruction.s[1 + element] as usize];
            let touched = &self.touched;
            for (slot, lanes) in touched.runs() {
                let offsets = &touched.offsets;
                match slot {
                    SHARED => of_size!(access.bytes, scatter(values, lanes, &mut state.shared, offsets, shift)),
                    NOWHERE | CONST => {}
                    slot => {
                        let buffer = device.memory.buffer(slot as usize);
                        of_size!(access.bytes, scatter_global(values, lanes, buffer, offsets, shift));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        step: Step<'_>,
        atomic: Atomic,
        state: &mut State,
        device: &mut Device<'_>,
    ) -> Result<(), Trouble> {
        let Step { instruction, active, .. } = step;

        let access = atomic.access;
        self.touch(step, access, Does::Both, state, device)?;
        device.polls += 1;
        let mut changes = false;
        let (a, b) = (&self.registers[instruction.s[1] as usize], &self.registers[instruction.s[2] as usize]);
        let Touched { list, slots, offsets, .. } = &self.touched;
        for &lane in list {
            if device.program.strong {
                let (who, key) = (state.who(self.first + lane as u32), state.key(self.touched.addresses[lane]));
                device.knowledge.read(&who, key, access.order);
                device.knowledge.write(&who, key, access.order, true);
            }
            let offset = offsets[lane];
            let new = |old| (atomic.apply)(old, a[lane], b[lane]);
            let old = match slots[lane] {
                SHARED => {
                    let old = of_size!(access.bytes, part(&state.shared, offset));
                    of_size!(access.bytes, set_part(&mut state.shared, offset, new(old)));
                    old
                }
                NOWHERE | CONST => continue,
                // Kernels with these run on one thread.
                slot => {
                    let buffer = device.memory.buffer(slot as usize);
                    let old = of_size!(access.bytes, load_global(buffer, offset));
                    of_size!(access.bytes, store_global(buffer, offset, new(old)));
                    old
                }
            };
            changes |= new(old) != old;
            self.scratch[lane] = old;
        }
        if changes {
            device.advance();
        }
        state.advance();
        if instruction.d[0] != NONE {
            self.commit(instruction.d[0], active);
        }
        Ok(())
    }
}
