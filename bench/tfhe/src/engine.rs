//! The interface of an engine that is measured.

use crate::case::{KeyKind, Size, Task};

/// A prepared task: inputs encrypted, keys at hand.
pub trait Work: Send {
    /// Does the task once; this alone is timed. The result stays inside.
    fn run(&mut self);
    /// Whether the last run's result decrypts to what plain arithmetic gives.
    fn check(&self) -> bool;
}

/// An engine under measurement.
///
/// Tasks are prepared and run on a worker of a rayon pool that has the case's number of threads and is confined to
/// as many cores, so an engine that starts threads of its own gains nothing by it.
pub trait Engine: Sync {
    /// Name and version, for the table's header.
    fn name(&self) -> String;
    /// Prepares a task, or returns `None` if the engine has no such operation.
    fn prepare(&self, task: Task) -> Option<Box<dyn Work>>;
    /// Length of a key in bytes, or `None` if the engine has no such form.
    fn key_bytes(&self, kind: KeyKind, seeded: bool) -> Option<u64>;
}

/// The engines side by side.
pub struct Engines {
    /// tfhe-rs.
    pub peer: Box<dyn Engine>,
    /// Ours.
    pub ours: Box<dyn Engine>,
}

/// One of [`Engines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// tfhe-rs.
    Peer,
    /// Ours.
    Ours,
}

impl Engines {
    /// The engine on that side.
    pub fn get(&self, side: Side) -> &dyn Engine {
        match side {
            Side::Peer => self.peer.as_ref(),
            Side::Ours => self.ours.as_ref(),
        }
    }
}

/// A [`Work`] from two closures: one computes, one judges the result.
pub struct FnWork<T, R, C> {
    run: R,
    check: C,
    result: Option<T>,
}

impl<T, R, C> FnWork<T, R, C>
where
    T: Send + 'static,
    R: FnMut() -> T + Send + 'static,
    C: Fn(&T) -> bool + Send + 'static,
{
    /// `run` computes, `check` judges.
    pub fn boxed(run: R, check: C) -> Box<dyn Work> {
        Box::new(Self { run, check, result: None })
    }
}

impl<T, R, C> Work for FnWork<T, R, C>
where
    T: Send,
    R: FnMut() -> T + Send,
    C: Fn(&T) -> bool + Send,
{
    fn run(&mut self) {
        self.result = Some((self.run)());
    }

    fn check(&self) -> bool {
        self.result.as_ref().is_some_and(&self.check)
    }
}

impl Size {
    /// The key whose size this is and whether it is seeded; `None` for another size.
    pub fn key(&self) -> Option<(KeyKind, bool)> {
        match *self {
            Self::ServerKey(kind) => Some((kind, false)),
            Self::SeededServerKey(kind) => Some((kind, true)),
            Self::PeakMul64 => None,
        }
    }
}
