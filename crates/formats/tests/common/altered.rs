//! Headers with one altered word, for tests of what an identity binds. Tests of other crates take this file too.

use solinas_formats::{Header, Value};

/// Values that differ from a value in one place, and the path of the place.
fn altered(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Integer(n) => {
            let n = i128::from(*n);
            let other = |n: i128| Some((String::new(), Value::Integer(n.try_into().ok()?)));
            [n + 1, n - 1].into_iter().filter(|&other| other != n).filter_map(other).collect()
        }
        Value::Float(x) => [x + 0.5, x - 0.5].map(|x| (String::new(), Value::Float(x))).into(),
        Value::Bool(b) => vec![(String::new(), Value::Bool(!b))],
        Value::Text(text) => vec![(String::new(), Value::Text(format!("{text}x")))],
        Value::Bytes(bytes) => (0..bytes.len())
            .step_by(10)
            .map(|i| {
                let mut bytes = bytes.clone();
                bytes[i] ^= 1;
                (format!("[{i}]"), Value::Bytes(bytes))
            })
            .collect(),
        Value::Map(fields) => {
            let mut all = Vec::new();
            for (i, (key, value)) in fields.iter().enumerate() {
                for (path, value) in altered(value) {
                    let mut fields = fields.clone();
                    fields[i].1 = value;
                    all.push((format!(".{}{path}", key.as_text().unwrap_or("?")), Value::Map(fields)));
                }
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Headers that differ from a header in one word that says something about the key, with the path of the word.
pub(crate) fn altered_headers(header: &Header) -> Vec<(String, Header)> {
    let mut all = Vec::new();
    for (path, params) in altered(&header.params) {
        all.push((format!("params{path}"), header.clone().params(&params).unwrap()));
    }
    for (field, value) in &header.meta {
        for (path, value) in altered(value) {
            all.push((format!("{field}{path}"), header.clone().meta(field, &value).unwrap()));
        }
        let mut without = header.clone();
        without.meta.remove(field);
        all.push((format!("no {field}"), without));
    }
    all.push(("insecure_seed".into(), header.clone().insecure_seed(!header.insecure_seed)));
    all
}
