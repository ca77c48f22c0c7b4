//! Keys and figures of the Gentry-Halevi tables. A run measures each figure once, even if several tables show it.

mod figure;
mod memory;

use crate::timing::{Seconds, one_and, threads};
use crate::{Cell, Control, Error, Options};
use figure::Task;
use solinas_circuits::counted;
use solinas_schemes::Entropy;
use solinas_schemes::gh::{
    self, Arithmetic, Ciphertext, ClientKey, EncryptMethod, Encryptor, Params, RecryptMethod, ServerKey,
};
use std::collections::HashMap;
use std::time::Instant;

/// Names of the papers' settings.
pub(crate) const SETTINGS: [&str; 3] = ["small", "medium", "large"];

/// Set, operation, and the most milliseconds on two threads that the project aims at.
const TARGETS: [(&str, &str, f64); 9] = [
    ("small", "Encrypt", 3.0),
    ("small", "Decrypt", 0.1),
    ("small", "Recrypt", 800.0),
    ("medium", "Encrypt", 15.0),
    ("medium", "Decrypt", 0.4),
    ("medium", "Recrypt", 6000.0),
    ("large", "Encrypt", 100.0),
    ("large", "Decrypt", 2.0),
    ("large", "Recrypt", 60_000.0),
];

/// The target of an operation in a run with two threads, in milliseconds.
pub(crate) fn target(set: &str, operation: &str, threads: usize) -> Option<f64> {
    let row = TARGETS.iter().find(|row| (row.0, row.1) == (set, operation));
    row.filter(|_| threads == 2).map(|row| row.2)
}

/// An operation to measure at a parameter set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// Encryption of a bit, and its tables.
    Encrypt(EncryptMethod),
    /// Decryption in linear time.
    Decrypt,
    /// Decryption by a modular product, as in the papers.
    DecryptExact,
    /// Recrypt, and its tables beside the server key.
    Recrypt(RecryptMethod),
    /// Product of two integers of the modulus's length.
    Product,
    /// Reduction of such a product, by Barrett's method.
    Reduction,
    /// Encryption by windows of the given number of powers (`wang2014` 4.3.1).
    Window(usize),
}

/// One measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Figure {
    /// On one thread, and on all threads if there are more.
    pub(crate) seconds: Vec<Seconds>,
    /// Seconds of Recrypt's steps in the median run: expansions, columns, sum of the blocks.
    pub(crate) parts: Vec<[f64; 3]>,
    /// Bytes that stay allocated for the operation.
    pub(crate) bytes: Option<f64>,
    /// Number of modular products.
    pub(crate) products: Option<u64>,
}

impl Figure {
    /// Milliseconds on one thread.
    pub(crate) fn ms_alone(&self) -> Option<Cell> {
        self.seconds.first().map(|seconds| Cell::timed(*seconds, 1e3))
    }

    /// Milliseconds on all threads.
    pub(crate) fn ms(&self) -> Option<Cell> {
        self.seconds.last().map(|seconds| Cell::timed(*seconds, 1e3))
    }

    /// MiB of the tables.
    pub(crate) fn mib(&self) -> Option<Cell> {
        self.bytes.map(|bytes| Cell::measured(bytes / f64::from(1 << 20)))
    }
}

/// Keys of a parameter set, from a fixed seed, and a ciphertext of each bit.
struct Keys {
    client: ClientKey,
    server: ServerKey,
    inputs: [Ciphertext; 2],
}

/// The measurements of a run so far.
#[derive(Default)]
pub(crate) struct Bench {
    keys: HashMap<String, Keys>,
    figures: HashMap<(String, What), Figure>,
    notes: Vec<String>,
}

/// Parameter sets to measure.
fn sets(options: &Options) -> Result<Vec<Params>, Error> {
    let names: Vec<&str> = match (options.sets.as_slice(), options.quick) {
        ([], true) => vec!["toy"],
        ([], false) => vec!["toy", "small"],
        (sets, _) => sets.iter().map(String::as_str).collect(),
    };
    Ok(names.into_iter().map(Params::named).collect::<Result<_, _>>()?)
}

/// Names of the sets in a table: first the measured sets that the papers lack, then the papers' settings.
pub(crate) fn rows(options: &Options, papers: &[&str]) -> Result<Vec<String>, Error> {
    let ours = sets(options)?.into_iter().map(|params| params.name().to_owned());
    let others = ours.filter(|name| !papers.contains(&name.as_str()));
    Ok(others.chain(papers.iter().map(ToString::to_string)).collect())
}

