//! The settings of a service. All have defaults; a file in TOML changes them.

use crate::auth::{MutualTls, OidcSettings};
use crate::database::Database;
use crate::tls::TlsFiles;
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer};
use serde::{Deserialize, Serialize};
use solinas_engine::DeviceName;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, Deserializer, Error};

/// The settings of a service.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens. Port 0 takes a free one.
    pub address: SocketAddr,
    /// The folder of the store. It is made if it is missing.
    pub store: PathBuf,
    /// The database of PostgreSQL for the records of a new store. Without one, a new store uses SQLite. A store that exists keeps its database.
    pub database: Option<Database>,
    /// The certificate. Without one, the service speaks HTTP without encryption.
    pub tls: Option<TlsFiles>,
    /// Names by which clients may call it, beside `localhost` and addresses in numbers.
    pub hosts: Vec<String>,
    /// The path under which a proxy shows the service, such as `/fhe`, if the proxy passes it on. Empty without one.
    pub path_prefix: String,
    /// Threads that compute. Defaults to one for each processor.
    pub threads: Option<usize>,
    /// The device that computes. Defaults to the variable `SOLINAS_DEVICE`, else to the processor.
    pub device: Option<DeviceName>,
    /// Whether keys for research only and keys from a chosen seed are accepted.
    pub research: bool,
    /// Time between two checkpoints of a job.
    pub checkpoint: Duration,
    /// Whether the service computes jobs itself. Otherwise only workers on other machines do.
    pub local_worker: bool,
    /// Where it listens for workers on other machines, under the same certificate.
    pub work_address: Option<SocketAddr>,
    /// A folder with pages that `solinas report` wrote.
    pub reports: Option<PathBuf>,
    /// An issuer of OpenID Connect, whose tokens are taken beside those of the service.
    pub oidc: Option<OidcSettings>,
    /// Certificates that identify clients. They need `tls`.
    pub mutual_tls: Option<MutualTls>,
    /// Limits.
    pub limits: Limits,
}

impl Config {
    /// The default settings with this folder.
    pub fn new(store: PathBuf) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 7470)),
            store,
            database: None,
            tls: None,
            hosts: Vec::new(),
            path_prefix: String::new(),
            threads: None,
            device: None,
            research: false,
            checkpoint: Duration::from_secs(30),
            local_worker: true,
            work_address: None,
            reports: None,
            oidc: None,
            mutual_tls: None,
            limits: Limits::default(),
        }
    }

    /// Takes limits, `[oidc]` and `[mutual_tls]` from a text in TOML. What the text lacks gets its default.
    ///
    /// # Errors
    /// The place of a mistake in the text; a value out of its range.
    pub fn read(&mut self, text: &str) -> Result<(), Error> {
        let mut table = DeTable::parse(text)?;
        self.oidc = section(&mut table, "oidc", OidcSettings::check)?;
        self.mutual_tls = section(&mut table, "mutual_tls", MutualTls::check)?;
        self.limits = Limits::deserialize(Deserializer::from(table))?;
        self.limits.check().map_err(Error::custom)
    }

    /// Threads that compute.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Takes a section out of a table, and finds a mistake in it.
fn section<'a, T: DeserializeOwned>(
    table: &mut Spanned<DeTable<'a>>,
    name: &str,
    check: impl FnOnce(&T) -> Result<(), String>,
) -> Result<Option<T>, Error> {
    let Some(value) = table.get_mut().remove(name) else { return Ok(None) };
    let read = T::deserialize(value.into_deserializer())?;
    check(&read).map_err(|mistake| Error::custom(format!("[{name}]: {mistake}")))?;
    Ok(Some(read))
}

/// Limits, each with its default. `GET /v1/usage` reports them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request in JSON.
    pub json_bytes: u64,
    /// Bytes of a program.
    pub program_bytes: u64,
    /// Bytes of a blob.
    pub blob_bytes: u64,
    /// Bytes of a server key.
    pub key_bytes: u64,
    /// Bytes of a server key of scheme tfhe.
    pub tfhe_key_bytes: u64,
    /// Bytes that a tenant stores.
    pub stored_bytes: u64,
    /// Inputs of a job.
    pub inputs: usize,
    /// Jobs of a tenant that have not ended.
    pub live_jobs: u64,
    /// Core-seconds of a tenant in a day.
    pub core_seconds_a_day: f64,
    /// Seconds of work that wait at most. While more waits, jobs are refused with 503.
    pub queue_seconds: f64,
    /// Seconds of planning.
    pub planning_seconds: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Uploads at a time.
    pub uploads: usize,
    /// Bytes of prepared keys in memory; without it, a quarter of the memory that is free. Keys in use are never removed.
    pub key_memory_bytes: Option<u64>,
    /// Bytes of memory of one job: a third for its inputs, and the rest for its run; without it, three sixteenths of the memory that is free at the start. Two
    /// jobs are checked and planned while another one runs, and each of them may take this much.
    pub job_memory_bytes: Option<u64>,
    /// Bytes of the disk that stay free. While fewer are free, uploads are refused with 507.
    pub disk_reserve_bytes: u64,
    /// Days that results are kept, unless the job says otherwise.
    pub result_days: u32,
    /// The most days for which a job may ask.
    pub most_result_days: u32,
    /// Days that keys and ciphertexts without use are kept.
    pub unused_key_days: u32,
    /// As for keys, for ciphertexts.
    pub unused_blob_days: u32,
    /// Hours that the bytes of an upload are kept after the last of them came.
    pub upload_hours: u32,
    /// Seconds that a worker may be silent before another one continues its job.
    pub lease_seconds: u32,
    /// Times that a job may end the process, or fail for want of memory or disk, before it fails.
    pub attempts: u32,
    /// The fraction of the jobs that run twice, so that their results can be compared.
    pub verify_fraction: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 1 << 20,
            program_bytes: 16 << 20,
            blob_bytes: 64 << 30,
            key_bytes: 4 << 30,
            tfhe_key_bytes: 64 << 20,
            stored_bytes: 1 << 40,
            inputs: 4096,
            live_jobs: 1000,
            core_seconds_a_day: 1e9,
            queue_seconds: 600.0,
            planning_seconds: 10,
            connections: 4096,
            uploads: 64,
            key_memory_bytes: None,
            job_memory_bytes: None,
            disk_reserve_bytes: 1 << 30,
            result_days: 7,
            most_result_days: 90,
            unused_key_days: 90,
            unused_blob_days: 7,
            upload_hours: 24,
            lease_seconds: 30,
            attempts: 5,
            verify_fraction: 0.0,
        }
    }
}

