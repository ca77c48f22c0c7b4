//! Times the CUDA back end of tfhe-rs on one GPU.
//!
//! It measures as the benchmarks of tfhe-rs do (tfhe-benchmark/benches/integer/bench.rs). It calls the integer layer with
//! fresh inputs that are on the GPU. A latency is a call on one stream. A throughput has a stream for each element. Every
//! result is decrypted and compared, outside of the measured time.

use rand::Rng;
use rayon::prelude::*;
use std::hint::black_box;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tfhe::core_crypto::gpu::vec::GpuIndex;
use tfhe::core_crypto::gpu::{get_number_of_sms, synchronize_device, CudaStreams};
use tfhe::integer::gpu::ciphertext::boolean_value::CudaBooleanBlock;
use tfhe::integer::gpu::ciphertext::CudaUnsignedRadixCiphertext as Ct;
use tfhe::integer::gpu::CudaServerKey;
use tfhe::integer::{ClientKey, IntegerRadixCiphertext, RadixCiphertext};
use tfhe::shortint::parameters::{
    PARAM_GPU_MULTI_BIT_GROUP_4_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128 as MULTI_BIT,
    PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128 as CLASSICAL,
};

const HELP: &str = "tfhe-gpu: times tfhe-rs 1.8.2 (CUDA) on GPU 0

  --seconds N         stop by then (default 120)
  --json FILE         write the results there (written again after every row)
  --params P          multibit (default) or classical
  --samples N         samples a row, at most (default 15)
  --threads A,B,..    host threads for the throughput rows (default: half the cores, the cores, twice the cores)
  --add-elements N    u64 adds at once (default: as tfhe-rs' benches, one a multiprocessor: 132 on H100 and H200)
  --mul-elements N    u64 muls at once (default: as above)
  --pbs-batch N       KS-PBS in one call: a multiple of 32 (default 4096)
  --help              this text";

struct Args {
    seconds: f64,
    json: Option<String>,
    classical: bool,
    samples: usize,
    threads: Vec<usize>,
    add_elements: Option<usize>,
    mul_elements: Option<usize>,
    pbs_batch: usize,
}

fn fail(message: &str) -> ! {
    eprintln!("tfhe-gpu: {message}\n\n{HELP}");
    std::process::exit(2)
}

fn number(text: &str) -> usize {
    match text.trim().parse() {
        Ok(n) if n > 0 => n,
        _ => fail(&format!("not a positive number: {text}")),
    }
}

fn parse() -> Args {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut args = Args {
        seconds: 120.0,
        json: None,
        classical: false,
        samples: 15,
        threads: vec![(cores / 2).max(1), cores, 2 * cores],
        add_elements: None,
        mul_elements: None,
        pbs_batch: 4096,
    };
    args.threads.dedup();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--help" || word == "-h" {
            println!("{HELP}");
            std::process::exit(0);
        }
        let value = words.next().unwrap_or_else(|| fail(&format!("{word} needs a value")));
        match word.as_str() {
            "--seconds" => args.seconds = number(&value) as f64,
            "--json" => args.json = Some(value),
            "--params" => {
                args.classical = match value.as_str() {
                    "multibit" => false,
                    "classical" => true,
                    _ => fail("--params: multibit or classical"),
                }
            }
            "--samples" => args.samples = number(&value),
            "--threads" => args.threads = value.split(',').map(number).collect(),
            "--add-elements" => args.add_elements = Some(number(&value)),
            "--mul-elements" => args.mul_elements = Some(number(&value)),
            "--pbs-batch" => args.pbs_batch = number(&value),
            _ => fail(&format!("unknown option {word}")),
        }
    }
    if args.pbs_batch % 32 != 0 {
        fail("--pbs-batch: a multiple of 32");
    }
    args
}

