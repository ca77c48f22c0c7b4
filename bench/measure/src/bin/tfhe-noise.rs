//! Compares the noise of every step of TFHE's bootstrap with the formulas, and counts wrong results.
//!
//! ```sh
//! cargo measure tfhe-noise -- --params gates-128 --samples 100000 --threads 2
//! ```

use std::process::ExitCode;
use std::time::Instant;

use bench_common::{command, machine};
use bench_measure::Result;
use clap::Parser;
use rand_core::RngCore;
use rayon::prelude::*;
use solinas_schemes::Control;
use solinas_schemes::Entropy;
use solinas_schemes::tfhe::params::Family;
use solinas_schemes::tfhe::{
    BOOL_TRUE, BootstrapTask, ClientKey, Evaluator, LookupTable, LweCiphertext, Masks, Packer, Params,
    ShortCiphertexts, encode_bool, encode_value, noise, table_weight,
};

/// Ciphertexts that are worked on in turn; each round replaces all of them.
const POOL: usize = 64;

/// Noise of TFHE's steps, measured and by the formulas.
#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "gates-128")]
    params: String,
    #[arg(long, default_value_t = 2000)]
    samples: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Errors of one step, in turns, beside the variance of the formula.
struct Step {
    name: String,
    formula: f64,
    count: f64,
    sum: f64,
    squares: f64,
    largest: f64,
}

impl Step {
    fn new(name: impl Into<String>, formula: f64) -> Self {
        Self { name: name.into(), formula, count: 0.0, sum: 0.0, squares: 0.0, largest: 0.0 }
    }

    fn add(&mut self, error: f64) {
        self.count += 1.0;
        self.sum += error;
        self.squares += error * error;
        self.largest = self.largest.max(error.abs());
    }

    /// Mean square, around the exact message.
    fn variance(&self) -> f64 {
        self.squares / self.count
    }

    fn print(&self) {
        let (variance, std) = (self.variance(), self.variance().sqrt());
        println!(
            "{:<34} {:>8} {:>8.3} {:>8.3} {:>7.3} +- {:.3} {:>7.3} {:>8.4} {:>6.2}",
            self.name,
            self.count,
            std.log2(),
            self.formula.log2() / 2.0,
            variance / self.formula,
            // A sample variance of n normal values errs by sqrt(2 / n) of itself.
            (2.0 / self.count).sqrt() * variance / self.formula,
            (variance / self.formula).sqrt(),
            self.sum / self.count / std,
            self.largest / std,
        );
    }
}

/// Distance in turns between two torus words.
fn turns(phase: u32, message: u32) -> f64 {
    f64::from(phase.wrapping_sub(message) as i32) / 2f64.powi(32)
}

/// Phase under the LWE key.
fn small_phase(client: &ClientKey, ciphertext: &LweCiphertext) -> u32 {
    let (mask, body) = ciphertext.words().split_at(client.lwe_bits().len());
    let key = client.lwe_bits().iter().zip(mask);
    key.fold(body[0], |phase, (&bit, &word)| phase.wrapping_sub(word & u32::from(bit).wrapping_neg()))
}

/// The steps up to the decision.
struct Decision {
    keyswitch: Step,
    modulus_switch: Step,
    decision: Step,
}

impl Decision {
    fn new(params: &Params, weight: f64) -> Self {
        Self {
            keyswitch: Step::new("keyswitch", noise::keyswitch(params)),
            modulus_switch: Step::new("modulus switch", noise::modulus_switch(params)),
            decision: Step::new(format!("decision, argument of weight {weight}"), noise::decision(params, weight)),
        }
    }

    /// Goes through the steps of bootstraps of `inputs`, whose exact phases are `messages`.
    fn add(
        &mut self,
        client: &ClientKey,
        evaluator: &Evaluator,
        inputs: &[LweCiphertext],
        messages: &[u32],
    ) -> Result<()> {
        let switched: Vec<LweCiphertext> = inputs
            .par_chunks(inputs.len().div_ceil(rayon::current_num_threads()))
            .map(|inputs| evaluator.keyswitch(inputs))
            .collect::<std::result::Result<Vec<_>, _>>()?
            .concat();
        for ((input, switched), &message) in inputs.iter().zip(&switched).zip(messages) {
            let (before, between) = (client.phase(input)?, small_phase(client, switched));
            let after = small_phase(client, &evaluator.modulus_switch(switched)?);
            self.keyswitch.add(turns(between, before));
            self.modulus_switch.add(turns(after, between));
            self.decision.add(turns(after, message));
        }
        Ok(())
    }

    fn print(&self, params: &Params) {
        [&self.keyswitch, &self.modulus_switch, &self.decision].into_iter().for_each(Step::print);
        let margin = noise::margin(params);
        println!(
            "margin {margin}: {:.2} measured standard deviations, 2^{:.1} of the normal law; largest error seen {:.3} of it",
            margin / self.decision.variance().sqrt(),
            noise::log2_two_tails(margin / self.decision.variance().sqrt()),
            self.decision.largest / margin,
        );
    }
}

