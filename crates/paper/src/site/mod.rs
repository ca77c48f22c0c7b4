//! Reports as a site: HTML files that a browser opens from the disk, without JavaScript and without a network.
//!
//! The same reports give the same bytes.

mod chart;
mod html;

use crate::text::{figure, grid, is_word};
use crate::{Report, Table};
use html::{Html, page};
use std::collections::HashSet;

/// A file of the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Name of the file.
    pub name: String,
    /// Its text.
    pub html: String,
}

/// The files of the site: `index.html`, and one for each report.
#[must_use]
pub fn site(reports: &[Report]) -> Vec<Page> {
    let mut taken = HashSet::from(["index".to_owned()]);
    let names: Vec<String> = reports
        .iter()
        .map(|report| {
            let again = (2..).map(|count| format!("{}_{count}", report.name));
            let mut names = std::iter::once(report.name.clone()).chain(again);
            // Some systems take capital letters for small ones.
            let name = names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default();
            format!("{name}.html")
        })
        .collect();
    let mut pages = vec![Page { name: "index.html".into(), html: index(reports, &names) }];
    pages.extend(reports.iter().zip(names).map(|(report, name)| Page { name, html: of_report(report) }));
    pages
}

/// The page that lists the reports, and the tables without one.
fn index(reports: &[Report], names: &[String]) -> String {
    let mut html = Html::default();
    html.element("h1", "Published tables beside our figures");
    html.raw("<div class=\"wide\"><table><caption>Reports</caption><thead><tr>");
    for heading in ["table", "paper", "machine", "version", "measured"] {
        html.raw("<th scope=\"col\">").text(heading).raw("</th>");
    }
    html.raw("</tr></thead><tbody>");
    for (report, name) in reports.iter().zip(names) {
        html.raw("<tr><th scope=\"row\"><a href=\"").text(name).raw("\">").text(&report.name).raw("</a></th>");
        let machine = report.machine.to_string();
        for cell in [&report.title, &machine, &report.version, &report.date] {
            html.element("td", cell);
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    let missing: Vec<_> =
        crate::list().into_iter().filter(|entry| reports.iter().all(|report| report.name != entry.name)).collect();
    if !missing.is_empty() {
        html.element("h2", "Not measured in these runs").raw("<ul>\n");
        for entry in missing {
            html.raw("<li>").text(entry.name).text(": ").text(entry.summary).text(". ");
            html.element("code", &format!("solinas paper {} --save {}.json", entry.name, entry.name)).raw("</li>\n");
        }
        html.raw("</ul>\n");
    }
    page("Reports", &html)
}

fn of_report(report: &Report) -> String {
    let mut html = Html::default();
    html.raw("<nav><a href=\"index.html\">All reports</a></nav>\n");
    html.element("h1", &format!("{}: {}", report.name, report.title)).raw("<dl>\n");
    for (name, value) in report.header() {
        html.element("dt", name).element("dd", &value);
    }
    html.raw("</dl>\n");
    if report.quick {
        html.element(
            "p",
            "This run measured only figures that take less than a minute (--quick), and predicted the others.",
        );
    }
    for table in &report.tables {
        html.element("h2", &table.title);
        chart::draw(&mut html, table);
        of_table(&mut html, table);
    }
    let notes = report.legend().into_iter().chain(report.notes.iter().map(String::as_str));
    html.raw("<ul class=\"notes\">\n");
    for note in notes {
        html.element("li", note);
    }
    html.raw("</ul>\n");
    page(&report.name, &html)
}

fn of_table(html: &mut Html, table: &Table) {
    let grid = grid(table);
    let first = 1 + usize::from(table.rows.iter().any(|row| row.bits.is_some()));
    let class = |column: usize| if is_word(&grid[0][column]) { "word" } else { "figure" };
    html.raw("<div class=\"wide\"><table>").element("caption", &table.title).raw("<thead><tr>");
    for (column, heading) in grid[0].iter().enumerate() {
        let heading = if heading.is_empty() { "quantity" } else { heading };
        html.raw(&format!("<th scope=\"col\" class=\"{}\">", class(column))).text(heading).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for (line, row) in grid[1..].iter().zip(&table.rows) {
        html.raw("<tr><th scope=\"row\">").text(&line[0]).raw("</th>");
        for (column, text) in line.iter().enumerate().skip(1) {
            html.raw(&format!("<td class=\"{}\">", class(column))).text(text);
            let cell = column.checked_sub(first).and_then(|column| row.cells.get(column).copied().flatten());
            if let Some([least, most]) = cell.and_then(|cell| cell.spread) {
                html.raw(" ").element("small", &format!("{} to {}", figure(least), figure(most)));
            }
            html.raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Control, Options};
    use proptest::prelude::*;
    use std::path::Path;
    use std::sync::LazyLock;

    /// A report of counts. Making one takes seconds.
    static COUNTS: LazyLock<Report> =
        LazyLock::new(|| crate::run("wang2014-3.1", &Options::default(), &Control::default()).unwrap());

    fn counts() -> Report {
        COUNTS.clone()
    }

    #[test]
    fn a_saved_report_becomes_two_pages_of_the_same_bytes_each_time() {
        let report = counts();
        let text = serde_json::to_string(&report).unwrap();
        let read_back = Report::read(Path::new("run.json"), &text).unwrap();
        assert_eq!(read_back.as_slice(), std::slice::from_ref(&report));
        let pages = site(&read_back);
        assert_eq!(pages, site(&[report]));
        let names: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, ["index.html", "wang2014-3.1.html"]);
        assert!(pages[0].html.contains("href=\"wang2014-3.1.html\"") && pages[0].html.contains("solinas paper oh2018"));
        assert!(pages.iter().all(|page| page.html.len() < 300_000 && !page.html.contains("<script")));
    }

    #[test]
    fn the_runs_of_a_figure_are_a_line_through_its_dot_and_a_range_in_the_table() {
        let mut report = counts();
        let row = &mut report.tables[0].rows[0];
        let whole = |report: Report| site(&[report]).remove(1).html;
        assert!(!whole(counts()).contains("spread\""), "counts have no runs");
        row.paper = Some(3.0);
        row.cells[0] = Some(Cell { spread: Some([10.0, 1000.0]), ..Cell::measured(20.0) });
        let html = whole(report);
        assert_eq!(html.matches("spread\"").count(), 1);
        assert!(html.contains(": 20.0 ") && html.contains("; 10.0 to 1000 in all runs</title>"));
        assert!(html.contains(">20.0 <small>10.0 to 1000</small>"), "the table has the ends of the line");
    }

    #[test]
    fn a_target_is_a_line_and_a_missed_one_is_marked_in_chart_and_table() {
        let with_target = |target| {
            let mut report = counts();
            report.tables[0].rows[0].cells[0] = Some(Cell::measured(20.0).with_target(target));
            site(&[report]).remove(1).html
        };
        let count = |html: &str, part: &str| html.matches(part).count();
        let (none, met, missed) = (with_target(None), with_target(Some(20.0)), with_target(Some(19.9)));
        for (html, lines, crosses) in [(&none, 0, 0), (&met, 1, 0), (&missed, 1, 1)] {
            assert_eq!(count(html, "<path class=\"target\""), lines);
            assert_eq!(count(html, "l8 8m0-8l-8 8\""), crosses);
            assert_eq!(count(html, ", missed</title>"), crosses);
            assert_eq!(count(html, "a line across a row is a target"), lines);
        }
        assert!(met.contains(">20.0 (target 20.0)</td>") && missed.contains(">20.0 (target 19.9, missed)</td>"));
        assert_eq!(missed, with_target(Some(19.9)));
    }

    #[test]
    fn a_figure_with_a_target_alone_has_a_chart() {
        let chart = |target| {
            let mut report = counts();
            report.tables.truncate(1);
            report.tables[0].rows.truncate(1);
            let row = &mut report.tables[0].rows[0];
            row.paper = None;
            row.cells.fill(None);
            row.cells[0] = Some(Cell::measured(20.0).with_target(target));
            site(&[report]).remove(1).html.contains("<figure>")
        };
        assert!(chart(Some(3.0)) && !chart(None));
    }

    #[test]
    fn two_reports_of_one_name_have_two_files() {
        let report = counts();
        let named = ["wang2014-3.1", "WANG2014-3.1", "index", "wang2014-3.1", "wang2014-3.1_2"];
        let reports = named.map(|name| Report { name: name.into(), ..report.clone() });
        let names: Vec<_> = site(&reports).into_iter().map(|page| page.name).collect();
        let wanted = ["index", "wang2014-3.1", "WANG2014-3.1_2", "index_2", "wang2014-3.1_3", "wang2014-3.1_2_2"];
        assert_eq!(names, wanted.map(|name| format!("{name}.html")));
    }

    /// Figures that JSON has.
    const FIGURES: prop::num::f64::Any = prop::num::f64::NORMAL;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// A run may come from elsewhere. Its texts stay texts, and every figure is drawn or left out.
        #[test]
        fn any_text_and_any_figure_make_a_page(text in "[ -~\\n]{0,40}", figures in [FIGURES, FIGURES]) {
            let mut report = counts();
            let text = format!("<x {text}");
            report.title.clone_from(&text);
            report.notes.push(text.clone());
            let table = &mut report.tables[0];
            table.title.clone_from(&text);
            table.rows[0].name.clone_from(&text);
            table.rows[0].unit = Some(text);
            table.rows[0].paper = Some(figures[0]);
            if let Some(cell) = &mut table.rows[0].cells[0] {
                cell.ours = figures[1];
                cell.spread = Some(figures);
                cell.target = Some(figures[0]);
            }
            for page in site(&[report]) {
                prop_assert!(!page.html.contains("<x ") && !page.html.contains("NaN") && !page.html.contains("\"inf"));
            }
        }
    }

    #[test]
    fn texts_of_a_run_do_not_become_elements() {
        let mut report = counts();
        let text = "<script>alert(1)</script>\"'&";
        report.title = text.into();
        report.machine.cpu = text.into();
        report.tables[0].title = text.into();
        report.tables[0].rows[0].name = text.into();
        report.tables[0].columns[0].name = text.into();
        for page in site(&[report]) {
            assert!(!page.html.contains("<script") && page.html.contains("&lt;script&gt;"), "{}", page.name);
        }
    }
}
