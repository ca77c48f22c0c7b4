//! `solinas work`: computes jobs of a service on this machine.

use crate::error::{Result, usage};
use crate::files::read_text;
use crate::limits::{device, threads};
use crate::output::Output;
use crate::progress::interruptible;
use etcetera::BaseStrategy;
use serde::Serialize;
use solinas_client::Trust;
use solinas_server::{Worker, WorkerConfig, WorkerNews};
use std::path::PathBuf;
use tracing_subscriber::filter::LevelFilter;

const EXAMPLES: &str = "\
Examples:
  solinas work --server https://fhe.example.org:7471 --token-file worker.token
  solinas work --server https://fhe.example.org:7471 --token-file worker.token --threads 16 --cache /var/cache/solinas
  solinas work --server https://localhost:7471 --token-file worker.token --cafile fullchain.pem

The service listens for workers with `solinas serve --work-addr`. Its operator makes the token with `solinas admin token create --scope work`.
The worker and the service have the same version of solinas.
The worker sees server keys, ciphertexts and programs. It sees no secret key.
Ctrl-C and SIGTERM stop the worker. A running job pauses, and another worker continues it from there.
A second worker on a machine needs a folder of its own (--cache).";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The address of the service for workers
    #[arg(long, value_name = "URL")]
    server: String,
    /// A file with the token; without it, the token is in the variable SOLINAS_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Number of threads that compute, 1 to 512; defaults to the number of processors
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
    /// Device that computes: cpu, cuda:N, several as cuda:0,cuda:1 or cuda:all, auto, or emulated for tests; defaults to SOLINAS_DEVICE, else to cpu
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// The folder for files of jobs; defaults to solinas-work in the user's folder for caches
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// The most MiB of files that stay in the folder after a job
    #[arg(long, value_name = "MIB", default_value_t = 16384)]
    cache_size: u64,
    /// MiB of memory for keys that are ready for work; defaults to a quarter of the free memory
    #[arg(long, value_name = "MIB")]
    key_memory: Option<u64>,
    /// Trust the certificates in this file (PEM), in place of those of the system
    #[arg(long, value_name = "FILE")]
    cafile: Option<PathBuf>,
    /// Send the token over http:// to another machine, without encryption
    #[arg(long)]
    insecure_http: bool,
    /// The least severe level of the log, which goes to standard error as JSON: off, error, warn or info
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
}

/// What is printed when the worker begins.
#[derive(Serialize)]
struct Started<'a> {
    server: &'a str,
    threads: usize,
    device: String,
    cache: &'a PathBuf,
}

impl Started<'_> {
    fn text(&self) -> String {
        let Self { server, threads, device, cache } = self;
        let threads = solinas_circuits::counted(*threads, "thread");
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "solinas {version} works for {server} ({threads}, device {device}, cache {}). Ctrl-C stops it.\n",
            cache.display()
        )
    }
}

/// The token in a file, or in the environment.
fn token(args: &Args) -> Result<String> {
    let text = match &args.token_file {
        Some(file) => read_text(file)?,
        None => std::env::var("SOLINAS_TOKEN").unwrap_or_default(),
    };
    // A file ends in a new line.
    let token = text.trim();
    match token.starts_with("slw_") {
        true => Ok(token.to_owned()),
        false => Err(usage(
            "there is no token of workers, which begins with slw_",
            "name its file with --token-file; `solinas admin token create --scope work` makes one",
        )),
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let token = token(&args)?;
    let default = || {
        let folders = etcetera::base_strategy::choose_native_strategy().ok()?;
        Some(folders.cache_dir().join("solinas-work"))
    };
    let cache = args
        .cache
        .or_else(default)
        .ok_or_else(|| usage("this user has no folder for caches", "name a folder with --cache"))?;
    // A subscriber of the same process would be a test's.
    let _ = tracing_subscriber::fmt().json().with_max_level(args.log).with_writer(std::io::stderr).try_init();
    let config = WorkerConfig {
        service: args.server.clone(),
        token,
        trust: Trust { authorities: args.cafile, insecure_http: args.insecure_http },
        cache: cache.clone(),
        cache_bytes: args.cache_size.saturating_mul(1 << 20),
        key_memory_bytes: args.key_memory.map(|mib| mib.saturating_mul(1 << 20)),
        threads: args.threads.map(threads),
        device: args.device.as_deref().map(device).transpose()?,
    };
    let stop = interruptible()?;
    let quiet = out.quiet() || out.json();
    let say = move |news: WorkerNews| match news {
        WorkerNews::Away(_) | WorkerNews::Lost(_) => crate::output::warn(&news.to_string()),
        // A line that cannot be printed does not stop the worker.
        _ if !quiet => drop(std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{news}\n"))),
        _ => {}
    };
    let worker = Worker::new(config, say)?;
    let started =
        Started { server: &args.server, threads: worker.threads(), device: worker.device().to_string(), cache: &cache };
    out.result(&started, || started.text())?;
    worker.run(stop)?;
    out.note("stopped; the progress of a running job is on the service")
}
