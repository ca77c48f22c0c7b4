//! How much room there is for a file.

use crate::Error;
use std::path::Path;

/// That a new file of so many bytes has room where it is to be, beside what is there; said before anything is written.
///
/// # Errors
/// [`Error::Disk`]; nothing where the system does not tell.
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

/// Free bytes for this user.
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
    fn what_does_not_fit_is_refused_before_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix");
        check(&path, 1).unwrap();
        // Of what the system tells nothing, too.
        check(&folder.path().join("none/matrix"), u64::MAX).unwrap();
        if cfg!(unix) {
            let message = check(&path, u64::MAX).unwrap_err().to_string();
            assert!(message.contains("takes 17592186044416 MiB") && message.contains("write elsewhere"), "{message}");
        }
        assert!(!path.exists());
    }
}
