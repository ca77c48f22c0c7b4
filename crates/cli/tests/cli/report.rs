//! `solinas report`.

use crate::common::Place;

#[test]
fn saved_runs_become_pages() {
    let place = Place::new();
    place.run("paper wang2014-3.1 wang2014-5.1 --save runs.json");
    let first = place.run("report runs.json --out pages");
    assert!(first.contains("index.html: 3 pages"), "{first}");
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let page = read("pages/wang2014-5.1.html");
    assert!(page.contains("<svg") && page.contains("<caption>") && page.contains("solinas paper"), "{page}");
    // A page of an earlier report is replaced by the same bytes.
    place.run("report runs.json --out pages --json");
    assert_eq!(read("pages/wang2014-5.1.html"), page);
    place.run("report --compare runs.json runs.json -o both");
    assert!(read("both/wang2014-3.1.html").contains("second over first: 1.00"));
}

#[test]
fn files_without_runs_are_refused() {
    let place = Place::new();
    place.run("paper wang2014-3.1 --save a.json");
    place.run("paper wang2014-5.1 --save b.json");
    place.write("damaged.json", &std::fs::read(place.path("a.json")).unwrap()[..300]);
    place.write("other.json", "{\"format\": \"solinas-program\"}");
    for (line, code, part) in [
        ("report damaged.json --out r", 1, "damaged.json holds no report: EOF while parsing"),
        ("report other.json --out r", 1, "name a file of `solinas paper --save`"),
        ("report missing.json --out r", 1, "missing.json"),
        ("report --compare a.json --out r", 2, "--compare takes two runs"),
        ("report --compare a.json b.json --out r", 1, "no rows in common"),
        ("report a.json", 2, "--out"),
        ("report a.json --out b.json", 1, "b.json"),
    ] {
        let message = place.fail(line, code);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(!place.path("r").exists());
}
