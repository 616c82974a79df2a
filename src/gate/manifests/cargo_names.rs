//! The names by which the code of a Cargo package calls the crates that it depends on.

use std::collections::{BTreeSet, HashMap};

use toml_edit::{DocumentMut, Item, TableLike};

use super::cargo::{SECTIONS, table};

/// From the name in code to the crates that it may be; both with `_`.
pub type Renames = HashMap<String, Vec<String>>;

/// What one Cargo.toml says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// `cache = { package = "redis" }` of any table of the package.
    pub renamed: Renames,
    /// `cache = { workspace = true }`: what the workspace says of it holds.
    pub inherited: Vec<String>,
    /// The renames of `[workspace.dependencies]`.
    pub workspace: Renames,
    /// `package.workspace`: the folder of the workspace, where it is not one around the package.
    pub workspace_folder: Option<String>,
    /// Every name in code of a dependency, and of the package's own library.
    pub declared: Vec<String>,
    /// From the name in code to the folder that it lies in, of the package and of the workspace.
    pub folders: Vec<(String, String)>,
    /// It was read: without, nothing is known of its names.
    pub is_read: bool,
}

impl Names {
    /// Each name in code with each thing that says what crate it is, but for its version.
    pub fn leads(&self) -> BTreeSet<(String, String)> {
        let renames = self.renamed.iter().chain(&self.workspace);
        let renames = renames.flat_map(|(name, crates)| crates.iter().map(|krate| (name.clone(), krate.clone())));
        let inherited = self.inherited.iter().map(|name| (name.clone(), String::new()));
        renames.chain(inherited).chain(self.folders.iter().cloned()).collect()
    }
}

/// Reads a Cargo.toml. One that does not parse says nothing: Cargo does not take it either.
pub(super) fn names(text: &str) -> Names {
    let mut names = Names::default();
    let Ok(document) = text.parse::<DocumentMut>() else {
        return names;
    };
    names.is_read = true;
    let root = document.as_table();
    for home in ["package", "lib"] {
        let name = table(root.get(home)).and_then(|home| home.get("name"));
        names.declared.extend(name.and_then(Item::as_str).map(in_code));
    }
    sections(root, &mut names);
    for (_, target) in table(root.get("target")).into_iter().flat_map(|t| t.iter()) {
        if let Some(target) = target.as_table_like() {
            sections(target, &mut names);
        }
    }
    if let Some(shared) = table(root.get("workspace")).and_then(|workspace| table(workspace.get("dependencies"))) {
        for (key, spec) in shared.iter() {
            rename(key, spec, &mut names.workspace);
            folder(key, spec, &mut names.folders);
        }
    }
    names.workspace_folder = table(root.get("package"))
        .and_then(|package| package.get("workspace"))
        .and_then(Item::as_str)
        .map(str::to_owned);
    names
}

fn sections(parent: &dyn TableLike, names: &mut Names) {
    for (key, spec) in SECTIONS
        .iter()
        .filter_map(|section| table(parent.get(section)))
        .flat_map(|section| section.iter())
    {
        names.declared.push(in_code(key));
        rename(key, spec, &mut names.renamed);
        folder(key, spec, &mut names.folders);
        let shared = table(Some(spec)).and_then(|spec| spec.get("workspace"));
        if shared.and_then(Item::as_bool) == Some(true) {
            names.inherited.push(in_code(key));
        }
    }
}

fn rename(key: &str, spec: &Item, renames: &mut Renames) {
    let package = table(Some(spec)).and_then(|spec| spec.get("package"));
    if let Some(package) = package.and_then(Item::as_str) {
        renames.entry(in_code(key)).or_default().push(in_code(package));
    }
}

fn folder(key: &str, spec: &Item, folders: &mut Vec<(String, String)>) {
    let path = table(Some(spec)).and_then(|spec| spec.get("path"));
    folders.extend(path.and_then(Item::as_str).map(|path| (in_code(key), path.to_owned())));
}

/// Code writes `_` where the manifest may write `-`.
fn in_code(name: &str) -> String {
    name.replace('-', "_")
}
