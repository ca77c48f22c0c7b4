//! The cases that numpy wrote (`tests/cases`): programs with inputs, and the results or the error.

use serde::Deserialize;
use serde_json::Value;
use solinas_circuits::Plain;
use solinas_circuits::program::{Shape, Type};
use std::path::Path;

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Value,
    pub(crate) inputs: Vec<Array>,
    #[serde(default)]
    pub(crate) outputs: Vec<Array>,
    pub(crate) error: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Array {
    r#type: String,
    shape: Shape,
    values: Vec<Value>,
}

impl Array {
    pub(crate) fn plain(&self) -> Plain {
        let ty: Type = self.r#type.parse().unwrap();
        let bits =
            |value: &Value| ty.to_bits(&value.as_bool().map_or_else(|| value.to_string().parse().unwrap(), Into::into));
        Plain::new(ty, self.shape.clone(), self.values.iter().map(|value| bits(value).unwrap())).unwrap()
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &std::path::PathBuf| -> Vec<Case> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}
