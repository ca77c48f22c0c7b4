//! A session of PostgreSQL. It connects again at the next call after it was cut.
//!
//! No statement is repeated. If the session is cut in the middle of a statement, the caller gets [`Error::Away`], and the statement may have been carried
//! out or not. A service holds a lock of its session. A cut session whose statement still runs holds it too, so nothing of it happens after the next
//! session has begun.

use super::value::Value;
use crate::database::{self, Database};
use crate::error::Error;
use futures_util::TryStreamExt;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long a service waits for an answer. A request must not wait for a database that hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a command of the operator waits for an answer.
const LONG_PATIENCE: Duration = Duration::from_secs(3600);
/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// After a connection failed, calls fail at once for this time.
const REST: Duration = Duration::from_secs(1);
/// How long a start waits for the session of a service that was killed to end.
const TAKEOVER: Duration = Duration::from_secs(5);
/// The lock of the service that uses the database. The number says nothing.
const LOCK: i64 = 8_317_138_616_412_599_666;

/// What every session sets. A machine that is gone loses its session, and with it the lock, after half a minute.
const SETTINGS: &str = "SET synchronous_commit = on; SET lock_timeout = '8s'; SET client_min_messages = warning; \
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; \
    SET idle_in_transaction_session_timeout = 0; SET default_transaction_isolation = 'read committed'";

