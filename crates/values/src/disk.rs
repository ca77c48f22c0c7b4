//! The free space of a disk.

use crate::Error;
use std::path::Path;

/// Checks, before anything is written, that a new file of `bytes` bytes fits beside the existing files. Passes if the
/// system does not report free space.
///
/// # Errors
/// [`Error::Disk`] if it does not fit.
pub(crate) fn check(path: &Path, bytes: u64) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match free(folder) {
        Some(free) if free < bytes => {
            let (need_mib, free_mib) = (bytes.div_ceil(1 << 20), free >> 20);
            Err(Error::Disk { path: path.into(), need_mib, free_mib })
        }
        _ => Ok(()),
    }
}

/// Free bytes of the disk for this user. `None` if the system does not report them.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_fit_is_refused_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix");
        check(&path, 1).unwrap();
        // The folder does not exist, so the system reports nothing.
        check(&folder.path().join("none/matrix"), u64::MAX).unwrap();
        if cfg!(unix) {
            let message = check(&path, u64::MAX).unwrap_err().to_string();
            assert!(message.contains("takes 17592186044416 MiB") && message.contains("write elsewhere"), "{message}");
        }
        assert!(!path.exists());
    }
}
