//! The rows: transforms, operations and bootstrapping.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use bench_common::must;
use bench_common::process;
use bench_common::sample::Effort;
use bench_common::stats::Summary;
use rayon::ThreadPool;
use solinas_field::Backend;
use solinas_field::prime::{NttPlan, primes};
use solinas_ring::{Basis, Coeff, RnsPoly};
use solinas_schemes::ntru::{Ciphertext, ClientKey, Evaluator, Params, ServerKey};
use solinas_schemes::{Control, Entropy, Evaluate, Level};

use crate::Error;
use crate::report::Row;

/// Microseconds of ours and of the peers, in turn, each after an untimed run. A sample repeats short work. A peer's run returns its time.
fn race(
    effort: Effort,
    mut ours: impl FnMut(),
    peers: &mut [&mut dyn FnMut() -> Result<f64, Error>],
) -> Result<(Summary, Vec<Summary>), Error> {
    let start = Instant::now();
    ours();
    let first = start.elapsed();
    let repeat = if first.is_zero() { 1000 } else { (200_000 / first.as_nanos().max(1)).clamp(1, 10_000) };
    for peer in peers.iter_mut() {
        peer()?;
    }
    let (mut our_times, mut peer_times) = (Vec::new(), vec![Vec::new(); peers.len()]);
    effort.rounds(|_| {
        if !peers.is_empty() {
            // The peers have emptied the caches.
            ours();
        }
        let begin = Instant::now();
        (0..repeat).for_each(|_| ours());
        our_times.push(begin.elapsed().as_secs_f64() * 1e6 / repeat as f64);
        for (peer, times) in peers.iter_mut().zip(&mut peer_times) {
            peer()?;
            times.push(peer()?);
        }
        Ok::<_, Error>(())
    })?;
    Ok((Summary::of(&our_times), peer_times.iter().map(|times| Summary::of(times)).collect()))
}

/// Microseconds of one transform and of one product of a tower, on one thread.
fn units(params: &Params, effort: Effort) -> Result<[f64; 2], Error> {
    let moduli = params.moduli();
    let basis = Basis::new(params.dimension(), &moduli[moduli.len() - 1..], Backend::detect()?)?;
    let ones = RnsPoly::<Coeff>::from_signed(&basis, &vec![1; params.dimension()])?;
    let (mut x, y) = (ones.words().to_vec(), ones.words().to_vec());
    let transform = race(effort, || basis.plan(0).forward(&mut x), &mut [])?.0;
    let product = race(effort, || basis.pointwise(0).multiply(&mut x, &y), &mut [])?.0;
    Ok([transform.median, product.median])
}

/// Keys of a fixed seed.
fn keys(params: &Params) -> Result<(ClientKey, ServerKey), Error> {
    let client = ClientKey::generate(params, true, Entropy::Insecure(1), &Control::default())?;
    let server = client.server_key(&Control::default())?;
    Ok((client, server))
}

