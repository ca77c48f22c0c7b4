//! The rows: every method with its memory, and reading the matrix in the same rounds.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bench_common::sample::{Contestant, Effort, Figure, Work, contest};
use bench_common::{machine, must};
use rand_core::SeedableRng;
use rayon::ThreadPool;
use rayon::prelude::*;
use solinas_field::Backend;
use solinas_schemes::Control;
use solinas_schemes::lwe::{
    Access, KeyFile, Layout, Matrix, Modulus, Multiplier, Reduction, SeededMatrix, Selection, StreamedProduct, Vector,
};

use crate::Error;
use crate::report::Row;

/// Work whose result is the words of a product.
struct Product<F> {
    run: F,
    last: Option<Vec<Vector>>,
}

impl<F: FnMut() -> Option<Vec<Vector>>> Work for Product<F> {
    fn run(&mut self) {
        self.last = (self.run)();
    }

    fn result(&self) -> Option<Vec<u64>> {
        let residues = self.last.as_ref()?.iter().flat_map(Vector::residues);
        Some(residues.map(u64::from).collect())
    }
}

/// A method: its name, the memory that it keeps, and its work.
struct Method<'a> {
    name: String,
    /// Bytes that it keeps between runs.
    resident: u64,
    /// Vectors of one run.
    count: usize,
    run: Box<dyn FnMut() -> Option<Vec<Vector>> + Send + 'a>,
}

/// A matrix, operands and a thread pool.
pub struct Bench {
    layout: Layout,
    modulus: Modulus,
    seeded: SeededMatrix,
    vectors: Vec<Vector>,
    selections: Vec<Selection>,
    threads: usize,
    batch: usize,
    pool: ThreadPool,
    effort: Effort,
}

impl Bench {
    /// A square matrix.
    pub fn new(
        dimension: usize,
        modulus: &Modulus,
        threads: usize,
        batch: usize,
        effort: Effort,
    ) -> Result<Self, Error> {
        let layout = must(Layout::new(dimension, dimension, modulus));
        let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
        Ok(Self {
            layout,
            seeded: must(SeededMatrix::new(layout, modulus, &[7; 32])),
            vectors: (0..4).map(|_| Vector::uniform(modulus, dimension, &mut rng)).collect(),
            selections: (0..batch.max(1)).map(|_| Selection::uniform(dimension, &mut rng)).collect(),
            modulus: modulus.clone(),
            threads,
            batch,
            pool: machine::pool(threads)?,
            effort,
        })
    }

