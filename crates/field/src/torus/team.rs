//! Threads that compute rotations together, and stay awake from one rotation to the next.
//!
//! A step of a rotation has three phases: the strided levels of the forward transforms, the tiles with the products by the
//! key, and the strided levels of the inverse transforms. The members of a team share the polynomials of the first and the
//! last phase, and the tiles of the second. Each member then reads its tiles' part of the key alone. All members wait for
//! each other between the phases ([`Seat::meet`]). The bytes of the result are those of one thread, because every value is
//! computed by the same operations in the same order.
//!
//! A thread of a pool takes some 50 to 150 us to wake, which is long beside a rotation. So the helpers of a team are asked
//! for once. A helper stays after its work and looks for the next one. If there is none for [`IDLE`], it returns to its pool,
//! which puts it to sleep. A thread pool does not promise that two of its tasks run at the same time. So the leader waits for a
//! short time only, and goes on with the members that have come.
//!
//! Members that wait for each other are slow where other programs want the cores: whenever one member has no core, all wait.
//! On two cores with one busy program, a team of two takes up to 1.5 times as long as one thread. So the members measure how
//! long they wait, and the leader works alone for a while when that is faster ([`Pace`]).

use super::blind_rotate::{BlindRotation, Call, Scratch};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest time for which a leader waits for its team. It is about 3 % of a rotation.
const PATIENCE: Duration = Duration::from_micros(150);
/// The time for which a helper stays awake without work. The leader's own steps between two rotations take a fifth of it.
const IDLE: Duration = Duration::from_millis(1);
/// Turns of a waiting loop before the thread offers its core to others.
const SPINS: u32 = 1 << 14;
/// Turns of a waiting loop before its time is measured. Members with a core each wait for a shorter time.
const SHORT: u32 = 1 << 9;

/// Work for the members of a team.
type Work<'a> = dyn Fn(Seat<'_>) + Sync + 'a;

/// A leader's team: the threads of its pool that help with one piece of work after the other.
///
/// The first `run` asks the current thread pool for helpers, and later ones find them awake. They leave if no work
/// comes for a millisecond, or if the team is dismissed or dropped.
#[derive(Debug)]
pub struct Team {
    state: Arc<State>,
    idle: Duration,
    pace: Pace,
    /// The process that made the team: the helpers of a parent do not exist in its forked child.
    process: u32,
}

/// What the teams of a computation did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamCounters {
    /// Pieces of work for more than one member.
    pub runs: u64,
    /// Members that computed them, with the leaders.
    pub members: u64,
    /// Members that were wanted.
    pub wanted: u64,
    /// Helpers that were asked for: threads of a pool that had to wake.
    pub recruited: u64,
    /// Time for which leaders waited for their helpers, nanoseconds.
    pub muster_ns: u64,
    /// Time for which helpers were awake without work, nanoseconds.
    pub idle_ns: u64,
    /// Time for which members waited for others that had no core, nanoseconds.
    pub blocked_ns: u64,
    /// Pieces of work that leaders kept for themselves, because their team was slower than one thread.
    pub alone: u64,
}

impl std::ops::AddAssign for TeamCounters {
    fn add_assign(&mut self, other: Self) {
        let Self { runs, members, wanted, recruited, muster_ns, idle_ns, blocked_ns, alone } = other;
        self.runs += runs;
        self.members += members;
        self.wanted += wanted;
        self.recruited += recruited;
        self.muster_ns += muster_ns;
        self.idle_ns += idle_ns;
        self.blocked_ns += blocked_ns;
        self.alone += alone;
    }
}

/// The choice of a leader between its team and working alone.
///
/// A member without a core blocks the `m - 1` others. So all `m` members compute for the part `f = 1 - b / (m - 1)` of the
/// time, where `b` is the sum of their waiting times over the time of the work, and the team is `m f` times as fast as one
/// thread. The leader measures that over [`Pace::TRIAL`]. If it is below 1, the leader works alone for [`Pace::FIRST`] of
/// work, and for twice as long after each further trial that fails.
#[derive(Debug, Default)]
struct Pace {
    /// The time of the work of this trial.
    worked: Duration,
    /// The part of it in which all members computed, times their number.
    gained: f64,
    /// The time for which the leader still works alone.
    alone: Duration,
    /// The time for which it worked alone after the last trial. Zero if that one succeeded.
    last: Duration,
}

