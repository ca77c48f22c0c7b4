//! Blind rotation of the two shapes of the TFHE parameter sets, per back end and batch size.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::torus::{BlindRotation, Decomposition};

fn shape(c: &mut Criterion, name: &str, n: usize, dimension: usize, k: usize, base_log: u32, levels: u32) {
    let cut = Decomposition::new(base_log, levels).expect("a valid decomposition");
    let mut group = c.benchmark_group(format!("blind_rotate/{name}"));
    group.sample_size(10);
    for backend in Backend::available() {
        if backend == Backend::Scalar {
            continue;
        }
        let plan = BlindRotation::new(dimension, k, cut, backend).expect("a valid plan");
        let mut key = AlignedVec::<f64>::zeroed(n * plan.ggsw_len());
        let mut state = 1u32;
        for x in key.iter_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *x = f64::from(state as i32) / 2f64.powi(36);
        }
        for batch in [1usize, 8] {
            let exponents: Vec<u16> = (0..n * batch).map(|i| (i * 7919 % (2 * dimension)) as u16).collect();
            let mut accumulators = AlignedVec::<u32>::zeroed(batch * plan.accumulator_len());
            accumulators[5] = 1 << 29;
            let mut scratch = plan.scratch();
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(BenchmarkId::new(backend.name(), format!("batch={batch}")), |b| {
                b.iter(|| plan.blind_rotate(&key, &exponents, &mut accumulators, &mut scratch));
            });
        }
    }
}

fn benches(c: &mut Criterion) {
    shape(c, "n=700/N=512/k=3/l=1", 700, 512, 3, 17, 1);
    shape(c, "n=880/N=2048/k=1/l=1", 880, 2048, 1, 24, 1);
}

criterion_group!(all, benches);
criterion_main!(all);
