//! Files, folders, permissions, crashes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use solinas_formats::{Error, Expect, KeyId, Kind, NewFile, Overwrite, Reader, Result, Writer, inspect};

fn write(path: &Path, kind: Kind, overwrite: Overwrite) -> Result<()> {
    let mut writer = Writer::create(path, common::header(kind), overwrite)?;
    writer.section("data", &[1, 2, 3])?;
    writer.finish()
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn kinds_are_checked_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let (server, client) = (dir.path().join("server.key"), dir.path().join("client.key"));
    write(&server, Kind::ServerKey, Overwrite::default()).unwrap();
    write(&client, Kind::ClientKey, Overwrite::default()).unwrap();
    let message = Reader::open(&server, Expect::kind(Kind::ClientKey)).unwrap_err().to_string();
    assert!(message.ends_with("server.key is a server key, a client key is needed: pass client.key"), "{message}");
    let message = Reader::open(&client, Expect::kind(Kind::ServerKey)).unwrap_err().to_string();
    assert!(message.ends_with("client.key is a client key, a server key is needed: pass server.key"), "{message}");
    assert!(matches!(Reader::open(&client, Expect::any_public()), Err(Error::WrongKind { .. })));
    let either = Expect::any_of(&[Kind::Circuit, Kind::Program]);
    let message = Reader::open(&server, either).unwrap_err().to_string();
    assert!(message.contains("a circuit or program is needed"), "{message}");
    Reader::open(&server, Expect::any_public()).unwrap();
    Reader::open(&client, Expect::any()).unwrap();
}

#[test]
fn a_server_reads_no_more_of_a_secret_file_than_its_magic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    // Nothing but the magic is there: reading on would be another error.
    fs::write(&path, solinas_formats::SECRET_MAGIC).unwrap();
    assert!(matches!(Reader::open(&path, Expect::any_public()), Err(Error::WrongKind { .. })));
    assert!(matches!(Reader::open(&path, Expect::any()), Err(Error::Truncated { .. })));
}

#[test]
fn schemes_keys_and_fields_are_checked_with_advice() {
    let reader = Reader::from_bytes("x.ct", common::small(Kind::Ciphertext).unwrap(), Expect::any()).unwrap();
    reader.expect_scheme("tfhe").unwrap();
    let message = reader.expect_scheme("bgv").unwrap_err().to_string();
    assert!(message.contains("x.ct is of scheme tfhe, bgv is needed"), "{message}");
    reader.expect_key(KeyId::hash_of(b"a key pair"), "server.key").unwrap();
    let message = reader.expect_key(KeyId::hash_of(b"another"), "server.key").unwrap_err().to_string();
    assert!(message.contains("x.ct belongs to key") && message.contains("but server.key to key"), "{message}");
    assert_eq!(reader.meta::<u32>("width").unwrap(), 16);
    assert!(matches!(reader.meta::<String>("width"), Err(Error::Field { .. })));
    assert!(matches!(reader.meta::<u32>("height"), Err(Error::Field { .. })));
    assert!(matches!(reader.section("nothing"), Err(Error::MissingSection { .. })));
    assert!(matches!(reader.section_u64("data", 13), Err(Error::Section { .. })));
    assert!(matches!(reader.section_u64("data", usize::MAX), Err(Error::Section { .. })));
    assert_eq!(reader.section_u32("data", 25).unwrap()[1], 0x0706_0504);
    let key: KeyId = reader.key_id().unwrap().to_string().parse().unwrap();
    assert_eq!(key, KeyId::hash_of(b"a key pair"));
}

#[cfg(unix)]
#[test]
fn secret_files_are_0600_from_the_first_byte() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    let mut writer = Writer::create(&path, common::header(Kind::ClientKey), Overwrite::default()).unwrap();
    writer.section("large", &vec![1; 3 << 20]).unwrap();
    let [temporary] = names(dir.path()).try_into().unwrap();
    assert_eq!(mode(&dir.path().join(temporary)), 0o600);
    writer.finish().unwrap();
    assert_eq!(mode(&path), 0o600);
    assert!(!inspect(&path).unwrap().exposed);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(inspect(&path).unwrap().exposed);

    let path = dir.path().join("server.key");
    write(&path, Kind::ServerKey, Overwrite::default()).unwrap();
    fs::write(dir.path().join("plain"), "").unwrap();
    assert_eq!(mode(&path), mode(&dir.path().join("plain")));
}

