//! Checks that the modules of a crate do not import each other in a circle. So each crate has an order in which a reader meets every module after those
//! that it uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{Visit, visit_item_mod, visit_path};

use crate::Outcome;

/// Imports that run against the order: crate, module, and the module that it imports. Do not add to this list.
const KNOWN: [(&str, &str, &str); 14] = [
    ("bigint", "modular", "division"),
    ("bigint", "natural", "division"),
    ("bigint", "natural", "mul"),
    ("circuits", "error", "program"),
    ("circuits", "limits", "program"),
    ("circuits", "netlist", "program"),
    ("cli", "error", "output"),
    ("field", "kernels", "fft"),
    ("field", "kernels", "torus"),
    ("formats", "header", "error"),
    ("formats", "new_file", "pair"),
    ("solinas", "array", "operand"),
    ("solinas", "encrypted", "operand"),
    ("solinas", "keys", "server"),
];

/// For each module the modules that it imports, and a file that does so.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

pub(crate) fn check(root: &Path) -> Outcome {
    let mut faults = Vec::new();
    let mut count = 0;
    let crates = fs::read_dir(root.join("crates")).map_err(|e| format!("cannot list crates: {e}"))?;
    let mut crates: Vec<_> = crates.filter_map(|entry| Some(entry.ok()?.path())).collect();
    crates.sort();
    for folder in crates {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut imports = imports(&folder.join("src")).map_err(|e| format!("{name}: {e}"))?;
        count += imports.values().map(BTreeMap::len).sum::<usize>();
        for (_, from, to) in KNOWN.into_iter().filter(|(known, ..)| *known == name) {
            if imports.get_mut(from).and_then(|of_module| of_module.remove(to)).is_none() {
                faults
                    .push(format!("{name}: {from} imports {to} no more; take it off the list in xtask/src/modules.rs"));
            }
        }
        faults.extend(circle(&imports).map(|circle| format!("{name}: {circle}")));
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    println!("deps: {count} imports between the modules of a crate, none in a circle but {}", KNOWN.len());
    Ok(())
}

/// The imports between the modules of a source folder.
fn imports(source: &Path) -> Result<Imports, String> {
    let top = ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().find(|path| path.exists());
    let top = parse(&top.ok_or("there is neither lib.rs nor main.rs")?)?;
    let modules: BTreeSet<String> = top.items.iter().filter_map(module).collect();
    let mut exports = Paths::default();
    exports.visit_file(&top);
    // The module behind each name that the crate's root exports.
    let exports: BTreeMap<String, String> = exports
        .0
        .into_iter()
        .filter(|path| modules.contains(&path[0]))
        .filter_map(|path| Some((path.last()?.clone(), path.first()?.clone())))
        .collect();
    let mut imports = Imports::new();
    for module in &modules {
        let of_module = imports.entry(module.clone()).or_default();
        for file in files(source, module) {
            let mut paths = Paths::default();
            paths.visit_file(&parse(&file)?);
            for path in paths.0.iter().filter(|path| path[0] == "crate") {
                let Some(name) = path.get(1) else { continue };
                let target = if modules.contains(name) { Some(name) } else { exports.get(name) };
                if let Some(target) = target.filter(|target| *target != module) {
                    let place = file.strip_prefix(source).unwrap_or(&file).display().to_string();
                    of_module.entry(target.clone()).or_insert(place);
                }
            }
        }
    }
    Ok(imports)
}

/// The name of a module that has a file.
fn module(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Mod(item) if item.content.is_none() => Some(item.ident.to_string()),
        _ => None,
    }
}

/// The files of a module, without its tests.
fn files(source: &Path, module: &str) -> Vec<std::path::PathBuf> {
    let mut files = vec![source.join(module).with_extension("rs")];
    let mut folders = vec![source.join(module)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            match path.file_stem().is_some_and(|stem| stem == "tests") {
                true => {}
                false if path.is_dir() => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs") && path.exists());
    files.sort();
    files
}

fn parse(path: &Path) -> Result<syn::File, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The paths that a file names, without those of its tests.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl Paths {
    /// Adds the paths of a `use`.
    fn add(&mut self, before: &[String], tree: &syn::UseTree) {
        let path = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(tree) => self.add(&path(&tree.ident), &tree.tree),
            syn::UseTree::Name(tree) => self.0.push(path(&tree.ident)),
            syn::UseTree::Rename(tree) => self.0.push(path(&tree.ident)),
            syn::UseTree::Glob(_) => self.0.push(before.to_vec()),
            syn::UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.add(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit_item_mod(self, item);
        }
    }
}

/// A circle of imports, as text, if there is one.
fn circle(imports: &Imports) -> Option<String> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|start| walk(imports, start, &mut Vec::new(), &mut done))
}

fn walk<'a>(
    imports: &'a Imports,
    module: &'a str,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<String> {
    if let Some(at) = path.iter().position(|&before| before == module) {
        let step = |pair: &[&str]| format!("{} imports {} ({})", pair[0], pair[1], imports[pair[0]][pair[1]]);
        let circle: Vec<&str> = path[at..].iter().copied().chain([module]).collect();
        let steps: Vec<String> = circle.windows(2).map(step).collect();
        return Some(format!("modules in a circle: {}; move what both need to a module below them", steps.join(", ")));
    }
    if done.contains(module) {
        return None;
    }
    path.push(module);
    let found = imports.get(module).into_iter().flat_map(BTreeMap::keys).find_map(|to| walk(imports, to, path, done));
    path.pop();
    done.insert(module);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The imports of a crate with these files.
    fn of_files(files: &[(&str, &str)]) -> Imports {
        let source = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = source.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        imports(source.path()).unwrap()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod a; mod b; mod c; pub use b::{B, Other as Name}; pub(crate) use c::C;");

    #[test]
    fn imports_are_found_in_folders_expressions_and_behind_exports() {
        let found = of_files(&[
            ROOT,
            ("a/mod.rs", "mod deep; fn f() -> u8 { crate::c::f(1) }"),
            ("a/deep.rs", "use crate::{B, a::f};"),
            ("b.rs", "#[cfg(test)] mod tests { use crate::a::f; }"),
            ("c.rs", "pub fn f(x: u8) -> u8 { x }"),
        ]);
        let of = |module: &str| found[module].keys().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((of("a"), of("b"), of("c")), (vec!["b", "c"], vec![], vec![]));
        assert_eq!(circle(&found), None);
    }

    #[test]
    fn a_circle_names_its_files() {
        let found =
            of_files(&[ROOT, ("a.rs", "use crate::B;"), ("b/mod.rs", "use crate::C;"), ("c.rs", "use crate::a::f;")]);
        let text = circle(&found).unwrap();
        assert!(text.contains("a imports b (a.rs), b imports c (b/mod.rs), c imports a (c.rs)"), "{text}");
    }
}
