//! Output files of results.

use crate::error::{Error, Result, usage};
use crate::files::{check_ciphertext_target, same_file};
use solinas_runtime::Ciphertext;
use std::path::{Path, PathBuf};

/// The output file of each result. `given` is one file for each result, or one folder. Fails if a file cannot be written.
pub(super) fn targets(given: &[PathBuf], names: &[String]) -> Result<Vec<PathBuf>> {
    if given.iter().any(|path| path == Path::new("-")) {
        check_ciphertext_target(Path::new("-"))?;
    }
    let as_folder = match given {
        [one] => names.len() > 1 || one.is_dir() || one.as_os_str().to_string_lossy().ends_with(['/', '\\']),
        _ => false,
    };
    let targets: Vec<PathBuf> = match given {
        [folder] if as_folder && folder.exists() && !folder.is_dir() => {
            let what = format!("{} is a file, but there are {} results", folder.display(), names.len());
            return Err(usage(what, format!("name a folder, or repeat -o for each of {}", names.join(", "))));
        }
        [folder] if as_folder => {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("make the folder", folder, e))?;
            names.iter().enumerate().map(|(index, name)| folder.join(file_name(index, name))).collect()
        }
        files if files.len() == names.len() => files.to_vec(),
        files => {
            let what = format!("there are {} results, but {} output files", names.len(), files.len());
            return Err(usage(what, format!("name a folder, or repeat -o for each of {}", names.join(", "))));
        }
    };
    for (index, target) in targets.iter().enumerate() {
        if let Some(other) = targets[..index].iter().find(|other| same_file(other, target)) {
            let what = match other == target {
                true => format!("{} is named twice", target.display()),
                false => format!("{} and {} are the same file", other.display(), target.display()),
            };
            return Err(usage(what, "name a separate file for each result"));
        }
        check_ciphertext_target(target)?;
    }
    Ok(targets)
}

/// `NAME.ct` if the name is safe as a file name, else `output` and the index.
fn file_name(index: usize, name: &str) -> String {
    let safe = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-[]".contains(c));
    if safe { format!("{name}.ct") } else { format!("output{index}.ct") }
}

/// Writes all results. If one cannot be written, removes the new files before it.
pub(super) fn save(targets: &[PathBuf], results: &[Ciphertext]) -> Result<()> {
    let mut new: Vec<&Path> = Vec::new();
    for (target, result) in targets.iter().zip(results) {
        let existed = target.exists();
        if let Err(error) = result.save(target) {
            // The first error is reported.
            new.iter().for_each(|path| drop(std::fs::remove_file(path)));
            return Err(error.into());
        }
        if !existed {
            new.push(target);
        }
    }
    Ok(())
}
