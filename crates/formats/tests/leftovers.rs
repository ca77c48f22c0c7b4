//! Files that appear whole or not at all, and what killed processes leave of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;

use solinas_formats::{Kind, NewFile, NewPair, Overwrite, TemporaryFolder, Writer, clear_leftovers};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn key(path: &Path, kind: Kind, id: &[u8]) {
    let header = common::header(kind).key_id(solinas_formats::KeyId::hash_of(id));
    Writer::create(path, header, Overwrite::Always).unwrap().finish().unwrap();
}

/// Makes a folder as commands make it: only its owner can read it.
fn private_folder(path: &Path) {
    fs::DirBuilder::new().mode(0o700).create(path).unwrap();
}

#[test]
fn what_looks_like_a_half_placed_pair_and_is_not_ours_changes_no_key() {
    let dir = tempfile::tempdir().unwrap();
    key(&dir.path().join("server.key"), Kind::ServerKey, b"mine");
    let mine = fs::read(dir.path().join("server.key")).unwrap();
    // One that anyone may write to, and one whose client key is the server key that is there.
    let [open, forged] = ["open", "forged"].map(|name| dir.path().join(format!(".solinas-{name}.tmp")));
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    private_folder(&forged);
    key(&open.join("client.key"), Kind::ClientKey, b"mine");
    key(&forged.join("client.key"), Kind::ServerKey, b"mine");
    let moved = dir.path().with_extension("moved");
    fs::rename(dir.path(), &moved).unwrap();
    assert_eq!(clear_leftovers(&moved), [moved.join(".solinas-forged.tmp")]);
    fs::rename(&moved, dir.path()).unwrap();
    assert_eq!(fs::read(dir.path().join("server.key")).unwrap(), mine);
    assert!(open.exists());
}

#[test]
fn a_new_file_takes_its_own_mode_and_follows_no_planted_link() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("secret"), dir.path().join("other"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    fs::write(&other, "other").unwrap();
    // Where a writer of predictable temporary names would write.
    for name in [format!("secret.{}.partial", std::process::id()), ".secret.tmp".into()] {
        symlink(&other, dir.path().join(name)).unwrap();
    }
    let mut file = NewFile::create(&path, true, true).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.persist().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(&other).unwrap(), b"other");
    assert!(NewFile::create(&path, true, false).unwrap().persist().is_err(), "what is there is not replaced");
}

#[test]
fn what_ended_processes_left_is_removed_and_what_living_ones_write_stays() {
    let dir = tempfile::tempdir().unwrap();
    let living = NewFile::create(&dir.path().join("living"), true, false).unwrap();
    let living_folder = TemporaryFolder::create_in(dir.path()).unwrap();
    let live = names(dir.path());
    assert_eq!(live.len(), 2);
    // These are like the leftovers of killed processes, which hold no lock.
    fs::write(dir.path().join(".solinas-abcdef.tmp"), "secret").unwrap();
    private_folder(&dir.path().join(".solinas-ghijkl.tmp"));
    fs::write(dir.path().join(".solinas-ghijkl.tmp/client.key"), "secret").unwrap();
    // These belong to other programs: two files, and a link to a file.
    fs::write(dir.path().join("mine"), "mine").unwrap();
    fs::write(dir.path().join(".solinas-mine"), "mine").unwrap();
    symlink("mine", dir.path().join(".solinas-linked.tmp")).unwrap();
    // This process has looked through the folder, under its name: another name is another look.
    let other_name = dir.path().parent().unwrap().join(format!("{}-link", dir.path().file_name().unwrap().display()));
    assert_eq!(clear_leftovers(dir.path()), Vec::<std::path::PathBuf>::new(), "once is enough");
    fs::rename(dir.path(), &other_name).unwrap();
    let mut removed = clear_leftovers(&other_name);
    removed.sort();
    assert_eq!(removed, [".solinas-abcdef.tmp", ".solinas-ghijkl.tmp"].map(|name| other_name.join(name)));
    let mut left = live;
    left.extend([".solinas-linked.tmp", ".solinas-mine", "mine"].map(String::from));
    left.sort();
    assert_eq!(names(&other_name), left);
    fs::rename(&other_name, dir.path()).unwrap();
    drop((living, living_folder));
    assert_eq!(names(dir.path()), [".solinas-linked.tmp", ".solinas-mine", "mine"]);
}

/// A folder with a pair, or none, in the state after some steps of placing another; and what is to be there once the leftovers are gone.
#[test]
fn a_pair_that_was_half_in_its_place_is_taken_back() {
    let steps: [fn(&Path); 4] = [
        |_| {},
        |dir| drop(fs::rename(dir.join("server.key"), dir.join(".solinas-killed.tmp/old-server.key"))),
        |dir| fs::rename(dir.join(".solinas-killed.tmp/server.key"), dir.join("server.key")).unwrap(),
        |dir| fs::rename(dir.join(".solinas-killed.tmp/client.key"), dir.join("client.key")).unwrap(),
    ];
    for before in [true, false] {
        for done in 0..=steps.len() {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path();
            if before {
                key(&dir.join("client.key"), Kind::ClientKey, b"old");
                key(&dir.join("server.key"), Kind::ServerKey, b"old");
            }
            let old = [fs::read(dir.join("client.key")).ok(), fs::read(dir.join("server.key")).ok()];
            let new = dir.join(".solinas-killed.tmp");
            private_folder(&new);
            key(&new.join("client.key"), Kind::ClientKey, b"new");
            key(&new.join("server.key"), Kind::ServerKey, b"new");
            let whole = [fs::read(new.join("client.key")).ok(), fs::read(new.join("server.key")).ok()];
            steps[..done].iter().for_each(|step| step(dir));
            // The folder of the pair was cleared when the keys were written.
            let moved = dir.with_extension("moved");
            fs::rename(dir, &moved).unwrap();
            clear_leftovers(&moved);
            fs::rename(&moved, dir).unwrap();
            let found = [fs::read(dir.join("client.key")).ok(), fs::read(dir.join("server.key")).ok()];
            assert!(found == if done == steps.len() { whole } else { old }, "pair before: {before}, steps: {done}");
            assert_eq!(names(dir).len(), if before || done == steps.len() { 2 } else { 0 });
        }
    }
}

#[test]
fn a_pair_is_placed_whole_and_another_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let place = |id: &[u8], replace| {
        let pair = NewPair::create_in(dir.path()).unwrap();
        key(&pair.client(), Kind::ClientKey, id);
        key(&pair.server(), Kind::ServerKey, id);
        pair.place(replace)
    };
    place(b"first", false).unwrap();
    let first = fs::read(dir.path().join("server.key")).unwrap();
    assert!(place(b"second", false).unwrap_err().to_string().contains("already exists"));
    assert!(fs::read(dir.path().join("server.key")).unwrap() == first);
    place(b"second", true).unwrap();
    assert!(fs::read(dir.path().join("server.key")).unwrap() != first);
    assert_eq!(names(dir.path()), ["client.key", "server.key"]);
}