#[test]
fn secrets_are_replaced_on_request_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    write(&path, Kind::ClientKey, Overwrite::Never).unwrap();
    for kind in [Kind::ClientKey, Kind::ServerKey, Kind::Ciphertext] {
        for overwrite in [Overwrite::Never, Overwrite::KeepSecrets] {
            let error = write(&path, kind, overwrite).unwrap_err();
            assert!(matches!(error, Error::Exists { secret: true, .. }), "{error}");
        }
    }
    write(&path, Kind::Ciphertext, Overwrite::Always).unwrap();
    assert!(matches!(write(&path, Kind::Ciphertext, Overwrite::Never), Err(Error::Exists { secret: false, .. })));
    write(&path, Kind::Ciphertext, Overwrite::KeepSecrets).unwrap();
    assert!(matches!(write(&path, Kind::ClientKey, Overwrite::KeepSecrets), Err(Error::Exists { .. })));
    assert_eq!(names(dir.path()), ["client.key"]);
}

#[test]
fn a_name_taken_while_writing_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    let writer = Writer::create(&path, common::header(Kind::ClientKey), Overwrite::KeepSecrets).unwrap();
    fs::write(&path, "mine").unwrap();
    assert!(matches!(writer.finish(), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(dir.path()), ["client.key"]);
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let mut writer = Writer::create(&path, common::header(Kind::ServerKey), Overwrite::default()).unwrap();
    writer.begin_section("large").unwrap().write_all(&vec![1; 3 << 20]).unwrap();
    let [temporary] = names(dir.path()).try_into().unwrap();
    let half_written = fs::read(dir.path().join(temporary)).unwrap();
    assert!(matches!(Reader::from_bytes("x", half_written, Expect::any()), Err(Error::NotSolinas { .. })));
    drop(writer);
    assert!(names(dir.path()).is_empty());
}

#[test]
fn misuse_of_a_writer_is_an_error() {
    let mut writer = Writer::in_memory(common::header(Kind::Cache));
    writer.section("a", &[]).unwrap();
    for name in ["a", "", "A", "a/b", &"a".repeat(65)] {
        assert!(matches!(writer.section(name, &[]), Err(Error::Unwritable(_))), "{name:?}");
    }
    for i in 0..63 {
        writer.section(&format!("{i:064}"), &[0; 5]).unwrap();
    }
    assert!(matches!(writer.section("b", &[]), Err(Error::Unwritable(_))));
    Reader::from_bytes("x", writer.into_bytes().unwrap().to_vec(), Expect::any()).unwrap().verify_all().unwrap();

    let large = common::header(Kind::Cache).meta("x", &vec![7; 300_000]).unwrap();
    assert!(matches!(Writer::in_memory(large).into_bytes(), Err(Error::Unwritable(_))));
}

#[test]
fn the_section_table_of_a_large_file_has_room_for_every_section() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("server.key");
    let mut writer = Writer::create(&path, common::header(Kind::ServerKey), Overwrite::default()).unwrap();
    for i in 0..64 {
        writer.section(&format!("{i:064}"), &vec![i; 1 << 17]).unwrap();
    }
    writer.finish().unwrap();
    Reader::open(&path, Expect::any()).unwrap().verify_all().unwrap();
}

#[test]
fn what_is_no_solinas_file_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let open = |path: &Path| Reader::open(path, Expect::any()).unwrap_err();
    assert!(matches!(open(&path), Error::Io { .. }));
    assert!(open(&path).to_string().contains("check the name"));
    assert!(matches!(open(dir.path()), Error::NotAFile { what: "directory", .. }));
    fs::write(&path, "").unwrap();
    assert!(matches!(open(&path), Error::Empty { .. }));
    fs::write(&path, "a,b,c\n1,2,3\n").unwrap();
    assert!(matches!(open(&path), Error::NotSolinas { .. }));
    fs::write(&path, [0; 4096]).unwrap();
    assert!(matches!(open(&path), Error::NotSolinas { .. }));
    fs::write(&path, &solinas_formats::PUBLIC_MAGIC[..5]).unwrap();
    assert!(matches!(open(&path), Error::Truncated { .. }));
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_folders_are_neither_read_nor_written() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (path, what) in [(pipe.as_path(), "pipe"), (Path::new("/dev/full"), "device"), (dir.path(), "directory")] {
        for error in [
            Reader::open(path, Expect::any()).unwrap_err(),
            write(path, Kind::Ciphertext, Overwrite::Always).unwrap_err(),
        ] {
            let message = error.to_string();
            assert!(message.contains(what) && message.contains("an ordinary file is needed"), "{message}");
        }
    }
    let missing = dir.path().join("no/such/x.ct");
    let message = write(&missing, Kind::Ciphertext, Overwrite::Always).unwrap_err().to_string();
    assert!(message.contains("its folder exists"), "{message}");
}