/// Heading of the rows of a set.
pub(crate) fn heading(set: &str) -> String {
    Params::named(set).map_or_else(|_| set.to_owned(), |params| format!("{set} ({})", params.dimension()))
}

/// Predicted time and memory of every set that will be measured, as text.
pub(crate) fn announce(options: &Options) -> Result<Vec<String>, Error> {
    let threads = threads(options);
    let limit = memory::limit();
    let line = |params: &Params| {
        // A modular product takes 1.6 ms at 12,266 words on one core of 2023.
        let (n, words) = (params.dimension(), params.words());
        let product = 1.6e-3 * (words as f64 / 12_266.0) * (1.0 + 0.1 * (words as f64 / 12_266.0).log2().max(-5.0));
        let (s, pairs) = (params.blocks(), params.blocks() * params.candidates());
        let recrypt = s * (params.precision() + 1) * params.first_indices() + 100;
        let seconds = product * (3 * n + 2 * pairs + 6 * recrypt) as f64 / threads as f64;
        let fitting = |bytes: u64| if bytes <= limit { bytes } else { 0 };
        let encrypt = EncryptMethod::ALL.map(|method| fitting(method.memory(params)));
        let recrypt = RecryptMethod::ALL.map(|method| fitting(method.memory(params)));
        let tables = encrypt.into_iter().chain(recrypt).max().unwrap_or(0);
        let mib = (tables + 8 * params.server_key_words() as u64) >> 20;
        format!("{}: about {seconds:.0} s on {}, and {mib} MiB", params.name(), counted(threads, "thread"))
    };
    Ok(sets(options)?.iter().map(line).collect())
}

impl Bench {
    /// Measures all missing figures at every requested set.
    pub(crate) fn measure(&mut self, what: &[What], options: &Options, control: &Control<'_>) -> Result<(), Error> {
        let sets = sets(options)?;
        let total = (sets.len() * (what.len() + 1)) as u64;
        let mut done = 0;
        let mut report = || {
            done += 1;
            control.report(done, total);
        };
        let threads = one_and(threads(options));
        for params in sets {
            let name = params.name();
            if !self.keys.contains_key(name) {
                self.keys.insert(name.into(), Keys::generate(&params, control)?);
            }
            report();
            let Some(keys) = self.keys.get(name) else { continue };
            let task = Task::new(keys, &threads, options, control)?;
            for &what in what {
                let id = (name.to_owned(), what);
                if !self.figures.contains_key(&id) {
                    match task.measure(what) {
                        Err(Error::Scheme(error)) if matches!(*error, solinas_schemes::Error::Memory { .. }) => {
                            self.notes.push(format!("Not measured: {error}."));
                            self.figures.insert(id, Figure::default());
                        }
                        figure => drop(self.figures.insert(id, figure?)),
                    }
                }
                report();
            }
        }
        Ok(())
    }

    /// The figure of a set; empty if it was not measured.
    pub(crate) fn get(&self, set: &str, what: What) -> Figure {
        self.figures.get(&(set.to_owned(), what)).cloned().unwrap_or_default()
    }

    /// The figures that could not be measured, and the reasons.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Keys {
    fn generate(params: &Params, control: &Control<'_>) -> Result<Self, Error> {
        let control = control.without_progress();
        let client = gh::ClientKey::generate(params, true, Entropy::Insecure(1), &control)?;
        let server = client.server_key(&control)?;
        let public = server.public();
        let encryptor = Encryptor::new(public, EncryptMethod::PartialFft, u64::MAX, Arithmetic::default())?;
        let mut rng = public.encryption_rng(1)?;
        let inputs = [encryptor.encrypt(false, &mut rng)?, encryptor.encrypt(true, &mut rng)?];
        Ok(Self { client, server, inputs })
    }
}

/// Milliseconds of three kinds of figures in a row of times. `None` for a missing figure.
pub(crate) fn over(ours: Option<Cell>, theirs: Option<f64>) -> Option<Cell> {
    Some(Cell::measured(ours?.ours / theirs?))
}

/// A clock.
fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_announced_with_time_and_memory() {
        let quick = Options { quick: true, threads: Some(2), ..Options::default() };
        assert!(crate::announce(&["wang2015-2"], &quick).unwrap().is_empty());
        let lines = crate::announce(&["wang2015-2", "wang2015-6"], &quick).unwrap();
        assert!(lines.len() == 1 && lines[0].starts_with("toy: about") && lines[0].contains("MiB"), "{lines:?}");
        let unknown = Options { sets: vec!["huge".into()], ..quick };
        let error = crate::announce(&["wang2015-6"], &unknown).unwrap_err();
        assert!(error.to_string().contains("choose one of toy"), "{error}");
    }
}
