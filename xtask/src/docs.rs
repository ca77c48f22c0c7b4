//! Checks that links in Markdown files resolve. Every page of `docs/` must be reachable from a README, and listed in the site's table of contents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Outcome;

/// Pages from which readers begin.
const ENTRANCES: [&str; 2] = ["README.md", "docs/README.md"];
/// Table of contents of the site.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Folders that contain no pages of this project.
const SKIPPED: [&str; 4] = ["target", "node_modules", "__pycache__", "corpus"];

pub(crate) fn check(root: &Path) -> Outcome {
    let mut pages = BTreeMap::new();
    collect(root, Path::new(""), &mut pages).map_err(|e| format!("cannot read the pages: {e}"))?;
    let (faults, links) = faults(root, &pages);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    println!("docs: {} pages, {links} relative links, all resolve", pages.len());
    Ok(())
}

/// Every Markdown file below `folder`, by its path from the root.
fn collect(root: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(root, &path, pages)?;
        } else if name.ends_with(".md") {
            pages.insert(path, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// The broken links and unreachable pages, and the number of relative links.
fn faults(root: &Path, pages: &BTreeMap<PathBuf, String>) -> (Vec<String>, usize) {
    let mut faults = Vec::new();
    let mut leads_to: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
    let mut count = 0;
    for (page, text) in pages {
        // A merge was committed before it was resolved.
        for (line, _) in
            (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "))
        {
            faults.push(format!("{}:{line}: a conflict marker", page.display()));
        }
        for (line, path) in code_paths(text) {
            if !stands_for_a_file(root, page, &path) {
                faults.push(format!("{}:{line}: there is no file {path}", page.display()));
            }
        }
        if page == Path::new(ARCHITECTURE) {
            let missing = functions(text).into_iter().filter(|(_, name, files)| !is_defined(root, name, files));
            faults.extend(missing.map(|(line, name, files)| {
                format!("{}:{line}: {} has no function {name}", page.display(), files.join(" "))
            }));
        }
        for (line, link) in links(text) {
            if is_external(&link) {
                continue;
            }
            count += 1;
            match resolve(root, pages, page, &link) {
                Ok(target) => leads_to.entry(page).or_default().push(target),
                Err(why) => faults.push(format!("{}:{line}: link {link}: {why}", page.display())),
            }
        }
    }
    for page in pages.keys().filter(|page| page.starts_with("docs") && *page != Path::new(SUMMARY)) {
        let entries = leads_to.get(Path::new(SUMMARY)).into_iter().flatten().filter(|to| *to == page).count();
        if entries != 1 {
            faults.push(format!("{}: {SUMMARY} has {entries} entries for this page, not one", page.display()));
        }
    }
    let mut reached = BTreeSet::from([PathBuf::from(SUMMARY)]);
    let mut next: Vec<PathBuf> = ENTRANCES.iter().map(PathBuf::from).filter(|page| pages.contains_key(page)).collect();
    while let Some(page) = next.pop() {
        next.extend(leads_to.get(page.as_path()).into_iter().flatten().filter(|to| !reached.contains(*to)).cloned());
        reached.insert(page);
    }
    for page in pages.keys().filter(|page| page.starts_with("docs") && !reached.contains(*page)) {
        faults.push(format!("{}: no link leads here from {}", page.display(), ENTRANCES.join(" or ")));
    }
    (faults, count)
}

/// Folders whose paths in code are checked.
const FOLDERS: [&str; 11] =
    ["bench", "crates", "cuda", "deploy", "docs", "examples", "fuzz", "python", "rtl", "tools", "xtask"];
/// Folders that programs make.
const MADE: [&str; 2] = ["fuzz/artifacts/", "fuzz/corpus/"];
/// The page whose paths omit `crates/` and `src/`.
const ARCHITECTURE: &str = "docs/architecture.md";

/// Code that is the path of a file or a folder, with its line. Names in capitals stand for others.
fn code_paths(text: &str) -> Vec<(usize, String)> {
    let is_path = |code: &&str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
        let folder = code.split('/').next().unwrap_or_default();
        !MADE.contains(code)
            && code.contains('/')
            && code.chars().all(plain)
            && (FOLDERS.contains(&folder) || code.ends_with(".rs"))
    };
    // If a line is split at backquotes, every second part is code.
    let spans = |(number, line): (usize, &str)| {
        line.split('`').skip(1).step_by(2).filter(is_path).map(|code| (number, code.to_owned())).collect::<Vec<_>>()
    };
    prose(text).flat_map(spans).collect()
}

/// Whether a path in code exists, from the root or from the folder of its page.
fn stands_for_a_file(root: &Path, page: &Path, path: &str) -> bool {
    if page != Path::new(ARCHITECTURE) && !FOLDERS.contains(&path.split('/').next().unwrap_or_default()) {
        // Pages on a crate omit its folder.
        return true;
    }
    let beside = page.parent().unwrap_or(Path::new("")).join(path);
    let of_crate = path.split_once('/').map(|(name, rest)| Path::new("crates").join(name).join("src").join(rest));
    let of_table = ["values", "engine"].map(|name| Path::new("crates").join(name).join("src").join(path));
    let short = of_crate.into_iter().chain(of_table).filter(|_| page == Path::new(ARCHITECTURE));
    [PathBuf::from(path), beside].into_iter().chain(short).any(|path| root.join(path).exists())
}

/// The functions that a row of a table names, with the files of its last cell: those of a walk through the code.
fn functions(text: &str) -> Vec<(usize, String, Vec<String>)> {
    let code = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let of_row = |(line, row): (usize, &str)| {
        let cells: Vec<&str> = row.strip_prefix('|')?.trim_end().strip_suffix('|')?.split('|').collect();
        let (last, before) = cells.split_last()?;
        let files: Vec<String> = code(last).iter().flat_map(|path| each_of(path)).collect();
        if files.is_empty() || !files.iter().all(|file| file.ends_with(".rs") || file.ends_with(".py")) {
            return None;
        }
        let named = before.iter().flat_map(|cell| code(cell));
        let names = named.filter_map(|code| code.rsplit("::").next().filter(|name| is_name(name)).map(str::to_owned));
        Some(names.map(|name| (line, name, files.clone())).collect::<Vec<_>>())
    };
    prose(text).filter_map(of_row).flatten().collect()
}

/// The paths of `a/{b,c}.rs`.
fn each_of(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (names, after))) => names.split(',').map(|name| format!("{before}{name}{after}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// Whether one of the files defines a function. Paths may omit `crates/` and `src/`.
fn is_defined(root: &Path, name: &str, files: &[String]) -> bool {
    let defines = |text: &str| {
        let starts = |keyword: &str| {
            let definition = format!("{keyword} {name}");
            text.split(&definition).skip(1).any(|rest| rest.starts_with(['(', '<']))
        };
        starts("fn") || starts("def")
    };
    files.iter().any(|file| {
        let of_crate = file.split_once('/').map(|(name, rest)| Path::new("crates").join(name).join("src").join(rest));
        let paths = [Some(PathBuf::from(file)), of_crate];
        paths.iter().flatten().any(|path| fs::read_to_string(root.join(path)).is_ok_and(|text| defines(&text)))
    })
}

pub(crate) fn is_external(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// The page or file that a link on `page` leads to.
fn resolve(root: &Path, pages: &BTreeMap<PathBuf, String>, page: &Path, link: &str) -> Result<PathBuf, String> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let mut target = match path {
        "" => page.to_path_buf(),
        _ => target(page.parent().unwrap_or(Path::new("")), path).ok_or("it leads out of the repository")?,
    };
    if !root.join(&target).exists() {
        return Err(format!("there is no {}", target.display()));
    }
    if root.join(&target).is_dir() && pages.contains_key(&target.join("README.md")) {
        target.push("README.md");
    }
    if let (Some(anchor), Some(text)) = (anchor, pages.get(&target))
        && !headings(text).any(|heading| heading == anchor)
    {
        return Err(format!("{} has no heading #{anchor}", target.display()));
    }
    Ok(target)
}

/// The path of a link from a page in `folder`, without its anchor; `None` if it leads above the root.
pub(crate) fn target(folder: &Path, link: &str) -> Option<PathBuf> {
    let path = link.split_once('#').map_or(link, |(path, _)| path);
    let mut target = PathBuf::new();
    for part in folder.join(path.replace("%20", " ")).components() {
        match part {
            Component::Normal(name) => target.push(name),
            Component::CurDir => {}
            Component::ParentDir if target.pop() => {}
            _ => return None,
        }
    }
    Some(target)
}

/// Lines outside fenced code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        (!fenced && !fence).then_some((number, line))
    })
}

