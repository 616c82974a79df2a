//! Paths of JavaScript, Ruby, PHP and C that lead to what git does not have: through a link into `node_modules`,
//! or over the top of the repository.
//!
//! Invariant: such a path names no own module. Behind a folder of other people's packages it names the
//! package there. Elsewhere nothing tells where a package's name begins, so each part of what is left of the
//! path counts as the beginning of one: a false alarm is better than a way around. A folder stands for what its
//! package.json names as its entry, wherever it lies.

use std::collections::{HashMap, VecDeque};

use super::Resolvers;
use crate::gate::imports::{
    self, Import, ImportKind, Language, VENDORED, include_identity, javascript_identity, percent_decoded, vendored,
};
use crate::gate::manifests::MAX_MANIFEST;
use crate::gate::resolve::{Target, follow};
use crate::gate::tree::{Oid, Side, join, lookup, parent};
use crate::gate::{Kind, Tree, Unreadable};

/// Links followed, and components walked, before a path is given up, as Linux does.
const MAX_LINKS: usize = 40;
const MAX_STEPS: usize = 1000;
/// A target longer than Linux's PATH_MAX cannot be followed.
const MAX_TARGET: u64 = 4096;
/// The last parts of a path outside that may begin a package's name.
const MAX_PARTS: usize = 32;

/// The walks of one tree, each folder walked once.
pub(super) struct Outside<'a> {
    tree: &'a dyn Tree,
    folders: HashMap<Vec<u8>, Spot>,
}

/// Where a path leads after all links are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Spot {
    /// A folder, with whether a link led there.
    Folder { path: Vec<u8>, id: Oid, linked: bool },
    /// Something else of the repository, or nothing that a link has to do with.
    Inside { path: Vec<u8>, linked: bool },
    /// Out of what git has: the path as far as it is known.
    Out(Vec<u8>),
}

