//! Python: absolute names from the folders that can be on the path, relative ones by their dots.
//!
//! `from a import b` names a module or an attribute, so a name leads to the deepest module that
//! exists. The roots are the repository's root, `src/`, `lib/`, `python/`, and the same below every
//! folder with a pyproject.toml, setup.py or setup.cfg. Roots above the file go first; where none of
//! them has the name, each other root that has it counts.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Target;
use super::files::{Files, below, follow, parent};
use crate::gate::tree::join;

const PROJECTS: &[&[u8]] = &[b"pyproject.toml", b"setup.py", b"setup.cfg"];
const LAYOUTS: &[&[u8]] = &[b"src", b"lib", b"python"];
/// Projects whose folders count as roots.
const MAX_PROJECTS: usize = 1000;

/// Whether a module beside the file counts for an absolute import: it does for a script that is run
/// from its folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Siblings {
    Count,
    Pass,
}

/// The folders from which names are looked up.
pub(super) struct Roots {
    all: Vec<Vec<u8>>,
    /// Which of them have a first name, of the names that were asked for: most have none, and a
    /// repository may hold hundreds of projects.
    having: HashMap<String, Rc<Vec<Vec<u8>>>>,
}

impl Roots {
    fn having(&mut self, files: &Files, first: &str) -> Rc<Vec<Vec<u8>>> {
        if let Some(known) = self.having.get(first) {
            return known.clone();
        }
        let has = |root: &&Vec<u8>| {
            deepest(files, root, &[first]).0.is_some() || {
                let folder = follow(root, first.as_bytes()).filter(|folder| folder.len() > root.len());
                folder.is_some_and(|folder| files.folder(&folder).is_some())
            }
        };
        let found: Rc<Vec<Vec<u8>>> = Rc::new(self.all.iter().filter(has).cloned().collect());
        self.having.insert(first.to_owned(), found.clone());
        found
    }
}

/// The folders from which names are looked up, found once.
pub(super) fn roots<'k>(files: &Files, known: &'k mut Option<Roots>) -> &'k mut Roots {
    known.get_or_insert_with(|| {
        let mut folders = vec![Vec::new()];
        let projects = PROJECTS.iter().flat_map(|name| files.named(name));
        folders.extend(projects.take(MAX_PROJECTS).map(|path| parent(path).to_vec()));
        let mut seen = HashSet::new();
        let mut roots = Vec::new();
        for folder in folders {
            for root in LAYOUTS
                .iter()
                .map(|layout| join(&folder, layout))
                .chain([folder.clone()])
            {
                if files.folder(&root).is_some() && seen.insert(root.clone()) {
                    roots.push(root);
                }
            }
        }
        Roots {
            all: roots,
            having: HashMap::new(),
        }
    })
}

/// Where a path leads whose text the file at `from` runs: from the working folder, which is most often the file's own
/// or the top. What lies at neither is somewhere else.
pub(super) fn executed(files: &Files, raw: &str, from: &[u8]) -> Target {
    let found = [parent(from), b""]
        .into_iter()
        .filter_map(|folder| files.file(&follow(folder, raw.as_bytes())?))
        .collect();
    Target::all(found)
}

/// Where a name leads that the file at `from` imports.
pub(super) fn resolve(files: &Files, roots: &mut Roots, raw: &str, from: &[u8], siblings: Siblings) -> Target {
    let dots = raw.len() - raw.trim_start_matches('.').len();
    let names: Vec<&str> = raw[dots..].split('.').filter(|name| !name.is_empty()).collect();
    if dots > 0 {
        return relative(files, &names, dots, from);
    }
    let roots = roots.having(files, names.first().copied().unwrap_or_default());
    let mut above: Vec<&Vec<u8>> = roots.iter().filter(|root| below(from, root).is_some()).collect();
    above.sort_by_key(|root| std::cmp::Reverse(root.len()));
    let mut found: Vec<Vec<u8>> = above
        .into_iter()
        .filter_map(|root| absolute(files, root, &names))
        .collect();
    if siblings == Siblings::Count
        && files.file(&join(parent(from), b"__init__.py")).is_none()
        && let Some(beside) = absolute(files, parent(from), &names)
    {
        found.push(beside);
    }
    if found.is_empty() {
        found.extend(roots.iter().filter_map(|root| absolute(files, root, &names)));
    }
    Target::all(found)
}

