//! What a service and its workers on other machines send each other, from any bytes: never a panic. What is accepted is accepted again.

use serde_json::{Value, json};
use solinas_server::fuzz::{KINDS, read_message};

/// An accepted message is at most so many times longer than its bytes.
const GROWTH: usize = 16;

/// Reads the bytes after the first one as the kind that the first one names.
pub fn run(data: &[u8]) {
    let [kind, bytes @ ..] = data else { return };
    let kind = kind % KINDS;
    let Some(read) = read_message(kind, bytes) else { return };
    assert!(read.len() <= 1024 + GROWTH * bytes.len(), "{} bytes grew to {}", bytes.len(), read.len());
    assert!(read_message(kind, &read).is_some(), "what was accepted is accepted again");
    if let 1..=3 = kind {
        let message: Value = serde_json::from_slice(&read).expect("a message is JSON");
        let is_within = |field: &str, most: u64| message[field].as_u64().is_none_or(|number| number <= most);
        assert!(is_within("threads", 4096) && is_within("wait", 20), "{message}");
        // The job is a second old and has 21 bootstraps.
        assert!(is_within("core_ms", 4_096_000) && is_within("bootstraps", 21), "{message}");
        assert!(message["core_ms"].as_i64().is_none_or(|core_ms| core_ms >= 0), "{message}");
        assert!(message["seconds"].as_f64().is_none_or(|seconds| (0.0..=4096.0).contains(&seconds)), "{message}");
    }
}

/// A message of every kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let (id, digest) = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", format!("b3-{}", "5".repeat(64)));
    let progress = json!({ "done": 3, "total": 21, "wave": 1, "waves": 2 });
    let timeline = json!([[{ "ms": 2.5, "lanes": 3 }, { "ms": 0.5, "lanes": 1 }]]);
    let result = json!({ "name": "out", "digest": digest, "type": "u8", "shape": [3], "bytes": 7, "compact": false });
    let problem = json!({ "code": "disk_full", "detail": "the disk is full", "fix": "make room" });
    let outcome = |end: Value| {
        json!({ "end": end, "seconds": 1.5, "core_ms": 3000, "progress": progress, "timeline": timeline,
                "bootstraps": 21, "whole_core_ms": 2900.5 })
    };
    let spec = json!({ "key": "k", "program": digest, "compact": true,
        "private_program": false, "auditable": false, "effort": 21.0,
        "inputs": [{ "blob": digest }, { "constant": { "type": "u8", "values": ["3"] } }],
        "plan": digest, "steps": [{ "lanes": 3, "waves": [2, 5] }] });
    let granted = json!({ "lease": format!("local.{id}.7"), "tenant": "local", "id": id, "spec": spec, "attempts": 1,
        "core_ms": 0, "deadline_in": 60_000, "max_core_ms": null, "timeline": timeline, "key": digest,
        "kept": true, "checkpoint": 30_000, "hold": 30_000 });
    let messages = [
        (1, json!({ "version": "0.1.0", "worker": id, "threads": 2, "wait": 20 })),
        (2, json!({ "worker": id, "threads": 2, "ran": 1500, "progress": progress, "renewal": timeline })),
        (3, outcome(json!({ "succeeded": [result] }))),
        (3, outcome(json!({ "failed": problem }))),
        (3, outcome(json!({ "later": problem }))),
        (3, outcome(json!("paused"))),
        (4, granted),
    ];
    let json = messages.into_iter().map(|(kind, message)| (kind, message.to_string().into_bytes()));
    let name = (0, format!("local.{id}.7").into_bytes());
    let files = super::files::seeds().into_iter().filter(|file| read_message(5, file).is_some()).map(|file| (5, file));
    json.chain([name]).chain(files).map(|(kind, bytes)| [vec![kind], bytes].concat()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn seeds_are_accepted() {
        for seed in super::seeds().iter().filter(|seed| seed[0] < 5) {
            assert!(super::read_message(seed[0], &seed[1..]).is_some(), "{}", String::from_utf8_lossy(seed));
        }
    }
}
