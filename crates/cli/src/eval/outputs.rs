//! Output files of results.

use crate::error::{Error, Result, usage};
use crate::files::{check_ciphertext_target, check_not_input, same_file};
use solinas_circuits::counted;
use solinas_engine::Ciphertext;
use std::path::{Path, PathBuf};

/// The output file of each result. `given` is one file for each result, or one folder. Fails if a file cannot be written.
pub(crate) fn targets(given: &[PathBuf], names: &[String]) -> Result<Vec<PathBuf>> {
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
            return Err(usage(what, name_outputs(names)));
        }
        [folder] if as_folder => {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("make the folder", folder, e))?;
            names.iter().enumerate().map(|(index, name)| folder.join(file_name(index, name))).collect()
        }
        files if files.len() == names.len() => files.to_vec(),
        files => {
            let are = if names.len() == 1 { "is" } else { "are" };
            let (results, files) = (counted(names.len(), "result"), counted(files.len(), "output file"));
            return Err(usage(format!("there {are} {results}, but {files}"), name_outputs(names)));
        }
    };
    check_distinct(&targets.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    targets.iter().try_for_each(|target| check_ciphertext_target(target))?;
    Ok(targets)
}

/// The remedy for a wrong number of output files.
fn name_outputs(names: &[String]) -> String {
    match names {
        [_] => "name one file with -o".to_owned(),
        _ => format!("name a folder, or repeat -o for each of {}", names.join(", ")),
    }
}

/// Fails if two of the written files are one, or if one of them is a file that the work reads. Only a result may replace an operand.
/// `kept` are the files of the plan and of the progress.
pub(super) fn check_separate(results: &[PathBuf], kept: &[&Path], operands: &[&Path], others: &[&Path]) -> Result<()> {
    let written: Vec<&Path> = results.iter().map(PathBuf::as_path).chain(kept.iter().copied()).collect();
    check_distinct(&written)?;
    written.iter().try_for_each(|path| check_not_input(path, others))?;
    kept.iter().try_for_each(|path| check_not_input(path, operands))
}

/// Fails if two paths name the same file.
fn check_distinct(paths: &[&Path]) -> Result<()> {
    for (index, path) in paths.iter().enumerate() {
        if let Some(other) = paths[..index].iter().find(|other| same_file(other, path)) {
            let what = match other == path {
                true => format!("{} is named twice", path.display()),
                false => format!("{} and {} are the same file", other.display(), path.display()),
            };
            return Err(usage(what, "name a separate file for each result, for --save-plan and for --checkpoint"));
        }
    }
    Ok(())
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
