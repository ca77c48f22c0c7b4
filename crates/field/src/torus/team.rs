//! Blind rotations that several threads compute together.
//!
//! A step of a rotation has three phases: the strided levels of the forward transforms, the tiles with the products by the
//! key, and the strided levels of the inverse transforms. The members of a team share the polynomials of the first and the
//! last phase, and the tiles of the second. Each member then reads its tiles' part of the key alone. All members wait for
//! each other between the phases ([`Seat::meet`]). The bytes of the result are those of one thread, because every value is
//! computed by the same operations in the same order.
//!
//! A thread pool does not promise that two of its tasks run at the same time. So the leader waits for a short time only,
//! and goes on with the members that have come. A member that comes later finds the team closed and returns.

use super::blind_rotate::{BlindRotation, Call, Scratch};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest time for which a leader waits for its team. It is about 3 % of a rotation.
const PATIENCE: Duration = Duration::from_micros(150);
/// Turns of a waiting loop before the thread offers its core to others.
const SPINS: u32 = 1 << 14;
/// Set in [`Crew::joined`] when nobody else may join.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// A batch of accumulators that a team of threads rotates.
///
/// One thread calls [`Self::lead`], once. Others call [`Self::help`], and return when the rotation is complete, or at once
/// if it has begun without them.
#[derive(Debug)]
pub struct SharedRotation<'a> {
    plan: &'a BlindRotation,
    call: Call,
    crew: Crew,
    most: usize,
    borrows: PhantomData<&'a mut [u32]>,
}

// SAFETY: the phases of the kernel write disjoint parts of the memory behind the pointers, and `Crew::meet` orders them.
unsafe impl Sync for SharedRotation<'_> {}
// SAFETY: the pointers are borrowed for the lifetime of the value, and no thread keeps them.
unsafe impl Send for SharedRotation<'_> {}

impl BlindRotation {
    /// The largest number of threads that [`Self::share`] can employ: one for each tile, or 1 for keys of independent bits.
    pub fn largest_team(&self) -> usize {
        if self.monomials.is_some() { self.fft.tiles() } else { 1 }
    }

    /// A rotation as [`Self::blind_rotate`], for a team of up to `members` threads.
    ///
    /// # Panics
    /// As [`Self::blind_rotate`].
    pub fn share<'a>(
        &'a self,
        key: &'a [f64],
        exponents: &'a [u16],
        accumulators: &'a mut [u32],
        scratch: &'a mut Scratch,
        members: usize,
    ) -> SharedRotation<'a> {
        let call = self.call(key, exponents, accumulators, scratch);
        let most = members.clamp(1, self.largest_team());
        SharedRotation { plan: self, call, crew: Crew::default(), most, borrows: PhantomData }
    }
}

impl SharedRotation<'_> {
    /// Computes the rotation, with the members that come in time.
    ///
    /// # Panics
    /// Panics if it was called before.
    pub fn lead(&self) {
        let members = self.crew.muster(self.most);
        self.work(0, members, self.call);
    }

    /// Computes a part of the rotation if it has not begun.
    pub fn help(&self) {
        let Some(member) = self.crew.join(self.most) else { return };
        let mut tiles = self.plan.tiles();
        let call = Call { tiles: tiles.as_mut_ptr(), ..self.call };
        self.work(member, self.crew.members(), call);
    }

    fn work(&self, member: usize, members: usize, call: Call) {
        let seat = Seat { member, members, crew: &self.crew };
        // SAFETY: `share` checked the lengths. Each member has its own number below `members` and its own tiles.
        unsafe { self.plan.run(call, seat) };
    }
}

/// The state that the members of a team share, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Crew {
    /// Members beside the leader that have come, and [`CLOSED`].
    joined: AtomicUsize,
    /// Members, with the leader; 0 until the team is closed.
    members: AtomicUsize,
    /// How often a member arrived at a meeting.
    arrived: AtomicUsize,
}

impl Crew {
    /// Waits for up to `most - 1` members, closes the team, and returns its size.
    fn muster(&self, most: usize) -> usize {
        let start = Instant::now();
        while self.joined.load(Ordering::Acquire) + 1 < most && start.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        let joined = self.joined.fetch_or(CLOSED, Ordering::AcqRel);
        assert!(joined & CLOSED == 0, "a rotation has one leader");
        self.members.store(joined + 1, Ordering::Release);
        joined + 1
    }

    /// Returns the number of the new member, or `None` if the team is closed or full.
    fn join(&self, most: usize) -> Option<usize> {
        let next = |joined: usize| (joined & CLOSED == 0 && joined + 1 < most).then_some(joined + 1);
        self.joined.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok().map(|before| before + 1)
    }

    /// Waits until the team is closed, and returns its size.
    fn members(&self) -> usize {
        wait_until(|| self.members.load(Ordering::Acquire) != 0);
        self.members.load(Ordering::Acquire)
    }
}

/// Waits, and leaves the core to other threads if that takes long.
fn wait_until(done: impl Fn() -> bool) {
    let mut turns = 0;
    while !done() {
        if turns < SPINS {
            turns += 1;
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

/// The place of a thread in a team.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    /// Number of the thread, below `members`.
    pub(super) member: usize,
    pub(super) members: usize,
    pub(super) crew: &'a Crew,
}

impl Seat<'_> {
    /// Whether this member computes the task of this number.
    #[inline(always)]
    pub(super) fn takes(self, task: usize) -> bool {
        task % self.members == self.member
    }

    /// The part of `0..count` that this member computes.
    #[inline(always)]
    pub(super) fn part(self, count: usize) -> std::ops::Range<usize> {
        count * self.member / self.members..count * (self.member + 1) / self.members
    }

    /// Waits until all members have called it as often as this one has. `meetings` counts the calls of this member.
    #[inline(always)]
    pub(super) fn meet(self, meetings: &mut usize) {
        if self.members == 1 {
            return;
        }
        *meetings += 1;
        let all = *meetings * self.members;
        self.crew.arrived.fetch_add(1, Ordering::AcqRel);
        wait_until(|| self.crew.arrived.load(Ordering::Acquire) >= all);
    }
}
