//! The package graph of one tree: which area imports which, and what the policy says to it.
//!
//! It judges nothing: the same resolution and the same reading of `may_depend_on` as the rule, over
//! the whole tree in one pass. A file that lies in several areas counts in each of them.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::imports::{self, Import, ImportKind, Language};
use super::policy::Area;
use super::resolve::{Resolver, Target};
use super::rules::graph::{Spread, is_test_beside, may, module_of_main, owners, shares_names};
use super::{GateError, Kind, Oid, Policy, Tree, Unreadable};

/// Examples that are kept of each edge and of each list.
const MAX_EXAMPLES: usize = 3;
/// Source files above this many bytes are not read.
const MAX_SOURCE: u64 = 10 * 1024 * 1024;
/// A script without an ending is read for its first line up to this size.
const MAX_SCRIPT: u64 = 1024 * 1024;

/// What the policy says to an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// The list of the importing area names it.
    Allowed,
    /// The importing area has a list that does not name it.
    Forbidden,
    /// The importing area has no list.
    Free,
}

impl Standing {
    /// As reports name it.
    pub const fn word(self) -> &'static str {
        match self {
            Standing::Allowed => "allowed",
            Standing::Forbidden => "forbidden",
            Standing::Free => "free",
        }
    }
}

/// One import that makes an edge, or one that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The importing file, as git's bytes.
    pub path: Vec<u8>,
    /// 1-based line.
    pub line: u32,
    /// The import as written.
    pub import: String,
    /// The imported path as git's bytes, or why there is none.
    pub leads_to: Vec<u8>,
}

/// How often something was found, with the first few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count<T> {
    /// How many there are.
    pub total: usize,
    /// The first of them, in the order of paths.
    pub first: Vec<T>,
}

impl<T> Default for Count<T> {
    fn default() -> Self {
        Count {
            total: 0,
            first: Vec::new(),
        }
    }
}

impl<T> Count<T> {
    fn add(&mut self, example: impl FnOnce() -> T) {
        self.total += 1;
        if self.first.len() < MAX_EXAMPLES {
            self.first.push(example());
        }
    }
}

/// One area of the policy that has roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Regular files below its roots.
    pub files: usize,
    /// `may_depend_on` as written; `None`: no list.
    pub may_depend_on: Option<Vec<String>>,
}

/// Imports from one area into another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The importing area's name.
    pub from: String,
    /// The imported area's name.
    pub to: String,
    /// What the policy says.
    pub standing: Standing,
    /// The imports.
    pub imports: Count<Example>,
}

/// The graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// In the order of the policy.
    pub areas: Vec<Node>,
    /// Edges that imports make, sorted by name.
    pub edges: Vec<Edge>,
    /// Edges that are allowed and that no import uses, from and to.
    pub unused: Vec<(String, String)>,
    /// Imports of the repository's own that lead to no path.
    pub unresolved: Count<Example>,
    /// Imports with a computed argument.
    pub computed: usize,
    /// Regular files that lie in no area; their imports were not read.
    pub outside: Count<Vec<u8>>,
    /// Source files of areas whose imports cannot be read, with the reason.
    pub unreadable: Count<(Vec<u8>, String)>,
    /// Source files of areas in languages whose imports this version does not read.
    pub unread: Count<Vec<u8>>,
    /// Source files whose imports were read.
    pub sources: usize,
    /// The tree has too many entries to be indexed: nothing was resolved.
    pub too_large: bool,
}

/// The graph of a tree, by the policy that lies in it.
pub fn of(tree: &dyn Tree) -> Result<Graph, GateError> {
    let policy = Policy::of(tree)?;
    Ok(build(&policy, tree)?)
}