/// A session, or the means to make one.
pub(super) struct Postgres {
    database: Database,
    tls: MakeRustlsConnect,
    /// Only empty in the end.
    runtime: Option<Runtime>,
    client: RefCell<Option<Arc<Client>>>,
    /// Statements of the session by their texts.
    statements: RefCell<HashMap<String, Statement>>,
    /// When a connection last failed, and why.
    failed: RefCell<Option<(Instant, String)>>,
    in_transaction: Cell<bool>,
    /// Whether the session holds the lock of a service.
    serves: bool,
    patience: Cell<Duration>,
    /// Makes the statement that comes first in each later session.
    when_back: RefCell<Option<Box<dyn Fn() -> String + Send>>>,
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It may be dropped where nothing may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The error of a call.
pub(super) fn failed(error: tokio_postgres::Error) -> Error {
    let Some(refused) = error.as_db_error() else {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        return match error.is_closed() {
            true => Error::Away(error.to_string()),
            false => Error::Postgres { message: format!("{error}{cause}"), is_full: false },
        };
    };
    let message = format!("{} (SQLSTATE {})", refused.message(), refused.code().code());
    // Shut down, cut off, no connection left, a standby, or a lock that another session holds.
    let passes = ["57P", "08", "53300", "25006", "55P03", "40"];
    match passes.iter().any(|class| refused.code().code().starts_with(class)) {
        true => Error::Away(message),
        false => Error::Postgres { message, is_full: *refused.code() == SqlState::DISK_FULL },
    }
}

impl Postgres {
    /// Connects. With `serves`, it takes the lock of a service first.
    pub(super) fn connect(database: &Database, serves: bool) -> Result<Box<Self>, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("solinas-sql")
            .enable_all()
            .build()
            .map_err(|error| Error::System(format!("a thread cannot be started: {error}")))?;
        let new = Box::new(Self {
            database: database.clone(),
            tls: MakeRustlsConnect::new(database::tls(database.is_encrypted())?),
            runtime: Some(runtime),
            client: RefCell::default(),
            statements: RefCell::default(),
            failed: RefCell::default(),
            in_transaction: Cell::new(false),
            serves,
            patience: Cell::new(LONG_PATIENCE),
            when_back: RefCell::default(),
        });
        let client = new.dial()?;
        let end = Instant::now() + TAKEOVER;
        while serves && !new.lock(&client)? {
            if Instant::now() > end {
                return Err(Error::Setting {
                    what: format!("another process serves the store in {database}"),
                    help: "stop it, or use another database",
                });
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        *new.client.borrow_mut() = Some(client);
        Ok(new)
    }

    /// Waits only for a short time from now on.
    pub(super) fn hurry(&self) {
        self.patience.set(PATIENCE);
    }

    /// Runs a statement before all others in each session that follows the present one.
    pub(super) fn when_back(&self, statement: impl Fn() -> String + Send + 'static) {
        *self.when_back.borrow_mut() = Some(Box::new(statement));
    }

    /// Waits for a call.
    fn wait<T>(
        &self,
        patience: Duration,
        call: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        let Some(runtime) = &self.runtime else { return Err(Error::Away("it was closed".into())) };
        let late = || Error::Away(format!("PostgreSQL did not answer within {} seconds", patience.as_secs()));
        let answer = runtime.block_on(async { tokio::time::timeout(patience, call).await });
        let answer = answer.map_err(|_| late()).and_then(|answer| answer.map_err(failed));
        if let Err(Error::Away(_)) = answer {
            // A statement that still runs holds its transaction, and a lock of a service, until it ends.
            self.client.take();
            self.statements.take();
        }
        answer
    }

    fn dial(&self) -> Result<Arc<Client>, Error> {
        let client = self.wait(CONNECTING, async {
            let (client, connection) = self.database.config().connect(self.tls.clone()).await?;
            tokio::spawn(connection);
            Ok(client)
        });
        let client = client.map_err(|error| match error {
            // A wrong password, for example, can be corrected while the service runs.
            Error::Postgres { message, .. } | Error::Away(message) => {
                Error::Away(format!("{}: {message}", self.database))
            }
            other => other,
        })?;
        self.wait(CONNECTING, client.batch_execute(SETTINGS))?;
        Ok(Arc::new(client))
    }

    /// Takes the lock of a service. Returns false if another session has it.
    fn lock(&self, client: &Client) -> Result<bool, Error> {
        let row = self.wait(CONNECTING, client.query_one("SELECT pg_try_advisory_lock($1)", &[&LOCK]))?;
        row.try_get(0).map_err(failed)
    }

    /// The session. Connects if there is none.
    fn client(&self) -> Result<Arc<Client>, Error> {
        if let Some(client) = self.client.borrow().as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        if self.in_transaction.get() {
            return Err(Error::Away("the connection was cut in the middle of a transaction".into()));
        }
        if let Some((at, why)) = self.failed.borrow().as_ref()
            && at.elapsed() < REST
        {
            return Err(Error::Away(why.clone()));
        }
        self.statements.take();
        let dialled = self.dial().and_then(|client| match !self.serves || self.lock(&client)? {
            true => {
                let first = self.when_back.borrow().as_ref().map(|statement| statement());
                first.map_or(Ok(()), |first| self.wait(self.patience.get(), client.batch_execute(&first)))?;
                Ok(client)
            }
            false => Err(Error::Away("another session of a service uses the database".into())),
        });
        match dialled {
            Ok(client) => {
                *self.client.borrow_mut() = Some(Arc::clone(&client));
                self.failed.take();
                tracing::warn!(database = %self.database, "connected again");
                Ok(client)
            }
            Err(error) => {
                if self.failed.borrow().is_none() {
                    tracing::error!(%error, "the database is away");
                }
                let why = if let Error::Away(why) = &error { why.clone() } else { error.to_string() };
                *self.failed.borrow_mut() = Some((Instant::now(), why));
                Err(error)
            }
        }
    }

    fn statement(&self, sql: &str) -> Result<(Arc<Client>, Statement), Error> {
        let client = self.client()?;
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok((client, known.clone()));
        }
        let statement = self.wait(self.patience.get(), client.prepare(&sql.replace('?', "$")))?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok((client, statement))
    }

    /// As [`super::db::Db::execute`].
    pub(super) fn execute(&self, sql: &str, params: &[Value]) -> Result<usize, Error> {
        let (client, statement) = self.statement(sql)?;
        let changed = self.wait(self.patience.get(), client.execute_raw(&statement, params))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// As [`super::db::Db::each`].
    pub(super) fn each(
        &self,
        sql: &str,
        params: &[Value],
        mut with: impl FnMut(&tokio_postgres::Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (client, statement) = self.statement(sql)?;
        let rows = self.wait(self.patience.get(), client.query_raw(&statement, params))?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = self.wait(self.patience.get(), rows.try_next())? {
            with(&row)?;
        }
        Ok(())
    }

    /// As [`super::db::Db::batch`].
    pub(super) fn batch(&self, sql: &str) -> Result<(), Error> {
        let client = self.client()?;
        self.wait(self.patience.get(), client.batch_execute(sql))
    }

    /// Begins a transaction.
    pub(super) fn begin(&self, sql: &str) -> Result<(), Error> {
        self.batch(sql)?;
        self.in_transaction.set(true);
        Ok(())
    }

    /// Ends the transaction.
    pub(super) fn end(&self, sql: &str) -> Result<(), Error> {
        let ended = self.batch(sql);
        self.in_transaction.set(false);
        ended
    }
}
