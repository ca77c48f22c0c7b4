//! Makes Gentry-Halevi keys and tables, writes them and reads them back. Prints the time, the size and the peak of memory of each step.
//!
//! ```sh
//! cargo measure gh-files -- small 2 /tmp/keys [keygen]
//! ```
//!
//! The arguments are the parameter set, the threads and a folder. With `keygen`, it ends after the keys. An interrupted run goes on from its
//! checkpoint. Keys are from a fixed seed and so insecure, as is the scheme.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bench_common::{command, machine};
use bench_measure::Result;
use clap::Parser;
use solinas_formats::gh::{self, Gh};
use solinas_formats::{Expect, KeyFiles, Kind, Overwrite, Reader, Writer};
use solinas_schemes::gh::{Arithmetic, EncryptMethod, Encryptor, Evaluator, Params, RecryptMethod, keygen};
use solinas_schemes::{Control, Entropy, Progress};

/// Peak resident memory of this process in MiB, or 0 if the system does not report it.
fn peak_mib() -> u64 {
    machine::peak_memory().unwrap_or_default() >> 20
}

fn timed<T, E>(what: &str, run: impl FnOnce() -> std::result::Result<T, E>) -> std::result::Result<T, E> {
    let start = Instant::now();
    let result = run()?;
    println!("{what:<44} {:>10.3} s   peak {:>6} MiB", start.elapsed().as_secs_f64(), peak_mib());
    Ok(result)
}

fn size(path: &Path) -> Result<()> {
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

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    machine::free_pool(args.threads)?.install(|| measure(args))
}

fn measure(Args { params: name, folder, end, .. }: &Args) -> Result<()> {
    let params = Params::named(name)?;
    std::fs::create_dir_all(folder)?;
    println!("{name}: key generation takes up to {} MiB", keygen::memory(&params) >> 20);

    let start = Instant::now();
    let last = std::sync::Mutex::new(None);
    let progress = |Progress { done, total, stage }: Progress| {
        if let Ok(mut last) = last.lock()
            && std::mem::replace(&mut *last, stage) != stage
        {
            let part = 100.0 * done as f64 / total as f64;
            let (seconds, peak) = (start.elapsed().as_secs_f64(), peak_mib());
            println!("  {seconds:>8.2} s {part:>5.1} % {peak:>6} MiB  {}", stage.unwrap_or_default());
        }
    };
    let control = Control { progress: Some(&progress), cancel: None };
    let checkpoint = folder.join("keygen.checkpoint");
    let (client, server) =
        timed("key generation", || gh::keygen(&params, true, Entropy::Insecure(1), Some(&checkpoint), &control))?;

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
