//! Results of private programs: they show the client the values, and nothing else about the program. After the waves of its schedule, a run passes all results
//! through rounds of a bootstrap and of the flooding of a [`Sanitizer`].

use crate::plans::{Cursor, End, Inputs, Position, Schedule};
use crate::{Control, Error, Progress};
use solinas_schemes::tfhe::{Backend, LookupTable, LweCiphertext, Params, Sanitizer, SlotBootstrap, Sum, noise};

/// The bootstraps of each round, for one instance of a schedule.
pub(super) fn waves(schedule: &Schedule, params: &Params) -> Vec<usize> {
    vec![schedule.outputs.len(); noise::sanitizing_rounds(params) as usize]
}

/// Runs a schedule, and then the rounds. A run also pauses between two rounds: its cursor then has all results, as the last round left them, and counts the
/// rounds as waves.
pub(super) fn run(
    schedule: &Schedule,
    target: &dyn Backend,
    sanitizer: &Sanitizer,
    (inputs, from, lanes): (&dyn Inputs, Option<&Cursor>, usize),
    pause: &dyn Fn(Position) -> bool,
    control: &Control<'_>,
) -> Result<End, Error> {
    let (instances, before, widths) = (inputs.instances(), schedule.waves().len(), waves(schedule, sanitizer.params()));
    let (waves, each) = (before + widths.len(), schedule.outputs.len());
    let total = ((schedule.bootstraps() + widths.iter().sum::<usize>()) * instances) as u64;
    let report = |now: Progress| control.report(now.done, total);
    let of_schedule = Control { progress: control.progress.is_some().then_some(&report), ..*control };
    let pause = |position: Position| pause(Position { waves, ..position });
    let mut outputs = match schedule.run(target, inputs, from, &pause, lanes, &of_schedule)? {
        End::Done(outputs) => outputs,
        paused @ End::Paused(_) => return Ok(paused),
    };
    let reached = from.map_or(0, |cursor| cursor.wave as usize);
    let first = reached.max(before);
    for wave in first..waves {
        // A run that just went on computes before it pauses again.
        if wave > reached && pause(Position { step: 0, done: instances, lanes: instances, group: 0, wave, waves }) {
            return Ok(End::Paused(Cursor { outputs, lanes: 0, wave: wave as u32, live: Vec::new() }));
        }
        let done = (schedule.bootstraps() + (wave - before) * each) * instances;
        let report = |now: usize| control.report((done + now) as u64, total);
        round(target, sanitizer, outputs.iter_mut().flatten().collect(), report, control)?;
    }
    control.report(total, total);
    Ok(End::Done(outputs))
}

/// Whether a run of private results can continue from a cursor after the waves of its schedule.
pub(super) fn check_cursor(schedule: &Schedule, params: &Params, cursor: &Cursor, instances: usize) -> bool {
    let rounds = schedule.waves().len()..schedule.waves().len() + waves(schedule, params).len();
    rounds.contains(&(cursor.wave as usize))
        && cursor.lanes == 0
        && cursor.live.is_empty()
        && cursor.outputs.len() == instances
        && cursor.outputs.iter().all(|outputs| outputs.len() == schedule.outputs.len())
}

fn round(
    target: &dyn Backend,
    sanitizer: &Sanitizer,
    mut blocks: Vec<&mut LweCiphertext>,
    report: impl Fn(usize),
    control: &Control<'_>,
) -> Result<(), Error> {
    let tables = [LookupTable::identity(sanitizer.params().family())];
    // A bootstrap reads one slot and writes another one.
    let together = target.instances(2).min(blocks.len()).max(1);
    let mut slots = target.slots(2 * together, together, &tables)?;
    let one = |slot| Sum { terms: vec![(slot, 1)], constant: 0 };
    let mut done = 0;
    for batch in blocks.chunks_mut(together) {
        control.check()?;
        report(done);
        let count = batch.len() as u32;
        let bootstrap = |slot| SlotBootstrap { argument: one(slot), table: 0, outputs: vec![count + slot] };
        slots.write(&(0..count).zip(batch.iter().map(|block| &**block)).collect::<Vec<_>>())?;
        slots.bootstrap(&(0..count).map(bootstrap).collect::<Vec<_>>())?;
        let fresh = sanitizer.flood(&slots.read(&(count..2 * count).map(one).collect::<Vec<_>>())?)?;
        batch.iter_mut().zip(fresh).for_each(|(block, fresh)| **block = fresh);
        done += batch.len();
    }
    Ok(())
}
