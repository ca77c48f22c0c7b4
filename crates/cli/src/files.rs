//! Text files: read whole, written whole or not at all.

use crate::error::{Error, Result, input, usage};
use crate::output::Output;
use solinas_circuits::Netlist;
use solinas_formats::{Expect, Kind, PUBLIC_MAGIC, Reader, SECRET_MAGIC};
use std::io::{Read, Write};
use std::path::Path;

/// Most bytes read from a text file: 1 GiB.
const MOST: u64 = 1 << 30;

/// A text file, or standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = |source: &mut dyn Read, text: &mut String| source.take(MOST + 1).read_to_string(text);
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
    let read = |source: &mut dyn Read, bytes: &mut Vec<u8>| source.take(most + 1).read_to_end(bytes);
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
    let Some(path) = path.filter(|path| *path != Path::new("-")) else { return out.text(text) };
    let special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    check_text_target(path)?;
    let done = if special {
        std::fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes()))
    } else {
        replace(path, text.as_bytes(), 0o666)
    };
    done.map_err(|e| Error::io("write", path, e))
}

/// Writes bytes that are not secret to a file, or to standard output where there is none; as [`write_text`].
pub(crate) fn write_bytes(path: Option<&Path>, bytes: &[u8], out: &Output) -> Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else { return out.bytes(bytes) };
    check_text_target(path)?;
    let special = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    let done = if special {
        std::fs::File::create(path).and_then(|mut file| file.write_all(bytes))
    } else {
        replace(path, bytes, 0o666)
    };
    done.map_err(|e| Error::io("write", path, e))
}

/// Writes a secret to a regular file that its owner alone can read, whole or not at all.
pub(crate) fn write_secret(path: &Path, bytes: &[u8], overwrite: bool) -> Result<()> {
    let exists =
        || input(format!("{} already exists", path.display()), "write to another file, or --force to replace it");
    if overwrite {
        check_text_target(path)?;
        return replace(path, bytes, 0o600).map_err(|e| Error::io("write", path, e));
    }
    let mut file = temporary(path, 0o600).map_err(|e| Error::io("write", path, plain(&e)))?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(|e| Error::io("write", path, e))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(e) if e.error.kind() == std::io::ErrorKind::AlreadyExists => Err(exists()),
        Err(e) => Err(Error::io("write", path, e.error)),
    }
}

/// The first bytes of a regular file, as many as a magic has; none where there is no file.
fn magic(path: &Path) -> Result<Vec<u8>> {
    let mut magic = Vec::new();
    if path.is_file() {
        let read =
            std::fs::File::open(path).and_then(|file| file.take(PUBLIC_MAGIC.len() as u64).read_to_end(&mut magic));
        read.map_err(|e| Error::io("see what would be replaced in", path, e))?;
    }
    Ok(magic)
}

/// Fails where a key or ciphertext would be replaced by text.
pub(crate) fn check_text_target(path: &Path) -> Result<()> {
    let magic = magic(path)?;
    if magic == PUBLIC_MAGIC || magic == SECRET_MAGIC {
        let what = format!("{} is a key or ciphertext, which text does not replace", path.display());
        return Err(input(what, "write to another file"));
    }
    Ok(())
}

/// Fails where no ciphertext can or may be written: on standard output, in a folder that is not there, over a key.
pub(crate) fn check_ciphertext_target(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Err(usage("a ciphertext does not go to standard output", "name a file; ./- is a file named -"));
    }
    check_writable(path)?;
    let magic = magic(path)?;
    let other = || Reader::open(path, Expect::any_public()).is_ok_and(|file| file.kind() != Kind::Ciphertext);
    if magic == SECRET_MAGIC || (magic == PUBLIC_MAGIC && other()) {
        let what = format!("{} is a key, which a ciphertext does not replace", path.display());
        return Err(input(what, "write to another file"));
    }
    Ok(())
}

fn replace(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    // A symbolic link is followed: the file it names is replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut file = temporary(path, mode).map_err(|e| plain(&e))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// A temporary file beside a path, with those permissions less the process' mask where there are permissions.
fn temporary(path: &Path, mode: u32) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".solinas-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(folder(path))
}

/// The error without the name of a temporary file.
pub(crate) fn plain(error: &std::io::Error) -> std::io::Error {
    let text = error.to_string();
    std::io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

/// The folder a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Fails where no file could be made at that path, so that work whose result has no place is not begun.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io("write", path, std::io::ErrorKind::IsADirectory.into()));
    }
    tempfile::tempfile_in(folder(path)).map(drop).map_err(|e| Error::io("write", path, plain(&e)))
}
