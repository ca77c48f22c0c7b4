//! Evaluates lowered programs in the clear, and compares them with plain arithmetic.

use super::programs;
use rand_chacha::ChaCha8Rng;
use solinas_circuits::build::{Recipe, Style};
use solinas_circuits::lut::Budget;
use solinas_circuits::program::Program;
use solinas_circuits::{Error, Natural, radix};

/// Inputs of a program for each case, and the expected outputs.
pub(crate) struct Cases {
    inputs: Vec<Vec<Natural>>,
    outputs: Vec<Vec<Natural>>,
}

impl Cases {
    /// # Errors
    /// If plain evaluation rejects a program that type-checks.
    pub(crate) fn new(program: &Program, count: usize, rng: &mut ChaCha8Rng) -> Result<Self, Error> {
        let inputs: Vec<_> = (0..count).map(|_| programs::inputs(rng, program)).collect();
        let outputs = inputs.iter().map(|case| program.evaluate(case)).collect::<Result<_, _>>()?;
        Ok(Self { inputs, outputs })
    }

    fn compare(&self, got: &[Vec<Natural>]) -> Result<(), String> {
        let wrong = self.outputs.iter().zip(got).position(|(want, got)| want != got);
        wrong.map_or(Ok(()), |i| Err(format!("{:?} gave {:?}, not {:?}", self.inputs[i], got[i], self.outputs[i])))
    }

    /// Checks the lookup tables of both styles, on inputs of that weight.
    pub(crate) fn tables(&self, program: &Program, input_weight: u64) -> Result<(), String> {
        for style in [radix::Style::FewestRotations, radix::Style::LowestDepth] {
            let budget = Budget { input_weight, ..Budget::default() };
            let described = |problem: String| format!("{style:?}, inputs of weight {input_weight}: {problem}");
            let lowered = radix::lower(program, style, budget).map_err(|error| described(error.to_string()))?;
            let got = self.inputs.iter().map(|case| lowered.eval(case)).collect::<Result<Vec<_>, _>>();
            self.compare(&got.map_err(|error| described(error.to_string()))?).map_err(described)?;
        }
        Ok(())
    }

    /// Checks the gates of both styles, before and after optimization.
    pub(crate) fn gates(&self, program: &Program) -> Result<(), String> {
        for style in [Style::FewestBootstraps, Style::LowestDepth] {
            let netlist = program.lower(Recipe::from(style)).map_err(|error| error.to_string())?;
            for netlist in [&netlist, &netlist.optimize(&Default::default())] {
                let got = netlist.evaluate_many(&self.inputs).map_err(|error| error.to_string())?;
                self.compare(&got).map_err(|problem| format!("{style:?} in gates: {problem}"))?;
            }
        }
        Ok(())
    }
}
