//! Models of small designs: ports of every width, the clock, reset, errors.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::tools;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use solinas_rtl::{Design, Instance, Model, cache};

const COUNTER: &str = "
module counter #(parameter int W = 8) (
  input logic clk_i, rst_ni, input logic [W-1:0] step_i, input logic [99:0] wide_i,
  output logic [W-1:0] count_o, output logic [99:0] wide_o);
  assign wide_o = ~wide_i;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) count_o <= '0; else count_o <= count_o + step_i;
endmodule
";

fn counter(bits: u64) -> Option<Instance> {
    Some(tools::or_skip(Model::build(&design(bits), &mut |_| {}))?.instance().unwrap())
}

fn design(bits: u64) -> Design {
    Design::new("counter").source("counter.sv", COUNTER).parameter("W", bits)
}

#[test]
fn ports_of_every_width_hold_their_values() {
    for bits in [1, 9, 17, 64] {
        let Some(mut counter) = counter(bits) else { return };
        let [step, count] = ["step_i", "count_o"].map(|name| counter.port(name).unwrap());
        counter.reset();
        let mask = u64::MAX >> (64 - bits);
        counter.set_u64(step, u64::MAX);
        for i in 1..5u64 {
            counter.tick();
            assert_eq!(counter.get_u64(count), 0u64.wrapping_sub(i) & mask, "{bits} bits");
        }
        assert_eq!(counter.cycles(), 7);
        let [wide_in, wide_out] = ["wide_i", "wide_o"].map(|name| counter.port(name).unwrap());
        counter.set(wide_in, &[0x0123_4567_89ab_cdef, u64::MAX]);
        counter.eval();
        let mut words = [0; 3];
        counter.get(wide_out, &mut words);
        assert_eq!(words, [!0x0123_4567_89ab_cdef, 0, 0]);
    }
}

#[test]
fn errors_name_the_ports_and_the_fault() {
    let Some(counter) = counter(8) else { return };
    let error = counter.port("nothing").unwrap_err().to_string();
    assert!(error.contains("nothing") && error.contains("step_i"), "{error}");
    let broken = Design::new("counter").source("counter.sv", &COUNTER.replace("count_o + step_i", "missing_q"));
    let error = Model::build(&broken, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("translation of the model of counter failed") && error.contains("missing_q"), "{error}");
}

// This is no test: it states its outcome on standard output, and the tests below that start it check what it states.
#[test]
#[ignore = "the tests below run it in a process of its own"]
fn child_builds_a_counter() {
    match Model::build(&design(9), &mut |step| println!("{}", step.name())) {
        Ok(_) => println!("built"),
        Err(error) => println!("error: {error}"),
    }
}

/// The output of a build in a process with this path of programs and this cache.
fn child(path: &Path, models: &Path) -> String {
    child_with(path, models, Path::new(""))
}

/// The same with this folder of Verilator.
fn child_with(path: &Path, models: &Path, verilator: &Path) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "model::child_builds_a_counter", "--ignored", "--nocapture"])
        .env("VERILATOR_ROOT", verilator);
    let output = command.env("PATH", path).env("SOLINAS_RTL_CACHE", models).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The place of a program on the path.
fn program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.exists())
}

