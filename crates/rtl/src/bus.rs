//! Memory of 384-bit beats beside a design, with its read and write masters.
//!
//! A read master has the ports `NAME_req_o`, `NAME_gnt_i`, `NAME_addr_o`, `NAME_rvalid_i`, `NAME_rdata_i` and perhaps
//! `NAME_rready_o`; a write master has `NAME_req_o`, `NAME_gnt_i`, `NAME_addr_o` and `NAME_data_o`.

use std::collections::VecDeque;

use crate::{Error, Instance, Port};

/// Words of a beat.
pub(crate) const BEAT: usize = 6;
/// Bits of a beat.
pub(crate) const BEAT_BITS: usize = 64 * BEAT;

/// A beat of memory.
pub(crate) type Beat = [u64; BEAT];

/// The timing of the answers of memory.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Cycles from a request to its beat, at least 1.
    pub latency: u64,
    /// Number of requests and answers out of 256 that the memory refuses or delays, in a fixed irregular pattern.
    pub stalls: u8,
}

impl Default for Timing {
    fn default() -> Self {
        Self { latency: 4, stalls: 0 }
    }
}

/// Irregular stalls, the same in each run.
#[derive(Debug)]
pub(crate) struct Stalls {
    state: u64,
    share: u8,
}

impl Stalls {
    pub(crate) fn new(share: u8) -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, share }
    }

    /// Whether there are stalls.
    pub(crate) fn is_on(&self) -> bool {
        self.share > 0
    }

    /// Whether this cycle proceeds without a stall.
    pub(crate) fn flows(&mut self) -> bool {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.share == 0 || (self.state >> 32) as u8 >= self.share
    }
}

/// A read master of a design.
#[derive(Debug)]
pub(crate) struct Reader {
    req: Port,
    gnt: Port,
    addr: Port,
    valid: Port,
    data: Port,
    ready: Option<Port>,
    granted: bool,
    answers: bool,
    /// Cycle from which on each beat can be returned, and the beat.
    flying: VecDeque<(u64, Vec<u64>)>,
    beats: u64,
}

impl Reader {
    pub(crate) fn new(dut: &Instance, name: &str) -> Result<Self, Error> {
        let port = |suffix: &str| dut.port(&format!("{name}_{suffix}"));
        Ok(Self {
            req: port("req_o")?,
            gnt: port("gnt_i")?,
            addr: port("addr_o")?,
            valid: port("rvalid_i")?,
            data: port("rdata_i")?,
            ready: port("rready_o").ok(),
            granted: false,
            answers: false,
            flying: VecDeque::new(),
            beats: 0,
        })
    }

    /// Beats that were read.
    pub(crate) fn beats(&self) -> u64 {
        self.beats
    }

    /// Forgets the beats in flight, as a reset does.
    pub(crate) fn reset(&mut self, dut: &mut Instance) {
        self.flying.clear();
        self.answers = false;
        dut.set_u64(self.valid, 0);
    }

    /// Sets the inputs of a cycle.
    pub(crate) fn drive(&mut self, dut: &mut Instance, cycle: u64, stalls: &mut Stalls) {
        self.granted = stalls.flows();
        dut.set_u64(self.gnt, self.granted.into());
        let head = self.flying.front().filter(|(due, _)| *due <= cycle);
        self.answers = head.is_some() && stalls.flows();
        dut.set_u64(self.valid, self.answers.into());
        if let (true, Some((_, beat))) = (self.answers, head) {
            dut.set(self.data, beat);
        }
    }

    /// Takes the outputs of a cycle. `read` returns the beat of an address.
    pub(crate) fn sample<B: Into<Vec<u64>>>(&mut self, dut: &Instance, ready_at: u64, read: impl FnOnce(u64) -> B) {
        if self.answers && self.ready.is_none_or(|ready| dut.get_u64(ready) == 1) {
            self.flying.pop_front();
        }
        if self.granted && dut.get_u64(self.req) == 1 {
            self.flying.push_back((ready_at, read(dut.get_u64(self.addr)).into()));
            self.beats += 1;
        }
    }
}

/// A write master of a design.
#[derive(Debug)]
pub(crate) struct Writer {
    req: Port,
    gnt: Port,
    addr: Port,
    data: Port,
    granted: bool,
    beats: u64,
}

impl Writer {
    pub(crate) fn new(dut: &Instance, name: &str) -> Result<Self, Error> {
        let port = |suffix: &str| dut.port(&format!("{name}_{suffix}"));
        Ok(Self {
            req: port("req_o")?,
            gnt: port("gnt_i")?,
            addr: port("addr_o")?,
            data: port("data_o")?,
            granted: false,
            beats: 0,
        })
    }

    /// Beats that were written.
    pub(crate) fn beats(&self) -> u64 {
        self.beats
    }

    /// Sets the inputs of a cycle.
    pub(crate) fn drive(&mut self, dut: &mut Instance, stalls: &mut Stalls) {
        self.granted = stalls.flows();
        dut.set_u64(self.gnt, self.granted.into());
    }

    /// Takes the outputs of a cycle: the address and the beat of a write.
    pub(crate) fn sample(&mut self, dut: &Instance) -> Option<(u64, Beat)> {
        if !self.granted || dut.get_u64(self.req) == 0 {
            return None;
        }
        self.beats += 1;
        let mut beat = [0; BEAT];
        dut.get(self.data, &mut beat);
        Some((dut.get_u64(self.addr), beat))
    }
}
