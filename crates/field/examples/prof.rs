use solinas_field::Backend;
use solinas_field::buffer::AlignedVec;
use solinas_field::torus::{BlindRotation, Decomposition};
fn cpu() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()
}
fn shape(name: &str, n: usize, dimension: usize, k: usize, base_log: u32, levels: u32) {
    let cut = Decomposition::new(base_log, levels).unwrap();
    for backend in Backend::available().into_iter().skip(1) {
        let plan = BlindRotation::new(dimension, k, cut, backend).unwrap();
        let mut key = AlignedVec::<f64>::zeroed(n * plan.ggsw_len());
        let mut s = 1u32;
        for x in key.iter_mut() {
            s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *x = f64::from(s as i32) / 2f64.powi(36);
        }
        for batch in [1usize, 8] {
            let exponents: Vec<u16> = (0..n * batch).map(|i| (i * 7919 % (2 * dimension)) as u16).collect();
            let mut acc = AlignedVec::<u32>::zeroed(batch * plan.accumulator_len());
            acc[5] = 1 << 29;
            let mut scratch = plan.scratch();
            let mut best = u64::MAX;
            for _ in 0..(24 / batch).max(4) {
                let t = cpu();
                plan.blind_rotate(&key, &exponents, &mut acc, &mut scratch);
                best = best.min(cpu() - t);
            }
            println!(
                "{name} {backend} batch={batch}: {:.3} ms/item, {:.3} us/step",
                best as f64 / 1e6 / batch as f64,
                best as f64 / 1e3 / (batch * n) as f64
            );
        }
        // transform alone
        let fft = plan.fft();
        let x = vec![3.0; dimension];
        let mut y = x.clone();
        let mut best = u64::MAX;
        for _ in 0..20 {
            let t = cpu();
            for _ in 0..1000 {
                fft.forward(&x, &mut y);
            }
            best = best.min(cpu() - t);
        }
        let mut z = x.clone();
        let mut b2 = u64::MAX;
        for _ in 0..20 {
            let t = cpu();
            for _ in 0..1000 {
                fft.inverse(&mut y, &mut z, 0.5);
            }
            b2 = b2.min(cpu() - t);
        }
        println!("   fft {:.3} us, inverse {:.3} us", best as f64 / 1e6, b2 as f64 / 1e6);
    }
}
fn main() {
    shape("gates", 700, 512, 3, 17, 1);
    shape("integers", 880, 2048, 1, 24, 1);
}
