use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The same code path on the smallest sets: 4 bits measured, 6 predicted.
fn tiny() -> Config {
    Config {
        gates: "gates-40",
        integers: "integers-40",
        widths: vec![4, 6],
        measured_to: 4,
        repeat: Duration::ZERO,
        insecure_seed: Some(7),
        ..Config::new(&Options { quick: true, threads: Some(2), ..Options::default() })
    }
}

#[test]
fn a_tiny_run_measures_checks_and_prints_every_row() {
    let (last, total) = (AtomicU64::new(0), AtomicU64::new(0));
    let progress = |progress: crate::Progress| {
        assert!(progress.done <= progress.total);
        last.fetch_max(progress.done, Ordering::Relaxed);
        total.store(progress.total, Ordering::Relaxed);
    };
    let report = run(&tiny(), &Control { progress: Some(&progress), cancel: None }).unwrap();
    assert!(total.load(Ordering::Relaxed) > 0 && last.load(Ordering::Relaxed) > 0);

    let [paper, add, mul] = report.tables.as_slice() else { panic!("{} tables", report.tables.len()) };
    assert_eq!(paper.rows.len(), 4 + 4 * 2);
    assert_eq!([add.rows.len(), mul.rows.len()], [2 * 5; 2]);
    for table in &report.tables {
        for row in &table.rows {
            assert_eq!(row.cells.len(), table.columns.len());
            assert!(row.cells.iter().flatten().all(|cell| cell.ours.is_finite()));
        }
    }
    // Bootstraps and depth of 4-bit additions, counted by hand: 3 full adders and 2 half gates each.
    let counts = |row: &Row| [row.cells[0].unwrap().ours, row.cells[1].unwrap().ours];
    let [serial, oh, ripple] = [0, 1, 2].map(|row| counts(&add.rows[row]));
    assert_eq!([serial, oh, ripple], [[14.0, 6.0], [12.0, 4.0], [7.0, 4.0]]);
    for row in add.rows.iter().chain(&mul.rows) {
        let basis = if row.bits == Some(4) { Basis::Measured } else { Basis::Predicted };
        assert!(row.cells[2..4].iter().flatten().all(|cell| cell.basis == basis), "{}", row.name);
        assert_eq!(row.cells[4].unwrap().basis, Basis::Predicted);
        assert_eq!(row.cells[5].is_none(), row.name.contains("radix"));
    }

    let text = report.to_string();
    let markdown = report.to_markdown();
    for row in report.tables.iter().flat_map(|table| &table.rows) {
        assert!(text.contains(&row.name) && markdown.contains(&row.name));
    }
    assert!(text.contains('~') && !text.contains("NaN"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oh2018.json");
    report.save(&path).unwrap();
    let read: Report = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(read, report);
    report.save(&path).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let error = report.save(&folder.path().join("none/oh2018.json")).unwrap_err();
    assert!(error.to_string().contains("none/oh2018.json"), "{error}");
}

#[test]
fn a_run_can_be_cancelled() {
    let cancel = AtomicBool::new(true);
    let result = run(&tiny(), &Control { progress: None, cancel: Some(&cancel) });
    let Err(Error::Engine(error)) = result else { panic!("not cancelled") };
    assert!(matches!(*error, solinas_engine::Error::Cancelled));
}

#[test]
fn a_report_that_cannot_be_saved_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().into(), folder.path().join("none/oh2018.json")] {
        let options = Options { save: Some(path), ..Default::default() };
        assert!(matches!(crate::run("oh2018", &options, &Control::default()), Err(Error::Save { .. })));
    }
}

#[test]
fn an_unknown_table_names_those_there_are() {
    let error = crate::run("oh2019", &Options::default(), &Control::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no table \"oh2019\"; choose one of wang2014-3.1, wang2014-4.1, wang2014-4.2, wang2014-4.3, wang2014-5.1, wang2014-5.3, wang2014-6.1, wang2014-6.4, \
         wang2014-6.5, wang2014-7.1, wang2014-7.2, wang2014-7.3, rohloff2014-1, rohloff2014-2, rohloff2014-3, \
         rohloff2014-4, rohloff2014-5, rohloff2014-6, rohloff2014-7, wang2015-2, wang2015-3, wang2015-4, wang2015-5, wang2015-6, wang2015-7, doroz2015-3, doroz2015-4, \
         doroz2015-5, doroz2015-6, oh2018"
    );
}

#[test]
fn bootstraps_of_the_papers_circuits_are_those_of_its_sections() {
    let bootstraps = |op, circuit| {
        let case = Case::new(op, circuit, 64).unwrap();
        [case.fronts.iter().sum::<u64>(), case.fronts.len() as u64]
    };
    // XOR, XOR and MUX a bit, but 2 gates at the lowest bit and no carry out of the highest.
    assert_eq!(bootstraps(Op::Add, Circuit::Oh2018), [4 * 62 + 2 + 2, 64]);
    assert_eq!(bootstraps(Op::Add, Circuit::Serial), [5 * 62 + 2 + 2, 126]);
    assert_eq!(bootstraps(Op::Mul, Circuit::Oh2018), [9893, 65]);
    assert_eq!(bootstraps(Op::Mul, Circuit::Serial), [11784, 248]);
}
