//! The peer tfhe-go, in a process of its own: gates alone.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use bench_common::process::Peer;

use crate::case::{Gate, Task};
use crate::engine::Work;

/// The program that `../peers/go.sh` makes.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/peers/gates/tfhe-go");

/// Gates in the process.
struct Gates {
    peer: Mutex<Peer>,
    operation: String,
}

/// Starts the peer and makes its keys, or returns `None` for another task than gates, or without the program.
///
/// # Panics
/// Panics if the program fails.
pub fn prepare(task: Task) -> Option<Box<dyn Work>> {
    let operation = match task {
        Task::Gate(Gate::Nand, ..) => "nand".into(),
        Task::Gate(Gate::Xor, ..) => "xor".into(),
        Task::Nands(count, ..) => format!("nands-{count}"),
        _ => return None,
    };
    if !Path::new(PROGRAM).is_file() {
        return None;
    }
    // The process inherits the cores of this worker.
    let threads = rayon::current_num_threads().to_string();
    let mut command = Command::new(PROGRAM);
    let peer = match Peer::start("tfhe-go", command.arg(&threads).env("GOMAXPROCS", &threads)) {
        Ok(peer) => peer,
        Err(error) => panic!("{error}"),
    };
    eprintln!("{} {} ({})", peer.name, peer.version, peer.build);
    Some(Box::new(Gates { peer: Mutex::new(peer), operation }))
}

impl Work for Gates {
    fn run(&mut self) {
        let peer = self.peer.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Err(error) = peer.time(&self.operation, 1) {
            panic!("{error}");
        }
    }

    fn check(&self) -> bool {
        self.peer.lock().is_ok_and(|mut peer| peer.check().is_ok())
    }
}
