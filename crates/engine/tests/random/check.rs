//! Random programs against plain evaluation: planned under a parameter set, or run on encrypted data.

use super::lowered::Cases;
use super::programs::{self, Limits};
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use solinas_engine::{
    Ciphertext, ClientKey, Control, Error, KeygenOptions, ParamsInfo, Plain, Program, Server, Work, cost_under, keygen,
};

/// Under what a program came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It gives what plain evaluation gives.
    Right,
    /// It was refused, since the parameter set has too few levels for it; the message names a remedy.
    TooFewLevels,
}

/// The sets of the smallest size of each kind: one of bits, one that bootstraps and one of slots, where the scheme has them.
pub(crate) const SMALL: [(&str, &str); 10] = [
    ("tfhe", "gates-toy"),
    ("tfhe", "integers-toy"),
    ("gh", "ci-15"),
    ("ntru", "tight-64-12"),
    ("ntru", "boot-64"),
    ("ntru", "slots-128-3"),
    ("bgv", "bits-64-12"),
    ("bgv", "boot-64-2"),
    ("bgv", "slots-128-4"),
    ("lwe", "leveled-8-9"),
];

/// A program for keys of that set, of a size that it can run: deep ones only where it bootstraps, slots where it has them.
fn program(rng: &mut ChaCha8Rng, set: &ParamsInfo, most: Limits) -> Result<Program, Error> {
    let shallow = |depth| Limits { widest: 1 + depth as u16 / 3, operations: 3, effort: 12 };
    Ok(match (set.plaintext_modulus, set.depth) {
        (Some(p), Some(depth)) if p > 2 => programs::modular(rng, p as u32, 8, depth.min(3))?,
        (_, Some(depth)) if !set.bootstraps => programs::program(rng, shallow(depth))?,
        _ => programs::program(rng, most)?,
    })
}