/// Ends the program without its exit handlers, because the GPU may be at work.
fn end(code: i32) -> ! {
    extern "C" {
        fn _exit(code: i32) -> !;
    }
    let _ = std::io::stdout().flush();
    // SAFETY: the call has no requirement.
    unsafe { _exit(code) }
}

#[derive(Clone)]
struct Row {
    name: String,
    seconds: Vec<f64>,
    /// Operations in one sample.
    elements: usize,
    threads: Option<usize>,
}

impl Row {
    fn median(&self) -> f64 {
        let mut s = self.seconds.clone();
        s.sort_by(f64::total_cmp);
        let n = s.len();
        if n % 2 == 1 {
            s[n / 2]
        } else {
            (s[n / 2 - 1] + s[n / 2]) / 2.0
        }
    }

    fn min(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn print(&self) {
        println!(
            "{:<34} {:>11.3} {:>11.3} {:>4} {:>8} {:>12.1} {:>7}",
            self.name,
            self.median() * 1e3,
            self.min() * 1e3,
            self.seconds.len(),
            self.elements,
            self.elements as f64 / self.median(),
            self.threads.map_or("-".into(), |t| t.to_string()),
        );
    }
}

/// The measured rows, and the file to which they go.
struct Report {
    json: Option<String>,
    params: String,
    facts: serde_json::Value,
    rows: Vec<Row>,
    skipped: Vec<String>,
}

impl Report {
    fn write(&self, complete: bool) {
        let Some(path) = &self.json else { return };
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|r| {
                serde_json::json!({
                    "name": r.name,
                    "median_s": r.median(),
                    "min_s": r.min(),
                    "samples": r.seconds.len(),
                    "elements": r.elements,
                    "per_second": r.elements as f64 / r.median(),
                    "threads": r.threads,
                    "all_s": r.seconds,
                })
            })
            .collect();
        let all = serde_json::json!({
            "program": "tfhe-gpu",
            "tfhe": "1.8.2",
            "tfhe_cuda_backend": "0.16.0",
            "params": self.params,
            "machine": self.facts,
            "complete": complete,
            "skipped": self.skipped,
            "results": rows,
        });
        let text = serde_json::to_string_pretty(&all).expect("JSON");
        if let Err(e) = std::fs::write(path, text) {
            eprintln!("{path}: {e}");
        }
    }
}

struct Bench {
    start: Instant,
    seconds: f64,
    samples: usize,
    report: Arc<Mutex<Report>>,
}

impl Bench {
    fn left(&self) -> f64 {
        self.seconds - self.start.elapsed().as_secs_f64()
    }

    /// One warm-up, then samples, within `budget` seconds. `setup` and `check` are not timed; `run` gives its seconds.
    fn row<I, O>(
        &self,
        name: &str,
        (elements, threads): (usize, Option<usize>),
        budget: f64,
        mut setup: impl FnMut() -> I,
        mut run: impl FnMut(&I) -> (f64, O),
        mut check: impl FnMut(&I, &O) -> bool,
    ) {
        let begun = Instant::now();
        let mut seconds = Vec::new();
        let mut slowest: f64 = 0.0;
        for sample in 0..=self.samples {
            let spent = begun.elapsed().as_secs_f64();
            // The first is the warm-up; one timed sample is wanted even over the budget.
            if sample > 1 && spent + slowest > budget {
                break;
            }
            if self.left() < 1.3 * slowest + 0.5 {
                break;
            }
            let one = Instant::now();
            let input = setup();
            let (time, output) = run(&input);
            if !check(&input, &output) {
                println!("{name}: WRONG RESULT");
                self.report.lock().expect("report").write(false);
                end(1);
            }
            if sample > 0 {
                seconds.push(time);
            }
            slowest = slowest.max(one.elapsed().as_secs_f64());
        }
        let mut report = self.report.lock().expect("report");
        if seconds.is_empty() {
            println!("{name:<34} skipped: no time left");
            report.skipped.push(name.into());
        } else {
            let row = Row { name: name.into(), seconds, elements, threads };
            row.print();
            report.rows.push(row);
        }
        report.write(false);
    }
}