impl<'a> Outside<'a> {
    pub(super) fn of(tree: &'a dyn Tree) -> Outside<'a> {
        Outside {
            tree,
            folders: HashMap::new(),
        }
    }

    /// The packages that the relative and absolute imports of a file may load, by their text as written. To a page an
    /// absolute path is one of its site, never of the machine.
    pub(super) fn leads(
        &mut self,
        found: &[Import],
        from: &[u8],
        own: &mut Resolvers,
        leads: &mut HashMap<String, Vec<Import>>,
    ) -> Result<(), Unreadable> {
        for import in found {
            let raw = import.raw.as_str();
            if import.kind == ImportKind::Opaque || !raw.starts_with(['.', '/']) || leads.contains_key(raw) {
                continue;
            }
            if raw.starts_with('/')
                && (imports::is_template(from)
                    || imports::is_page(from)
                    || matches!(
                        own.candidate.resolve(Language::JavaScript, import, from)?,
                        Target::Local(_)
                    ))
            {
                continue;
            }
            let path = raw.split(['?', '#']).next().unwrap_or(raw);
            // To `require` a path is a path; to `import` it is a URL.
            let url = percent_decoded(path).replace('\\', "/");
            let mut paths = self.packages(path.as_bytes(), from)?;
            if url != path {
                paths.extend(self.packages(url.as_bytes(), from)?);
            }
            lead(import, paths, javascript_identity, leads);
        }
        Ok(())
    }

    /// As [`leads`](Self::leads), for the paths of Ruby, PHP and C.
    pub(super) fn paths(
        &mut self,
        language: Language,
        found: &[Import],
        from: &[u8],
        leads: &mut HashMap<String, Vec<Import>>,
    ) -> Result<(), Unreadable> {
        for import in found {
            let raw = import.raw.as_str();
            let Some(path) = path_of(language, import).filter(|_| !leads.contains_key(raw)) else {
                continue;
            };
            let path = path.replace('\\', "/");
            lead(import, self.packages(path.as_bytes(), from)?, named, leads);
        }
        Ok(())
    }

    /// Each package as a path into `node_modules`.
    fn packages(&mut self, path: &[u8], from: &[u8]) -> Result<Vec<String>, Unreadable> {
        let folder = match self.folder(parent(from))? {
            Spot::Folder { path, .. } => path,
            Spot::Inside { .. } | Spot::Out(_) => return Ok(Vec::new()),
        };
        if path.starts_with(b"/") {
            return Ok(match self.is_below_a_root(path, &folder)? {
                true => Vec::new(),
                false => parts(path),
            });
        }
        let Some(path) = follow(&folder, path) else {
            return Ok(parts(after_dots(path)));
        };
        let spot = self.module(&path)?;
        Ok(match spot {
            Spot::Out(path) => parts(&path),
            Spot::Folder { path, linked: true, .. } | Spot::Inside { path, linked: true } if is_copy(&path) => {
                vec![format!("./{}", String::from_utf8_lossy(&path))]
            }
            Spot::Folder { path, .. } => self.entries(&path)?,
            Spot::Inside { .. } => Vec::new(),
        })
    }

    /// The packages that the package.json of a folder names as what an import of the folder loads.
    fn entries(&mut self, folder: &[u8]) -> Result<Vec<String>, Unreadable> {
        let path = join(folder, b"package.json");
        let Some(entry) = lookup(self.tree, &path)?.filter(|entry| matches!(entry.kind, Kind::File | Kind::Executable))
        else {
            return Ok(Vec::new());
        };
        if self.tree.blob_size(&entry.id)? > MAX_MANIFEST {
            return Ok(Vec::new());
        }
        // What cannot be read is a finding where it changes.
        let found = imports::imports_at(&path, Language::JavaScript, &self.tree.blob(&entry.id)?).unwrap_or_default();
        let mut all = Vec::new();
        for import in found.iter().filter(|import| import.kind != ImportKind::TypeOnly) {
            if !import.identity.is_empty() {
                all.push(format!("./node_modules/{}", import.identity.join("/")));
            } else if follow(folder, import.raw.as_bytes()).is_none() {
                all.extend(parts(after_dots(import.raw.as_bytes())));
            }
        }
        Ok(all)
    }

    /// Bundlers take `/x` for a path below the top of the repository, of the site or of its `public` folder.
    fn is_below_a_root(&mut self, path: &[u8], folder: &[u8]) -> Result<bool, Unreadable> {
        let first = path.split(|&byte| byte == b'/').find(|part| !part.is_empty());
        let Some(first) = first else { return Ok(true) };
        let mut folder = folder;
        loop {
            for root in [folder.to_vec(), join(folder, b"public")] {
                if lookup(self.tree, &join(&root, first))?.is_some() {
                    return Ok(true);
                }
            }
            if folder.is_empty() {
                return Ok(false);
            }
            folder = parent(folder);
        }
    }

    /// What a module path leads to, where its ending may be left out and be that of a link.
    fn module(&mut self, path: &[u8]) -> Result<Spot, Unreadable> {
        let folder = match self.folder(parent(path))? {
            Spot::Folder { path, id, linked } => (path, id, linked),
            Spot::Out(folder) => return Ok(Spot::Out(join(&folder, name(path)))),
            inside => return Ok(inside),
        };
        let (real, id, linked) = folder;
        let last = name(path);
        let stem = last
            .iter()
            .rposition(|&byte| byte == b'.')
            .map_or(last, |dot| &last[..dot]);
        let begins = |name: &[u8], stem: &[u8]| {
            !stem.is_empty() && name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(b"."))
        };
        let mut found = Spot::Inside {
            path: join(&real, last),
            linked,
        };
        for entry in self.tree.folder(&id)?.items() {
            let is_it = entry.name == last;
            if entry.kind == Kind::Symlink && (is_it || begins(entry.name, last) || begins(entry.name, stem)) {
                let spot = walk(self.tree, &join(&real, entry.name))?;
                match spot {
                    Spot::Out(_) => return Ok(spot),
                    spot if is_it => found = spot,
                    Spot::Inside { ref path, .. } if is_copy(path) => found = spot,
                    _ => {}
                }
            } else if is_it && entry.kind == Kind::Tree {
                found = Spot::Folder {
                    path: join(&real, last),
                    id: entry.id(),
                    linked,
                };
            }
        }
        // A folder is its index file, which may be a link as well.
        if let Spot::Folder { path, id, .. } = &found {
            for entry in self.tree.folder(id)?.items() {
                if entry.kind == Kind::Symlink && entry.name.starts_with(b"index.") {
                    let spot = walk(self.tree, &join(path, entry.name))?;
                    match spot {
                        Spot::Out(_) => return Ok(spot),
                        Spot::Inside { ref path, .. } if is_copy(path) => return Ok(spot),
                        _ => {}
                    }
                }
            }
        }
        Ok(found)
    }

