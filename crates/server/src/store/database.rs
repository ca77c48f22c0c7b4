//! Where the records of a store are: in a file of SQLite in its folder, or in a database of PostgreSQL, which the file `database` of the folder names.

use crate::error::Error;
use rustls::{ClientConfig, RootCertStore};
use solinas_formats::NewFile;
use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The file with the address.
pub(super) const ADDRESS: &str = "database";
/// Where PostgreSQL listens without a network.
const SOCKETS: &str = "/var/run/postgresql";

/// The address of a database of PostgreSQL. What is printed of it has no password.
#[derive(Clone)]
pub struct Database {
    text: String,
    config: Config,
}

impl FromStr for Database {
    type Err = Error;

    /// Reads an address such as `postgres://USER:PASSWORD@HOST/DATABASE`. The database on this machine is `postgres:///DATABASE`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        // The cause may have parts of a password.
        let is_address = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        let config = text.parse().ok().filter(|config: &Config| is_address && config.get_dbname().is_some());
        let Some(mut config) = config else {
            return Err(Error::Setting {
                what: "the address of the database is malformed".into(),
                help: "write it as postgres://USER:PASSWORD@HOST/DATABASE, with %40 for @ and so on in the password",
            });
        };
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host(SOCKETS);
        }
        if config.get_application_name().is_none() {
            config.application_name("solinas");
        }
        config.keepalives_idle(std::time::Duration::from_secs(10));
        let mut database = Self { text: text.to_owned(), config };
        let is_local = database.is_local();
        let mode = match database.config.get_ssl_mode() {
            SslMode::Prefer if is_local => SslMode::Disable,
            // A network in between could take the encryption away.
            SslMode::Prefer => SslMode::Require,
            chosen => chosen,
        };
        database.config.ssl_mode(mode);
        Ok(database)
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts().join(", ");
        write!(f, "the database {} of PostgreSQL at {hosts}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Database {
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    fn hosts(&self) -> Vec<String> {
        let ports = self.config.get_ports();
        let host = |(at, host): (usize, &Host)| match host {
            Host::Tcp(name) => format!("{name}:{}", ports.get(at).or(ports.first()).copied().unwrap_or(5432)),
            #[cfg(unix)]
            Host::Unix(folder) => match ports.get(at).or(ports.first()) {
                Some(port) => format!("{}:{port}", folder.display()),
                None => folder.display().to_string(),
            },
        };
        let addresses = self.config.get_hostaddrs().iter().map(ToString::to_string);
        self.config.get_hosts().iter().enumerate().map(host).chain(addresses).collect()
    }

    /// Whether all hosts are this machine.
    fn is_local(&self) -> bool {
        let local = |host: &Host| match host {
            Host::Tcp(name) => {
                name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            #[cfg(unix)]
            Host::Unix(_) => true,
        };
        self.config.get_hosts().iter().all(local)
            && self.config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    /// Whether both are one database, perhaps with another user or password.
    fn is_same(&self, other: &Self) -> bool {
        (self.hosts(), self.config.get_dbname()) == (other.hosts(), other.config.get_dbname())
    }

    /// The database of a folder. None if its records are in the folder, or if it has none yet.
    pub(super) fn of(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(ADDRESS);
        match std::fs::read_to_string(&path) {
            Ok(text) => text.parse().map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// Names this database in a folder.
    pub(super) fn keep(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(ADDRESS);
        let failed = || Error::io("write", &path);
        let mut file = NewFile::create(&path, true, true).map_err(failed())?;
        writeln!(file, "{}", self.text).map_err(failed())?;
        file.persist().map_err(failed())?;
        Ok(())
    }

    /// The database for a service on a folder. `has_file` says that the folder has a database of SQLite, and `is_used` whether a database has a store.
    pub(super) fn choose(
        folder: &Path,
        wanted: Option<&Self>,
        has_file: bool,
        is_used: impl FnOnce(&Self) -> Result<bool, Error>,
    ) -> Result<Option<Self>, Error> {
        let (kept, place) = (Self::of(folder)?, folder.display());
        let Some(wanted) = wanted else { return Ok(kept) };
        match kept {
            Some(kept) if kept.is_same(wanted) => {}
            Some(kept) => {
                let what = format!("the records of the store {place} are in {kept}");
                return Err(Error::Setting { what, help: "name no other database for this store" });
            }
            None if has_file => {
                let what = format!("the records of the store {place} are in SQLite");
                return Err(Error::Setting { what, help: "`solinas admin move --to` brings them to PostgreSQL" });
            }
            None if is_used(wanted)? => return Err(wanted.is_taken()),
            None => {}
        }
        // A password may have changed.
        wanted.keep(folder)?;
        Ok(Some(wanted.clone()))
    }

    /// The error for a database with the records of another store.
    pub(super) fn is_taken(&self) -> Error {
        let help = "name an empty database, or the folder of that store";
        Error::Setting { what: format!("{self} has the records of a store already"), help }
    }
}

/// The settings of encrypted connections, with the authorities of this machine if there will be any.
pub(super) fn tls(is_encrypted: bool) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    if is_encrypted {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| Error::System(format!("no encrypted connections are possible: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
