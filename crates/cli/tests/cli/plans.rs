//! Plans in files, models by name, and checkpoints.

use crate::common::Place;

/// Two arrays of 4-bit numbers.
fn operands(place: &Place) {
    place.encrypt("u4", "9 12", "a.ct");
    place.encrypt("u4", "5 7", "b.ct");
}

fn same(place: &Place, a: &str, b: &str) -> bool {
    std::fs::read(place.path(a)).unwrap() == std::fs::read(place.path(b)).unwrap()
}

#[test]
fn a_stored_plan_gives_the_same_bytes_on_another_number_of_threads() {
    let place = Place::new();
    operands(&place);
    place.run("eval --key SERVER add a.ct b.ct --threads 1 --model shallow --save-plan add.plan --auditable -o x.ct");
    place.run("eval --key SERVER add a.ct b.ct --threads 2 --plan add.plan --auditable -o y.ct");
    place.run("eval --key SERVER add a.ct b.ct --threads 2 --model shallow --auditable -o z.ct");
    assert!(same(&place, "x.ct", "y.ct") && same(&place, "x.ct", "z.ct"));
    assert_eq!(place.run("decrypt --key CLIENT x.ct").split_whitespace().collect::<Vec<_>>(), ["14", "3"]);
    // An auditable result names its plan.
    let named = |file: &str| {
        let shown = place.run(&format!("inspect {file}"));
        shown.lines().find_map(|line| line.strip_prefix("plan: ")).unwrap().to_owned()
    };
    assert!(named("x.ct") == named("add.plan") && named("x.ct").len() == 64);
    assert!(place.run("inspect add.plan").contains("model: shallow"));
    // An estimate writes a plan as well.
    place.run("eval --key SERVER add a.ct b.ct --model shallow --estimate --save-plan again.plan");
    assert!(same(&place, "add.plan", "again.plan"));
}

#[test]
fn only_auditable_results_name_their_plan_and_those_of_a_private_program_change_in_each_run() {
    let place = Place::new();
    operands(&place);
    for (options, file) in [("", "x.ct"), ("--compact", "compact.ct"), ("--private-program", "private.ct")] {
        place.run(&format!("eval --key SERVER add a.ct b.ct {options} -o {file}"));
        assert!(!place.run(&format!("inspect {file}")).contains("plan"), "{options}");
        let sums = place.run(&format!("decrypt --key CLIENT {file}"));
        assert_eq!(sums.split_whitespace().collect::<Vec<_>>(), ["14", "3"], "{options}");
    }
    place.run("eval --key SERVER add a.ct b.ct --private-program -o again.ct");
    // What hides the program counts.
    let bootstraps = |options: &str| -> u64 {
        let report = place.run(&format!("eval --key SERVER add a.ct b.ct --json {options}"));
        serde_json::from_str::<serde_json::Value>(&report).unwrap()["bootstraps"].as_u64().unwrap()
    };
    let hidden = bootstraps("--private-program --estimate");
    assert!(hidden > bootstraps("--estimate"));
    assert_eq!(hidden, bootstraps("--private-program -o again.ct"));
    assert!(!same(&place, "private.ct", "again.ct") && !same(&place, "private.ct", "x.ct"));
    let message = place.fail("eval --key SERVER add a.ct b.ct --private-program --auditable -o y.ct", 2);
    assert!(message.contains("cannot be used with"), "{message}");
}