impl Pace {
    /// The time of a trial: a few time slices of an operating system.
    const TRIAL: Duration = Duration::from_millis(20);
    const FIRST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(1);

    fn is_alone(&self) -> bool {
        !self.alone.is_zero()
    }

    /// The leader worked alone for this time.
    fn rest(&mut self, time: Duration) {
        self.alone = self.alone.saturating_sub(time);
    }

    /// A team worked for this time, in which its members were blocked for the sum `blocked`.
    fn record(&mut self, members: usize, time: Duration, blocked: Duration) {
        if members < 2 {
            return;
        }
        let all = time.as_secs_f64() - blocked.as_secs_f64() / (members - 1) as f64;
        self.worked += time;
        self.gained += members as f64 * all.max(0.0);
        if self.worked < Self::TRIAL {
            return;
        }
        let slow = self.gained < self.worked.as_secs_f64();
        self.last = if slow { (2 * self.last).clamp(Self::FIRST, Self::LONGEST) } else { Duration::ZERO };
        (self.alone, self.worked, self.gained) = (self.last, Duration::ZERO, 0.0);
    }
}

/// The state that a leader and its helpers share.
#[derive(Debug, Default)]
struct State {
    gate: Gate,
    crew: Crew,
    work: Slot,
    /// Helpers that have ended the present work.
    done: AtomicUsize,
    /// Whether a helper's part of it panicked.
    panicked: AtomicBool,
    /// Whether the leader is at work. A helper that came too late for this run stays for the next one.
    running: AtomicBool,
    /// Helpers that were asked for and have not left.
    helpers: AtomicUsize,
    /// Helpers that are awake.
    awake: AtomicUsize,
    runs: AtomicU64,
    members: AtomicU64,
    wanted: AtomicU64,
    recruited: AtomicU64,
    muster_ns: AtomicU64,
    idle_ns: AtomicU64,
    blocked_ns: AtomicU64,
    alone: AtomicU64,
}

/// The work of a run. The leader writes it while no helper has joined, and helpers read it after they joined.
#[derive(Default)]
struct Slot(UnsafeCell<Option<*const Work<'static>>>);

// SAFETY: see `Slot`; the gate orders writes and reads. The pointer is to a value that threads may share.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slot")
    }
}

impl Default for Team {
    fn default() -> Self {
        Self::with_idle(IDLE)
    }
}

impl Team {
    /// A team whose helpers stay awake for this time without work.
    pub fn with_idle(idle: Duration) -> Self {
        Self { state: Arc::default(), idle, pace: Pace::default(), process: std::process::id() }
    }

