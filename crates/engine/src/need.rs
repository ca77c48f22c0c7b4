//! The memory of a run.

/// The memory of a run beside its key and its inputs, in bytes. It is known before anything is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Need {
    /// What the run takes in any case: its results, and the numbers of its steps.
    pub(crate) fixed: u64,
    /// What each instance takes that runs side by side with others.
    pub(crate) lane: u64,
}

impl Need {
    /// The least that the run takes: its instances run one after the other.
    pub(crate) fn least(&self) -> u64 {
        self.fixed.saturating_add(self.lane)
    }

    /// The number of instances that run side by side in `room` bytes, at least one.
    pub(crate) fn lanes(&self, room: u64) -> usize {
        let lanes = room.saturating_sub(self.fixed) / self.lane.max(1);
        usize::try_from(lanes).unwrap_or(usize::MAX).max(1)
    }
}