/// Whether the file's own project has the name as what Python takes before an installed package: a
/// module, or a folder with `__init__.py`. A folder without that file comes last of all, stubs are not
/// run, and the folders of other projects need not be on the path.
pub(super) fn goes_first(files: &Files, roots: &Roots, first: &str, from: &[u8]) -> bool {
    roots.all.iter().any(|root| {
        let is_layout = LAYOUTS.contains(&root.rsplit(|&byte| byte == b'/').next().unwrap_or_default());
        let project = if is_layout { parent(root) } else { root };
        let path = join(root, first.as_bytes());
        (below(from, root).is_some() || below(from, project).is_some())
            && (files.file(&join(&path, b"__init__.py")).is_some()
                || files.file(&[&path[..], b".py"].concat()).is_some())
    })
}

fn relative(files: &Files, names: &[&str], dots: usize, from: &[u8]) -> Target {
    let mut folder = parent(from);
    for _ in 1..dots {
        if folder.is_empty() {
            return Target::unresolved("it leads out of the repository");
        }
        folder = parent(folder);
    }
    let (found, depth) = deepest(files, folder, names);
    match (found, depth) {
        (Some(found), _) => Target::one(found),
        // A name of the package itself.
        (None, _) if names.len() <= 1 => match files.folder(folder) {
            Some(folder) => Target::one(package(files, &folder)),
            None => Target::unresolved("no such package"),
        },
        (None, _) => Target::unresolved("no such module"),
    }
}

/// The module below a root; none where the root does not have the first name as a module.
fn absolute(files: &Files, root: &[u8], names: &[&str]) -> Option<Vec<u8>> {
    deepest(files, root, names).0
}

/// The deepest module that the names lead to, and how many of them lead there. A folder without a
/// module of its own (a namespace package) only counts with a module further down.
fn deepest(files: &Files, folder: &[u8], names: &[&str]) -> (Option<Vec<u8>>, usize) {
    let mut at = folder.to_vec();
    let mut best = (None, 0);
    for (depth, name) in names.iter().enumerate() {
        let Some(next) = follow(&at, name.as_bytes()).filter(|next| next.len() > at.len()) else {
            break;
        };
        if let Some(folder) = files.folder(&next) {
            let is_whole = files.file(&join(&folder, b"__init__.py")).is_some()
                || files.file(&join(&folder, b"__init__.pyi")).is_some();
            // Without that file the folder has no names but its modules.
            if is_whole || depth + 1 == names.len() && files.has_modules(&folder) {
                best = (Some(package(files, &folder)), depth + 1);
            }
            // A module beside a folder of its name: the package goes first.
            else if let Some(module) = module(files, &next) {
                best = (Some(module), depth + 1);
            }
            at = folder;
        } else {
            if let Some(module) = module(files, &next) {
                best = (Some(module), depth + 1);
            }
            break;
        }
    }
    best
}

fn module(files: &Files, path: &[u8]) -> Option<Vec<u8>> {
    [".py", ".pyi", ".pyx", ".pyw"]
        .iter()
        .find_map(|ending| files.file(&[path, ending.as_bytes()].concat()))
}

/// What a package is loaded from.
fn package(files: &Files, folder: &[u8]) -> Vec<u8> {
    [&b"__init__.py"[..], b"__init__.pyi"]
        .iter()
        .find_map(|name| files.file(&join(folder, name)))
        .unwrap_or_else(|| folder.to_vec())
}