    /// Runs `work` on this thread and on helpers that come in time, up to `most` members in all. Every member calls it once,
    /// with a seat of its own, and all have ended when this returns.
    ///
    /// # Panics
    /// Panics if `work` panics on a member.
    pub(crate) fn run(&mut self, most: usize, work: &Work<'_>) {
        let most = most.min(Gate::MOST);
        let start = Instant::now();
        if most < 2 || self.pace.is_alone() {
            work(Seat { member: 0, members: 1, crew: &Crew::default() });
            if most >= 2 {
                self.state.alone.fetch_add(1, Ordering::Relaxed);
                self.pace.rest(start.elapsed());
            }
            return;
        }
        if self.process != std::process::id() {
            *self = Self::with_idle(self.idle);
        }
        let state = &*self.state;
        // SAFETY: the lifetime is lengthened for the slot alone. `End` waits for all helpers that may call it.
        let erased = unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work) };
        // SAFETY: the gate is closed, and the helpers of the last run have ended, so nobody reads the slot.
        unsafe { *state.work.0.get() = Some(erased) };
        state.crew.reset();
        state.done.store(0, Ordering::Relaxed);
        state.running.store(true, Ordering::Relaxed);
        state.gate.open(most);
        let recruited = self.recruit(most - 1);
        let patience = if recruited || state.awake.load(Ordering::Relaxed) > 0 { PATIENCE } else { Duration::ZERO };
        while state.gate.joined() + 1 < most && start.elapsed() < patience {
            std::hint::spin_loop();
        }
        let members = state.gate.close() + 1;
        let waited = start.elapsed().as_nanos() as u64;
        for (counter, count) in [
            (&state.runs, 1),
            (&state.members, members as u64),
            (&state.wanted, most as u64),
            (&state.muster_ns, waited),
        ] {
            counter.fetch_add(count, Ordering::Relaxed);
        }
        state.crew.members.store(members, Ordering::Release);
        let end = End { state, helpers: members - 1 };
        work(Seat { member: 0, members, crew: &state.crew });
        drop(end);
        let blocked = state.crew.blocked_ns.load(Ordering::Relaxed);
        state.blocked_ns.fetch_add(blocked, Ordering::Relaxed);
        self.pace.record(members, start.elapsed(), Duration::from_nanos(blocked));
        assert!(!state.panicked.swap(false, Ordering::Relaxed), "a member of a team panicked");
    }

    /// Asks the current pool for helpers, so that there are `count`. Returns whether one was missing.
    fn recruit(&self, count: usize) -> bool {
        let missing = count.saturating_sub(self.state.helpers.load(Ordering::Relaxed));
        for _ in 0..missing {
            self.state.helpers.fetch_add(1, Ordering::Relaxed);
            self.state.recruited.fetch_add(1, Ordering::Relaxed);
            let (state, idle) = (Arc::clone(&self.state), self.idle);
            rayon::spawn(move || state.serve(idle));
        }
        missing > 0
    }

    /// Lets the helpers go, so that their pool has its threads for other work.
    pub fn dismiss(&self) {
        self.state.gate.dismiss();
    }

    /// What the team did so far.
    pub fn counters(&self) -> TeamCounters {
        let State { runs, members, wanted, recruited, muster_ns, idle_ns, blocked_ns, alone, .. } = &*self.state;
        let [runs, members, wanted, recruited, muster_ns, idle_ns, blocked_ns, alone] =
            [runs, members, wanted, recruited, muster_ns, idle_ns, blocked_ns, alone]
                .map(|counter| counter.load(Ordering::Relaxed));
        TeamCounters { runs, members, wanted, recruited, muster_ns, idle_ns, blocked_ns, alone }
    }

    /// Runs `work(member, members)` as `run` does, for work whose members do not meet.
    pub fn each(&mut self, most: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        self.run(most, &|seat| work(seat.member, seat.members));
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// Waits for the helpers of a run, also if the leader's part panics.
struct End<'a> {
    state: &'a State,
    helpers: usize,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.state.crew.wait_until(|| self.state.done.load(Ordering::Acquire) == self.helpers);
        self.state.running.store(false, Ordering::Relaxed);
    }
}

impl State {
    /// Helps with one piece of work after the other, until none comes for the time `idle`.
    fn serve(&self, idle: Duration) {
        self.awake.fetch_add(1, Ordering::Relaxed);
        let (mut since, mut turns) = (Instant::now(), 0);
        // The last moment at which there was work.
        let mut worked = since;
        loop {
            match self.gate.join() {
                Entry::Member(member) => {
                    self.idle_ns.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
                    self.help(member);
                    (since, turns) = (Instant::now(), 0);
                    worked = since;
                }
                Entry::Dismissed => break,
                Entry::Closed if self.running.load(Ordering::Relaxed) => {
                    worked = Instant::now();
                    pause(&mut turns);
                }
                Entry::Closed if worked.elapsed() > idle => break,
                Entry::Closed => pause(&mut turns),
            }
        }
        self.idle_ns.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.awake.fetch_sub(1, Ordering::Relaxed);
        self.helpers.fetch_sub(1, Ordering::Relaxed);
    }

