//! Which lanes of which step to compute next. The machine has no threads and does no I/O, and it does not know what an element is, so one loop drives it on
//! threads, another one on a cluster, and a third one on public values.

use super::{Port, SlotId, Source, Steps};
use crate::Error;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Lanes of a step to compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Index of the step.
    pub step: usize,
    /// The lanes.
    pub lanes: Range<usize>,
}

/// An element that a batch reads.
#[derive(Debug, PartialEq, Eq)]
pub enum Element<'a, V> {
    /// An element of an input of the program; all of them if there is no place.
    Input(usize, Option<usize>),
    /// An element of a public array; all of them if there is no place.
    Public(usize, Option<usize>),
    /// A result of a step.
    Value(&'a V),
}

// A value need not be copied for its place to be.
impl<V> Clone for Element<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Element<'_, V> {}

/// A state from which a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor<V> {
    /// For each step, the number of its first lanes that are done.
    pub done: Vec<usize>,
    /// For each slot that holds elements which later lanes read, the place of the first one, and the elements.
    pub live: Vec<(SlotId, usize, Vec<V>)>,
}

/// How much of the work is done, in the unit of the costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The work that is done.
    pub done: u64,
    /// All work.
    pub total: u64,
}

/// Results of a step that are still needed.
#[derive(Debug, Clone)]
struct Window<V> {
    /// The place of the first one.
    base: usize,
    values: VecDeque<V>,
}

impl<V> Window<V> {
    fn end(&self) -> usize {
        self.base + self.values.len()
    }
}

/// What the lanes of a step read of the results of another one, for each block of lanes.
#[derive(Debug)]
struct Reads {
    slot: SlotId,
    /// Lanes up to the end of the block read places below this one.
    need: Vec<usize>,
    /// Lanes from the start of the block on read no place below this one.
    keep: Vec<usize>,
}

/// The state of a run of [`Steps`], of elements `V`.
#[derive(Debug)]
pub struct Machine<'a, V> {
    steps: &'a Steps,
    /// For each step, what it reads of others.
    reads: Vec<Vec<Reads>>,
    /// For each slot, the steps that read it.
    readers: Vec<Vec<usize>>,
    /// Whether an output reads a slot, so that it is kept.
    kept: Vec<bool>,
    /// For each step, the first lanes whose inputs exist, those that were handed out, and those whose results are there.
    ready: Vec<usize>,
    issued: Vec<usize>,
    done: Vec<usize>,
    /// Steps with lanes that are ready and not handed out.
    open: BTreeSet<usize>,
    /// Results that came before those of earlier lanes, by the first lane.
    early: Vec<BTreeMap<usize, Vec<Vec<V>>>>,
    windows: Vec<Window<V>>,
    live: usize,
    peak: usize,
    budget: usize,
}

/// Lanes of a block of the tables of a step.
fn block(lanes: usize) -> usize {
    (lanes / 1024).clamp(1, 64)
}