    /// Bytes of the matrix.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// All rows: by the seed, streamed from a file in `folder` if there is one, and in memory if `memory` bytes suffice.
    pub fn rows(&self, memory: u64, folder: Option<&Path>) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        let multiplier = must(Multiplier::new());
        let (vector, one) = (&self.vectors[..1], &self.selections[..1]);
        let seeded = &self.seeded;
        let file = match folder {
            None => None,
            Some(folder) => {
                let path = folder.join(format!("bench-lwe-{}.tiles", std::process::id()));
                let failed = |source| Error::Measure(bench_common::Error::Write { path: path.clone(), source });
                let mut out = File::create(&path).map(BufWriter::new).map_err(failed)?;
                KeyFile::write(seeded, [0; 32], |bytes| out.write_all(bytes).map_err(failed), &Control::default())?;
                out.flush().map_err(failed)?;
                Some(Removed(KeyFile::open(&path)?))
            }
        };
        let matrix =
            if self.bytes() <= memory { Some(self.pool.install(|| Matrix::expand(seeded, memory))?) } else { None };
        let mut general = vec![self.method("general, seed", 0, 1, move || must(multiplier.multiply(seeded, vector)))];
        let mut binary =
            vec![self.method("binary, seed", 0, 1, move || must(multiplier.select(seeded, one, Access::Masked)))];
        if let Some(Removed(file)) = &file {
            general.push(self.method("general, streamed from a file", 0, 1, move || {
                let mut product = must(StreamedProduct::multiply(file, vector.to_vec()));
                must(product.run(|_| Ok(true)));
                must(product.into_products())
            }));
        }
        if let Some(matrix) = &matrix {
            let bytes = self.bytes();
            for (name, reduction) in [("lazy sums", Reduction::Lazy), ("Barrett", Reduction::Barrett)] {
                let multiplier = Multiplier { reduction, ..multiplier };
                let run = move || must(multiplier.multiply(matrix, vector));
                general.push(self.method(&format!("general, {name}"), bytes, 1, run));
            }
            for backend in Backend::available().into_iter().filter(|&backend| backend != multiplier.backend) {
                let multiplier = Multiplier { backend, ..multiplier };
                let run = move || must(multiplier.multiply(matrix, vector));
                general.push(self.method(&format!("general, lazy sums, {backend}"), bytes, 1, run));
            }
            for (name, access) in [("every row, masked", Access::Masked), ("selected rows alone", Access::VartimeRows)]
            {
                let run = move || must(multiplier.select(matrix, one, access));
                binary.push(self.method(&format!("binary, {name}"), bytes, 1, run));
            }
        }
        rows.extend(self.contest("general", matrix.as_ref(), general)?);
        rows.extend(self.contest("binary", matrix.as_ref(), binary)?);
        if let Some(matrix) = &matrix {
            if self.batch > 0 {
                let all = &self.selections;
                let batch = [("masked", Access::Masked), ("tables of four rows", Access::VartimeTables)];
                let batch = batch.map(|(name, access)| {
                    let run = move || must(multiplier.select(matrix, all, access));
                    self.method(&format!("binary, batch of {}, {name}", self.batch), self.bytes(), self.batch, run)
                });
                rows.extend(self.contest("batch", Some(matrix), batch.into())?);
                let vectors = &self.vectors;
                let run = move || must(multiplier.multiply(matrix, vectors));
                let name = format!("general, batch of {}", vectors.len());
                let method = self.method(&name, self.bytes(), vectors.len(), run);
                rows.extend(self.contest("general batch", Some(matrix), vec![method])?);
            }
            let product = self.pool.install(|| must(multiplier.multiply(matrix, vector)));
            let modulus = &self.modulus;
            let reconstruct = move || {
                std::hint::black_box(must(modulus.reconstruct(&product[0])));
                None
            };
            let method = Method { name: "reconstruction".into(), resident: 0, count: 1, run: Box::new(reconstruct) };
            rows.extend(self.contest("reconstruction", None, vec![method])?);
        }
        Ok(rows)
    }

    fn method<'a>(
        &self,
        name: &str,
        resident: u64,
        count: usize,
        mut run: impl FnMut() -> Vec<Vector> + Send + 'a,
    ) -> Method<'a> {
        Method { name: name.into(), resident, count, run: Box::new(move || Some(run())) }
    }

    /// Times methods with equal results, and the reading of the matrix.
    fn contest(&self, id: &str, matrix: Option<&Matrix>, mut methods: Vec<Method<'_>>) -> Result<Vec<Row>, Error> {
        let mut memory = Vec::new();
        for method in &mut methods {
            // The growth of the process in a run. A matrix in memory counts by its bytes.
            machine::reset_peak_memory()?;
            let before = machine::peak_memory()?;
            self.pool.install(|| (method.run)());
            memory.push((
                method.resident,
                method.count,
                method.resident + machine::peak_memory()?.saturating_sub(before),
            ));
        }
        let mut contestants = Vec::new();
        if let Some(matrix) = matrix {
            let read = move || {
                let sum = |part: &[u32]| part.iter().fold(0u32, |sum, &word| sum ^ word);
                let sum = self.pool.install(|| matrix.words().par_chunks(1 << 20).map(sum).reduce(|| 0, |a, b| a ^ b));
                std::hint::black_box(sum);
                None
            };
            contestants.push(Contestant::new("reading", Product { run: read, last: None }));
        }
        for Method { name, mut run, .. } in methods {
            let run = move || self.pool.install(&mut run);
            contestants.push(Contestant::new(name, Product { run, last: None }));
        }
        let figures = contest(id, contestants, self.effort)?;
        let reading: Option<Figure> = figures.iter().find(|figure| figure.name == "reading").cloned();
        let figures = figures.iter().filter(|figure| figure.name != "reading");
        let mut rows: Vec<Row> = figures
            .zip(&memory)
            .map(|(figure, &(_, count, memory))| Row::new(self, figure, reading.as_ref(), count, Some(memory)))
            .collect();
        if let Some(reading) = &reading {
            rows.insert(0, Row::new(self, reading, None, 1, None));
        }
        Ok(rows)
    }

    /// Rows and columns.
    pub fn dimension(&self) -> usize {
        self.layout.rows()
    }

    /// The modulus.
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// Threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

/// A file that is removed on drop.
struct Removed(KeyFile);

impl Drop for Removed {
    fn drop(&mut self) {
        // At worst it stays in the folder that the user named.
        let _ = std::fs::remove_file(self.0.path());
    }
}

/// `A^T x` of a small matrix by NTL and by ours, compared.
pub fn agrees_with_ntl(ntl: &solinas_paper::ntl::Ntl, modulus: &Modulus) -> Result<bool, String> {
    let n = 12;
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(2);
    let mut numbers = |len: usize| must(modulus.reconstruct(&Vector::uniform(modulus, len, &mut rng)));
    let (entries, x) = (numbers(n * n), numbers(n));
    let layout = must(Layout::new(n, n, modulus));
    let matrix = must(Matrix::decompose(layout, modulus, &entries, 1 << 30));
    let product = must(must(Multiplier::new()).multiply(&matrix, &[must(modulus.decompose(&x))]));
    Ok(ntl.product(&modulus.value(), &entries, &x)? == must(modulus.reconstruct(&product[0])))
}
