//! Writes a private key and its public key to two files: both or neither.

use crate::error::{Error, Result, input};
use crate::files::remove_leftovers;
use solinas_formats::{NewFile, containing_folder, remove_file};
use std::io;
use std::path::{Path, PathBuf};

/// A key that is stored under a temporary name, beside its destination.
struct Stored {
    /// The destination.
    path: PathBuf,
    new: NewFile,
    /// A copy of the existing file at the destination.
    old: Option<NewFile>,
}

impl Stored {
    fn new(path: &Path, bytes: &[u8], secret: bool, replace: bool) -> io::Result<Self> {
        remove_leftovers(containing_folder(path));
        let new = NewFile::with_bytes(path, bytes, secret, replace)?;
        let path = new.path().to_path_buf();
        let old = match std::fs::read(&path).map(zeroize::Zeroizing::new) {
            Ok(old) => Some(NewFile::with_bytes(&path, &old, secret, true)?),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        Ok(Self { path, new, old })
    }
}

/// Restores the old file at a path, or removes the file if there was none.
fn restore(path: &Path, old: Option<NewFile>) -> io::Result<()> {
    match old {
        Some(old) => old.persist().map(drop),
        None => remove_file(path),
    }
}

/// Writes both keys, or leaves both files unchanged. The private key replaces a file only with `force`.
///
/// The old public key is removed first, and the new one is placed last. If the process is killed at any point, an existing public key thus belongs to the
/// private key.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(private: (&Path, &[u8]), public: (&Path, &[u8]), force: bool) -> Result<()> {
    write_with(private, public, force, &|_| Ok(()))
}

/// As [`write()`]. Before each step it calls `before` with the name of the step; an error of `before` counts as a failure of the step.
fn write_with(
    (private_path, private): (&Path, &[u8]),
    (public_path, public): (&Path, &[u8]),
    force: bool,
    before: &dyn Fn(&'static str) -> io::Result<()>,
) -> Result<()> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |e: io::Error| Error::io("write", &path, e)
    };
    let private = before("store private").and_then(|()| Stored::new(private_path, private, true, force));
    let private = private.map_err(failed(private_path))?;
    let public = before("store public").and_then(|()| Stored::new(public_path, public, false, true));
    let public = public.map_err(failed(public_path))?;

    let removed = before("remove public").and_then(|()| match &public.old {
        Some(_) => remove_file(&public.path),
        None => Ok(()),
    });
    removed.map_err(failed(public_path))?;

    let placed = before("place private").and_then(|()| private.new.persist().map(drop));
    if let Err(error) = placed {
        // The first error is reported.
        let _ = public.old.map(|old| restore(&public.path, Some(old)));
        if error.kind() == io::ErrorKind::AlreadyExists {
            let what = format!("{} already exists", private_path.display());
            return Err(input(what, "write to another file, or --force to replace it"));
        }
        return Err(failed(private_path)(error));
    }

    let placed = before("place public").and_then(|()| public.new.persist().map(drop));
    placed.map_err(|error| {
        let _ = restore(&private.path, private.old);
        let _ = public.old.map(|old| restore(&public.path, Some(old)));
        failed(public_path)(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const STEPS: [&str; 5] = ["store private", "store public", "remove public", "place private", "place public"];

    fn files(folder: &Path) -> BTreeMap<String, String> {
        let name = |entry: &std::fs::DirEntry| entry.file_name().into_string().unwrap();
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (name(&entry), std::fs::read_to_string(entry.path()).unwrap())).collect()
    }

    fn pair(generation: &str) -> BTreeMap<String, String> {
        ["private", "public"].map(|name| (name.to_owned(), format!("{name} {generation}"))).into()
    }

    /// Writes the pair `new` over the existing files, with `before` at each step.
    fn replace(folder: &Path, force: bool, before: &dyn Fn(&'static str) -> io::Result<()>) -> Result<()> {
        let (private, public) = (folder.join("private"), folder.join("public"));
        write_with((&private, b"private new"), (&public, b"public new"), force, before)
    }

    fn with_old_pair() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        pair("old").iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn a_failure_at_any_step_changes_nothing() {
        for failing in STEPS {
            let fail = |step| if step == failing { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) };
            let folder = with_old_pair();
            assert!(replace(folder.path(), true, &fail).is_err());
            assert_eq!(files(folder.path()), pair("old"), "{failing}");
            let folder = tempfile::tempdir().unwrap();
            assert!(replace(folder.path(), false, &fail).is_err());
            assert!(files(folder.path()).is_empty(), "{failing}");
        }
    }

    /// A panic ends the work as a kill does, except that it removes the temporary files.
    #[test]
    fn a_kill_at_any_step_leaves_no_public_key_of_another_private_key() {
        for fatal in STEPS {
            let kill = |step| if step == fatal { panic!("killed before: {step}") } else { Ok(()) };
            let folder = with_old_pair();
            assert!(catch_unwind(AssertUnwindSafe(|| replace(folder.path(), true, &kill))).is_err());
            let (mut left, generations) = (files(folder.path()), [pair("old"), pair("new")]);
            assert!(left.contains_key("private"), "{fatal}: {left:?}");
            let whole = left.len() == 2;
            left.entry("public".to_owned()).or_insert_with(|| "public".to_owned());
            let matches = |pair: &BTreeMap<String, String>| {
                pair["private"] == left["private"] && (!whole || pair["public"] == left["public"])
            };
            assert!(generations.iter().any(matches), "{fatal}: {left:?}");
        }
    }

    #[test]
    fn both_are_written_and_a_private_key_is_replaced_by_force_alone() {
        let folder = tempfile::tempdir().unwrap();
        replace(folder.path(), false, &|_| Ok(())).unwrap();
        assert_eq!(files(folder.path()), pair("new"));
        let folder = with_old_pair();
        assert!(replace(folder.path(), false, &|_| Ok(())).unwrap_err().to_string().contains("already exists"));
        assert_eq!(files(folder.path()), pair("old"));
        replace(folder.path(), true, &|_| Ok(())).unwrap();
        assert_eq!(files(folder.path()), pair("new"));
    }
}
