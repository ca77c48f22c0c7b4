//! Bank transactions and sectors of the accesses of a warp.
//!
//! Both depend on the differences of the lanes' addresses. Those of one instruction are mostly the same from warp to warp,
//! or from one execution to the next, so the last results of each instruction are kept.

/// Lanes of a warp.
pub(super) const WARP: usize = 32;

/// The addresses of a warp in one access.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) addresses: &'a [u64],
    /// The lanes that take part, one bit each.
    pub(super) active: u32,
    /// Bytes of a lane.
    pub(super) bytes: u32,
    pub(super) shared: bool,
}

#[derive(Debug)]
struct Memo {
    active: u32,
    /// The first active lane's address, modulo what matters.
    base: u64,
    offsets: [u64; WARP],
    cost: (u64, u64),
}

/// Results that are kept for each instruction: one for every fourth warp of a group.
const KEPT: usize = 4;

/// The last results of each instruction.
#[derive(Debug, Default)]
pub(super) struct Patterns(Vec<Option<Box<Memo>>>);

impl Patterns {
    /// Transactions or sectors of the access, and the least possible number. At least one lane is active.
    pub(super) fn cost(&mut self, instruction: usize, warp: usize, lanes: Lanes<'_>) -> (u64, u64) {
        let place = KEPT * instruction + warp % KEPT;
        let addresses = &lanes.addresses[..WARP];
        let first = addresses[lanes.active.trailing_zeros() as usize & 31];
        let base = first % if lanes.shared { 4 } else { 32 };
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        let memo = &mut self.0[place];
        if let Some(memo) = memo.as_ref().filter(|memo| memo.active == lanes.active && memo.base == base) {
            let mut differs = 0;
            for (lane, (address, offset)) in addresses.iter().zip(&memo.offsets).enumerate() {
                let active = 0u64.wrapping_sub(u64::from(lanes.active >> lane & 1));
                differs |= (address.wrapping_sub(first) ^ offset) & active;
            }
            if differs == 0 {
                return memo.cost;
            }
        }
        let offsets = std::array::from_fn(|lane| addresses[lane].wrapping_sub(first));
        let cost = if lanes.shared { transactions(lanes) } else { sectors(lanes) };
        *memo = Some(Box::new(Memo { active: lanes.active, base, offsets, cost }));
        cost
    }
}

/// Shared memory has 32 banks of 4 bytes. A transaction serves the lanes of 128 bytes; distinct words of one bank take one
/// transaction each.
fn transactions(lanes: Lanes<'_>) -> (u64, u64) {
    let per_phase = (128 / lanes.bytes.max(4) as usize).min(WARP);
    let (mut taken, mut least) = (0, 0);
    for phase in (0..WARP).step_by(per_phase) {
        let mut words = [u64::MAX; WARP];
        let mut count = 0;
        for lane in (phase..phase + per_phase).filter(|lane| lanes.active >> lane & 1 == 1) {
            for word in 0..lanes.bytes.div_ceil(4) {
                words[count] = lanes.addresses[lane] / 4 + u64::from(word);
                count += 1;
            }
        }
        if count == 0 {
            continue;
        }
        words[..count].sort_unstable();
        let mut banks = [0u64; WARP];
        for at in 0..count {
            if at == 0 || words[at] != words[at - 1] {
                banks[(words[at] % 32) as usize] += 1;
            }
        }
        taken += banks.into_iter().max().unwrap_or(0);
        least += 1;
    }
    (taken, least)
}

/// Distinct sectors of 32 bytes, and the number that would hold the distinct bytes.
fn sectors(lanes: Lanes<'_>) -> (u64, u64) {
    let mut addresses = [0; WARP];
    let mut count = 0;
    for lane in (0..WARP).filter(|lane| lanes.active >> lane & 1 == 1) {
        addresses[count] = lanes.addresses[lane];
        count += 1;
    }
    let addresses = &mut addresses[..count];
    addresses.sort_unstable();
    let (mut taken, mut distinct) = (0, 0);
    for at in 0..count {
        let before = at.checked_sub(1).map(|before| addresses[before]);
        distinct += u64::from(before != Some(addresses[at]));
        taken += u64::from(before.map(|address| address / 32) != Some(addresses[at] / 32));
    }
    (taken, (distinct * u64::from(lanes.bytes)).div_ceil(32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(bytes: u32, shared: bool, address: impl Fn(u64) -> u64) -> (u64, u64) {
        let addresses: Vec<u64> = (0..32).map(address).collect();
        Patterns::default().cost(0, 0, Lanes { addresses: &addresses, active: u32::MAX, bytes, shared })
    }

    #[test]
    fn banks_collide_by_distinct_words() {
        assert_eq!(cost(4, true, |lane| 4 * lane), (1, 1));
        assert_eq!(cost(4, true, |_| 8), (1, 1));
        assert_eq!(cost(4, true, |lane| 8 * lane), (2, 1));
        assert_eq!(cost(4, true, |lane| 128 * lane), (32, 1));
        assert_eq!(cost(8, true, |lane| 8 * lane), (2, 2));
        assert_eq!(cost(8, true, |lane| 128 * lane), (32, 2));
        assert_eq!(cost(16, true, |lane| 16 * lane), (4, 4));
        assert_eq!(cost(1, true, |lane| lane), (1, 1));
    }

    #[test]
    fn sectors_count_32_bytes_each() {
        assert_eq!(cost(8, false, |lane| 8 * lane), (8, 8));
        assert_eq!(cost(8, false, |lane| 8 * lane + 16), (9, 8));
        assert_eq!(cost(8, false, |lane| 64 * lane), (32, 8));
        assert_eq!(cost(4, false, |_| 64), (1, 1));
        assert_eq!(cost(4, false, |lane| 4 * (lane ^ 5)), (4, 4));
    }

    #[test]
    fn a_memo_holds_for_equal_differences_only() {
        let mut patterns = Patterns::default();
        let mut fresh = |stride: u64, base: u64, active: u32| {
            let addresses: Vec<u64> = (0..32).map(|lane| base + stride * lane).collect();
            let lanes = Lanes { addresses: &addresses, active, bytes: 4, shared: false };
            assert_eq!(patterns.cost(7, 9, lanes), sectors(lanes));
        };
        for (stride, base, active) in
            [(4, 0, u32::MAX), (4, 64, u32::MAX), (4, 80, u32::MAX), (8, 80, u32::MAX), (8, 80, 3)]
        {
            fresh(stride, base, active);
        }
    }
}