    fn help(&self, member: usize) {
        let members = self.crew.size();
        // SAFETY: this helper joined the run, whose work the leader wrote before, and keeps until `done` counts this helper.
        let work = unsafe { *self.work.0.get() };
        if let Some(work) = work {
            let seat = Seat { member, members, crew: &self.crew };
            // SAFETY: as above.
            let call = || unsafe { (*work)(seat) };
            if catch_unwind(AssertUnwindSafe(call)).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
        }
        self.done.fetch_add(1, Ordering::Release);
    }
}

/// One word that says whether a run takes members: their number so far, the wanted number, flags, and the number of the
/// run.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Gate(AtomicU64);

/// The answer of [`Gate::join`].
enum Entry {
    /// The number of the new member.
    Member(usize),
    /// No run takes members now.
    Closed,
    /// The helpers may go.
    Dismissed,
}

impl Gate {
    /// The largest number of members.
    const MOST: usize = 0xff;
    const WANTED: u32 = 8;
    const OPEN: u64 = 1 << 16;
    const DISMISSED: u64 = 1 << 17;
    /// The unit of the number of the run, so that no helper joins a later run than the one it saw.
    const RUN: u64 = 1 << 18;

    /// Opens the next run for `most` members, with the leader.
    fn open(&self, most: usize) {
        let run = (self.0.load(Ordering::Relaxed) / Self::RUN).wrapping_add(1);
        let word = run.wrapping_mul(Self::RUN) | Self::OPEN | (most as u64 - 1) << Self::WANTED;
        self.0.store(word, Ordering::Release);
    }

    /// Helpers that have joined.
    fn joined(&self) -> usize {
        (self.0.load(Ordering::Acquire) & 0xff) as usize
    }

    /// Takes no more members. Returns how many helpers have joined.
    fn close(&self) -> usize {
        (self.0.fetch_and(!Self::OPEN, Ordering::AcqRel) & 0xff) as usize
    }

    fn dismiss(&self) {
        self.0.fetch_or(Self::DISMISSED, Ordering::Relaxed);
    }

    fn join(&self) -> Entry {
        let word = self.0.load(Ordering::Relaxed);
        let (joined, wanted) = (word & 0xff, word >> Self::WANTED & 0xff);
        if word & Self::OPEN != 0 && joined < wanted {
            // The number of helpers is below 0xff, so it does not carry.
            return match self.0.compare_exchange(word, word + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => Entry::Member(joined as usize + 1),
                Err(_) => Entry::Closed,
            };
        }
        if word & Self::DISMISSED != 0 { Entry::Dismissed } else { Entry::Closed }
    }
}

/// The meetings of the members of a run, in cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Crew {
    /// Members, with the leader; 0 until the team is complete.
    members: AtomicUsize,
    /// How often a member arrived at a meeting.
    arrived: AtomicUsize,
    /// The sum of the times for which members waited for others that had no core, nanoseconds.
    blocked_ns: AtomicU64,
}

impl Crew {
    fn reset(&self) {
        self.members.store(0, Ordering::Relaxed);
        self.arrived.store(0, Ordering::Relaxed);
        self.blocked_ns.store(0, Ordering::Relaxed);
    }

    /// Waits until the team is complete, and returns its size.
    fn size(&self) -> usize {
        self.wait_until(|| self.members.load(Ordering::Acquire) != 0);
        self.members.load(Ordering::Acquire)
    }