/// The model of GPU 0, as the driver's own files say.
fn gpu_model() -> Option<String> {
    let folder = std::fs::read_dir("/proc/driver/nvidia/gpus").ok()?.next()?.ok()?;
    let text = std::fs::read_to_string(folder.path().join("information")).ok()?;
    let line = text.lines().find(|l| l.starts_with("Model:"))?;
    Some(line["Model:".len()..].trim().to_string())
}

fn stream() -> CudaStreams {
    CudaStreams::new_single_gpu(GpuIndex::new(0))
}

/// A batch of `blocks` KS-PBS: a bitand of two integers of that many blocks.
fn pbs_batch(bench: &Bench, cks: &ClientKey, sks: &CudaServerKey, s: &CudaStreams, blocks: usize, budget: f64) {
    // Encrypted in 64-bit parts by all cores; the time of that is not measured.
    let encrypt = |words: &[u64]| {
        let parts: Vec<RadixCiphertext> = words.par_iter().map(|&w| cks.encrypt_radix(w, 32)).collect();
        let all: Vec<_> = parts.into_iter().flat_map(|p| p.into_blocks()).collect();
        Ct::from_radix_ciphertext(&RadixCiphertext::from(all), s)
    };
    bench.row(
        &format!("KS-PBS, {blocks} in one call"),
        (blocks, None),
        budget,
        || {
            let mut rng = rand::thread_rng();
            let a: Vec<u64> = (0..blocks / 32).map(|_| rng.gen()).collect();
            let b: Vec<u64> = (0..blocks / 32).map(|_| rng.gen()).collect();
            let cts = (encrypt(&a), encrypt(&b));
            s.synchronize();
            (a, b, cts)
        },
        |(_, _, (a, b))| {
            let t = Instant::now();
            let c = sks.bitand(a, b, s);
            s.synchronize();
            (t.elapsed().as_secs_f64(), c)
        },
        |(a, b, _), c| {
            let blocks = c.to_radix_ciphertext(s).into_blocks();
            blocks
                .par_chunks(32)
                .enumerate()
                .all(|(i, part)| cks.decrypt_radix::<u64>(&RadixCiphertext::from(part.to_vec())) == a[i] & b[i])
        },
    );
}