    fn folder(&mut self, path: &[u8]) -> Result<Spot, Unreadable> {
        if let Some(known) = self.folders.get(path) {
            return Ok(known.clone());
        }
        let spot = walk(self.tree, path)?;
        self.folders.insert(path.to_vec(), spot.clone());
        Ok(spot)
    }
}

/// The path from the file's folder that an import names, if it is one.
fn path_of(language: Language, import: &Import) -> Option<&str> {
    let raw = import.raw.as_str();
    match (language, import.kind) {
        (_, ImportKind::Opaque) => None,
        (Language::C, _) => {
            let path = raw.trim_matches(['"', '<', '>']);
            (raw.starts_with('"') || path.starts_with(['.', '/']) || path.contains("/../")).then_some(path)
        }
        // What stands behind `__DIR__` begins with a slash.
        (Language::Php, ImportKind::Include) => (!raw.contains("://")).then(|| raw.trim_start_matches('/')),
        (Language::Ruby, _) => {
            let is_path = raw.starts_with(['.', '/']) || import.identity.is_empty() && !raw.starts_with('~');
            is_path.then_some(raw)
        }
        _ => None,
    }
}

/// The segments of what [`Outside::packages`] gives, without the ending of a file.
fn named(path: &str) -> Vec<String> {
    include_identity(&vendored(path).unwrap_or_default().join("/"))
}

/// Walks a path of the tree, without `.` and `..` in it, through links.
fn walk(tree: &dyn Tree, path: &[u8]) -> Result<Spot, Unreadable> {
    let mut todo: VecDeque<Vec<u8>> = split(path).map(<[u8]>::to_vec).collect();
    let mut at: Vec<Vec<u8>> = Vec::new();
    let mut here = Side {
        kind: Kind::Tree,
        id: tree.root(),
    };
    let (mut links, mut linked) = (0, false);
    let rest = |at: &[Vec<u8>], todo: &VecDeque<Vec<u8>>| {
        let all: Vec<&[u8]> = at.iter().chain(todo).map(Vec::as_slice).collect();
        all.join(&b'/')
    };
    for _ in 0..MAX_STEPS {
        let Some(part) = todo.pop_front() else {
            let path = at.join(&b'/');
            return Ok(match here.kind {
                Kind::Tree => Spot::Folder {
                    path,
                    id: here.id,
                    linked,
                },
                _ => Spot::Inside { path, linked },
            });
        };
        if part == b".." {
            if at.pop().is_none() {
                return Ok(Spot::Out(rest(&at, &todo)));
            }
        } else {
            at.push(part);
        }
        let entry = match at.is_empty() {
            true => Some((Kind::Tree, tree.root())),
            false => lookup(tree, &at.join(&b'/'))?.map(|entry| (entry.kind, entry.id)),
        };
        let Some((kind, id)) = entry else {
            let path = rest(&at, &todo);
            return Ok(match linked {
                // Behind a link is what git does not have.
                true => Spot::Out(path),
                false => Spot::Inside { path, linked },
            });
        };
        here = Side { kind, id };
        if kind != Kind::Symlink {
            continue;
        }
        (links, linked) = (links + 1, true);
        if links > MAX_LINKS || tree.blob_size(&id)? > MAX_TARGET {
            return Ok(Spot::Out(rest(&at, &todo)));
        }
        let target = tree.blob(&id)?;
        if target.starts_with(b"/") {
            at = vec![target];
            return Ok(Spot::Out(rest(&at, &todo)));
        }
        at.pop();
        for part in split(&target).collect::<Vec<_>>().into_iter().rev() {
            todo.push_front(part.to_vec());
        }
        // An empty target leads nowhere; else what comes first is looked up next.
        here = Side {
            kind: Kind::Tree,
            id: tree.root(),
        };
    }
    Ok(Spot::Out(rest(&at, &todo)))
}

