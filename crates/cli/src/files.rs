//! Text files: read whole, written whole or not at all.

use crate::error::{Error, Result, input, usage};
use crate::output::{Output, warn};
use solinas_circuits::Netlist;
use solinas_field::allocation::fallible;
use solinas_formats::{Expect, Kind, NewFile, PUBLIC_MAGIC, Reader, SECRET_MAGIC, containing_folder};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Most bytes read from a text file: 1 GiB.
const MOST: u64 = 1 << 30;
/// Bytes at the beginning of a file in which a private key shows.
const HEAD: usize = 4096;

/// A text file, or standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = |source: &mut dyn Read, text: &mut String| fallible(|| source.take(MOST + 1).read_to_string(text));
    let done = if path == Path::new("-") {
        read(&mut std::io::stdin().lock(), &mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file, &mut text))
    };
    let name = if path == Path::new("-") { Path::new("standard input") } else { path };
    done.map_err(|e| Error::io("read", name, e))?;
    if text.len() as u64 > MOST {
        return Err(input(format!("{} is longer than 1 GiB", path.display()), "split it"));
    }
    Ok(text)
}

/// A file of up to `most` bytes, or standard input for `-`.
pub(crate) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = |source: &mut dyn Read, bytes: &mut Vec<u8>| fallible(|| source.take(most + 1).read_to_end(bytes));
    let done = if path == Path::new("-") {
        read(&mut std::io::stdin().lock(), &mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file, &mut bytes))
    };
    let name = if path == Path::new("-") { Path::new("standard input") } else { path };
    done.map_err(|e| Error::io("read", name, e))?;
    if bytes.len() as u64 > most {
        return Err(input(format!("{} is longer than {most} bytes", name.display()), "give a shorter one"));
    }
    Ok(bytes)
}

/// A circuit of any format that can be imported.
pub(crate) fn read_circuit(path: &Path) -> Result<Netlist> {
    let text = read_text(path)?;
    solinas_circuits::import::read(&text).map_err(Error::circuit(path.display()))
}

/// Writes text to a file, or to standard output where there is none. A regular file is replaced in one step, a key or ciphertext never.
pub(crate) fn write_text(path: Option<&Path>, text: &str, out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, text.as_bytes(), Access::Anyone),
        None => out.text(text),
    }
}

/// As [`write_text`], for plain values: the owner of the file alone can read it.
pub(crate) fn write_private_text(path: Option<&Path>, text: &str, out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, text.as_bytes(), Access::Owner),
        None => out.text(text),
    }
}

/// Writes bytes that are not secret to a file, or to standard output where there is none; as [`write_text`].
pub(crate) fn write_bytes(path: Option<&Path>, bytes: &[u8], out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, bytes, Access::Anyone),
        None => out.bytes(bytes),
    }
}

fn write(path: &Path, bytes: &[u8], access: Access) -> Result<()> {
    check_target(path)?;
    let special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    let done = if special {
        std::fs::OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(bytes))
    } else {
        new_file(path, bytes, access, true)
    };
    done.map_err(|e| Error::io("write", path, e))
}

/// Every reader of a new file.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    /// As the process' mask says.
    Anyone,
    /// Its owner alone.
    Owner,
}

/// What a secret may be written over.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Over {
    /// Nothing.
    Nothing,
    /// A file that holds no key and no ciphertext.
    File,
    /// A private key as well, as its owner said.
    PrivateKey,
}

/// Writes a secret to a regular file that its owner alone can read, whole or not at all.
pub(crate) fn write_secret(path: &Path, bytes: &[u8], over: Over) -> Result<()> {
    check_over(path, over)?;
    new_file(path, bytes, Access::Owner, over != Over::Nothing).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => {
            input(format!("{} already exists", path.display()), "write to another file, or --force to replace it")
        }
        _ => Error::io("write", path, e),
    })
}

/// Writes a regular file, whole or not at all.
fn new_file(path: &Path, bytes: &[u8], access: Access, replace: bool) -> std::io::Result<()> {
    tell_leftovers(containing_folder(path));
    NewFile::with_bytes(path, bytes, access == Access::Owner, replace)?.persist().map(drop)
}

/// Removes what killed commands have left in a folder, and says so.
pub(crate) fn tell_leftovers(folder: &Path) {
    for path in solinas_formats::clear_leftovers(folder) {
        warn(&format!("removed {}, which a command that was killed had left", path.display()));
    }
}

/// Fails where a secret may not replace the file that is there. Whether there is one is not checked.
pub(crate) fn check_over(path: &Path, over: Over) -> Result<()> {
    match over {
        Over::Nothing => Ok(()),
        Over::File => check_target(path),
        Over::PrivateKey => check_magic(path, &head(path)?),
    }
}