#[test]
fn each_missing_tool_is_named_with_its_fix() {
    let (programs, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (tool, fix) in [
        ("g++", "apt-get install g++"),
        ("make", "apt-get install make"),
        ("perl", "apt-get install perl"),
        ("Verilator", "run tools/install_rtl_tools.sh"),
    ] {
        let text = child(programs.path(), models.path());
        let error = format!("error: the simulation needs {tool}, which was not found; ");
        assert!(text.contains(&error) && text.contains(fix), "{text}");
        // The next round has this tool.
        if tool != "Verilator" {
            let Some(path) = program(tool) else {
                solinas_testing::left_out("rtl", format!("{tool} is not installed"));
                return;
            };
            symlink(path, programs.path().join(tool)).unwrap();
        }
    }
    assert_eq!(fs::read_dir(models.path()).unwrap().count(), 0, "nothing was built");
}

#[test]
fn a_library_that_is_not_the_design_is_refused_and_a_damaged_one_is_built_again() {
    let Some(_) = counter(8) else { return };
    let models = tempfile::tempdir().unwrap();
    // The tools and what all models share are those of the real cache.
    for entry in fs::read_dir(cache().unwrap()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name == "tools" || name.starts_with("runtime-") {
            symlink(entry.path(), models.path().join(name)).unwrap();
        }
    }
    let path = PathBuf::from(env::var_os("PATH").unwrap());
    let text = child(&path, models.path());
    assert!(text.contains("translation\ncompilation\nbuilt"), "{text}");
    let text = child(&path, models.path());
    assert!(text.contains("built") && !text.contains("translation"), "the library is kept: {text}");
    let library = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.to_string_lossy().ends_with(".so")).collect::<Vec<_>>()
    };
    let [own] = &library(models.path())[..] else { panic!("one library") };
    let name = own.file_name().unwrap();
    // A model of other parameters under the name of this one.
    let others = library(&cache().unwrap());
    let digest = |path: &Path| path.with_extension("digest");
    let other = others.iter().find(|path| {
        let is_counter = path.file_name().unwrap().to_string_lossy().starts_with("counter-");
        path.file_name() != Some(name) && is_counter && digest(path).exists()
    });
    fs::remove_file(own).unwrap();
    fs::copy(other.unwrap(), own).unwrap();
    fs::copy(digest(other.unwrap()), digest(own)).unwrap();
    let text = child(&path, models.path());
    let wanted =
        "cannot be loaded (it was built from other sources or by other tools); delete it, so that it is built again";
    assert!(text.contains(wanted), "{text}");
    fs::remove_file(own).unwrap();
    let text = child(&path, models.path());
    assert!(text.contains("compilation\nbuilt"), "a deleted model is built again: {text}");
    // A computer that loses power may leave a part of a file; a disk may change a byte.
    let whole = fs::read(own).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() / 3], &changed, b""] {
        fs::write(own, damaged).unwrap();
        let text = child(&path, models.path());
        assert!(text.contains("compilation\nbuilt"), "{text}");
    }
}

#[test]
fn a_verilator_that_cannot_be_used_is_named_with_the_fix() {
    let models = tempfile::tempdir().unwrap();
    let path = env::var_os("PATH").unwrap();
    for tool in ["g++", "make", "perl"] {
        if program(tool).is_none() {
            return;
        }
    }
    let missing = models.path().join("none");
    let text = child_with(Path::new(&path), models.path(), &missing);
    let error = format!("error: the Verilator in {} has no bin/verilator that runs; run tools/", missing.display());
    assert!(text.contains(&error), "{text}");
    for (folder, version, problem) in [
        ("old", "Verilator 5.006 2023-01-22", "is Verilator 5.006 2023-01-22, which is too old; "),
        (
            "two words",
            "Verilator 5.048 2026-05-16",
            "is in a folder with a space in its path, which make cannot use; name one without by SOLINAS_RTL_CACHE",
        ),
    ] {
        let root = models.path().join(folder);
        let script = root.join("bin/verilator");
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(&script, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let text = child_with(Path::new(&path), models.path(), &root);
        assert!(text.contains(problem) && text.contains("tools/install_rtl_tools.sh"), "{text}");
    }
}

#[test]
fn the_next_build_removes_what_killed_builds_left() {
    let Some(_) = counter(8) else { return };
    let models = tempfile::tempdir().unwrap();
    let (tools, link) = (cache().unwrap().join("tools"), models.path().join("tools"));
    symlink(tools, link).unwrap();
    for model in ["killed", "running"] {
        fs::create_dir(models.path().join(format!("{model}.build-a"))).unwrap();
        fs::write(models.path().join(format!("{model}.lock")), b"").unwrap();
    }
    let lock = fs::File::open(models.path().join("running.lock")).unwrap();
    lock.lock().unwrap();
    let text = child(&PathBuf::from(env::var_os("PATH").unwrap()), models.path());
    assert!(text.contains("built"), "{text}");
    let left = |model: &str| models.path().join(format!("{model}.build-a")).exists();
    assert_eq!((left("killed"), left("running")), (false, true));
}
