//! The cases that numpy wrote (`tests/cases`): whole arrays, steps and files give its results, and refuse what it refuses.

use serde::Deserialize;
use serde_json::Value;
use solinas_circuits::Plain;
use solinas_circuits::program::{ProgramFile, Shape, Type};
use solinas_circuits::steps::split;
use std::path::Path;
use std::sync::Arc;

#[derive(Deserialize)]
struct Case {
    name: String,
    program: Value,
    inputs: Vec<Array>,
    #[serde(default)]
    outputs: Vec<Array>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Array {
    r#type: String,
    shape: Shape,
    values: Vec<Value>,
}

impl Array {
    fn plain(&self) -> Plain {
        let ty: Type = self.r#type.parse().unwrap();
        let bits =
            |value: &Value| ty.to_bits(&value.as_bool().map_or_else(|| value.to_string().parse().unwrap(), Into::into));
        Plain::new(ty, self.shape.clone(), self.values.iter().map(|value| bits(value).unwrap())).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &std::path::PathBuf| -> Vec<Case> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}

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
