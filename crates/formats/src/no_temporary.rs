//! Temporary files in a browser, which has no files: each function fails.

use std::fs::File;
use std::io;
use std::path::Path;

/// There is none.
#[derive(Debug)]
pub(crate) enum NamedTempFile {}

/// There is none.
#[derive(Debug)]
pub(crate) enum TempDir {}

impl NamedTempFile {
    pub(crate) fn as_file(&self) -> &File {
        match *self {}
    }

    pub(crate) fn as_file_mut(&mut self) -> &mut File {
        match *self {}
    }

    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }
}

impl TempDir {
    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }
}

pub(crate) fn file_in(_: &Path, _: (&str, &str), _: bool) -> io::Result<NamedTempFile> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn folder_in(_: &Path, _: (&str, &str)) -> io::Result<TempDir> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn probe(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn persist(file: NamedTempFile, _: &Path, _: bool) -> io::Result<File> {
    match file {}
}