/// Our transforms beside tfhe-ntt's, one thread.
///
/// # Errors
/// From the primes.
pub fn transforms(filter: &str, effort: Effort) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for (bits, n) in [40, 48, 50, 51, 60].into_iter().flat_map(|bits| [1024, 4096, 16_384, 65_536].map(|n| (bits, n))) {
        let operation = format!("NTT, {bits} bits, n = {n}");
        if !operation.contains(filter) {
            continue;
        }
        let q = primes(bits, 1, 2 * n as u64)?[0];
        let ours = NttPlan::new(q, n, Backend::detect()?)?;
        let Some(theirs) = tfhe_ntt::prime64::Plan::try_new(n, q.value()) else { continue };
        let mut x: Vec<u64> = (0..n as u64).map(|i| q.reduce(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let mut y = x.clone();
        let peer_repeats = 1 + 200_000 / n;
        let mut peer = || {
            let start = Instant::now();
            (0..peer_repeats).for_each(|_| theirs.fwd(black_box(&mut y)));
            Ok(start.elapsed().as_secs_f64() * 1e6 / peer_repeats as f64)
        };
        let (wall, peer) = race(effort, || ours.forward(black_box(&mut x)), &mut [&mut peer])?;
        let peer = peer.first().map(|&times| ("tfhe-ntt", times));
        rows.push(Row::new(ours.kernel().name(), &operation, 1, wall, None, peer));
    }
    Ok(rows)
}

/// The operations of the scheme with one parameter set, beside OpenFHE's BGV if the set has depth 7 or more.
///
/// # Errors
/// From the scheme and the peer.
pub fn operations(set: &str, pool: &ThreadPool, peers: &Path, filter: &str, effort: Effort) -> Result<Vec<Row>, Error> {
    let params = Params::named(set)?;
    let threads = pool.current_num_threads();
    let names = ["Encrypt", "EvalAdd", "EvalMult", "KeySwitch", "ModReduce", "ComposedEvalMult", "Decrypt, last level"];
    if !names.iter().any(|name| format!("{set}, {name}").contains(filter)) {
        return Ok(Vec::new());
    }
    let (client, server) = pool.install(|| keys(&params))?;
    let public = server.public();
    let plain: Vec<u64> = (0..params.dimension() as u64).map(|i| i * i / 5 % 2).collect();
    let mut rng = public.encryption_rng(0)?;
    let (x, y) = (public.encrypt(&plain, &mut rng)?, public.encrypt(&plain, &mut rng)?);
    let evaluator = Evaluator::new(&server);
    let product = evaluator.multiply_without_switch(&x, &y)?;
    let switched = evaluator.key_switch(&product)?;
    let (mut last, mut want) = (x.clone(), plain.clone());
    while last.level() > Level::LOWEST {
        (last, want) = (evaluator.multiply(&last, &last)?, squared(&want));
    }
    let squares = squared(&plain);
    let right = |x: &Ciphertext, want: &[u64]| must(client.decrypt(x)) == want;
    assert!(right(&last, &want) && right(&must(evaluator.multiply(&x, &y)), &squares), "{set}: wrong results");

    let depth = params.depth();
    // OpenFHE's nearest parameters: primes of one width, and the same number of bits in all.
    let bits = (params.log2_modulus(params.fresh_level()) / (depth + 1) as f64).round() as u32;
    let mut peers = if depth >= 7 {
        let arguments = [params.dimension(), depth, bits as usize, 2].map(|number| number.to_string());
        process::start_all(peers, "openfhe", &arguments, threads)?
    } else {
        Vec::new()
    };
    let peer_names: Vec<_> =
        peers.iter().map(|peer| format!("{} {}, {} bits", peer.name, peer.version, peer.bits)).collect();
    let [transform, product_time] = pool.install(|| units(&params, effort))?;
    let t = params.moduli().len();
    let bound = |transforms: usize, products: usize| {
        (transforms as f64 * transform + products as f64 * product_time) / threads as f64
    };
    let mut rows = Vec::new();
    let mut line =
        |name: &str, theirs: Option<&str>, bound: f64, work: &mut (dyn FnMut() + Send)| -> Result<(), Error> {
            if !format!("{set}, {name}").contains(filter) {
                return Ok(());
            }
            let mut theirs: Vec<_> = match theirs {
                Some(operation) => peers.iter_mut().map(|peer| move || Ok(peer.time(operation, 1)?)).collect(),
                None => Vec::new(),
            };
            let mut theirs: Vec<_> =
                theirs.iter_mut().map(|run| run as &mut dyn FnMut() -> Result<f64, Error>).collect();
            let (wall, times) = race(effort, || pool.install(&mut *work), &mut theirs)?;
            let times = peer_names.iter().map(String::as_str).zip(times);
            let fastest = times.min_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
            rows.push(Row::new(set, name, threads, wall, Some(bound), fastest));
            Ok(())
        };
    let mut nonce = 1;
    line(names[0], Some("encrypt"), bound(2 * t, t), &mut || {
        nonce += 1;
        black_box(must(public.encrypt(&plain, &mut must(public.encryption_rng(nonce)))));
    })?;
    line(names[1], Some("add"), bound(0, t), &mut || drop(black_box(must(evaluator.add(&x, &y)))))?;
    line(names[2], None, bound(0, t), &mut || drop(black_box(must(evaluator.multiply_without_switch(&x, &y)))))?;
    line(names[3], None, bound(0, t), &mut || drop(black_box(must(evaluator.key_switch(&product)))))?;
    line(names[4], None, bound(t, t), &mut || drop(black_box(must(evaluator.modulus_switch(&switched)))))?;
    line(names[5], Some("composed"), bound(t, 3 * t), &mut || {
        drop(black_box(must(evaluator.multiply(&x, &y))));
    })?;
    line(names[6], Some("decrypt-last"), bound(1, 1) * threads as f64, &mut || {
        drop(black_box(must(client.decrypt(&last))))
    })?;
    Ok(rows)
}

/// The square modulo 2, in which exponents double.
fn squared(plain: &[u64]) -> Vec<u64> {
    let mut square = vec![0; plain.len()];
    plain.iter().enumerate().for_each(|(i, bit)| square[2 * i % plain.len()] ^= bit);
    square
}

/// Bootstrapping of a bit.
///
/// # Errors
/// From the scheme.
pub fn bootstrapping(set: &str, pool: &ThreadPool, filter: &str, effort: Effort) -> Result<Vec<Row>, Error> {
    const NAME: &str = "Bootstrapping";
    if !format!("{set}, {NAME}").contains(filter) {
        return Ok(Vec::new());
    }
    let params = Params::named(set)?;
    let (client, server) = pool.install(|| keys(&params))?;
    let evaluator = Evaluator::new(&server);
    let fresh = server.public().encrypt_bit(true, &mut server.public().encryption_rng(1)?)?;
    let bit = evaluator.automatic().at_level(&fresh, Level::LOWEST)?;
    let refreshed = evaluator.bootstrap(&bit)?;
    let plain = client.decrypt(&refreshed)?;
    assert!(plain[0] == 1 && plain[1..].iter().all(|&x| x == 0), "{set}: a bit came out wrong");
    let (wall, _) = race(effort, || drop(black_box(pool.install(|| must(evaluator.bootstrap(&bit))))), &mut [])?;
    Ok(vec![Row::new(set, NAME, pool.current_num_threads(), wall, None, None)])
}