/// The parts of a path, those that lead nowhere left out.
fn split(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
}

fn after_dots(path: &[u8]) -> &[u8] {
    let mut left = path;
    while let Some(rest) = ["../", "./", "/"]
        .iter()
        .find_map(|head| left.strip_prefix(head.as_bytes()))
    {
        left = rest;
    }
    left
}

/// What a path outside may name: the package behind the last folder of packages, else each part on.
fn parts(path: &[u8]) -> Vec<String> {
    if is_copy(path) {
        return vec![format!("./{}", String::from_utf8_lossy(path))];
    }
    let mut all: Vec<&[u8]> = Vec::new();
    for part in split(path) {
        match part {
            b".." => {
                all.pop();
            }
            _ => all.push(part),
        }
    }
    let first = all.len().saturating_sub(MAX_PARTS);
    (first..all.len())
        .map(|at| format!("./node_modules/{}", String::from_utf8_lossy(&all[at..].join(&b'/'))))
        .collect()
}

/// Whether a folder of other people's packages is on the way, and something behind it.
fn is_copy(path: &[u8]) -> bool {
    parent(path)
        .split(|&byte| byte == b'/')
        .any(|part| VENDORED.iter().any(|known| part.eq_ignore_ascii_case(known.as_bytes())))
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Notes which packages an import loads by these paths, where that is another than it seems.
fn lead(
    import: &Import,
    paths: Vec<String>,
    identity: impl Fn(&str) -> Vec<String>,
    leads: &mut HashMap<String, Vec<Import>>,
) {
    let all: Vec<Import> = paths
        .into_iter()
        .map(|path| Import {
            identity: identity(&path),
            raw: path,
            ..import.clone()
        })
        .filter(|lead| !lead.identity.is_empty() && lead.identity != import.identity)
        .collect();
    if !all.is_empty() {
        leads.insert(import.raw.clone(), all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_each_part_may_begin_a_package() {
        assert_eq!(
            parts(b"lib/redis.js"),
            ["./node_modules/lib/redis.js", "./node_modules/redis.js"]
        );
        assert_eq!(parts(b"/x/../redis"), ["./node_modules/redis"]);
        assert_eq!(parts(b"a/node_modules/redis/i.js"), ["./a/node_modules/redis/i.js"]);
        assert_eq!(parts(after_dots(b".././../redis")), ["./node_modules/redis"]);
        assert_eq!(parts(&b"a/".repeat(1000)).len(), MAX_PARTS);
        assert!(parts(after_dots(b"../..")).is_empty());
    }

    #[test]
    fn paths_of_other_languages_are_told_from_names() {
        let path = |language, raw: &str, kind| {
            let import = Import {
                raw: raw.to_owned(),
                kind,
                ..crate::gate::imports::named(language, "x")
            };
            path_of(language, &import).map(str::to_owned)
        };
        let include = ImportKind::Include;
        assert_eq!(path(Language::C, "\"../x.h\"", include).as_deref(), Some("../x.h"));
        assert_eq!(path(Language::C, "<../x.h>", include).as_deref(), Some("../x.h"));
        assert_eq!(path(Language::C, "<x/y.h>", include), None);
        assert_eq!(path(Language::Php, "/../x.php", include).as_deref(), Some("../x.php"));
        assert_eq!(path(Language::Php, "A\\B", ImportKind::Static), None);
        assert_eq!(
            path(Language::Ruby, "../x", ImportKind::Require).as_deref(),
            Some("../x")
        );
        assert_eq!(path(Language::Ruby, "x/y", ImportKind::Require), None);
        assert_eq!(named("./node_modules/redis/client.rb"), ["redis", "client"]);
    }

    #[test]
    fn a_path_is_followed_as_far_as_the_top() {
        assert_eq!(follow(b"a/b", b"../c/./d"), Some(b"a/c/d".to_vec()));
        assert_eq!(follow(b"a", b"../../c"), None);
    }
}
