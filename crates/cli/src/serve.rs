//! `solinas serve`: the service.

use crate::error::{Result, input, usage};
use crate::files::read_text;
use crate::limits::device;
use crate::output::Output;
use crate::progress::interruptible;
use etcetera::BaseStrategy;
use serde::Serialize;
use solinas_server::{Config, Database, Service, TlsFiles, Token};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;

const EXAMPLES: &str = "\
Examples:
  solinas serve
  solinas serve --addr 127.0.0.1:9000 --store /var/lib/solinas
  solinas serve --addr 0.0.0.0:443 --host fhe.example.org --tls fullchain.pem privkey.pem
  solinas serve --addr 0.0.0.0:7470 --insecure-http --host fhe.example.org --config solinas.toml --log info
  solinas serve --device cuda:0 --reports report
  solinas serve --tls fullchain.pem privkey.pem --addr 0.0.0.0:7470 --work-addr 0.0.0.0:7471
  solinas serve --database postgres:///solinas

The first start makes a tenant and a token, and prints the token once, unless the settings name another way to authenticate. `solinas admin token create` makes more.
Clients find the service by two variables: export SOLINAS_SERVER=http://127.0.0.1:7470 SOLINAS_TOKEN=slk_...
With --tls the service speaks HTTPS. Without it, the service speaks HTTP. If clients are on other machines, put a proxy that speaks HTTPS in front of it.
The service has a web page at its address. The first start prints a link to the page with the token.
With --work-addr, `solinas work` computes jobs on further machines.
A new store keeps its records in SQLite, or in the database of PostgreSQL that --database names. The store remembers its database.
`solinas admin move` brings the records of a store from SQLite to PostgreSQL.
--config names a file in TOML with limits, such as `blob_bytes = 1000000`, and with the ways to authenticate beside tokens. `solinas remote usage` prints all limits.
Ctrl-C and SIGTERM stop the service. Running jobs keep their progress and continue at the next start, as they do after a crash.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Address or name of this machine, and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7470", value_parser = address)]
    addr: SocketAddr,
    #[command(flatten)]
    store: StoreArgs,
    /// PostgreSQL for the records of a new store, as postgres://USER:PASSWORD@HOST/DATABASE; defaults to the variable SOLINAS_DATABASE
    #[arg(long, value_name = "ADDRESS")]
    database: Option<String>,
    /// Limits of the service, and its ways to authenticate, in TOML
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A name by which clients call the service, beside localhost and addresses in numbers; repeat it for more names
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The path under which a proxy shows the service, such as /fhe; for a proxy that passes this path on
    #[arg(long, value_name = "PATH", value_parser = path_prefix)]
    path_prefix: Option<String>,
    /// Number of threads that compute, 1 to 512; defaults to the number of processors
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
    /// Device that computes: cpu, cuda:N, several as cuda:0,cuda:1 or cuda:all, auto, or emulated for tests; defaults to SOLINAS_DEVICE, else to cpu
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Listen on this address for workers on other machines (`solinas work`); port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    work_addr: Option<SocketAddr>,
    /// Leave all jobs to workers on other machines
    #[arg(long, requires = "work_addr")]
    no_local_worker: bool,
    /// Accept keys for research only and keys from a chosen seed
    #[arg(long)]
    research: bool,
    /// Speak HTTPS with this certificate and its private key, both in PEM; renewed files are read within ten minutes
    #[arg(long, num_args = 2, value_names = ["CERT", "KEY"], conflicts_with = "insecure_http")]
    tls: Option<Vec<PathBuf>>,
    /// Listen without encryption on an address that other machines reach
    #[arg(long)]
    insecure_http: bool,
    /// Show the pages that `solinas report` wrote to this folder, at /reports/
    #[arg(long, value_name = "FOLDER")]
    reports: Option<PathBuf>,
    /// Seconds between two writes of the progress of a job, 0 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(..=86400))]
    checkpoint_every: u32,
    /// Fraction of the jobs that run twice, so that the results can be compared, 0 to 1; defaults to `verify_fraction` in the settings, or 0
    #[arg(long, value_name = "FRACTION", value_parser = fraction)]
    verify_fraction: Option<f64>,
    /// The least severe level of the log, which goes to standard error as JSON: off, error, warn or info
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
}

/// The address in a text such as `127.0.0.1:7470`, `[::1]:7470` or `localhost:7470`. A name with several addresses has one of version
/// 4 before others, as the default address has.
pub(crate) fn address(text: &str) -> std::result::Result<SocketAddr, String> {
    let wrong = |reason: String| format!("{reason}; give an address and a port, such as 127.0.0.1:7470");
    let found: Vec<_> = text.to_socket_addrs().map_err(|error| wrong(error.to_string()))?.collect();
    found.iter().find(|found| found.is_ipv4()).or(found.first()).copied().ok_or_else(|| wrong("no address".into()))
}

/// A path without the `/` at its end.
fn path_prefix(text: &str) -> std::result::Result<String, String> {
    let path = text.trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"?#%".contains(&byte);
    match path.starts_with('/') && path.bytes().all(is_plain) {
        true => Ok(path.to_owned()),
        false => Err("it is a path such as /fhe, which begins with /".into()),
    }
}