#[test]
fn plans_and_checkpoints_of_other_work_are_refused() {
    let place = Place::new();
    operands(&place);
    place.run("eval --key SERVER add a.ct b.ct --save-plan add.plan -o x.ct");
    for (line, code, part) in [
        ("mul a.ct b.ct --plan add.plan", 1, "the plan is of another program"),
        ("add a.ct b.ct --plan a.ct", 1, "a.ct"),
        ("add a.ct b.ct --plan missing.plan", 1, "missing.plan"),
        ("add a.ct b.ct --plan add.plan --model fewest", 2, "cannot be used with"),
        ("add a.ct b.ct --model fast", 2, "fewest, shallow, or threads-N"),
        ("add a.ct b.ct --save-plan SERVER", 2, "server.key is also an input"),
        ("add a.ct b.ct --save-plan OTHER-SERVER", 1, "server.key"),
        ("add a.ct b.ct --save-plan b.ct", 2, "b.ct is also an input"),
        ("add a.ct b.ct --save-plan x.ct", 1, "x.ct"),
        ("add a.ct b.ct --save-plan missing/add.plan", 1, "missing"),
        ("add a.ct b.ct --checkpoint missing/run.state", 1, "missing"),
        ("add a.ct b.ct --checkpoint a.ct", 2, "a.ct is also an input"),
        ("add a.ct b.ct --checkpoint x.ct", 1, "x.ct"),
        ("add a.ct b.ct --checkpoint-every 5", 2, "--checkpoint"),
        ("to_bits a.ct --save-plan c.plan", 1, "a conversion has no plan\n  help: leave the plan out; the program"),
    ] {
        let message = place.fail(&format!("eval --key SERVER {line} -o y.ct"), code);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(place.files(), ["a.ct", "add.plan", "b.ct", "x.ct"]);
}

#[test]
fn results_plan_and_checkpoint_are_files_of_their_own() {
    let place = Place::new();
    operands(&place);
    std::fs::create_dir(place.path("w")).unwrap();
    place.run("eval --key SERVER add a.ct b.ct --estimate --save-plan add.plan");
    place.write("f.json", place.run("circuit build add --type u4"));
    let before = place.files();
    let program = "--circuit f.json --inputs a.ct b.ct";
    for (line, part) in [
        ("add a.ct b.ct --checkpoint x.ct -o x.ct", "x.ct is named twice"),
        ("add a.ct b.ct --checkpoint w/../w/x.ct -o ./w/x.ct", "./w/x.ct and w/../w/x.ct are the same file"),
        ("add a.ct b.ct --save-plan x.ct -o ./x.ct", "./x.ct and x.ct are the same file"),
        ("add a.ct b.ct --save-plan x.ct --checkpoint ./x.ct -o y.ct", "x.ct and ./x.ct are the same file"),
        ("add a.ct b.ct --save-plan w/result.ct -o w/", "w/result.ct is named twice"),
        ("add a.ct b.ct --plan add.plan --checkpoint w/../add.plan -o x.ct", "w/../add.plan is also an input"),
        ("add a.ct b.ct --checkpoint ./b.ct -o x.ct", "./b.ct is also an input"),
        (&format!("{program} --save-plan f.json -o x.ct"), "f.json is also an input"),
        (&format!("{program} --checkpoint f.json -o x.ct"), "f.json is also an input"),
        (&format!("{program} -o f.json"), "f.json is also an input"),
    ] {
        let message = place.fail(&format!("eval --key SERVER {line}"), 2);
        assert!(message.contains(part), "{line}: {message}");
        assert_eq!(place.files(), before, "{line}");
    }
    // A result may replace an operand.
    place.run("eval --key SERVER add a.ct b.ct -o a.ct");
    assert_eq!(place.run("decrypt --key CLIENT a.ct").split_whitespace().collect::<Vec<_>>(), ["14", "3"]);
}

#[test]
fn work_of_another_scheme_has_no_plan() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params toy-256-8 --research --insecure-seed 1 --out k");
    place.run("encrypt --key k/client.key --type u4 5 -o a.ct --research");
    for option in ["--model fewest", "--save-plan p", "--checkpoint s"] {
        let message = place.fail(&format!("eval --key k/server.key not a.ct {option} -o x.ct"), 1);
        assert!(message.contains("only that of scheme tfhe has"), "{message}");
    }
}

#[test]
#[cfg(unix)]
fn a_killed_command_goes_on_from_its_checkpoint() {
    use std::process::{Command, Stdio};
    let place = Place::new();
    operands(&place);
    place.encrypt("u32", "40 250", "c.ct");
    place.run("eval --key SERVER mul c.ct c.ct -o want.ct");
    let state = place.path("run.state");
    let line = "eval --key SERVER mul c.ct c.ct --checkpoint run.state --checkpoint-every 0 -o x.ct";
    let command = place.command(line);
    let mut child = Command::new(command.get_program())
        .args(command.get_args())
        .current_dir(place.path("."))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !state.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without a checkpoint");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("x.ct").exists());
    // Other inputs do not go on from it.
    let other = place.fail("eval --key SERVER mul a.ct b.ct --checkpoint run.state -o x.ct", 1);
    assert!(other.contains("run.state: the paused run is of another program or plan"), "{other}");
    let other = place.fail("encrypt --key CLIENT --type u4 1 -o run.state", 1);
    assert!(other.contains("run.state is a paused run, which this command does not replace"), "{other}");
    // Ctrl-C keeps the progress, and the message says so.
    let message = crate::terminal::interrupted(&place, &line.replace("SERVER", &crate::common::key("k/server.key")));
    assert!(message.contains("the progress is kept in run.state: run the same command again"), "{message}");
    assert!(state.exists() && !place.path("x.ct").exists());
    place.run(line);
    assert!(same(&place, "x.ct", "want.ct") && !state.exists());
}
