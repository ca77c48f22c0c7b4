//! The cases that numpy wrote (`tests/cases`): whole arrays, steps and files give its results, and refuse what it refuses.

use crate::common::cases::{Array, Case, cases};
use solinas_circuits::Plain;
use solinas_circuits::program::ProgramFile;
use solinas_circuits::steps::split;
use std::sync::Arc;

#[test]
fn cases_give_what_numpy_gives() {
    let cases = cases();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    for Case { name, program, inputs, outputs, error } in cases {
        let file = ProgramFile::read(&program.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ProgramFile::read(&file.write().unwrap()).unwrap(), file, "{name}");
        let inputs: Vec<Plain> = inputs.iter().map(Array::plain).collect();
        let program = Arc::new(file.program);
        let shaped = program.at(&inputs.iter().map(|input| input.shape.clone()).collect::<Vec<_>>());
        if let Some(part) = error {
            let error = shaped.unwrap_err().to_string();
            assert!(error.contains(&part), "{name}: {error}");
            continue;
        }
        let outputs: Vec<Plain> = outputs.iter().map(Array::plain).collect();
        assert_eq!(program.evaluate_arrays(&inputs).unwrap(), outputs, "{name}");
        let steps = split(&shaped.unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap();
        for (batch, budget) in [(usize::MAX, usize::MAX), (3, 10)] {
            assert_eq!(steps.evaluate(&inputs, batch, budget).unwrap(), outputs, "{name}");
        }
    }
}