impl<'a, V> Machine<'a, V> {
    /// A run from the start, or from a state. With more than `budget` elements, values are used up before others are made.
    ///
    /// # Errors
    /// [`Error::BadCursor`] for a state of other steps.
    pub fn new(steps: &'a Steps, budget: usize, from: Option<Cursor<V>>) -> Result<Self, Error> {
        let count = steps.steps.len();
        let mut kept = vec![false; steps.slots.len()];
        for output in &steps.outputs {
            match output.port {
                Port::Whole(slot) => kept[slot.0 as usize] = true,
                Port::Lanes(_) if output.ty.shape.size() == 0 => {}
                Port::Lanes(layout) => {
                    steps.layouts.slots(layout).into_iter().for_each(|slot| kept[slot.0 as usize] = true);
                }
            }
        }
        let reads: Vec<Vec<Reads>> = (0..count).map(|step| reads(steps, step)).collect();
        let mut readers = vec![Vec::new(); steps.slots.len()];
        for (step, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|read| readers[read.slot.0 as usize].push(step));
        }
        let (done, windows) = state(steps, from)?;
        let live = windows.iter().map(|window| window.values.len()).sum();
        let mut machine = Self {
            steps,
            reads,
            readers,
            kept,
            ready: vec![0; count],
            issued: done.clone(),
            done,
            open: BTreeSet::new(),
            early: (0..count).map(|_| BTreeMap::new()).collect(),
            windows,
            live,
            peak: live,
            budget,
        };
        (0..count).for_each(|step| machine.update(step));
        if (0..count).any(|step| machine.done[step] > machine.ready[step]) {
            return bad_cursor("it has lanes whose inputs do not exist");
        }
        for slot in (0..machine.windows.len()).map(|slot| SlotId(slot as u32)) {
            if machine.windows[slot.0 as usize].base > machine.unread(slot) {
                return bad_cursor("it lacks values that later lanes read");
            }
            machine.free(slot);
        }
        Ok(machine)
    }

    fn lanes(&self, step: usize) -> usize {
        self.steps.steps[step].lanes
    }

    /// Finds the lanes of a step whose inputs exist.
    fn update(&mut self, step: usize) {
        let (lanes, size) = (self.lanes(step), block(self.lanes(step)));
        let of = |reads: &Reads| {
            let there = match self.steps.source(reads.slot) {
                Source::Step(other) => self.done[other],
                _ => usize::MAX,
            };
            (reads.need.partition_point(|&need| need <= there) * size).min(lanes)
        };
        self.ready[step] = self.reads[step].iter().map(of).min().unwrap_or(lanes);
        if self.issued[step] < self.ready[step] {
            self.open.insert(step);
        }
    }

    /// Whether every lane of every step is done.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.done.iter().zip(&self.steps.steps).all(|(&done, step)| done == step.lanes)
    }

    /// The next lanes to compute, at most `batch`; `None` if all were handed out, or if results of some are needed first. The latest step with that many lanes
    /// comes first, or with its last ones, so that values are used up before others are made.
    pub fn next(&mut self, batch: usize) -> Option<Batch> {
        let is_full = |step: &&usize| {
            self.ready[**step] == self.lanes(**step) || self.ready[**step] - self.issued[**step] >= batch
        };
        let step = *if self.live > self.budget {
            self.open.last()?
        } else {
            self.open.iter().rev().find(is_full).or_else(|| self.open.first())?
        };
        let start = self.issued[step];
        let end = self.ready[step].min(start.saturating_add(batch.max(1)));
        self.issued[step] = end;
        if end == self.ready[step] {
            self.open.remove(&step);
        }
        Some(Batch { step, lanes: start..end })
    }

    /// Hands out a batch that an earlier machine of these steps had handed out, before the state was taken from which this one goes on.
    ///
    /// # Errors
    /// [`Error::BadCursor`] if these are not the next lanes of the step, or their inputs do not exist.
    pub fn resume(&mut self, batch: &Batch) -> Result<(), Error> {
        let Batch { step, lanes } = batch;
        let is_next = self.issued.get(*step).is_some_and(|&issued| issued == lanes.start && !lanes.is_empty());
        if !is_next || lanes.end > self.ready[*step] {
            return bad_cursor("its lanes are not the next ones of a step");
        }
        self.issued[*step] = lanes.end;
        if lanes.end == self.ready[*step] {
            self.open.remove(step);
        }
        Ok(())
    }

    /// What a batch reads: for each input of the kernel, an element for each lane, or one whole value.
    #[must_use]
    pub fn inputs(&self, batch: &Batch) -> Vec<Vec<Element<'_, V>>> {
        let port = |port: &Port| match *port {
            Port::Lanes(layout) => {
                batch.lanes.clone().map(|lane| self.element(self.steps.layouts.at(layout, lane))).collect()
            }
            Port::Whole(slot) => vec![self.whole(slot)],
        };
        self.steps.steps[batch.step].ports.iter().map(port).collect()
    }

    fn element(&self, (slot, at): (SlotId, usize)) -> Element<'_, V> {
        match self.steps.source(slot) {
            Source::Input(input) => Element::Input(input, Some(at)),
            Source::Public(array) => Element::Public(array, Some(at)),
            Source::Step(_) => {
                let window = &self.windows[slot.0 as usize];
                Element::Value(&window.values[at - window.base])
            }
        }
    }

    fn whole(&self, slot: SlotId) -> Element<'_, V> {
        match self.steps.source(slot) {
            Source::Input(input) => Element::Input(input, None),
            Source::Public(array) => Element::Public(array, None),
            Source::Step(_) => self.element((slot, 0)),
        }
    }

    /// Takes the results of a batch: for each output of the kernel, one for each lane. Batches may end in any order.
    pub fn finish(&mut self, batch: &Batch, results: Vec<Vec<V>>) {
        let step = batch.step;
        self.early[step].insert(batch.lanes.start, results);
        while let Some(results) = self.early[step].remove(&self.done[step]) {
            let count = results.first().map_or(0, Vec::len);
            for (slot, values) in self.steps.steps[step].out.iter().zip(results) {
                self.live += values.len();
                self.windows[slot.0 as usize].values.extend(values);
            }
            self.done[step] += count;
            if count == 0 {
                break;
            }
        }
        self.peak = self.peak.max(self.live);
        let steps = self.steps;
        for slot in &steps.steps[step].out {
            for reader in self.readers[slot.0 as usize].clone() {
                self.update(reader);
            }
            self.free(*slot);
        }
        for at in 0..self.reads[step].len() {
            self.free(self.reads[step][at].slot);
        }
    }

    /// The first element of a slot that a later lane or an output may read.
    fn unread(&self, slot: SlotId) -> usize {
        if self.kept[slot.0 as usize] {
            return 0;
        }
        let mut keep = usize::MAX;
        for &step in &self.readers[slot.0 as usize] {
            if self.done[step] < self.lanes(step) {
                let at = self.done[step] / block(self.lanes(step));
                let reads = self.reads[step].iter().find(|reads| reads.slot == slot);
                keep = keep.min(reads.map_or(usize::MAX, |reads| reads.keep[at]));
            }
        }
        keep
    }

    /// Drops the elements of a slot that no later lane reads.
    fn free(&mut self, slot: SlotId) {
        let keep = self.unread(slot);
        let window = &mut self.windows[slot.0 as usize];
        let dropped = keep.min(window.end()).saturating_sub(window.base);
        window.values.drain(..dropped);
        window.base += dropped;
        self.live -= dropped;
    }

    /// The most elements that were kept at once.
    #[must_use]
    pub const fn peak(&self) -> usize {
        self.peak
    }

    /// How much of the work is done, given the cost of a lane of each step.
    pub fn progress(&self, cost: impl Fn(usize) -> u64) -> Progress {
        let sum = |lanes: &dyn Fn(usize) -> usize| {
            let of = |step: usize| cost(step).saturating_mul(lanes(step) as u64);
            (0..self.done.len()).map(of).fold(0, u64::saturating_add)
        };
        Progress { done: sum(&|step| self.done[step]), total: sum(&|step| self.lanes(step)) }
    }

    /// The elements of an output. Those that steps compute exist after the last step.
    pub fn output(&self, index: usize) -> impl Iterator<Item = Element<'_, V>> {
        let output = &self.steps.outputs[index];
        let count = if let Port::Whole(_) = output.port { 1 } else { output.ty.shape.size() };
        (0..count).map(|at| match output.port {
            Port::Lanes(layout) => self.element(self.steps.layouts.at(layout, at)),
            Port::Whole(slot) => self.whole(slot),
        })
    }
}

