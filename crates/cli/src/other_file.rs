//! Files in formats of others: what they are, and which verb takes them.

use solinas_circuits::program::Program;
use std::io::Read;
use std::path::Path;

/// The most bytes of a file that is looked at.
const LOOKED_AT: u64 = 1 << 24;

/// What a file is that has not the format of Solinas, and the verb that takes it. `None` for a file that no verb takes.
pub(crate) fn kind(path: &Path) -> Option<(&'static str, String)> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LOOKED_AT).read_to_string(&mut text).ok()?;
    let name = path.display();
    Some(if Program::from_json(&text).is_ok() {
        ("a program", format!("`solinas eval --program {name}` runs it, and with --estimate it prints the cost"))
    } else if solinas_circuits::import::read(&text).is_ok() {
        (
            "a circuit",
            format!("`solinas circuit stats {name}` describes it, and `solinas eval --circuit {name}` runs it"),
        )
    } else if text.contains("-----BEGIN ") {
        ("a file in PEM", format!("`solinas rsa inspect {name}` describes the key in it"))
    } else {
        return None;
    })
}
