//! Two runs of a table, side by side.

use crate::{Column, Error, Report, Row, Table};

/// The figures that two runs have in common: each column of a table twice, for the first and the second run. A note has the ratio of the second to the
/// first figure of the first column.
///
/// # Errors
/// [`Error::NotComparable`] if the runs have no row in common.
pub fn compare(first: &[Report], second: &[Report]) -> Result<Vec<Report>, Error> {
    let named = |name: &str| second.iter().find(|report| report.name == name);
    let compared: Vec<_> = first.iter().filter_map(|report| side_by_side(report, named(&report.name)?)).collect();
    if compared.is_empty() { Err(Error::NotComparable) } else { Ok(compared) }
}

fn side_by_side(first: &Report, second: &Report) -> Option<Report> {
    let tables: Vec<_> = first.tables.iter().filter_map(|table| both(table, &second.tables)).collect();
    if tables.is_empty() {
        return None;
    }
    let run = |report: &Report| {
        format!("{}, {}, version {}, {}", report.command, report.machine, report.version, report.date)
    };
    let notes = vec![format!("First run: {}.", run(first)), format!("Second run: {}.", run(second))];
    Some(Report {
        title: format!("{}: two runs", first.title),
        quick: first.quick || second.quick,
        tables,
        notes,
        command: format!("{}; {}", first.command, second.command),
        ..second.clone()
    })
}

fn both(first: &Table, others: &[Table]) -> Option<Table> {
    let second = others.iter().find(|other| other.title == first.title && other.columns == first.columns)?;
    let rows: Vec<_> = first
        .rows
        .iter()
        .filter_map(|row| {
            let same = |other: &&Row| other.name == row.name && other.bits == row.bits && other.unit == row.unit;
            Some(pair(row, second.rows.iter().find(same)?))
        })
        .collect();
    let twice = |column: &Column| {
        ["first", "second"].map(|run| Column { name: format!("{}, {run}", column.name), unit: column.unit.clone() })
    };
    (!rows.is_empty()).then(|| Table {
        title: first.title.clone(),
        columns: first.columns.iter().flat_map(twice).collect(),
        rows,
    })
}

fn pair(first: &Row, second: &Row) -> Row {
    let figures = first.cells.first().copied().flatten().zip(second.cells.first().copied().flatten());
    let change = figures.filter(|(first, _)| first.ours != 0.0);
    let change = change.map(|(first, second)| format!("second over first: {:.2}", second.ours / first.ours));
    Row {
        cells: first.cells.iter().zip(&second.cells).flat_map(|(first, second)| [*first, *second]).collect(),
        note: [second.note.clone(), change].into_iter().flatten().reduce(|all, note| format!("{all}; {note}")),
        ratio: None,
        ..second.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Options};

    #[test]
    fn a_run_beside_itself_has_every_figure_twice() {
        let report = crate::run("wang2014-3.1", &Options::default(), &Control::default()).unwrap();
        let run = std::slice::from_ref(&report);
        let both = compare(run, run).unwrap().remove(0);
        assert_eq!(both.tables.len(), report.tables.len());
        for (both, one) in both.tables.iter().zip(&report.tables) {
            assert_eq!((both.columns.len(), both.rows.len()), (2 * one.columns.len(), one.rows.len()));
            assert!(both.rows.iter().all(|row| row.cells.chunks(2).all(|pair| pair[0] == pair[1])));
            assert!(
                both.rows
                    .iter()
                    .any(|row| row.note.as_deref().is_some_and(|note| note.ends_with("second over first: 1.00")))
            );
        }
        assert!(!crate::site(std::slice::from_ref(&both))[0].html.contains("solinas paper wang2014-3.1 "));
        let other = Report { name: "other".into(), ..report.clone() };
        assert!(matches!(compare(run, &[other]), Err(Error::NotComparable)));
    }
}