#[test]
fn a_path_without_a_name_is_refused_with_advice() {
    for path in ["", "/"] {
        assert!(solinas_formats::check_place(Path::new(path)).is_err());
    }
    let message = write(Path::new(""), Kind::Ciphertext, Overwrite::default()).unwrap_err().to_string();
    assert_eq!(message, "cannot create \"\": the path has no file name; give the name of a file");
}

#[cfg(unix)]
#[test]
fn a_link_is_refused_and_it_stays_with_what_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("link"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
    for (link, named) in [(&link, target.display().to_string()), (&dir.path().join("dangling"), "nowhere".to_owned())] {
        let errors = [
            write(link, Kind::Ciphertext, Overwrite::default()).unwrap_err(),
            write(link, Kind::ClientKey, Overwrite::Always).unwrap_err(),
            solinas_formats::write_text(link, "new").unwrap_err(),
            Error::io(link, "write", solinas_formats::check_place(link).unwrap_err()),
            Error::io(link, "write", NewFile::with_bytes(link, b"new", false, true).unwrap_err()),
        ];
        for error in errors {
            let message = error.to_string();
            assert!(matches!(error, Error::Link { .. }), "{message}");
            assert!(message.starts_with(&format!("{} is a symbolic link to {named}", link.display())), "{message}");
        }
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
    // A link that appears while the file is written stays as well.
    let late = dir.path().join("late");
    let file = NewFile::with_bytes(&late, b"new", false, true).unwrap();
    std::os::unix::fs::symlink(&target, &late).unwrap();
    assert!(matches!(Error::io(&late, "write", file.persist().unwrap_err()), Error::Link { .. }));
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
}

#[test]
fn a_summary_shows_everything_but_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client.key");
    let header = common::header(Kind::ClientKey).insecure_seed(true).meta("note", "two\nlines\u{1b}[0m").unwrap();
    let mut writer = Writer::create(&path, header, Overwrite::Never).unwrap();
    writer.section("secret", &[0x5a; 77]).unwrap();
    writer.finish().unwrap();
    let summary = inspect(&path).unwrap();
    assert!(summary.is_intact());
    let shown = summary.to_string();
    for part in ["client key, scheme tfhe", "n 740", "width: 16", "fixed seed", "section secret: 77 bytes, verified"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(shown.contains(&KeyId::hash_of(b"a key pair").short()));
    assert!(!shown.contains('\u{1b}'));
}

const CHILD: &str = "SOLINAS_FORMATS_TEST_CHILD";

/// This is no test of its own. Another test starts it: it then rewrites files until it is killed.
#[test]
fn child_that_writes_until_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    for round in 0u64.. {
        for (name, kind, len) in [("server.key", Kind::ServerKey, 3 << 20), ("x.ct", Kind::Ciphertext, 5000)] {
            let path = Path::new(&folder).join(name);
            let header = common::header(kind).meta("round", &round).unwrap();
            let mut writer = Writer::create(&path, header, Overwrite::default()).unwrap();
            let mut section = writer.begin_section("data").unwrap();
            for _ in 0..len / 1000 {
                // A failure is reported by `finish`.
                let _ = section.write_all(&[round as u8; 1000]);
            }
            writer.finish().unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_whole_file_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut found = 0;
    for delay in (0..60).map(|i| 2 + i * 37 % 61) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "files::child_that_writes_until_killed", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
        for name in ["server.key", "x.ct"] {
            let path = dir.path().join(name);
            if !path.exists() {
                continue;
            }
            let reader = Reader::open(&path, Expect::any_public()).unwrap();
            reader.verify_all().unwrap();
            let round: u64 = reader.meta("round").unwrap();
            assert!(reader.section("data").unwrap().iter().all(|&byte| byte == round as u8));
            found += 1;
        }
        // A kill may leave a temporary file; none of them loads.
        for name in names(dir.path()).iter().filter(|name| name.ends_with(".tmp")) {
            let path = dir.path().join(name);
            if let Ok(reader) = Reader::open(&path, Expect::any()) {
                reader.verify_all().unwrap();
            }
            fs::remove_file(path).unwrap();
        }
    }
    assert!(found > 20, "the child was too slow: {found} files seen");
}

/// The system's own limit on the size of a file stands for a full disk: the write fails half-way, with the same way out.
#[cfg(unix)]
#[test]
fn a_write_that_the_system_cuts_short_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$0\" --exact files::child_that_writes_until_killed --nocapture";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, dir.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{shown}");
    assert!(shown.contains("DiskFull"), "{shown}");
    assert!(names(dir.path()).is_empty(), "{:?}", names(dir.path()));
}