/// Messages, their fresh ciphertexts, and the errors these have.
type Fresh = (Vec<u32>, Vec<LweCiphertext>, Step);

/// The keys and the sizes of a run.
struct Bench {
    client: ClientKey,
    evaluator: Evaluator,
    samples: usize,
    /// Variance of a single-table bootstrap under this very key.
    bootstrap: f64,
}

impl Bench {
    fn fresh(&self, rng: &mut impl RngCore) -> Result<Fresh> {
        let params = self.client.params();
        let (mut values, mut pool) = (Vec::new(), Vec::new());
        let mut step = Step::new("fresh encryption", (2.0 * params.fresh_log2_std()).exp2());
        for _ in 0..self.samples.clamp(POOL, 10_000) {
            let value = rng.next_u32() % params.message_modulus();
            let ciphertext = self.client.encrypt(value, rng)?;
            step.add(turns(self.client.phase(&ciphertext)?, self.encode(value)));
            if pool.len() < POOL {
                values.push(value);
                pool.push(ciphertext);
            }
        }
        Ok((values, pool, step))
    }

    fn encode(&self, value: u32) -> u32 {
        match self.client.params().family() {
            Family::Gates => encode_bool(value == 1),
            Family::Integers => encode_value(value),
        }
    }

    /// Packs outputs of bootstraps in full groups, and measures the time; how many decrypted wrongly.
    fn packing(&self, rng: &mut impl RngCore) -> Result<usize> {
        let params = self.client.params();
        let packer = Packer::new(&self.client.packing_key()?)?;
        let (n, levels) = (params.literal().ring_dimension, params.packing_levels());
        let (values, pool, _) = self.fresh(rng)?;
        let table = match params.family() {
            Family::Gates => LookupTable::Sign,
            Family::Integers => LookupTable::Entries(vec![std::array::from_fn(|v| v as u8)]),
        };
        let jobs: Vec<_> = pool.into_iter().map(|input| BootstrapTask { input, table: &table }).collect();
        let pool: Vec<_> = self.evaluator.bootstrap(&jobs)?.into_iter().flatten().collect();
        let ones = self.client.glwe_bits().iter().map(|&bit| f64::from(bit)).sum();
        let mut packing = Step::new("packing", noise::packing_of_key(params, levels, ones));
        let mut rounding = Step::new("rounding", noise::packed_rounding(params, params.packed_bits()));
        let place = |i: usize| i.reverse_bits() >> (usize::BITS - levels);
        let (mut seconds, mut wrong, groups) = (0.0, 0, self.samples.div_ceil(n));
        for _ in 0..groups {
            let chosen: Vec<usize> = (0..n).map(|_| rng.next_u32() as usize % POOL).collect();
            let inputs: Vec<_> = chosen.iter().map(|&i| pool[i].clone()).collect();
            let start = Instant::now();
            let packed = packer.pack(&inputs)?;
            seconds += start.elapsed().as_secs_f64();
            let glwe = packer.merge(&inputs)?;
            let (mask, bodies) = glwe.split_at(params.big_dimension());
            let merged = ShortCiphertexts::from_parts(params, Masks::Glwe(mask.to_vec()), 0, bodies.to_vec())?;
            for (i, &from) in chosen.iter().enumerate() {
                let between = self.client.phase(&merged.expand(place(i)))?;
                packing.add(turns(between, self.client.phase(&inputs[i])?));
                rounding.add(turns(self.client.packed_phase(&packed, i), between));
                wrong += usize::from(self.client.decrypt_packed(&packed, i) != values[from]);
            }
        }
        packing.print();
        rounding.print();
        let each = seconds / (groups * n) as f64;
        println!("packing {n} blocks takes {:.1} ms: {:.1} us a block", each * n as f64 * 1e3, each * 1e6);
        Ok(wrong)
    }

