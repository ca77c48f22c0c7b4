//! Tables 3 to 7: times of operations.

use super::published::{ADD, BOOTSTRAP, DECRYPT, DIMENSIONS, ENCRYPT, Grid, MULTIPLY};
use super::{
    ADDITION, BOOTSTRAPPING, DECRYPTION, ENCRYPTION, MULTIPLICATION, PAPER_MACHINE, RESEARCH, by_dimension, row,
    threads_name,
};
use crate::timing::{self, Seconds, Timer, one_and};
use crate::{Cell, Column, Control, Entry, Error, Options, Report, Table, machine};
use rayon::ThreadPool;
use solinas_schemes::ntru::{Ciphertext, ClientKey, Evaluator, Params, ServerKey, params};
use solinas_schemes::{Entropy, Evaluate, Level};
use std::time::Duration;

/// Largest time of a figure in seconds, without and with `--quick`.
const BUDGET: [Duration; 2] = [Duration::from_millis(150), Duration::from_millis(25)];

/// Smallest number of repetitions of a figure.
const FEWEST: usize = 5;

/// Keys of a set and the operations that are timed with them.
struct World {
    client: ClientKey,
    server: ServerKey,
    plain: Vec<u64>,
    fresh: [Ciphertext; 2],
}

impl World {
    fn new(params: &Params) -> Result<Self, Error> {
        let client = ClientKey::generate(params, true, Entropy::Insecure(1), &Control::default())?;
        let server = client.server_key(&Control::default())?;
        let plain: Vec<u64> = timing::number(params.dimension(), 7)
            .words()
            .iter()
            .flat_map(|word| (0..64).map(move |i| word >> i & 1))
            .take(params.dimension())
            .collect();
        let mut rng = server.public().encryption_rng(0)?;
        let fresh = [server.public().encrypt(&plain, &mut rng)?, server.public().encrypt(&plain, &mut rng)?];
        Ok(Self { client, server, plain, fresh })
    }

    /// The ciphertext at level 1, after a squaring at every level, and its plaintext.
    fn last(&self) -> Result<(Ciphertext, Vec<u64>), Error> {
        let evaluator = Evaluator::new(&self.server);
        let (mut x, mut plain) = (self.fresh[0].clone(), self.plain.clone());
        while x.level() > Level::LOWEST {
            (x, plain) = (evaluator.multiply(&x, &x)?, squared(&plain));
        }
        Ok((x, plain))
    }

    fn check(&self, what: &str, x: &Ciphertext, plain: &[u64]) -> Result<(), Error> {
        let name = self.server.params().name();
        timing::right(|| format!("{what} at {name}"), self.client.decrypt(x)? == plain)
    }
}

/// The square of a polynomial modulo 2 and `X^n + 1`. Exponents double.
fn squared(plain: &[u64]) -> Vec<u64> {
    let mut square = vec![0; plain.len()];
    plain.iter().enumerate().for_each(|(i, bit)| square[2 * i % plain.len()] ^= bit);
    square
}

/// The paper's set, and the same set with the fewest bits that decrypt.
fn sets(dimension: usize, depth: usize) -> Result<[Params; 2], Error> {
    let named = |family: &str| Params::named(&format!("{family}-{dimension}-{depth}"));
    Ok([named("paper")?, named("tight")?])
}

/// The same set with smaller rings. Rings are halved as long as the root Hermite factor stays at most that of fresh ciphertexts in Table 2, with `depth` primes.
fn with_smaller_rings(params: &Params) -> Result<Params, Error> {
    let mut literal = params.literal().clone();
    let bits = f64::from(params::paper_bits(literal.dimension, 2));
    literal.floor = Some(params::root_hermite_factor(literal.dimension, bits * literal.depth as f64));
    literal.name += "-rings";
    // Halving adds noise. The noise budget allows it if no sums are multiplied.
    literal.terms = 1;
    Ok(Params::try_from(literal)?)
}

fn pools(threads: &[usize]) -> Result<Vec<ThreadPool>, Error> {
    let pool = |&threads: &usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Error::Threads { threads, problem: error.to_string() })
    };
    threads.iter().map(pool).collect()
}