/// Targets of `[text](target)`, `![text](target)` and `[name]: target`, with their lines.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // If a line is split at backquotes, every second part is code.
        let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
        let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
        for target in inline.chain(definition) {
            // A title may follow the target.
            let target = target.split_whitespace().next().unwrap_or_default();
            found.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    found
}

/// Anchors of the headings: in lower case, with dashes for spaces and without other punctuation. Repeated anchors get `-1`, `-2`, ...
fn headings(text: &str) -> impl Iterator<Item = String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let titles =
        prose(text).filter(|(_, line)| line.starts_with('#')).map(|(_, line)| line.trim_start_matches('#').trim());
    titles.map(move |title| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let dashed = |c| if c == ' ' { '-' } else { c };
        let anchor: String = title.to_lowercase().chars().filter(kept).map(dashed).collect();
        let times = seen.entry(anchor.clone()).or_default();
        *times += 1;
        if *times == 1 { anchor } else { format!("{anchor}-{}", *times - 1) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut pages = BTreeMap::new();
        collect(dir.path(), Path::new(""), &mut pages).unwrap();
        faults(dir.path(), &pages).0
    }

    #[test]
    fn whole_sites_pass() {
        let faults = faults_of(&[
            ("README.md", "# A\n[docs](docs/) [self](#a) [web](https://x.y/z) ![p](p.svg \"picture\")\n"),
            ("p.svg", ""),
            ("docs/README.md", "[a](a.md#the-2nd-part) `[code](nowhere)`\n```\n[code](nowhere)\n```\n"),
            ("docs/SUMMARY.md", "[x](README.md)\n- [a](a.md)\n  - [b](sub/b.md)\n"),
            ("docs/a.md", "## The 2nd, part!\n[b]\n\n[b]: sub/b.md\n"),
            ("docs/sub/b.md", "[up](../../README.md)"),
            ("target/x.md", "[broken](nowhere)"),
        ]);
        assert!(faults.is_empty(), "{faults:?}");
    }

    #[test]
    fn broken_links_and_lonely_pages_are_named() {
        let faults = faults_of(&[
            ("README.md", "x\n[a](b.md)\n[a](#none)\n[a](../out.md)\n[a](docs/a.md#none)\n[a](docs/a.md#one-1)"),
            ("docs/a.md", "# One\n# One\n"),
            ("docs/lonely.md", "[me](lonely.md)"),
            ("docs/SUMMARY.md", "[a](a.md)\n[a](a.md)\n[lonely](lonely.md)"),
            (
                "docs/architecture.md",
                "[a](a.md) `api/one.rs` `api/two.rs` `docs/a.md` `docs/NAME.md` `tools/x.py` `and/or`\n\
                 | a | `go`, then `One::stop` and `Step::Add` | `api/{one,three}.rs` |\n",
            ),
            ("crates/api/src/one.rs", "fn go() {}\nfn stopped() {}\n"),
        ]);
        assert_eq!(
            faults,
            [
                "README.md:2: link b.md: there is no b.md",
                "README.md:3: link #none: README.md has no heading #none",
                "README.md:4: link ../out.md: it leads out of the repository",
                "README.md:5: link docs/a.md#none: docs/a.md has no heading #none",
                "docs/architecture.md:1: there is no file api/two.rs",
                "docs/architecture.md:1: there is no file tools/x.py",
                "docs/architecture.md:2: api/one.rs api/three.rs has no function stop",
                "docs/a.md: docs/SUMMARY.md has 2 entries for this page, not one",
                "docs/architecture.md: docs/SUMMARY.md has 0 entries for this page, not one",
                "docs/architecture.md: no link leads here from README.md or docs/README.md",
                "docs/lonely.md: no link leads here from README.md or docs/README.md",
            ]
        );
    }
}
