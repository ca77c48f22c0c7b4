//! Measured figures go to a file if `SOLINAS_RTL_FIGURES` names one.

use serde_json::{Map, Value};

/// Merges figures into the file: `path` names nested objects, and the last of them gets the values.
pub(crate) fn record(path: &[&str], values: &[(&str, u64)]) {
    let Some(file) = std::env::var_os("SOLINAS_RTL_FIGURES").filter(|file| !file.is_empty()) else { return };
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".into());
    let mut root: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let mut inner = &mut root;
    for name in path {
        let next = inner.entry(*name).or_insert_with(|| Value::Object(Map::new()));
        inner = next.as_object_mut().unwrap();
    }
    for (name, value) in values {
        inner.insert((*name).into(), (*value).into());
    }
    std::fs::write(&file, serde_json::to_string_pretty(&root).unwrap() + "\n").unwrap();
}
