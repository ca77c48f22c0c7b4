//! What only the inside of the crate can show: waits that are missing, and rows of a second stream of the generator.

use super::work::{Seed, Work};
use super::{Engine, Form};
use crate::driver::{CopyId, Driver, GraphId, HostBytes, KernelId, Launch, Operation, StreamId};
use crate::driver_emulated::Emulated;
use crate::{Device, DeviceInfo, DeviceOptions, Error, Module};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_schemes::Control;
use solinas_schemes::lwe::{Layout, Matrix, Modulus, Multiplier, SeededMatrix, Source, Vector};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An emulated device that forgets to wait for another stream, once.
#[derive(Debug)]
struct Forgetful {
    inner: Emulated,
    /// Waits so far.
    waits: Arc<AtomicUsize>,
    /// Number of the wait that it forgets.
    forgets: usize,
}

impl Driver for Forgetful {
    fn wait(&self, stream: StreamId, other: StreamId) -> Result<(), Error> {
        if self.waits.fetch_add(1, Ordering::Relaxed) == self.forgets {
            return Ok(());
        }
        self.inner.wait(stream, other)
    }

    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn allocate(&self, bytes: u64) -> Result<Option<u64>, Error> {
        self.inner.allocate(bytes)
    }

    fn free(&self, address: u64) -> Result<(), Error> {
        self.inner.free(address)
    }

    fn kernel(&self, module: &'static Module, name: &str) -> Result<KernelId, Error> {
        self.inner.kernel(module, name)
    }

    fn open_stream(&self) -> Result<(), Error> {
        self.inner.open_stream()
    }

    fn submit(&self, stream: StreamId, operation: Operation) -> Result<(), Error> {
        self.inner.submit(stream, operation)
    }

    fn host_bytes(&self, bytes: usize) -> Result<Option<Arc<dyn HostBytes>>, Error> {
        self.inner.host_bytes(bytes)
    }

    fn copy_host_bytes(
        &self,
        stream: StreamId,
        from: &Arc<dyn HostBytes>,
        to: u64,
        bytes: usize,
    ) -> Result<CopyId, Error> {
        self.inner.copy_host_bytes(stream, from, to, bytes)
    }

    fn wait_for_copy(&self, stream: StreamId, copy: CopyId) -> Result<(), Error> {
        self.inner.wait_for_copy(stream, copy)
    }

    fn synchronize(&self, stream: StreamId) -> Result<(), Error> {
        self.inner.synchronize(stream)
    }

    fn read(&self, stream: StreamId, from: u64, out: &mut [u8]) -> Result<(), Error> {
        self.inner.read(stream, from, out)
    }

    fn record(&self, launches: Vec<Launch>) -> Result<GraphId, Error> {
        self.inner.record(launches)
    }

    fn drop_graph(&self, graph: GraphId) {
        self.inner.drop_graph(graph);
    }
}

/// The product of a streamed matrix of seven pieces, and the number of waits.
fn streamed(seed: u64, forgets: usize) -> (Result<Vec<Vector>, Error>, usize) {
    let modulus = Modulus::of_primes(7, 31).unwrap();
    let layout = Layout::new(64, 16, &modulus).unwrap();
    let matrix = Matrix::uniform(layout, &modulus, &[3; 32], u64::MAX).unwrap();
    let vectors = [Vector::uniform(&modulus, 64, &mut ChaCha8Rng::seed_from_u64(1))];
    let waits = Arc::new(AtomicUsize::new(0));
    let driver = Forgetful { inner: Emulated::new(seed), waits: Arc::clone(&waits), forgets };
    let device = Device::new(Box::new(driver), DeviceOptions::default());
    let engine = Engine::new(&device).unwrap().with_staging(1);
    let product = engine.multiply_streamed(&matrix, &vectors, &Control::default());
    if let Ok(product) = &product {
        assert_eq!(*product, Multiplier::new().unwrap().multiply(&matrix, &vectors).unwrap());
    }
    (product, waits.load(Ordering::Relaxed))
}

#[test]
fn every_wait_that_is_missing_in_the_pipeline_is_reported() {
    let (product, waits) = streamed(0, usize::MAX);
    assert!(product.is_ok());
    // Each product waits for its copy, and each copy but three for the product from its buffer.
    assert_eq!(waits, 7 + 4);
    for forgotten in 0..waits {
        for seed in 0..10 {
            let error = streamed(seed, forgotten).0.err().map(|error| error.to_string());
            let reported =
                error.as_ref().is_some_and(|error| error.contains("have no order") || error.contains("uninitialised"));
            assert!(reported, "wait {forgotten}, seed {seed}: {error:?}");
        }
    }
}

#[test]
fn rows_of_the_second_stream_of_the_generator_are_those_of_the_processor() {
    const STREAM: usize = 1 << 22;
    let modulus = Modulus::of_primes(1, 31).unwrap();
    let rows = STREAM + 64;
    let layout = Layout::new(rows, 30, &modulus).unwrap();
    let matrix = SeededMatrix::new(layout, &modulus, &[4; 32]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    // The last rows of the first stream, and the rows of the second one.
    let first = STREAM - 64;
    let mut residues = vec![0; rows];
    residues[first..].copy_from_slice(Vector::uniform(&modulus, rows - first, &mut rng).word(0));
    let vector = Vector::from_residues(&modulus, rows, &residues).unwrap();
    let device = Device::emulated(DeviceOptions::default());
    let engine = Engine::new(&device).unwrap();
    let work = Work::new(&engine, Form::Seeded, &layout, &modulus, std::slice::from_ref(&vector)).unwrap();
    let seed = Seed::new(work.stream(), &matrix).unwrap();

    // The last piece has 64 rows, all of the second stream.
    let piece = layout.piece(layout.pieces() - 1);
    assert_eq!((piece.first, piece.rows), (STREAM, 64));
    let words = work.stream().buffer::<u32>(piece.words, "a test").unwrap();
    work.stream().launch(&engine.kernels.expand(&seed, &words, 0, &layout, &piece)).unwrap();
    let mut got = vec![0; piece.words];
    work.stream().read(&words, 0, &mut got).unwrap();
    let mut want = Vec::new();
    let _ = matrix.visit((0, 0), 32, &mut |first, tile| {
        if first >= STREAM {
            want.extend_from_slice(tile.words());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(got, want);

    work.add_seeded_rows(&seed, first, layout.padded_rows() - first).unwrap();
    let want = Multiplier::new().unwrap().multiply(&matrix, &[vector]).unwrap();
    assert_eq!(work.finish().unwrap(), want);
}

#[test]
fn as_many_vectors_are_multiplied_together_as_fit() {
    let modulus = Modulus::of_primes(2, 31).unwrap();
    let layout = Layout::new(1 << 20, 100, &modulus).unwrap();
    let together = |memory: u64| {
        let device = Device::emulated(DeviceOptions { memory: Some(memory), seed: 0 });
        Engine::new(&device).unwrap().together(&layout, 20)
    };
    // Eight vectors take 64 MiB, and so do two. One takes 8 MiB.
    assert_eq!([50, 70, 140, 210].map(|mib: u64| together(mib << 20)), [1, 8, 17, 20]);
}
