//! Reading speed of this machine, which bounds every operation that reads a large key.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use bench_common::machine;
use bench_common::stats::Summary;

use crate::Error;

/// A row of the bandwidth table.
#[derive(Clone, Copy, Debug)]
pub struct ReadCase {
    /// Bytes read in one pass, by all threads together.
    pub bytes: usize,
    /// Reading threads, each on a core of its own with an equal share.
    pub threads: usize,
    /// Whether to ask for huge pages.
    pub huge_pages: bool,
}

impl ReadCase {
    /// The row's id, as in `memory/read/200MB/threads=2`.
    pub fn id(&self) -> String {
        let pages = if self.huge_pages { "/huge-pages" } else { "" };
        let threads = if self.threads == 1 { String::new() } else { format!("/threads={}", self.threads) };
        format!("memory/read/{}MB{pages}{threads}", self.bytes / 1_000_000)
    }
}

/// All rows: larger than every cache, and within the last-level cache.
pub fn read_cases() -> Vec<ReadCase> {
    let mut cases = Vec::new();
    for bytes in [200_000_000, 24_000_000] {
        for huge_pages in [false, true] {
            for threads in [1, 2] {
                cases.push(ReadCase { bytes, threads, huge_pages });
            }
        }
    }
    cases
}

/// GB/s of samples that read about 200 MB each. A sample is short enough to fall between the turns of other processes, so
/// that the largest figure shows the machine's speed.
///
/// # Errors
/// [`Error::Measure`] if there are fewer cores than threads, or the kernel refuses to pin.
pub fn measure(case: ReadCase, samples: usize) -> Result<Summary, Error> {
    let cores = machine::cores()?;
    if cores.len() < case.threads {
        return Err(bench_common::Error::Cores { wanted: case.threads, allowed: cores.len() }.into());
    }
    let share = case.bytes / case.threads;
    let passes = 200_000_000 / case.bytes;
    let barrier = Barrier::new(case.threads);
    let read = |core: usize| -> Result<Vec<(Instant, Instant)>, Error> {
        // A refused pin is reported at the end, since every thread must reach every barrier.
        let pinned = machine::confine(&[core]);
        let data = buffer(share / size_of::<f64>(), case.huge_pages);
        black_box(sum(&data));
        let spans = (0..samples).map(|_| {
            barrier.wait();
            let start = Instant::now();
            for _ in 0..passes {
                black_box(sum(black_box(&data)));
            }
            (start, Instant::now())
        });
        let spans = spans.collect();
        pinned?;
        Ok(spans)
    };
    let spans = thread::scope(|scope| -> Result<Vec<_>, Error> {
        let readers: Vec<_> = cores[..case.threads].iter().map(|&core| scope.spawn(move || read(core))).collect();
        readers.into_iter().map(|reader| reader.join().map_err(|_| Error::Thread)?).collect()
    })?;
    // From the first thread's start to the last thread's end, so that a delayed thread cannot improve the rate.
    let rates = (0..samples).filter_map(|sample| {
        let start = spans.iter().map(|thread| thread[sample].0).min()?;
        let end = spans.iter().map(|thread| thread[sample].1).max()?;
        Some((share * case.threads * passes) as f64 / (end - start).as_secs_f64() / 1e9)
    });
    Ok(Summary::of(&rates.collect::<Vec<_>>()))
}

/// `len` ones, on huge pages if they are wanted and available.
fn buffer(len: usize, huge_pages: bool) -> Vec<f64> {
    const PAGE: usize = 4096;
    let mut data: Vec<f64> = Vec::with_capacity(len);
    if huge_pages {
        let start = data.as_ptr().addr().next_multiple_of(PAGE);
        let end = (data.as_ptr().addr() + len * size_of::<f64>()) / PAGE * PAGE;
        // SAFETY: [start, end) is page-aligned, lies inside `data`'s allocation, and the advice changes no content.
        // A refusal leaves ordinary pages, which is what the row then shows.
        unsafe { libc::madvise(data.as_mut_ptr().with_addr(start).cast(), end - start, libc::MADV_HUGEPAGE) };
    }
    data.resize(len, 1.0);
    data
}

/// The sum, with enough independent lanes that only the loads take time.
fn sum(data: &[f64]) -> f64 {
    let mut lanes = [0.0; 64];
    for chunk in data.chunks_exact(64) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum()
}
