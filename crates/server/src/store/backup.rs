//! Backups: a tar archive of the blobs and of the database that names them, in this order. A service may run meanwhile.

use super::blobs::{digest, of_relative, relative};
use super::db::Db;
use super::{DATABASE, Store, make_private};
use crate::error::Error;
use crate::id::{Digest, Tenant};
use rusqlite::Connection;
use serde::Serialize;
use solinas_formats::{NewFile, TemporaryFolder, containing_folder};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use tar::{Archive, Builder, EntryType, Header};

/// Bytes that are copied at a time.
const COPIED: usize = 1 << 20;

/// What a backup has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The number of blobs.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What is wrong with the blobs of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// What was read.
    #[serde(flatten)]
    pub contents: Contents,
    /// Blobs of the database without a file, each as `TENANT DIGEST`.
    pub missing: Vec<String>,
    /// Blobs whose file has other bytes.
    pub damaged: Vec<String>,
}

/// The blob of a tenant.
type Name = (Tenant, Digest);

/// All blobs that a database names.
fn named(db: &Db) -> Result<BTreeSet<Name>, Error> {
    let mut names = BTreeSet::new();
    db.each("SELECT tenant, digest FROM blob", (), |row| {
        names.insert((Tenant::new(&row.get::<String>(0)?)?, digest(row, 1)?));
        Ok(())
    })?;
    Ok(names)
}

/// When a blob was stored.
fn created(db: &Db, (tenant, digest): &Name) -> Result<i64, Error> {
    let sql = "SELECT created FROM blob WHERE tenant = ?1 AND digest = ?2";
    db.query_row(sql, (tenant.as_str(), digest.as_str()), |row| row.get(0))
}

fn contents(db: &Db) -> Result<Contents, Error> {
    db.query_row("SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM blob", (), |row| {
        Ok(Contents { blobs: row.get::<i64>(0)?.unsigned_abs(), bytes: row.get::<i64>(1)?.unsigned_abs() })
    })
}

