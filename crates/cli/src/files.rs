//! Text files. Each is read completely, and written completely or not at all.

use crate::error::{Error, Result, input, usage};
use crate::output::{Output, warn};
use solinas_circuits::Netlist;
use solinas_field::allocation::fallible;
use solinas_formats::{
    Expect, Kind, NewFile, PRIVATE_KEY_HEAD, PUBLIC_MAGIC, Reader, SECRET_MAGIC, check_replaceable, containing_folder,
    is_private_key,
};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Largest number of bytes read from a text file: 1 GiB.
const MOST: u64 = 1 << 30;
/// The byte-order mark.
pub(crate) const MARK: char = '\u{feff}';

/// A text file, or standard input for `-`, without the byte-order mark with which some editors begin a file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = |source: &mut dyn Read, text: &mut String| fallible(|| source.take(MOST + 1).read_to_string(text));
    let done = if path == Path::new("-") {
        read(&mut std::io::stdin().lock(), &mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file, &mut text))
    };
    let name = if path == Path::new("-") { Path::new("standard input") } else { path };
    done.map_err(|e| match e.kind() {
        ErrorKind::InvalidData => no_text(path).unwrap_or_else(|| Error::io("read", name, e)),
        _ => Error::io("read", name, e),
    })?;
    if text.len() as u64 > MOST {
        return Err(input(format!("{} is longer than 1 GiB", path.display()), "split the file"));
    }
    if text.starts_with(MARK) {
        text.replace_range(..MARK.len_utf8(), "");
    }
    Ok(text)
}

/// The error for a key or ciphertext in the place of a text file. `None` for other files.
fn no_text(path: &Path) -> Option<Error> {
    let kind = solinas_kind(path, &head(path).ok()?)?;
    let what = format!("{} is a {kind}, but a text file is needed", path.display());
    Some(input(what, format!("name a text file; `solinas inspect` describes a {kind}")))
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
        return Err(input(format!("{} is longer than {most} bytes", name.display()), "give a shorter file"));
    }
    Ok(bytes)
}

/// Reads a circuit in any format that can be imported.
pub(crate) fn read_circuit(path: &Path) -> Result<Netlist> {
    let text = read_text(path)?;
    solinas_circuits::import::read(&text).map_err(Error::circuit(path.display()))
}

/// Writes text to a file, or to standard output if no file is given. Replaces an ordinary file in one step, but never a key or a ciphertext.
pub(crate) fn write_text(path: Option<&Path>, text: &str, out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, text.as_bytes(), Access::Anyone),
        None => out.text(text),
    }
}

/// As [`write_text`], for plain values: only the owner of the file can read it.
pub(crate) fn write_private_text(path: Option<&Path>, text: &str, out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, text.as_bytes(), Access::Owner),
        None => out.text(text),
    }
}

/// Writes bytes that are not secret to a file, or to standard output if no file is given; as [`write_text`].
pub(crate) fn write_bytes(path: Option<&Path>, bytes: &[u8], out: &Output) -> Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => write(path, bytes, Access::Anyone),
        None => out.bytes(bytes),
    }
}

fn write(path: &Path, bytes: &[u8], access: Access) -> Result<()> {
    check_target(path)?;
    new_file(path, bytes, access, true).map_err(|e| Error::io("write", path, e))
}

/// The users that can read a new file.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    /// The users that the mask of the process permits.
    Anyone,
    /// Its owner only.
    Owner,
}

/// The files that a secret may replace.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Over {
    /// None.
    Nothing,
    /// A file that holds no key and no ciphertext.
    File,
    /// A private key too, because its owner asked for it.
    PrivateKey,
}

/// Writes a secret to a regular file that only its owner can read, completely or not at all.
pub(crate) fn write_secret(path: &Path, bytes: &[u8], over: Over) -> Result<()> {
    check_over(path, over)?;
    new_file(path, bytes, Access::Owner, over != Over::Nothing).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => {
            input(format!("{} already exists", path.display()), "write to another file, or --force to replace it")
        }
        _ => Error::io("write", path, e),
    })
}

/// Writes a regular file, completely or not at all.
fn new_file(path: &Path, bytes: &[u8], access: Access, replace: bool) -> std::io::Result<()> {
    remove_leftovers(containing_folder(path));
    NewFile::with_bytes(path, bytes, access == Access::Owner, replace)?.persist().map(drop)
}