fn build(policy: &Policy, tree: &dyn Tree) -> Result<Graph, Unreadable> {
    let mut graph = Graph {
        areas: policy
            .areas
            .iter()
            .filter(|area| !area.allowed_roots.is_empty())
            .map(|area| Node {
                name: area.name.clone(),
                files: 0,
                may_depend_on: area.may_depend_on.clone(),
            })
            .collect(),
        ..Graph::default()
    };
    let mut resolver = Resolver::of(tree);
    let files: Vec<(Vec<u8>, Kind, Oid)> = resolver
        .files()?
        .regular()
        .into_iter()
        .map(|(path, kind, id)| (path.to_vec(), kind, id))
        .collect();
    graph.too_large = !resolver.files()?.is_whole();
    let mut owners = Owners {
        policy,
        known: HashMap::new(),
    };
    let mut edges: BTreeMap<(&str, &str, Standing), Count<Example>> = BTreeMap::new();
    let mut spreads: HashMap<(Language, String, Option<Vec<u8>>), Spread> = HashMap::new();
    for (path, kind, id) in files {
        let areas = owners.of(&path);
        if areas.is_empty() {
            graph.outside.add(|| path.clone());
            continue;
        }
        for node in &mut graph.areas {
            node.files += usize::from(areas.iter().any(|area| area.name == node.name));
        }
        let Some((language, found)) = read(tree, &path, kind, &id, &mut graph)? else {
            continue;
        };
        graph.sources += 1;
        for import in found {
            if import.kind == ImportKind::Opaque {
                graph.computed += 1;
                continue;
            }
            let example = |leads_to: &[u8]| Example {
                path: path.clone(),
                line: import.line,
                import: import.raw.clone(),
                leads_to: leads_to.to_vec(),
            };
            if import.kind == ImportKind::Declared && shares_names(language) {
                let key = (language, import.raw.clone(), module_of_main(&path).map(<[u8]>::to_vec));
                if !spreads.contains_key(&key) {
                    let mut files = resolver.declaring(language, &import.raw)?;
                    files.retain(|path| !is_test_beside(key.2.as_deref(), path));
                    spreads.insert(key.clone(), Spread::of(policy, files));
                }
                let Some(spread) = spreads.get(&key) else { continue };
                for area in areas.iter() {
                    for (to, standing, place) in joined(area, spread.homes(policy, area, &path)) {
                        let count = edges.entry((&area.name, &to.name, standing)).or_default();
                        count.add(|| example(place));
                    }
                }
                continue;
            }
            let within = resolver.within(language, &import)?;
            for asked in std::iter::once(&import).chain(&within) {
                match resolver.resolve(language, asked, &path)? {
                    Target::External => {}
                    Target::Unresolved(_) if matches!(asked.kind, ImportKind::Relative | ImportKind::Text) => {}
                    Target::Unresolved(why) => graph.unresolved.add(|| example(why.as_bytes())),
                    Target::Local(places) => {
                        for area in areas.iter() {
                            // As in the rule: each condition of a package.json's `imports` by itself.
                            let size = if asked.raw.starts_with('#') { 1 } else { places.len() };
                            for places in places.chunks(size) {
                                for (to, standing, place) in edges_of(&mut owners, area, places) {
                                    let count = edges.entry((&area.name, &to.name, standing)).or_default();
                                    count.add(|| example(place));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    graph.edges = edges
        .into_iter()
        .map(|((from, to, standing), imports)| Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            standing,
            imports,
        })
        .collect();
    for area in &policy.areas {
        for to in area.may_depend_on.iter().flatten() {
            let is_used = graph.edges.iter().any(|edge| edge.from == area.name && edge.to == *to);
            if !is_used {
                graph.unused.push((area.name.clone(), to.clone()));
            }
        }
    }
    Ok(graph)
}

/// The areas of each path: files are imported many times, and a glob takes its time.
struct Owners<'p> {
    policy: &'p Policy,
    known: HashMap<Vec<u8>, Rc<Vec<&'p Area>>>,
}

impl<'p> Owners<'p> {
    fn of(&mut self, path: &[u8]) -> Rc<Vec<&'p Area>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let found: Rc<Vec<&Area>> = Rc::new(owners(self.policy, path).collect());
        self.known.insert(path.to_vec(), found.clone());
        found
    }
}

/// The imports of a file; none where it is no source that is read, which is counted.
fn read(
    tree: &dyn Tree,
    path: &[u8],
    kind: Kind,
    id: &Oid,
    graph: &mut Graph,
) -> Result<Option<(Language, Vec<Import>)>, Unreadable> {
    if imports::unread(path).is_some() {
        graph.unread.add(|| path.to_vec());
        return Ok(None);
    }
    let named = imports::language(path);
    let may_be_script = kind == Kind::Executable && !path.rsplit(|&b| b == b'/').next().unwrap_or(path).contains(&b'.');
    if named.is_none() && !may_be_script {
        return Ok(None);
    }
    let size = tree.blob_size(id)?;
    if size > if named.is_some() { MAX_SOURCE } else { MAX_SCRIPT } {
        if named.is_some() {
            graph.unreadable.add(|| (path.to_vec(), format!("{size} bytes")));
        }
        return Ok(None);
    }
    let content = tree.blob(id)?;
    let Some(language) = imports::language_of(path, &content) else {
        return Ok(None);
    };
    match imports::imports_at(path, language, &content) {
        Ok(found) => Ok(Some((language, found))),
        Err(opaque) => {
            graph.unreadable.add(|| (path.to_vec(), opaque.why));
            Ok(None)
        }
    }
}

/// The edges that a file of `area` makes by the package that it puts itself into.
fn joined<'p, 'v>(area: &Area, homes: Vec<(&'v [u8], &'p Area)>) -> Vec<(&'p Area, Standing, &'v [u8])> {
    let Some(allowed) = area.may_depend_on.as_deref() else {
        return homes
            .first()
            .map(|(place, to)| (*to, Standing::Free, *place))
            .into_iter()
            .collect();
    };
    let named = homes.iter().find(|(_, to)| may(area, allowed, to));
    let standing = match named {
        Some(_) => Standing::Allowed,
        None => Standing::Forbidden,
    };
    let home = named.or(homes.first());
    home.map(|(place, to)| (*to, standing, *place)).into_iter().collect()
}

/// The edges that an import of `area` makes: one to each area that it names of those that have the
/// path, else one to each that has it; none where the path is the area's own or nobody's.
fn edges_of<'p, 'v>(known: &mut Owners<'p>, area: &Area, places: &'v [Vec<u8>]) -> Vec<(&'p Area, Standing, &'v [u8])> {
    let mut all = Vec::new();
    for place in places {
        let owners = known.of(place);
        if owners.is_empty() || owners.iter().any(|owner| owner.name == area.name) {
            return Vec::new();
        }
        all.push((place.as_slice(), owners));
    }
    let edges = |standing: Standing, owners: &[&'p Area], place: &'v [u8]| -> Vec<(&'p Area, Standing, &'v [u8])> {
        owners.iter().map(|owner| (*owner, standing, place)).collect()
    };
    let Some(allowed) = area.may_depend_on.as_deref() else {
        return all
            .first()
            .map(|(place, owners)| edges(Standing::Free, owners, place))
            .unwrap_or_default();
    };
    for (place, owners) in &all {
        let named: Vec<&Area> = owners
            .iter()
            .copied()
            .filter(|owner| may(area, allowed, owner))
            .collect();
        if !named.is_empty() {
            return edges(Standing::Allowed, &named, place);
        }
    }
    all.first()
        .map(|(place, owners)| edges(Standing::Forbidden, owners, place))
        .unwrap_or_default()
}