/// The digest of a stream, which `write` takes.
fn copy(mut from: impl Read, mut write: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<(Digest, u64)> {
    let (mut hash, mut buffer, mut bytes) = (blake3::Hasher::new(), vec![0; COPIED], 0);
    loop {
        let piece = match from.read(&mut buffer) {
            Ok(0) => return Ok((Digest::of(&hash.finalize()), bytes)),
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(piece);
        write(piece)?;
        bytes += piece.len() as u64;
    }
}

fn append(archive: &mut Builder<&mut NewFile>, name: &str, file: &mut File) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(file.metadata()?.len());
    archive.append_data(&mut header, name, file)
}

impl Store {
    /// Writes a backup to a new file. It has a state of the database of one moment, and every blob that this state names.
    ///
    /// # Errors
    /// [`Error::Io`], also if the file exists; [`Error::Damaged`] if a blob is missing; from the database.
    pub fn backup(&self, file: &Path) -> Result<Contents, Error> {
        let failed = || Error::io("write", file);
        if file.exists() {
            return Err(failed()(io::ErrorKind::AlreadyExists.into()));
        }
        let mut new = NewFile::create(file, true, false).map_err(failed())?;
        let mut archive = Builder::new(&mut new);
        let (mut held, mut absent) = (BTreeSet::new(), BTreeSet::new());
        // The service may remove blobs between the copy of the database and those of the blobs. A later state does not name these any more. Blobs never
        // change, so the ones in the archive stay right.
        let contents = loop {
            let folder = TemporaryFolder::create_in(containing_folder(file)).map_err(failed())?;
            let path = folder.path().join(DATABASE);
            self.snapshot(&path)?;
            let snapshot = Db::of(Connection::open(&path)?);
            let (wanted, contents) = (named(&snapshot)?, contents(&snapshot)?);
            let mut gone = BTreeSet::new();
            for name in &wanted {
                if held.contains(name) {
                    continue;
                }
                let (tenant, digest) = name;
                let blob = self.path(tenant, digest);
                match File::open(&blob) {
                    Ok(mut blob) => {
                        append(&mut archive, &relative(tenant, digest), &mut blob).map_err(failed())?;
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        gone.insert((name.clone(), created(&snapshot, name)?));
                        continue;
                    }
                    Err(error) => return Err(Error::io("read", &blob)(error)),
                }
                held.insert(name.clone());
            }
            drop(snapshot);
            // A blob that came and went once more has another time.
            if let Some(((tenant, digest), _)) = gone.intersection(&absent).next() {
                let what = format!("the blob {digest} of tenant {tenant} is missing");
                return Err(Error::Damaged { what, help: "`solinas admin check` names everything that is missing" });
            }
            if gone.is_empty() {
                let mut database = File::open(&path).map_err(Error::io("read", &path))?;
                append(&mut archive, DATABASE, &mut database).map_err(failed())?;
                break contents;
            }
            absent = gone;
        };
        archive.finish().map_err(failed())?;
        drop(archive);
        new.persist().map_err(failed())?;
        Ok(contents)
    }

    /// Makes a store of a backup, in a folder that is empty or missing. Blobs are compared with their digests.
    ///
    /// # Errors
    /// [`Error::NotEmpty`]; [`Error::Damaged`]; [`Error::OtherStore`]; [`Error::Io`]. Nothing stays in the folder then.
    pub fn restore(file: &Path, folder: &Path) -> Result<Contents, Error> {
        make_private(folder)?;
        if std::fs::read_dir(folder).map_err(Error::io("read", folder))?.next().is_some() {
            return Err(Error::NotEmpty(folder.to_path_buf()));
        }
        let restored = Self::unpack(file, folder);
        if restored.is_err() {
            for entry in std::fs::read_dir(folder).map_err(Error::io("read", folder))?.flatten() {
                let path = entry.path();
                let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
                removed.map_err(Error::io("remove", &path))?;
            }
        }
        restored
    }

    fn unpack(file: &Path, folder: &Path) -> Result<Contents, Error> {
        let no_backup = |what: String| Error::Damaged { what, help: "give a file that `solinas admin backup` wrote" };
        let failed = || Error::io("read", file);
        let mut archive = Archive::new(File::open(file).map_err(failed())?);
        let (mut held, mut has_database) = (BTreeSet::new(), false);
        for entry in archive.entries().map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let blob = of_relative(&name);
            if blob.is_none() && name != DATABASE {
                return Err(no_backup(format!("the backup has the unknown file {name:?}")));
            }
            let path = folder.join(name);
            make_private(containing_folder(&path))?;
            let mut new = NewFile::create(&path, true, false).map_err(Error::io("write", &path))?;
            let (digest, _) = copy(entry, |piece| new.write_all(piece)).map_err(Error::io("write", &path))?;
            new.persist().map_err(Error::io("write", &path))?;
            match blob {
                Some((tenant, wanted)) if wanted == digest => drop(held.insert((tenant, wanted))),
                Some((_, wanted)) => return Err(no_backup(format!("the blob {wanted} of the backup is damaged"))),
                None => has_database = true,
            }
        }
        if !has_database {
            return Err(no_backup("the backup has no database, or is cut off".into()));
        }
        let store = Self::open(folder)?;
        let db = store.db();
        let (wanted, contents) = (named(&db)?, contents(&db)?);
        drop(db);
        if let Some((_, digest)) = wanted.difference(&held).next() {
            return Err(no_backup(format!("the backup lacks the blob {digest}")));
        }
        // Blobs that were removed while the backup was written.
        for (tenant, digest) in held.difference(&wanted) {
            store.remove_file(tenant, digest);
        }
        Ok(contents)
    }

    /// Reads all blobs, and compares them with their digests. A service may run meanwhile.
    ///
    /// # Errors
    /// From the database and the disk.
    pub fn check(&self) -> Result<Checked, Error> {
        let mut checked = Checked::default();
        let all = named(&self.db())?;
        for (tenant, digest) in all {
            let path = self.path(&tenant, &digest);
            let name = format!("{tenant} {digest}");
            match File::open(&path).and_then(|file| copy(file, |_| Ok(()))) {
                Ok((found, bytes)) => {
                    checked.contents.blobs += 1;
                    checked.contents.bytes += bytes;
                    if found != digest {
                        checked.damaged.push(name);
                    }
                }
                // The service may have removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if named(&self.db())?.contains(&(tenant, digest)) {
                        checked.missing.push(name);
                    }
                }
                Err(error) => return Err(Error::io("read", &path)(error)),
            }
        }
        Ok(checked)
    }
}