/// The folder of a store.
#[derive(clap::Args)]
pub(crate) struct StoreArgs {
    /// The folder with everything that the service keeps; defaults to solinas in the user's folder for data
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

impl StoreArgs {
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        match &self.store {
            Some(folder) => Ok(folder.clone()),
            None => etcetera::base_strategy::choose_native_strategy()
                .map(|folders| folders.data_dir().join("solinas"))
                .ok()
                .ok_or_else(|| usage("this user has no folder for data", "name a folder with --store")),
        }
    }
}

/// The database that an option names, or the variable SOLINAS_DATABASE, which shows a password to nobody else.
///
/// # Errors
/// If the address is malformed.
pub(crate) fn database(option: Option<String>) -> Result<Option<Database>> {
    let text = option.or_else(|| std::env::var("SOLINAS_DATABASE").ok()).filter(|text| !text.trim().is_empty());
    Ok(text.map(|text| text.parse()).transpose()?)
}

fn fraction(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "it is a number from 0 to 1".to_owned())
}

/// What is printed when the service is ready.
#[derive(Serialize)]
struct Started<'a> {
    address: String,
    /// The address for workers on other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    work_address: Option<String>,
    /// The token of a new store.
    token: Option<&'a str>,
    threads: usize,
    device: String,
    store: &'a Path,
}

impl Started<'_> {
    fn text(&self) -> String {
        let Self { address, work_address, token, threads, device, store } = self;
        let threads = solinas_circuits::counted(*threads, "thread");
        let version = env!("CARGO_PKG_VERSION");
        let work = work_address.as_ref().map(|work| format!("Workers on other machines call {work}\n"));
        let work = work.unwrap_or_default();
        let first =
            format!("solinas {version} at {address} ({threads}, device {device}, store {})\n{work}", store.display());
        match token {
            Some(token) => format!(
                "{first}The token is shown once:\n  export SOLINAS_SERVER={address} SOLINAS_TOKEN={token}\n\
                 The page, with the token: {address}/#token={token}\nCtrl-C stops the service.\n"
            ),
            None => format!(
                "{first}The page is at {address}/. `solinas admin token create` makes a token. Ctrl-C stops the service.\n"
            ),
        }
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let reached = [Some(args.addr), args.work_addr].into_iter().flatten().find(|addr| !addr.ip().is_loopback());
    if let Some(address) = reached.filter(|_| args.tls.is_none() && !args.insecure_http) {
        return Err(usage(
            format!("{address} is reached by other machines, and the service would speak HTTP without encryption"),
            "add --tls CERT KEY, listen on 127.0.0.1 behind a proxy that speaks HTTPS, or add --insecure-http",
        ));
    }
    // A subscriber of the same process would be a test's.
    let _ = tracing_subscriber::fmt().json().with_max_level(args.log).with_writer(std::io::stderr).try_init();
    let mut config = Config::new(args.store.folder()?);
    config.address = args.addr;
    config.work_address = args.work_addr;
    config.local_worker = !args.no_local_worker;
    config.database = database(args.database)?;
    if let Some([certificates, key]) = args.tls.as_deref() {
        config.tls = Some(TlsFiles { certificates: certificates.clone(), key: key.clone() });
    }
    config.hosts = args.host;
    config.path_prefix = args.path_prefix.unwrap_or_default();
    config.threads = args.threads.map(usize::from);
    config.device = args.device.as_deref().map(device).transpose()?;
    config.research = args.research;
    if let Some(folder) = args.reports {
        if !folder.join("index.html").is_file() {
            let what = format!("{} holds no reports", folder.display());
            return Err(usage(what, "`solinas report RUN.json --out FOLDER` writes them"));
        }
        config.reports = Some(folder);
    }
    config.checkpoint = Duration::from_secs(args.checkpoint_every.into());
    if let Some(file) = &args.config {
        let text = read_text(file)?;
        config.read(&text).map_err(|error| {
            let line = error.span().and_then(|span| text.get(..span.start)).map(|text| text.matches('\n').count() + 1);
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            input(format!("{}{line}: {}", file.display(), error.message()), "correct it; the book lists the settings")
        })?;
    }
    config.limits.verify_fraction = args.verify_fraction.unwrap_or(config.limits.verify_fraction);
    if config.mutual_tls.is_some() && config.tls.is_none() {
        return Err(usage("[mutual_tls] in the settings needs HTTPS", "add --tls CERT KEY, or remove the section"));
    }
    let (store, scheme) = (config.store.clone(), if config.tls.is_some() { "https" } else { "http" });
    // A certificate has the name of the service, and rarely its address.
    let host = config.hosts.first().cloned();
    let shown = |address: SocketAddr| match &host {
        Some(host) => format!("{scheme}://{host}:{}", address.port()),
        None => format!("{scheme}://{address}"),
    };
    let interrupted = interruptible()?;
    let service = Service::start(config)?;
    let started = Started {
        address: shown(service.address()),
        work_address: service.work_address().map(shown),
        token: service.first_token().map(Token::secret),
        threads: service.threads(),
        device: service.device().to_string(),
        store: &store,
    };
    out.result(&started, || started.text())?;
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(100));
    }
    out.note("stopping; running jobs keep their progress")?;
    service.stop();
    Ok(())
}
