//! Completions and manual pages cover every verb and option.

use crate::common::Place;

#[test]
fn completions_know_every_verb_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&format!("completions {shell}"));
        for word in ["keygen", "passphrase-file", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The other two do not complete values.
        assert!(script.contains("sha3-256") || ["elvish", "powershell"].contains(&shell), "{shell}");
    }
    assert!(place.fail("completions tcsh", 2).contains("bash, elvish, fish"));
    for line in ["completions bash --json", "man --json"] {
        let output = place.command(line).assert().code(2);
        assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("no JSON"), "{line}");
    }
}

/// Bash itself reads the script and completes.
#[test]
#[cfg(unix)]
fn bash_completes_verbs_and_values() {
    let place = Place::new();
    place.write("completions", place.run("completions bash"));
    let complete = |words: &str| {
        let last = words.rsplit(' ').next().unwrap();
        let script = format!(
            "source ./completions; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _solinas solinas '{last}' ''; echo ${{COMPREPLY[@]}}"
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["--norc", "-c", &script]).current_dir(place.path("")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("solinas comp"), "completions\n");
    assert_eq!(complete("solinas rsa pass"), "passphrase\n");
    assert_eq!(complete("solinas rsa sign --new"), "\n");
}

#[test]
fn every_verb_has_a_manual_page() {
    let place = Place::new();
    assert_eq!(place.run("man --out pages/man1").trim(), format!("pages/man1: {} pages", pages(&place).len()));
    let names = pages(&place);
    for verb in ["", "-keygen", "-eval", "-rsa", "-rsa-keygen", "-circuit-build", "-completions", "-man"] {
        assert!(names.contains(&format!("solinas{verb}.1")), "{verb}: {names:?}");
    }
    // There is one page for each verb that other pages name.
    for name in &names {
        let text = std::fs::read_to_string(place.path("pages/man1").join(name)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH EXAMPLES"), "{name}");
        let named = text.split("solinas\\-").skip(1).filter_map(|rest| rest.split_once("(1)"));
        for (verb, _) in named.filter(|(verb, _)| verb.len() < 40) {
            let page = format!("solinas-{}.1", verb.replace('\\', ""));
            assert!(names.contains(&page), "{name} names {page}");
        }
    }
    assert!(place.run("man").starts_with(".ie") || place.run("man").contains(".TH solinas"));
    assert!(place.run("man -o pages/man1 --json").contains("solinas-rsa.1"));
}

fn pages(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path("pages/man1")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