/// The first 4 KiB of a regular file; none where there is no file.
fn head(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let mut head = Zeroizing::new(Vec::with_capacity(HEAD));
    if path.is_file() {
        let read = std::fs::File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
        read.map_err(|e| Error::io("see what would be replaced in", path, e))?;
    }
    Ok(head)
}

/// Whether bytes begin as a private key does, of any algorithm, whole or damaged: PEM, OpenSSH's format, or DER of PKCS#1, PKCS#8 (under a
/// passphrase, too), SEC 1 and PKCS#12.
pub(crate) fn is_private_key(bytes: &[u8]) -> bool {
    const PEM: &[u8] = b"PRIVATE KEY-----";
    // PKCS#5 and PKCS#12: encryption by a passphrase.
    const PASSPHRASE: [&[u8]; 2] = [b"\x2a\x86\x48\x86\xf7\x0d\x01\x05", b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01"];
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.windows(PEM.len()).any(|part| part == PEM) {
        return true;
    }
    match sequence(head) {
        // A version, then the modulus, the algorithm or the key.
        Some([0x02, 0x01, 0 | 1 | 3, 0x02 | 0x04 | 0x30, ..]) => true,
        Some(body) => match sequence(body) {
            Some([0x06, _, oid @ ..]) => PASSPHRASE.iter().any(|prefix| oid.starts_with(prefix)),
            _ => false,
        },
        None => false,
    }
}

/// What follows tag and length of a DER SEQUENCE.
fn sequence(der: &[u8]) -> Option<&[u8]> {
    match der {
        [0x30, length @ 0x80..=0x84, rest @ ..] => rest.get(usize::from(length & 0x7f)..),
        [0x30, 0..=0x7f, rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Fails where a key or ciphertext would be replaced by something else. Every file that is written passes here, but for a private key that
/// replaces another.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    let head = head(path)?;
    check_magic(path, &head)?;
    check_private_key(path, &head)
}

fn check_magic(path: &Path, head: &[u8]) -> Result<()> {
    if head.starts_with(&PUBLIC_MAGIC) || head.starts_with(&SECRET_MAGIC) {
        let what = format!("{} is a key or ciphertext, which this does not replace", path.display());
        return Err(input(what, "write to another file"));
    }
    Ok(())
}

fn check_private_key(path: &Path, head: &[u8]) -> Result<()> {
    if is_private_key(head) {
        let what = format!("{} is a private key, which this does not replace", path.display());
        return Err(input(what, "write to another file"));
    }
    Ok(())
}

/// Fails where a file of keys would replace a private key of another kind.
pub(crate) fn check_no_private_key(path: &Path) -> Result<()> {
    check_private_key(path, &head(path)?)
}

/// Whether two names are of one file, be it there or not yet.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    a != Path::new("-") && b != Path::new("-") && place(a) == place(b)
}

/// Fails where the output is one of the inputs.
pub(crate) fn check_not_input(output: &Path, inputs: &[&Path]) -> Result<()> {
    match inputs.iter().find(|input| same_file(input, output)) {
        Some(_) => Err(usage(format!("{} is an input, too", output.display()), "write to another file")),
        None => Ok(()),
    }
}

/// The file behind a name: its folder resolved, symbolic links followed even to where nothing is.
fn place(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // As many links as Linux follows.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = containing_folder(&path).join(target);
    }
    let in_folder = || Some(std::fs::canonicalize(containing_folder(&path)).ok()?.join(path.file_name()?));
    std::fs::canonicalize(&path).ok().or_else(in_folder).unwrap_or(path)
}

/// Fails where no ciphertext can or may be written: on standard output, in a folder that is not there, over a key.
pub(crate) fn check_ciphertext_target(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Err(usage("a ciphertext does not go to standard output", "name a file; ./- is a file named -"));
    }
    check_writable(path)?;
    let head = head(path)?;
    let other = || Reader::open(path, Expect::any_public()).is_ok_and(|file| file.kind() != Kind::Ciphertext);
    if head.starts_with(&SECRET_MAGIC) || (head.starts_with(&PUBLIC_MAGIC) && other()) {
        let what = format!("{} is a key, which a ciphertext does not replace", path.display());
        return Err(input(what, "write to another file"));
    }
    check_private_key(path, &head)
}

/// Fails where no file could be made at that path, so that work whose result has no place is not begun.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    tell_leftovers(containing_folder(path));
    solinas_formats::check_place(path).map_err(|e| Error::io("write", path, e))
}
