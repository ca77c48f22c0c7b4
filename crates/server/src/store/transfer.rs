//! The records of a store from SQLite to PostgreSQL, and the other way for a backup.

use super::db::Db;
use super::postgres::Postgres;
use super::value::Value;
use super::{DATABASE, Store, lock_folder, schema, sync_folder};
use crate::database::Database;
use crate::error::Error;
use serde::Serialize;
use std::path::Path;

/// Rows that are written by one statement.
const ROWS: usize = 100;

/// The records that were moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Tables.
    pub tables: u64,
    /// Rows of all of them.
    pub rows: u64,
}

/// Tables and their columns, in an order in which no row refers to a later table.
fn tables(sqlite: &Db) -> Result<Vec<(String, Vec<String>)>, Error> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'schema' ORDER BY rowid";
    let names: Vec<String> = sqlite.query(sql, (), |row| row.get(0))?;
    let sql = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
    names.into_iter().map(|name| Ok((name.clone(), sqlite.query(sql, [name], |row| row.get(0))?))).collect()
}

/// Copies all rows to a database with the same tables, which are empty. One of the two is of SQLite. The caller has transactions of both.
fn copy(from: &Db, to: &Db) -> Result<Moved, Error> {
    let mut moved = Moved::default();
    for (table, columns) in tables(if matches!(from, Db::Sqlite(_)) { from } else { to })? {
        let (width, list) = (columns.len(), columns.join(", "));
        let mut values: Vec<Value> = Vec::new();
        let write = |values: &mut Vec<Value>| -> Result<(), Error> {
            let row = |row: usize| {
                let signs: Vec<_> = (1..=width).map(|column| format!("?{}", row * width + column)).collect();
                format!("({})", signs.join(", "))
            };
            let rows: Vec<_> = (0..values.len() / width).map(row).collect();
            if !rows.is_empty() {
                let sql = format!("INSERT INTO {table} ({list}) VALUES {}", rows.join(", "));
                to.execute(&sql, std::mem::take(values))?;
            }
            Ok(())
        };
        from.each(&format!("SELECT {list} FROM {table}"), (), |row| {
            for column in 0..width {
                values.push(row.value(column)?);
            }
            if values.len() == ROWS * width { write(&mut values) } else { Ok(()) }
        })?;
        write(&mut values)?;
        let count = |db: &Db| db.query_row(&format!("SELECT COUNT(*) FROM {table}"), (), |row| row.get::<i64>(0));
        let (had, has) = (count(from)?, count(to)?);
        if had != has {
            let what = format!("the table {table} has {had} rows, and {has} of them were copied");
            return Err(Error::Damaged { what, help: "nothing was changed; run `solinas admin check`" });
        }
        moved.tables += 1;
        moved.rows += has.unsigned_abs();
    }
    Ok(moved)
}

impl Store {
    /// Moves the records of a store from SQLite to an empty database of PostgreSQL. The files stay in the folder. The database of SQLite stays too, as
    /// `solinas.db.moved`, and nothing reads it any more.
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::InUse`] while a service runs; [`Error::Setting`] if the store is in PostgreSQL already, or if the database has the
    /// records of a store; from both databases. The store stays as it was then.
    pub fn move_to(folder: &Path, to: &Database) -> Result<Moved, Error> {
        if !Self::exists(folder) {
            return Err(Error::NoStore(folder.to_path_buf()));
        }
        let lock = lock_folder(folder, Error::InUse)?;
        if let Some(now) = Database::of(folder)? {
            let what = format!("the records of the store {} are in {now} already", folder.display());
            return Err(Error::Setting {
                what,
                help: "`solinas admin backup` and `restore` bring them back to SQLite",
            });
        }
        let store = Self::at(folder, Some(lock))?;
        let new = Db::Postgres(Postgres::connect(to, true)?);
        if schema::is_used(&new)? {
            return Err(to.is_taken());
        }
        let db = store.db();
        // It keeps the commands of the operator from writing.
        let old = db.transaction()?;
        let into = new.transaction()?;
        schema::create_within(&into)?;
        let moved = copy(&old, &into)?;
        into.commit()?;
        to.keep(folder)?;
        drop(old);
        drop(db);
        drop(store);
        let file = folder.join(DATABASE);
        std::fs::rename(&file, file.with_extension("db.moved")).map_err(Error::io("rename", &file))?;
        sync_folder(folder)?;
        Ok(moved)
    }

    /// Writes the records of one moment to a new file of SQLite.
    pub(super) fn snapshot(&self, file: &Path) -> Result<(), Error> {
        let db = self.db();
        if let Db::Sqlite(_) = &*db {
            return db.execute("VACUUM INTO ?1", [file.to_str()]).map(drop);
        }
        let new = Db::sqlite(file)?;
        schema::create(&new)?;
        let from = db.snapshot()?;
        let into = new.transaction()?;
        copy(&from, &into)?;
        into.commit()
    }
}