    /// Waits, and leaves the core to other threads if that takes long.
    fn wait_until(&self, done: impl Fn() -> bool) {
        let mut turns = 0;
        while turns < SHORT {
            if done() {
                return;
            }
            pause(&mut turns);
        }
        let start = Instant::now();
        while !done() {
            pause(&mut turns);
        }
        self.blocked_ns.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// One turn of a waiting loop.
fn pause(turns: &mut u32) {
    if *turns < SPINS {
        *turns += 1;
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
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
        self.crew.wait_until(|| self.crew.arrived.load(Ordering::Acquire) >= all);
    }
}

/// The pointers of a rotation, for the members of a team.
struct Shared(Call);

// SAFETY: the phases of the kernel write disjoint parts of the memory behind the pointers, and `Seat::meet` orders them.
unsafe impl Sync for Shared {}

impl Shared {
    fn call(&self) -> Call {
        self.0
    }
}

impl BlindRotation {
    /// The largest number of threads that [`Self::blind_rotate_together`] can employ: one for each tile, or 1 for keys of
    /// independent bits.
    pub fn largest_team(&self) -> usize {
        if self.monomials.is_some() { self.fft.tiles() } else { 1 }
    }

    /// A rotation as [`Self::blind_rotate`], by up to `members` threads of a team.
    ///
    /// # Panics
    /// As [`Self::blind_rotate`].
    pub fn blind_rotate_together(
        &self,
        key: &[f64],
        exponents: &[u16],
        accumulators: &mut [u32],
        scratch: &mut Scratch,
        (team, members): (&mut Team, usize),
    ) {
        let shared = Shared(self.call(key, exponents, accumulators, scratch));
        team.run(members.clamp(1, self.largest_team()), &|seat| {
            let mut call = shared.call();
            let mut tiles;
            if seat.member > 0 {
                tiles = self.tiles();
                call.tiles = tiles.as_mut_ptr();
            }
            // SAFETY: `call` checked the lengths. Each member has its own number below `members` and its own tiles.
            unsafe { self.run(call, seat) };
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Duration, Pace, Team};

    const MS: Duration = Duration::from_millis(1);

    /// The times of `runs` pieces of work, and how many of them the leader kept for itself.
    fn kept(pace: &mut Pace, runs: usize, members: usize, blocked: Duration) -> usize {
        let run = |pace: &mut Pace| {
            let alone = pace.is_alone();
            if alone {
                pace.rest(5 * MS)
            } else {
                pace.record(members, 5 * MS, blocked)
            }
            usize::from(alone)
        };
        (0..runs).map(|_| run(pace)).sum()
    }

    #[test]
    fn a_leader_works_alone_where_its_team_is_slower() {
        // Two members compute together for more than a half of the time.
        assert_eq!(kept(&mut Pace::default(), 1000, 2, 2 * MS), 0);
        // Less than that. Trials take 4 runs, and the times between them 20, 40, 80, 160, 200, 200, .. runs.
        let mut pace = Pace::default();
        assert_eq!(kept(&mut pace, 4 + 20 + 4 + 40 + 4 + 80 + 4 + 160 + 4 + 200 + 4 + 200, 2, 3 * MS), 700);
        // The machine is idle again: after one trial that succeeds, all runs are the team's.
        assert_eq!(kept(&mut pace, 1000, 2, Duration::ZERO), 0);
        // Four members, of which one at a time has no core for the longest part of the time.
        assert_eq!(kept(&mut Pace::default(), 100, 4, 3 * (4 * MS)), 88);
        assert_eq!(kept(&mut Pace::default(), 100, 4, 3 * (3 * MS)), 0);
        // Nobody came, so nothing is known about the team.
        assert_eq!(kept(&mut Pace::default(), 100, 1, Duration::ZERO), 0);
    }

    #[test]
    fn helpers_without_a_core_make_their_leader_work_alone() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            let mut team = Team::with_idle(Duration::from_secs(3600));
            let mut runs = 0;
            // A helper that sleeps is like a thread whose core another program has.
            while team.counters().alone == 0 {
                team.each(2, &|member, _| {
                    if member == 1 {
                        std::thread::sleep(3 * MS);
                    }
                });
                runs += 1;
            }
            let counters = team.counters();
            assert_eq!(counters.runs + counters.alone, runs);
            assert!(counters.blocked_ns > 0, "{counters:?}");
        });
    }
}