/// None for a program that is too deep for its set, where the error names what else to take.
fn levels<T>(result: Result<T, Error>) -> Result<Option<T>, String> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Levels { keys, .. }) if !keys.is_empty() => Ok(None),
        Err(Error::TooDeep { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Plans the program of a seed under a set, and evaluates what it is lowered to in the clear.
pub(crate) fn planned(set: &ParamsInfo, seed: u64) -> Result<Outcome, String> {
    let mut rng = programs::rng(seed);
    let sizes = [(8, 16, 400), (33, 16, 500), (128, 8, 700), (2048, 4, 9000)];
    let (widest, operations, effort) = sizes[rng.next_u32() as usize % sizes.len()];
    let most = Limits { widest, operations, effort };
    let program = program(&mut rng, set, most).map_err(|error| error.to_string())?;
    let described = |problem: String| format!("{problem}{}", programs::listing(&program));
    let right = lowered(&program, set, &mut rng);
    right.map_err(described)?;
    let cost = levels(cost_under(set.scheme, &program, &set.name, &Control::default())).map_err(described)?;
    Ok(if cost.is_some() { Outcome::Right } else { Outcome::TooFewLevels })
}

/// Compares the lookup tables or gates of a program with plain evaluation. A program of slots has neither.
fn lowered(program: &Program, set: &ParamsInfo, rng: &mut ChaCha8Rng) -> Result<(), String> {
    if program.inputs[0].ty.modulus().is_some() {
        return Ok(());
    }
    let cases = Cases::new(program, 8, rng).map_err(|error| error.to_string())?;
    match set.family {
        // The weights are those of fresh inputs, of results, and of one noisy result in several places.
        "integers" => cases.tables(program, [1, 1, 25, 160][rng.next_u32() as usize % 4]),
        _ => cases.gates(program),
    }
}

/// Keys of a set, and ciphertexts of earlier results that go on as inputs.
pub(crate) struct Setup {
    set: ParamsInfo,
    client: ClientKey,
    server: Server,
    pool: Vec<(Ciphertext, Plain)>,
}

/// Numbers and their ciphertexts that are kept for later programs.
const KEPT: usize = 60;

impl Setup {
    /// # Errors
    /// From key generation.
    pub(crate) fn new(scheme: &str, params: &str) -> Result<Self, Error> {
        let options = KeygenOptions {
            scheme: scheme.parse()?,
            params: Some(params.into()),
            research: true,
            rotations: params.starts_with("slots"),
            insecure_seed: Some(7),
            ..Default::default()
        };
        let (client, key) = keygen(&options, &Control::default())?;
        let server = Server::new(&key, Some(2))?;
        Ok(Self { set: key.params(), client, server, pool: Vec::new() })
    }

    /// Runs the program of a seed on encrypted arrays and scalars, of which some are results of earlier programs.
    pub(crate) fn encrypted(&mut self, seed: u64) -> Result<Outcome, String> {
        let mut rng = programs::rng(seed);
        let most = if self.set.scheme.name() == "tfhe" {
            Limits { widest: 16, operations: 8, effort: 60 }
        } else {
            Limits { widest: 4, operations: 4, effort: 12 }
        };
        let program = program(&mut rng, &self.set, most).map_err(|error| error.to_string())?;
        let outcome = self.run(&program, &mut rng);
        outcome.map_err(|problem| format!("{problem}{}", programs::listing(&program)))
    }

    fn run(&mut self, program: &Program, rng: &mut ChaCha8Rng) -> Result<Outcome, String> {
        let text = |error: Error| error.to_string();
        let slots = program.inputs[0].ty.modulus().is_some();
        let count = if slots { [3, 64, 130, 128, 300][rng.next_u32() as usize % 5] } else { 2 };
        let mut plain = Vec::new();
        let mut inputs = Vec::new();
        for (input, fresh) in program.inputs.iter().zip(programs::elements(rng, program, count)) {
            let of_type = |(_, plain): &&(Ciphertext, Plain)| {
                plain.ty == input.ty && plain.shape.as_ref().is_none_or(|shape| shape[0] == count)
            };
            let known: Vec<_> = self.pool.iter().filter(of_type).collect();
            let (ciphertext, plaintext) = if rng.next_u32().is_multiple_of(3) && !known.is_empty() {
                known[rng.next_u32() as usize % known.len()].clone()
            } else {
                let plaintext = Plain::from(fresh);
                (self.client.encrypt(&plaintext).map_err(text)?, plaintext)
            };
            inputs.push(ciphertext);
            plain.push(plaintext);
        }
        let Some(outputs) = levels(self.server.run(Work::program(program, &inputs), &Control::default()))? else {
            return Ok(Outcome::TooFewLevels);
        };
        let want = evaluated(program, &plain)?;
        for (output, want) in outputs.into_iter().zip(want) {
            let got = self.client.decrypt(&output).map_err(text)?;
            if got != want {
                return Err(format!("{plain:?} gave {got:?}, not {want:?}"));
            }
            self.keep((output, got), rng).map_err(text)?;
        }
        Ok(Outcome::Right)
    }

    /// Keeps a result; stacks it with another one, so that elements of one array come from different programs.
    fn keep(&mut self, mut result: (Ciphertext, Plain), rng: &mut ChaCha8Rng) -> Result<(), Error> {
        let single = |(_, plain): &(Ciphertext, Plain)| plain.shape.is_none() && plain.ty.modulus().is_none();
        if single(&result) {
            let other = self.pool.iter().rev().find(|other| single(other) && other.1.ty == result.1.ty);
            if let Some((ciphertext, plain)) = other {
                let values = vec![result.1.values[0].clone(), plain.values[0].clone()];
                let stacked = Ciphertext::stack(vec![result.0.clone(), ciphertext.clone()])?;
                self.pool.push((stacked, Plain::new(plain.ty, Some(vec![2]), values)?));
            }
            result.0 = Ciphertext::from_bytes(&result.0.to_bytes()?)?;
        }
        self.pool.push(result);
        while self.pool.len() > KEPT {
            let at = rng.next_u32() as usize % self.pool.len();
            self.pool.swap_remove(at);
        }
        Ok(())
    }
}

/// The outputs in the clear.
fn evaluated(program: &Program, inputs: &[Plain]) -> Result<Vec<Plain>, String> {
    let inputs: Result<Vec<_>, Error> = inputs.iter().map(|plain| plain.clone().try_into()).collect();
    let outputs = inputs.and_then(|inputs| Ok(program.evaluate_arrays(&inputs)?));
    Ok(outputs.map_err(|error| error.to_string())?.into_iter().map(Plain::from).collect())
}
