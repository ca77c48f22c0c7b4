//! Tests that need private items of the crate.

use super::work::{Seed, Work};
use super::{Engine, Form};
use crate::{Device, DeviceOptions};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use solinas_schemes::lwe::{Layout, Modulus, Multiplier, SeededMatrix, Source, Vector};
use std::ops::ControlFlow;

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