impl<V: Clone> Machine<'_, V> {
    /// The state of the run. Lanes that are handed out and not done count as not begun.
    #[must_use]
    pub fn checkpoint(&self) -> Cursor<V> {
        let live = |(slot, window): (usize, &Window<V>)| {
            let values = || window.values.iter().cloned().collect();
            (window.base > 0 || !window.values.is_empty()).then(|| (SlotId(slot as u32), window.base, values()))
        };
        Cursor { done: self.done.clone(), live: self.windows.iter().enumerate().filter_map(live).collect() }
    }
}

fn bad_cursor<T>(problem: &str) -> Result<T, Error> {
    Err(Error::BadCursor { problem: problem.to_owned() })
}

/// The lanes that are done and the results that are kept, checked.
fn state<V>(steps: &Steps, from: Option<Cursor<V>>) -> Result<(Vec<usize>, Vec<Window<V>>), Error> {
    let mut windows: Vec<_> = steps.slots.iter().map(|_| Window { base: 0, values: VecDeque::new() }).collect();
    let Some(Cursor { done, live }) = from else { return Ok((vec![0; steps.steps.len()], windows)) };
    if done.len() != steps.steps.len() || done.iter().zip(&steps.steps).any(|(&done, step)| done > step.lanes) {
        return bad_cursor("its steps are not those of the program");
    }
    for (slot, base, values) in live {
        match windows.get_mut(slot.0 as usize) {
            Some(window) => *window = Window { base, values: values.into() },
            None => return bad_cursor("it holds values that the program does not have"),
        }
    }
    for (slot, window) in windows.iter().enumerate() {
        let there = if let Source::Step(step) = steps.slots[slot] { done[step] } else { 0 };
        if window.base.checked_add(window.values.len()) != Some(there) {
            return bad_cursor("its values are not those that its steps computed");
        }
    }
    Ok((done, windows))
}

/// What a step reads of the results of others.
fn reads(steps: &Steps, step: usize) -> Vec<Reads> {
    let step = &steps.steps[step];
    let size = block(step.lanes);
    let blocks = step.lanes.div_ceil(size);
    let mut tables: BTreeMap<SlotId, Reads> = BTreeMap::new();
    let mut read = |lane: usize, (slot, at): (SlotId, usize)| {
        if let Source::Step(_) = steps.source(slot) {
            let table = tables.entry(slot).or_insert_with(|| Reads {
                slot,
                need: vec![0; blocks],
                keep: vec![usize::MAX; blocks],
            });
            let (need, keep) = (&mut table.need[lane / size], &mut table.keep[lane / size]);
            (*need, *keep) = ((*need).max(at + 1), (*keep).min(at));
        }
    };
    for port in &step.ports {
        match *port {
            Port::Lanes(layout) => (0..step.lanes).for_each(|lane| read(lane, steps.layouts.at(layout, lane))),
            Port::Whole(slot) => read(0, (slot, 0)),
        }
    }
    let mut tables: Vec<Reads> = tables.into_values().collect();
    for Reads { need, keep, .. } in &mut tables {
        (1..need.len()).for_each(|at| need[at] = need[at].max(need[at - 1]));
        (1..keep.len()).rev().for_each(|at| keep[at - 1] = keep[at].min(keep[at - 1]));
    }
    tables
}