    /// Random NAND gates, each on two outputs of earlier ones; how many were wrong.
    fn gates(&self, rng: &mut impl RngCore) -> Result<usize> {
        let params = self.client.params();
        let (mut values, mut pool, fresh) = self.fresh(rng)?;
        let mut decision = Decision::new(params, 2.0);
        let mut output = Step::new("bootstrap", self.bootstrap);
        let (mut done, mut wrong) = (0, 0);
        while done < self.samples {
            let (mut inputs, mut messages, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..POOL {
                // Two different ones: a gate of a value with itself would double its noise.
                let a = rng.next_u32() as usize % POOL;
                let b = (a + 1 + rng.next_u32() as usize % (POOL - 1)) % POOL;
                let terms = [(-1, &pool[a]), (-1, &pool[b])];
                inputs.push(LweCiphertext::linear(params.big_dimension(), &terms, BOOL_TRUE)?);
                let sum = self.encode(values[a]).wrapping_add(self.encode(values[b]));
                messages.push(BOOL_TRUE.wrapping_sub(sum));
                expected.push(1 - (values[a] & values[b]));
            }
            if done > 0 {
                // The first round's inputs are fresh.
                decision.add(&self.client, &self.evaluator, &inputs, &messages)?;
            }
            let jobs: Vec<_> =
                inputs.into_iter().map(|input| BootstrapTask { input, table: &LookupTable::Sign }).collect();
            pool = self.evaluator.bootstrap(&jobs)?.into_iter().flatten().collect();
            for (ciphertext, &value) in pool.iter().zip(&expected) {
                output.add(turns(self.client.phase(ciphertext)?, self.encode(value)));
                wrong += usize::from(self.client.decrypt(ciphertext)? != value);
            }
            values = expected;
            done += POOL;
        }
        fresh.print();
        output.print();
        decision.print(params);
        Ok(wrong)
    }

    /// Random table lookups, alone and several to a rotation, on outputs of earlier ones; how many were wrong.
    fn tables(&self, rng: &mut impl RngCore) -> Result<usize> {
        let table = |f: fn(usize) -> usize| -> [u8; 16] { std::array::from_fn(|v| f(v) as u8) };
        let shuffle = table(|v| (7 * v + 3) % 16);
        let named = [
            ("identity", table(|v| v)),
            ("v % 4", table(|v| v % 4)),
            ("v / 4", table(|v| v / 4)),
            ("product low", table(|v| (v / 4) * (v % 4) % 4)),
            ("product high", table(|v| (v / 4) * (v % 4) / 4)),
            ("tent", table(|v| v.min(15 - v))),
        ];
        // The first goes round again: alone in its rotation, it is of weight 1.
        let lookups =
            [LookupTable::Entries(vec![shuffle]), LookupTable::Entries(named.map(|(_, table)| table).to_vec())];
        let params = self.client.params();
        let (mut values, mut pool, fresh) = self.fresh(rng)?;
        let mut decision = Decision::new(params, 1.0);
        let mut alone = Step::new("table alone", self.bootstrap + noise::first_block(params, &lookups[0]));
        let mut shared = named.map(|(name, table)| {
            let weight = table_weight(&table);
            Step::new(format!("{name}, shared: {weight}"), weight * self.bootstrap)
        });
        let (mut done, mut wrong) = (0, 0);
        while done < self.samples {
            if done > 0 {
                let messages: Vec<u32> = values.iter().map(|&value| self.encode(value)).collect();
                decision.add(&self.client, &self.evaluator, &pool, &messages)?;
            }
            let jobs: Vec<_> = pool
                .iter()
                .flat_map(|input| lookups.iter().map(|table| BootstrapTask { input: input.clone(), table }))
                .collect();
            let outputs = self.evaluator.bootstrap(&jobs)?;
            let mut check = |step: &mut Step, output: &LweCiphertext, value: u8| -> Result<()> {
                step.add(turns(self.client.phase(output)?, self.encode(value.into())));
                wrong += usize::from(self.client.decrypt(output)? != u32::from(value));
                Ok(())
            };
            for (i, outputs) in outputs.chunks_exact(lookups.len()).enumerate() {
                let value = values[i] as usize;
                check(&mut alone, &outputs[0][0], shuffle[value])?;
                for ((step, (_, table)), output) in shared.iter_mut().zip(&named).zip(&outputs[1]) {
                    check(step, output, table[value])?;
                }
                values[i] = shuffle[value].into();
                pool[i] = outputs[0][0].clone();
            }
            done += jobs.len();
        }
        fresh.print();
        alone.print();
        shared.iter().for_each(Step::print);
        decision.print(params);
        Ok(wrong)
    }
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    machine::free_pool(args.threads)?.install(|| measure(args))
}

fn measure(args: &Args) -> Result<()> {
    let params = Params::named(&args.params)?;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(args.seed), &Control::default())?;
    let evaluator = Evaluator::new(&client.server_key(&Control::default())?)?;
    let ones = |bits: &[u8]| bits.iter().map(|&bit| f64::from(bit)).sum::<f64>();
    let (lwe, glwe) = (ones(client.lwe_bits()), ones(client.glwe_bits()));
    println!("{}, seed {}, {} bootstraps, {} threads", params.name(), args.seed, args.samples, args.threads);
    println!(
        "key: {lwe} of {} and {glwe} of {} bits are 1, so a bootstrap leaves {:.3} of the variance for an average key",
        client.lwe_bits().len(),
        client.glwe_bits().len(),
        noise::bootstrap_of_key(&params, lwe, glwe) / noise::bootstrap(&params)
    );
    println!(
        "\n{:<34} {:>8} {:>8} {:>8} {:>16} {:>7} {:>8} {:>6}",
        "step", "samples", "log2 std", "formula", "variance ratio", "std", "mean/std", "max"
    );
    let bootstrap = noise::bootstrap_of_key(&params, lwe, glwe);
    let mut rng = client.encryption_rng(args.seed)?;
    let bench = Bench { client, evaluator, samples: args.samples, bootstrap };
    let start = Instant::now();
    let wrong = match params.family() {
        Family::Gates => bench.gates(&mut rng)?,
        Family::Integers => bench.tables(&mut rng)?,
    };
    let wrong = wrong + bench.packing(&mut rng)?;
    println!("{wrong} wrong results; {:.1} s with all measurements", start.elapsed().as_secs_f64());
    if wrong == 0 { Ok(()) } else { Err("wrong results".into()) }
}