/// A table of an operation on fresh ciphertexts: the paper's primes on one thread and on all threads, and tight primes on one thread.
fn table<T: Send>(
    entry: Entry,
    paper: &Grid,
    options: &Options,
    control: &Control<'_>,
    work: impl Fn(&World, u64) -> Result<T, Error> + Sync,
    check: impl Fn(&World, &T) -> Result<(), Error>,
) -> Result<Report, Error> {
    let busy = machine::load();
    let threads = timing::threads(options);
    let counts = one_and(threads);
    let pools = pools(&counts)?;
    let mut timer =
        Timer::new(options, control, 60 * (counts.len() + 1)).with_budget(BUDGET[usize::from(options.quick)], FEWEST);
    let mut report = Report::new(entry, PAPER_MACHINE, options, threads);
    let mut columns: Vec<_> = counts.iter().map(|&t| Column::new(threads_name(t), Some("ms"))).collect();
    columns.push(Column::new("tight, 1 thread", Some("ms")));
    report.tables = by_dimension(&columns, paper, counts.len() - 1, |dimension, depth| {
        let mut cells = Vec::new();
        for (params, pools) in sets(dimension, depth)?.iter().zip([&pools[..], &pools[..1]]) {
            let world = World::new(params)?;
            for pool in pools {
                let mut nonce = 1;
                let (seconds, result) = timer.seconds(|| {
                    nonce += 1;
                    pool.install(|| work(&world, nonce))
                })?;
                check(&world, &result)?;
                cells.push(Some(Cell::timed(seconds, 1e3)));
            }
        }
        Ok::<_, Error>(cells)
    })?;
    report.notes = vec![
        "Our figures use depth + 1 primes of Table 1 (44 to 51 bits). Column `tight` uses the fewest bits that decrypt by tested noise formulas (`tight-N-DEPTH`). The ratio is the last column of the paper's primes over the paper, which used up to 20 threads. Every result was decrypted and compared. Times are medians of repeated runs.".into(),
        RESEARCH.into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 3.
pub(crate) fn encryption(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let work = |world: &World, nonce: u64| {
        let public = world.server.public();
        Ok(public.encrypt(&world.plain, &mut public.encryption_rng(nonce)?)?)
    };
    table(ENCRYPTION, &ENCRYPT, options, control, work, |world, x| world.check("Encrypt", x, &world.plain))
}

/// Table 4.
pub(crate) fn addition(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let work = |world: &World, _| Ok(Evaluator::new(&world.server).add(&world.fresh[0], &world.fresh[1])?);
    let check = |world: &World, x: &Ciphertext| world.check("EvalAdd", x, &vec![0; world.plain.len()]);
    table(ADDITION, &ADD, options, control, work, check)
}

/// Table 5.
pub(crate) fn multiplication(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let work = |world: &World, _| Ok(Evaluator::new(&world.server).multiply(&world.fresh[0], &world.fresh[1])?);
    let check = |world: &World, x: &Ciphertext| world.check("ComposedEvalMult", x, &squared(&world.plain));
    table(MULTIPLICATION, &MULTIPLY, options, control, work, check)
}

/// Table 6.
pub(crate) fn decryption(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let busy = machine::load();
    let mut timer = Timer::new(options, control, 120).with_budget(BUDGET[usize::from(options.quick)], FEWEST);
    let mut report = Report::new(DECRYPTION, PAPER_MACHINE, options, 1);
    let [pool, ..] = &pools(&[1])?[..] else { return Ok(report) };
    let columns = [
        Column::new("last ring's n", None),
        Column::new("one part", Some("ms")),
        Column::new("all parts", Some("ms")),
        Column::new("no reduction", Some("ms")),
    ];
    report.tables = by_dimension(&columns, &DECRYPT, 1, |dimension, depth| {
        let [params, _] = sets(dimension, depth)?;
        let reduced = with_smaller_rings(&params)?;
        let parts = dimension / reduced.dimension_at(Level::LOWEST);
        let mut time = |params: &Params| {
            let world = World::new(params)?;
            let (last, plain) = world.last()?;
            let (seconds, result) = timer.seconds(|| pool.install(|| Ok(world.client.decrypt(&last)?)))?;
            timing::right(|| format!("Decrypt at {}", params.name()), result == plain)?;
            Ok::<_, Error>(seconds)
        };
        let (small, whole) = (time(&reduced)?, time(&params)?);
        let cell = |seconds: Seconds| Some(Cell::timed(seconds, 1e3));
        let last = Cell::counted(reduced.dimension_at(Level::LOWEST) as u64);
        Ok::<_, Error>(vec![
            Some(last),
            Some(Cell::predicted(1e3 * small.median / parts as f64)),
            cell(small),
            cell(whole),
        ])
    })?;
    report.notes = vec![
        "Ciphertexts are at level 1 after squarings at all levels. Rings are halved as far as the root Hermite factor of fresh ciphertexts in the paper's table 2 allows, which gives the paper's steps. Our code keeps all parts of a reduced ciphertext, the paper keeps one. Column `one part` is the time of all parts divided by their number. Column `no reduction` keeps the ring. All figures are for one thread. Every result was compared with plain arithmetic. Times are medians of repeated runs.".into(),
        RESEARCH.into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

/// Table 7.
pub(crate) fn bootstrapping(options: &Options, control: &Control<'_>) -> Result<Report, Error> {
    let busy = machine::load();
    let threads = timing::threads(options);
    let counts = one_and(threads);
    let pools = pools(&counts)?;
    let mut timer =
        Timer::new(options, control, 6 * counts.len()).with_budget(10 * BUDGET[usize::from(options.quick)], 3);
    let mut report = Report::new(BOOTSTRAPPING, PAPER_MACHINE, options, threads);
    let mut rows = Vec::new();
    for (n, paper) in DIMENSIONS.into_iter().zip(BOOTSTRAP) {
        let world = World::new(&Params::named(&format!("boot-{n}"))?)?;
        let evaluator = Evaluator::new(&world.server);
        let public = world.server.public();
        let bit = |nonce: u64| {
            let fresh = public.encrypt_bit(nonce % 2 == 1, &mut public.encryption_rng(nonce)?)?;
            evaluator.automatic().at_level(&fresh, Level::LOWEST)
        };
        let bits = [bit(2)?, bit(3)?];
        let mut cells = Vec::new();
        for pool in &pools {
            let mut count = 0;
            let (seconds, result) = timer.seconds(|| {
                count ^= 1;
                Ok(pool.install(|| evaluator.bootstrap(&bits[count]))?)
            })?;
            let mut plain = vec![0; n];
            plain[0] = count as u64;
            world.check("Bootstrapping", &result, &plain)?;
            cells.push(Some(Cell::timed(seconds, 1.0)));
        }
        cells.push(Some(Cell::counted(world.server.params().levels() as u64)));
        rows.push(row(format!("n = {n}"), cells, paper, counts.len() - 1));
    }
    let mut columns: Vec<_> = counts.iter().map(|&t| Column::new(threads_name(t), Some("s"))).collect();
    columns.push(Column::new("primes", None));
    report.tables.push(Table { title: "Bootstrapping of a bit".into(), columns, rows });
    report.notes = vec![
        "Bootstrapping goes from level 1 to a level that leaves two multiplications (`boot-N`); the paper's level leaves one. The last result of each row was decrypted and compared. Times are medians of repeated runs.".into(),
        RESEARCH.into(),
    ];
    report.notes.extend(machine::busy_note(busy));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_shrink_as_the_papers_times_do() {
        for (dimension, depth, want) in
            [(512, 1, 512), (512, 19, 32), (4096, 3, 2048), (4096, 7, 1024), (16_384, 13, 2048)]
        {
            let [params, _] = sets(dimension, depth).unwrap();
            assert_eq!(with_smaller_rings(&params).unwrap().dimension_at(Level::LOWEST), want, "{dimension}, {depth}");
        }
    }

    #[test]
    fn squares_double_exponents() {
        assert_eq!(squared(&[1, 1, 0, 1]), [1, 0, 0, 0]);
    }
}
