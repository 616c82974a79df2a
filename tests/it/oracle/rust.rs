//! Rust beside syn: each leaf of each `use` that syn sees in the crates that this project is built from is
//! found. More may be found, since syn does not look into macros.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentgate::gate::imports::Language;

use super::Compared;

const MAX_FILES: usize = 600;

#[test]
fn rust_finds_what_syn_sees() {
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(registry()).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.path().extension().is_some_and(|ending| ending == "rs") {
            files.push(entry.into_path());
        }
    }
    // From all crates, not those of one letter.
    let step = files.len().div_ceil(MAX_FILES).max(1);
    let mut compared = Compared::default();
    for path in files.iter().step_by(step) {
        let path = path.to_str().expect("UTF-8");
        let source = std::fs::read_to_string(path).unwrap_or_default();
        let Ok(seen) = syn::parse_file(&source) else {
            continue;
        };
        let mut uses = Uses::default();
        syn::visit::visit_file(&mut uses, &seen);
        // A module or a type of the file itself, or the name it gives a crate, is no other crate.
        let made = |root: &str| {
            ["mod", "enum", "as"]
                .iter()
                .any(|word| source.contains(&format!("{word} {root}")))
        };
        uses.0.retain(|path| !path.split("::").next().is_some_and(made));
        // More may be found: what is in the brackets of a macro.
        compared.file(path, Language::Rust, &uses.0, |import| {
            let path = import.raw.trim_start_matches("::");
            uses.0.contains(path).then(|| path.to_owned())
        });
    }
    compared.agree(200);
}

/// Where cargo unpacks the sources of crates.
fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").expect("HOME")).join(".cargo"));
    home.join("registry/src")
}

/// The leaves of `use` declarations, as the scanner writes them.
#[derive(Default)]
struct Uses(BTreeSet<String>);

impl<'ast> syn::visit::Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut open = vec![(String::new(), &item.tree)];
        while let Some((before, tree)) = open.pop() {
            match tree {
                syn::UseTree::Path(path) => open.push((format!("{before}{}::", path.ident), &path.tree)),
                syn::UseTree::Group(group) => open.extend(group.items.iter().map(|tree| (before.clone(), tree))),
                syn::UseTree::Name(syn::UseName { ident, .. }) | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                    // `self` in a group is what stands before it.
                    let path = format!("{before}{ident}");
                    self.0.insert(path.strip_suffix("::self").unwrap_or(&path).to_owned());
                }
                syn::UseTree::Glob(_) => drop(self.0.insert(format!("{before}*"))),
            }
        }
    }
}