/// Removes the temporary files that killed commands left in a folder, and warns about each.
pub(crate) fn remove_leftovers(folder: &Path) {
    for path in solinas_formats::clear_leftovers(folder) {
        warn(&format!("removed {}, which a killed command had left", path.display()));
    }
}

/// Fails if a secret may not replace the existing file. A path without a file passes.
pub(crate) fn check_over(path: &Path, over: Over) -> Result<()> {
    match over {
        Over::Nothing => Ok(()),
        Over::File => check_target(path),
        Over::PrivateKey => check_magic(path, &head(path)?),
    }
}

/// The first 4 KiB of a regular file; empty if there is no file.
fn head(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let mut head = Zeroizing::new(Vec::with_capacity(PRIVATE_KEY_HEAD));
    if path.is_file() {
        let read = std::fs::File::open(path).and_then(|file| file.take(PRIVATE_KEY_HEAD as u64).read_to_end(&mut head));
        read.map_err(|e| Error::io("inspect", path, e))?;
    }
    Ok(head)
}

/// Fails if the path names no ordinary file, for example a symbolic link or a device, or if it names a key or a ciphertext, which other data may not
/// replace. Every written file passes this check, except for a private key that replaces another.
pub(crate) fn check_target(path: &Path) -> Result<()> {
    if !path.is_dir() {
        check_replaceable(path)?;
    }
    let head = head(path)?;
    check_magic(path, &head)?;
    check_private_key(path, &head)
}

fn check_magic(path: &Path, head: &[u8]) -> Result<()> {
    match solinas_kind(path, head) {
        Some(kind) => Err(not_replaced(path, &kind)),
        None => Ok(()),
    }
}

/// The kind of a key, a ciphertext or another file in the format of Solinas, as text. `None` for other files.
fn solinas_kind(path: &Path, head: &[u8]) -> Option<String> {
    let kind =
        || Reader::open(path, Expect::any()).map_or("damaged Solinas file".to_owned(), |file| file.kind().to_string());
    (head.starts_with(&PUBLIC_MAGIC) || head.starts_with(&SECRET_MAGIC)).then(kind)
}

fn not_replaced(path: &Path, kind: &str) -> Error {
    let what = format!("{} is a {kind}, which this command does not replace", path.display());
    input(what, "write to another file")
}

fn check_private_key(path: &Path, head: &[u8]) -> Result<()> {
    if is_private_key(head) {
        return Err(not_replaced(path, "private key"));
    }
    Ok(())
}

/// Fails if the file at this path is a private key of another kind, which Solinas keys may not replace.
pub(crate) fn check_no_private_key(path: &Path) -> Result<()> {
    check_private_key(path, &head(path)?)
}

/// Whether two paths name the same file, which need not exist yet.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    a != Path::new("-") && b != Path::new("-") && place(a) == place(b)
}

/// Fails if the output is one of the inputs.
pub(crate) fn check_not_input(output: &Path, inputs: &[&Path]) -> Result<()> {
    match inputs.iter().find(|input| same_file(input, output)) {
        Some(_) => Err(usage(format!("{} is also an input", output.display()), "write to another file")),
        None => Ok(()),
    }
}

/// The file behind a path. The folder is resolved, and symbolic links are followed even if their target does not exist.
fn place(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // Linux follows the same number of links.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = containing_folder(&path).join(target);
    }
    let in_folder = || Some(std::fs::canonicalize(containing_folder(&path)).ok()?.join(path.file_name()?));
    std::fs::canonicalize(&path).ok().or_else(in_folder).unwrap_or(path)
}

/// Fails if no ciphertext can be written there: to standard output, to a missing folder, over a link or a device, or over a key, plan or paused run.
pub(crate) fn check_ciphertext_target(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Err(usage("a ciphertext cannot be written to standard output", "name a file; ./- is a file named -"));
    }
    check_writable(path)?;
    let head = head(path)?;
    // A damaged public file may be replaced.
    let replaceable = || match Reader::open(path, Expect::any_public()) {
        Ok(file) => file.kind() == Kind::Ciphertext,
        Err(_) => !head.starts_with(&SECRET_MAGIC),
    };
    if !replaceable() {
        check_magic(path, &head)?;
    }
    check_private_key(path, &head)
}

/// Fails if no file can be created at that path. Callers check this before they begin work whose result needs a place.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    remove_leftovers(containing_folder(path));
    solinas_formats::check_place(path).map_err(|e| Error::io("write", path, e))
}
