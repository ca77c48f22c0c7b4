//! Builds the documentation in `docs/` as a site by mdBook, and checks its links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, docs};

/// Pages that mdBook generates. Their links repeat those of other pages, or depend on the address of the site.
const GENERATED: [&str; 3] = ["404.html", "print.html", "toc.html"];

/// Builds the site in `target/book` and checks every link in it.
pub(crate) fn build(root: &Path) -> Outcome {
    let text = |e: std::io::Error| e.to_string();
    let (source, site) = (root.join("target/book-source"), root.join("target/book"));
    if source.exists() {
        fs::remove_dir_all(&source).map_err(text)?;
    }
    stage(root, Path::new("docs"), &source).map_err(text)?;
    let mut mdbook = Command::new("mdbook");
    mdbook.arg("build").arg(&source).arg("--dest-dir").arg(&site);
    match mdbook.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("mdbook: {status}")),
        Err(e) => return Err(format!("cannot run mdbook: {e}; `make book` installs it in target/tools")),
    }
    let mut pages = BTreeMap::new();
    collect(&site, Path::new(""), &mut pages).map_err(text)?;
    let (faults, links) = faults(&site, &pages);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    println!(
        "book: {} pages, {links} links within the site, all resolve: {}",
        pages.len(),
        site.join("index.html").display()
    );
    Ok(())
}

/// Copies a folder of the documentation. The site holds no other files of the repository, so a link that leaves `docs/` becomes its text and the path of its
/// target.
fn stage(root: &Path, folder: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let (path, to) = (folder.join(entry.file_name()), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            stage(root, &path, &to)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            fs::write(to, without_outer_links(folder, &fs::read_to_string(entry.path())?))?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// The page, in which links to files outside `docs/` are replaced.
fn without_outer_links(folder: &Path, page: &str) -> String {
    let mut page = page.to_owned();
    for (_, link) in docs::links(&page.clone()) {
        let target = (!docs::is_external(&link)).then(|| docs::target(folder, &link)).flatten();
        let Some(target) = target.filter(|target| !target.starts_with("docs")) else { continue };
        let marked = format!("]({link})");
        while let Some(end) = page.find(&marked) {
            let Some(begin) = page[..end].rfind('[') else { break };
            let plain = format!("{} (`{}`)", &page[begin + 1..end], target.display());
            page.replace_range(begin..end + marked.len(), &plain);
        }
    }
    page
}

/// Every HTML page below `folder`, by its path in the site.
fn collect(site: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(site.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(site, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// The broken links of the site, and the number of relative links.
fn faults(site: &Path, pages: &BTreeMap<PathBuf, String>) -> (Vec<String>, usize) {
    let anchors: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(page, html)| (page.as_path(), values(html, "id").collect())).collect();
    let (mut faults, mut count) = (Vec::new(), 0);
    for (page, html) in pages.iter().filter(|(page, _)| !GENERATED.iter().any(|name| page.ends_with(name))) {
        for link in values(html, "href").chain(values(html, "src")).filter(|link| !docs::is_external(link)) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { Some(page.clone()) } else { docs::target(page.parent().unwrap_or(site), path) };
            let found = target.filter(|target| site.join(target).is_file());
            let has_anchor = |target: &PathBuf| anchors.get(target.as_path()).is_none_or(|ids| ids.contains(anchor));
            match found {
                None => faults.push(format!("{}: link {link}: the site has no such file", page.display())),
                Some(target) if !anchor.is_empty() && !has_anchor(&target) => {
                    faults.push(format!("{}: link {link}: {} has no #{anchor}", page.display(), target.display()));
                }
                Some(_) => {}
            }
        }
    }
    (faults, count)
}

/// Values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!(" {attribute}=\"");
    let parts: Vec<&str> = html.split(begin.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split_once('"').map(|(value, _)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_the_documentation_become_text() {
        let page = "[a](b.md#c), [the `x`](../../crates/x.rs), [up](../../README.md#y), [web](https://x.y)";
        assert_eq!(
            without_outer_links(Path::new("docs/book"), page),
            "[a](b.md#c), the `x` (`crates/x.rs`), up (`README.md`), [web](https://x.y)"
        );
    }

    #[test]
    fn broken_links_of_the_site_are_named() {
        let site = tempfile::tempdir().unwrap();
        let page = "<h1 id=\"one\"><a href=\"#one\"><a href=\"#two\"><a href=\"sub/b.html#x\"><img src=\"none.svg\">";
        let pages = BTreeMap::from([(PathBuf::from("a.html"), page), (PathBuf::from("sub/b.html"), "<p id=\"y\">")]);
        let pages = pages.into_iter().map(|(path, html)| (path, html.to_owned())).collect::<BTreeMap<_, _>>();
        for (path, html) in &pages {
            fs::create_dir_all(site.path().join(path).parent().unwrap()).unwrap();
            fs::write(site.path().join(path), html).unwrap();
        }
        let (found, count) = faults(site.path(), &pages);
        assert_eq!(count, 4);
        assert_eq!(
            found,
            [
                "a.html: link #two: a.html has no #two",
                "a.html: link sub/b.html#x: sub/b.html has no #x",
                "a.html: link none.svg: the site has no such file",
            ]
        );
    }
}
