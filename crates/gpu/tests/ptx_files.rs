//! The committed PTX: every file is one that the interpreter reads, and every file is in use.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// An unknown opcode, modifier or type is an error of the parser, so this covers every instruction that ships.
#[test]
fn every_committed_file_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx");
    let (mut files, mut kernels) = (0, BTreeSet::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "ptx") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let module = solinas_ptx::Module::parse(&fs::read_to_string(&path).unwrap());
        let module = module.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let folder_of_kernel = name.split('_').next().unwrap();
        for kernel in module.kernels() {
            assert!(kernel.name().starts_with(folder_of_kernel), "{} of {name} lacks its prefix", kernel.name());
            assert!(
                kernels.insert(kernel.name().to_owned()) || name.ends_with("_portable"),
                "{} occurs twice",
                kernel.name()
            );
        }
        files += 1;
    }
    assert!(files > 30 && kernels.len() > 100, "{files} files, {} kernels", kernels.len());
}
