//! Makes Gentry-Halevi keys and tables, writes them, reads them back, and prints times, sizes and the peak of memory after each.
//!
//! ```
//! cargo run --release -p solinas-formats --example gh_files -- small 2 /tmp/keys [keygen]
//! ```
//!
//! Parameters, threads, a folder; with `keygen`, it ends after the keys. An interrupted run goes on from its checkpoint. Keys are
//! from a fixed seed: insecure, as the scheme is anyway.

use core::ops::ControlFlow;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use solinas_formats::gh::{self, Gh};
use solinas_formats::{Expect, KeyFiles, Kind, Overwrite, Reader, Writer};
use solinas_schemes::gh::{Arithmetic, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod, Stage, keygen};

/// Peak resident memory of this process in MiB, where the system tells.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() >> 10
}

fn timed<T, E>(what: &str, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let result = run()?;
    println!("{what:<44} {:>10.3} s   peak {:>6} MiB", start.elapsed().as_secs_f64(), peak_mib());
    Ok(result)
}

fn size(path: &Path) -> Result<(), Box<dyn Error>> {
    println!("  {:<42} {:>10.1} MB", path.display(), std::fs::metadata(path)?.len() as f64 / 1e6);
    Ok(())
}

/// Makes, writes and reads Gentry-Halevi keys and tables.
#[derive(Parser)]
struct Args {
    params: String,
    threads: usize,
    folder: PathBuf,
    /// Where to end, if not after the tables
    #[arg(value_parser = ["keygen"])]
    end: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { params: name, threads, folder, end } = Args::parse();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let params = Params::named(&name)?;
    std::fs::create_dir_all(&folder)?;
    println!("{name}: key generation takes up to {} MiB", keygen::memory(&params) >> 20);

    let start = Instant::now();
    let last = std::sync::Mutex::new(None);
    let progress = |stage: Stage, done: usize, total: usize| {
        if let Ok(mut last) = last.lock()
            && last.replace(stage) != Some(stage)
        {
            let part = 100.0 * done as f64 / total as f64;
            let (seconds, peak) = (start.elapsed().as_secs_f64(), peak_mib());
            println!("  {seconds:>8.2} s {part:>5.1} % {peak:>6} MiB  {}", stage.name());
        }
        ControlFlow::Continue(())
    };
    let checkpoint = folder.join("keygen.checkpoint");
    let (client, server) =
        timed("key generation", || gh::keygen(&params, true, Some(1), Some(&checkpoint), &progress))?;

    let (client_path, server_path) = (folder.join("client.key"), folder.join("server.key"));
    timed("client key, written", || {
        let mut writer = Writer::create(&client_path, Gh::client_header(&client)?, Overwrite::Always)?;
        Gh::write_client(&mut writer, &client)?;
        writer.finish()
    })?;
    size(&client_path)?;
    timed("server key, written and synced", || {
        let mut writer = Writer::create(&server_path, Gh::server_header(&server)?, Overwrite::Always)?;
        Gh::write_server(&mut writer, &server)?;
        writer.finish()
    })?;
    size(&server_path)?;
    std::fs::remove_file(&checkpoint)?;
    drop(server);
    timed("client key, read", || Gh::read_client(&Reader::open(&client_path, Expect::kind(Kind::ClientKey))?))?;
    timed("public key, read", || Gh::read_public(&Reader::open(&server_path, Expect::kind(Kind::ServerKey))?))?;
    let server = timed("server key, read and checked", || {
        Gh::read_server(&Reader::open(&server_path, Expect::kind(Kind::ServerKey))?)
    })?;
    if end.is_some() {
        return Ok(());
    }

    let (memory, arithmetic, public) = (8 << 30, Arithmetic::default(), server.public());
    for method in [EncryptMethod::Table, EncryptMethod::TwoLevel, EncryptMethod::PartialFft] {
        if method.memory(&params) > memory {
            continue;
        }
        let path = folder.join("encrypt.cache");
        let what = |part: &str| format!("{}: {part}", method.name());
        let new = timed(&what("built"), || Encryptor::new(public, method, memory, arithmetic))?;
        timed(&what("written and synced"), || gh::save_encryptor(&path, &new))?;
        size(&path)?;
        drop(new);
        let loaded = timed(&what("loaded"), || gh::load_encryptor(&path, public, method, memory, arithmetic))?;
        println!("  {}", loaded.rebuilt.unwrap_or_default());
    }
    if RecryptMethod::PairTable.memory(&params) <= memory {
        let path = folder.join("pairs.cache");
        let new = timed("pair table: built", || Evaluator::new(&server, RecryptMethod::PairTable, memory, arithmetic))?;
        timed("pair table: written and synced", || gh::save_evaluator(&path, &new))?;
        size(&path)?;
        drop(new);
        let loaded = timed("pair table: loaded", || gh::load_evaluator(&path, &server, memory, arithmetic))?;
        println!("  {}", loaded.rebuilt.unwrap_or_default());
    }
    Ok(())
}