impl Limits {
    /// Finds a limit that is out of its range.
    fn check(&self) -> Result<(), String> {
        if !(1..=1 << 20).contains(&self.connections) {
            return Err("connections is a number from 1 to 1048576".into());
        }
        if !(1..=1 << 16).contains(&self.uploads) {
            return Err("uploads is a number from 1 to 65536".into());
        }
        if !(1..=3600).contains(&self.lease_seconds) {
            return Err("lease_seconds is a number from 1 to 3600".into());
        }
        if !(0.0..=1.0).contains(&self.verify_fraction) {
            return Err("verify_fraction is a number from 0 to 1".into());
        }
        for (name, value) in [("queue_seconds", self.queue_seconds), ("core_seconds_a_day", self.core_seconds_a_day)] {
            if !value.is_finite() || value < 0.0 {
                return Err(format!("{name} is a number from 0 on"));
            }
        }
        Ok(())
    }

    /// Bytes of prepared keys in memory.
    pub(crate) fn key_memory(&self) -> u64 {
        self.key_memory_bytes.unwrap_or_else(default_key_memory)
    }
}

/// Bytes of prepared keys in memory, without a setting: a quarter of what is free.
pub(crate) fn default_key_memory() -> u64 {
    // The budget is three quarters of the free memory.
    solinas_engine::memory_budget().map_or(1 << 30, |budget| budget / 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Scope;

    fn read(text: &str) -> Result<Config, Error> {
        let mut config = Config::new("store".into());
        config.read(text).map(|()| config)
    }

    #[test]
    fn sections_beside_limits_have_defaults() {
        let config = read(
            "inputs = 5\n[oidc]\nissuer = 'https://issuer.example'\naudience = 'a'\n\
             [mutual_tls]\nclient_ca = 'ca.pem'\nclients.'a.test'.tenant = 'lab'",
        )
        .unwrap();
        assert_eq!((config.limits.inputs, config.limits.attempts), (5, 5));
        let (oidc, mutual_tls) = (config.oidc.unwrap(), config.mutual_tls.unwrap());
        assert_eq!((oidc.tenant_claim.as_str(), oidc.scopes_claim), ("tenant", None));
        assert_eq!(oidc.scopes, [Scope::Read, Scope::Jobs, Scope::Keys]);
        assert_eq!((&mutual_tls.clients["a.test"].scopes, mutual_tls.clients.len()), (&oidc.scopes, 1));
        let empty = read("").unwrap();
        assert!(empty.oidc.is_none() && empty.mutual_tls.is_none() && empty.limits == Limits::default());
    }

    #[test]
    fn mistakes_in_sections_have_a_place_and_a_reason() {
        let error =
            read("inputs = 5\n[oidc]\nissuer = 'https://issuer.example'\naudience = 'a'\ncolour = 1").unwrap_err();
        assert!(error.span().is_some_and(|span| span.start > 50) && error.message().contains("colour"), "{error}");
        let oidc = |line: &str| format!("[oidc]\nissuer = 'https://issuer.example'\naudience = 'a'\n{line}");
        let client = |name: &str, tenant: &str| {
            format!("[mutual_tls]\nclient_ca = 'ca.pem'\nclients.'{name}'.tenant = '{tenant}'")
        };
        for (text, part) in [
            ("inputs = 5\ncolour = 1".to_owned(), "colour"),
            ("verify_fraction = 1.5".into(), "from 0 to 1"),
            ("verify_fraction = nan".into(), "from 0 to 1"),
            ("[oidc]\naudience = 'a'".into(), "issuer"),
            ("[oidc]\nissuer = 'http://issuer.example'\naudience = 'a'".into(), "https://"),
            ("[oidc]\nissuer = 'https://issuer.example'\naudience = ''".into(), "not empty"),
            (oidc("scopes = ['read', 'admin']"), "admin"),
            (oidc("scopes = ['work']"), "tokens of workers"),
            (oidc("scopes = ['write']"), "write"),
            ("[mutual_tls]".into(), "client_ca"),
            (client("*.test", "lab"), "DNS name"),
            (client("A.test", "lab"), "lower case"),
            (client("a.test", "../lab"), "the name of a tenant"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.message().contains(part), "{text}: {error}");
        }
    }
}