fn main() {
    let start = Instant::now();
    let args = parse();
    let params = if args.classical {
        "V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128"
    } else {
        "V1_8_PARAM_GPU_MULTI_BIT_GROUP_4_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128"
    };
    let model = gpu_model().unwrap_or_else(|| "unknown".into());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let report = Arc::new(Mutex::new(Report {
        json: args.json.clone(),
        params: params.into(),
        facts: serde_json::Value::Null,
        rows: Vec::new(),
        skipped: Vec::new(),
    }));

    // The last resort: at the limit, keep what there is and end.
    {
        let report = report.clone();
        let limit = Duration::from_secs_f64((args.seconds - 0.3).max(0.1));
        std::thread::spawn(move || {
            std::thread::sleep(limit.saturating_sub(start.elapsed()));
            println!("stopped: out of time");
            report.lock().expect("report").write(false);
            end(3);
        });
    }

    let sms = get_number_of_sms() as usize;
    println!("tfhe-rs 1.8.2, tfhe-cuda-backend 0.16.0, {params}");
    println!("GPU 0: {model}, {sms} multiprocessors; {cores} host cores");
    let bench = Bench { start, seconds: args.seconds, samples: args.samples, report: report.clone() };

    let s = stream();
    let t = Instant::now();
    let cks = if args.classical { ClientKey::new(CLASSICAL) } else { ClientKey::new(MULTI_BIT) };
    let sks = CudaServerKey::new(&cks, &s);
    s.synchronize();
    let keys_s = t.elapsed().as_secs_f64();
    println!("keys made and uploaded: {keys_s:.1} s");
    report.lock().expect("report").facts = serde_json::json!({
        "gpu": model, "multiprocessors": sms, "host_cores": cores, "keys_s": keys_s,
    });
    println!(
        "\n{:<34} {:>11} {:>11} {:>4} {:>8} {:>12} {:>7}",
        "operation", "median ms", "min ms", "n", "elements", "per second", "threads"
    );

    let (cks, sks, s) = (&cks, &sks, &s);
    let up = |v: u64, blocks: usize| Ct::from_radix_ciphertext(&cks.encrypt_radix(v, blocks), s);
    let down = |c: &Ct| cks.decrypt_radix::<u64>(&c.to_radix_ciphertext(s));
    let up_bool = |v: bool| CudaBooleanBlock::from_boolean_block(&cks.encrypt_bool(v), s);
    let down_bool = |c: &CudaBooleanBlock| cks.decrypt_bool(&c.to_boolean_block(s));
    // Two inputs of `bits` bits.
    let two = |bits: u32| {
        move || {
            let mut rng = rand::thread_rng();
            let mask = u64::MAX >> (64 - bits);
            let (a, b) = (rng.gen::<u64>() & mask, rng.gen::<u64>() & mask);
            let cts = (up(a, bits as usize / 2), up(b, bits as usize / 2));
            s.synchronize();
            (a, b, cts)
        }
    };
    macro_rules! timed {
        ($op:expr) => {{
            let t = Instant::now();
            let out = black_box($op);
            s.synchronize();
            (t.elapsed().as_secs_f64(), out)
        }};
    }
    type Two = (u64, u64, (Ct, Ct));
    let one = (1, None);
    // A share of the time for each row: of about 15 rows, none takes more than a fifteenth of the whole.
    let share = args.seconds / 15.0;

    bench.row(
        "KS-PBS (FheUint2 bitand)",
        one,
        share,
        two(2),
        |(_, _, (a, b)): &Two| timed!(sks.bitand(a, b, s)),
        |(a, b, _), c| down(c) == a & b,
    );
    bench.row(
        "FheBool and",
        one,
        share,
        || {
            let mut rng = rand::thread_rng();
            let (a, b) = (rng.gen::<bool>(), rng.gen::<bool>());
            let cts = (up_bool(a), up_bool(b));
            s.synchronize();
            (a, b, cts)
        },
        |(_, _, (a, b))| timed!(sks.boolean_bitand(a, b, s)),
        |(a, b, _), c| down_bool(c) == (*a & *b),
    );
    bench.row(
        "FheUint8 add",
        one,
        share,
        two(8),
        |(_, _, (a, b)): &Two| timed!(sks.add(a, b, s)),
        |(a, b, _), c| down(c) == (a + b) & 0xff,
    );
    bench.row(
        "FheUint64 add",
        one,
        share,
        two(64),
        |(_, _, (a, b)): &Two| timed!(sks.add(a, b, s)),
        |(a, b, _), c| down(c) == a.wrapping_add(*b),
    );
    bench.row(
        "FheUint64 mul",
        one,
        share,
        two(64),
        |(_, _, (a, b)): &Two| timed!(sks.mul(a, b, s)),
        |(a, b, _), c| down(c) == a.wrapping_mul(*b),
    );
    bench.row(
        "FheUint64 lt",
        one,
        share,
        two(64),
        |(_, _, (a, b)): &Two| timed!(sks.lt(a, b, s)),
        |(a, b, _), c| down_bool(c) == (a < b),
    );
    bench.row(
        "FheUint64 eq",
        one,
        share,
        || {
            let (a, mut b, mut cts) = two(64)();
            if rand::thread_rng().gen() {
                b = a;
                cts.1 = up(b, 32);
                s.synchronize();
            }
            (a, b, cts)
        },
        |(_, _, (a, b)): &Two| timed!(sks.eq(a, b, s)),
        |(a, b, _), c| down_bool(c) == (a == b),
    );
    bench.row(
        "FheUint64 bitand",
        one,
        share,
        two(64),
        |(_, _, (a, b)): &Two| timed!(sks.bitand(a, b, s)),
        |(a, b, _), c| down(c) == a & b,
    );
    bench.row(
        "FheUint64 select (if_then_else)",
        one,
        share,
        || {
            let condition = rand::thread_rng().gen::<bool>();
            let encrypted = up_bool(condition);
            (condition, encrypted, two(64)())
        },
        |(_, condition, (_, _, (a, b)))| timed!(sks.if_then_else(condition, a, b, s)),
        |(condition, _, (a, b, _)), c| down(c) == if *condition { *a } else { *b },
    );
    bench.row(
        "FheUint64 div_rem",
        one,
        share,
        || {
            let mut rng = rand::thread_rng();
            let (a, b) = (rng.gen::<u64>(), rng.gen_range(1..=u64::MAX >> 24));
            let cts = (up(a, 32), up(b, 32));
            s.synchronize();
            (a, b, cts)
        },
        |(_, _, (a, b)): &Two| timed!(sks.div_rem(a, b, s)),
        |(a, b, _), (q, r)| down(q) == a / b && down(r) == a % b,
    );

    pbs_batch(&bench, cks, sks, s, args.pbs_batch, share);

    // Throughput: as tfhe-rs' benches, a parallel loop over elements, each with its own stream and its own inputs.
    type Op = fn(&CudaServerKey, &Ct, &Ct, &CudaStreams) -> Ct;
    type Clear = fn(u64, u64) -> u64;
    let kinds: [(&str, usize, Op, Clear); 2] = [
        ("add", args.add_elements.unwrap_or(sms), |k, a, b, s| k.add(a, b, s), u64::wrapping_add),
        ("mul", args.mul_elements.unwrap_or(sms), |k, a, b, s| k.mul(a, b, s), u64::wrapping_mul),
    ];
    for (name, elements, op, clear) in kinds {
        // Inputs are made once: the operations only read them.
        if bench.left() < 2.0 {
            report.lock().expect("report").skipped.push(format!("FheUint64 {name} throughput"));
            continue;
        }
        let inputs: Vec<(u64, u64, Ct, Ct, CudaStreams)> = (0..elements)
            .into_par_iter()
            .map(|_| {
                let (a, b) = (rand::thread_rng().gen::<u64>(), rand::thread_rng().gen::<u64>());
                let own = stream();
                let ca = Ct::from_radix_ciphertext(&cks.encrypt_radix(a, 32), &own);
                let cb = Ct::from_radix_ciphertext(&cks.encrypt_radix(b, 32), &own);
                own.synchronize();
                (a, b, ca, cb, own)
            })
            .collect();
        for &threads in &args.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            bench.row(
                &format!("FheUint64 {name}, {elements} at once"),
                (elements, Some(threads)),
                share,
                || (),
                |()| {
                    synchronize_device(0);
                    let t = Instant::now();
                    let out: Vec<Ct> = pool.install(|| {
                        inputs.par_iter().with_max_len(1).map(|(_, _, a, b, own)| op(sks, a, b, own)).collect()
                    });
                    synchronize_device(0);
                    (t.elapsed().as_secs_f64(), out)
                },
                |(), out| {
                    out.par_iter().zip(inputs.par_iter()).all(|(c, (a, b, _, _, own))| {
                        cks.decrypt_radix::<u64>(&c.to_radix_ciphertext(own)) == clear(*a, *b)
                    })
                },
            );
        }
    }

    let report = report.lock().expect("report");
    report.write(true);
    println!("\nevery result was decrypted and is right; {:.1} s in all", start.elapsed().as_secs_f64());
    end(0);
}
