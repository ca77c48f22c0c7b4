//! One way to run statements in SQLite and in PostgreSQL.
//!
//! Statements keep to the part of SQL that both have. Parameters are `?1`, `?2` and so on; PostgreSQL gets `$1` for `?1`. A sum of integers is cast,
//! because it has a type of its own in PostgreSQL.

use super::postgres::Postgres;
use super::value::{Column, Params, Value};
use crate::error::Error;
use rusqlite::Connection;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

/// Statements that SQLite keeps ready.
const READY: usize = 128;

/// A connection to a database.
pub(super) enum Db {
    Sqlite(Connection),
    Postgres(Box<Postgres>),
}

/// A row of a result.
pub(super) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The value in a column, from 0 on.
    pub(super) fn value(&self, column: usize) -> Result<Value, Error> {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
            Self::Postgres(row) => row.try_get(column).map_err(super::postgres::failed),
        }
    }

    /// The value in a column, as a type that the column has.
    pub(super) fn get<T: Column>(&self, column: usize) -> Result<T, Error> {
        T::of(self.value(column)?).ok_or_else(|| Error::Damaged {
            what: format!("a record of the store has an unknown value in column {column} of a result"),
            help: "restore a backup",
        })
    }
}

impl Db {
    /// Opens a file of SQLite, or makes it. What is committed is durable.
    pub(super) fn sqlite(file: &Path) -> Result<Self, Error> {
        let db = Connection::open(file)?;
        db.busy_timeout(Duration::from_secs(10))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        Ok(Self::of(db))
    }

    /// A database of SQLite with its settings as they are.
    pub(super) fn of(db: Connection) -> Self {
        db.set_prepared_statement_cache_capacity(READY);
        Self::Sqlite(db)
    }

    /// Runs a statement. Returns the number of rows that it changed.
    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize, Error> {
        let params = params.values();
        match self {
            Self::Sqlite(db) => Ok(db.prepare_cached(sql)?.execute(rusqlite::params_from_iter(params))?),
            Self::Postgres(db) => db.execute(sql, &params),
        }
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&self, sql: &str) -> Result<(), Error> {
        match self {
            Self::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Self::Postgres(db) => db.batch(sql),
        }
    }

    /// Calls a function with each row of a result.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut with: impl FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let params = params.values();
        match self {
            Self::Sqlite(db) => {
                let mut statement = db.prepare_cached(sql)?;
                let mut rows = statement.query(rusqlite::params_from_iter(params))?;
                while let Some(row) = rows.next()? {
                    with(&Row::Sqlite(row))?;
                }
                Ok(())
            }
            Self::Postgres(db) => db.each(sql, &params, |row| with(&Row::Postgres(row))),
        }
    }

    /// All rows of a result.
    pub(super) fn query<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        self.each(sql, params, |row| {
            rows.push(read(row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row of a result, if it has one.
    pub(super) fn query_opt<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        Ok(self.query(sql, params, read)?.into_iter().next())
    }

    /// The first row of a result that has one.
    pub(super) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let what = || "a record of the store is missing".to_owned();
        self.query_opt(sql, params, read)?.ok_or_else(|| Error::Damaged { what: what(), help: "restore a backup" })
    }

    /// Whether a result has rows.
    pub(super) fn exists(&self, sql: &str, params: impl Params) -> Result<bool, Error> {
        Ok(self.query_opt(sql, params, |_| Ok(()))?.is_some())
    }

    /// Begins a transaction that writes.
    pub(super) fn transaction(&self) -> Result<Transaction<'_>, Error> {
        match self {
            // The right to write is taken at the beginning, so that no transaction fails in its middle for another process.
            Self::Sqlite(db) => db.execute_batch("BEGIN IMMEDIATE")?,
            Self::Postgres(db) => db.begin("BEGIN")?,
        }
        Ok(Transaction { db: self, is_open: true })
    }

    /// Begins a transaction that reads a state of one moment.
    pub(super) fn snapshot(&self) -> Result<Transaction<'_>, Error> {
        match self {
            Self::Sqlite(db) => db.execute_batch("BEGIN")?,
            Self::Postgres(db) => db.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?,
        }
        Ok(Transaction { db: self, is_open: true })
    }
}

/// A transaction. Unless it is committed, nothing has changed.
pub(super) struct Transaction<'a> {
    db: &'a Db,
    is_open: bool,
}

impl Deref for Transaction<'_> {
    type Target = Db;

    fn deref(&self) -> &Db {
        self.db
    }
}

impl Transaction<'_> {
    /// Makes the changes durable. After an error of the connection, they may be durable or not.
    pub(super) fn commit(mut self) -> Result<(), Error> {
        let ended = match self.db {
            Db::Sqlite(db) => db.execute_batch("COMMIT").map_err(Error::from),
            Db::Postgres(db) => db.end("COMMIT"),
        };
        // In PostgreSQL a failed one has ended too, and a new connection for its end would keep others waiting.
        self.is_open = ended.is_err() && matches!(self.db, Db::Sqlite(_));
        ended
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let ended = match self.db {
                Db::Sqlite(db) => db.execute_batch("ROLLBACK").map_err(Error::from),
                Db::Postgres(db) => db.end("ROLLBACK"),
            };
            // A transaction that failed may have ended by itself.
            drop(ended);
        }
    }
}
