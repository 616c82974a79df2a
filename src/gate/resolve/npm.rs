//! package.json: packages of a workspace by name, `exports`, `imports`.
//!
//! A package.json with a name is not enough (a test's fixture may be called `redis`): the package
//! belongs to a workspace (`workspaces` of package.json, `packages` of pnpm-workspace.yaml or
//! lerna.json), or the importing file lies in it, or the importing package names its folder as a
//! dependency (`file:`, `link:`, `portal:`).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::files::{Files, below, follow, name as file_name, parent, upward};
use crate::gate::tree::{Tree, Unreadable, join};
use crate::gate::yaml;
use crate::paths::PathRule;

/// package.json files that are read for their names.
const MAX_PACKAGES: usize = 20_000;
/// Values looked at in one `exports` or `imports`.
const MAX_VALUES: usize = 10_000;

/// A folder and its package.json.
type Package = (Vec<u8>, Rc<Value>);
/// The patterns of a workspace: whether one takes in or out, and what it matches.
type Patterns = Vec<(bool, PathRule)>;

/// What the tree's package.json files say, each read once.
#[derive(Default)]
pub(super) struct Packages {
    manifests: HashMap<Vec<u8>, Option<Rc<Value>>>,
    members: Option<HashMap<String, Vec<Vec<u8>>>>,
}

impl Packages {
    /// The package.json of a folder.
    pub(super) fn manifest(&mut self, files: &Files, folder: &[u8]) -> Result<Option<Rc<Value>>, Unreadable> {
        if let Some(known) = self.manifests.get(folder) {
            return Ok(known.clone());
        }
        let text = files.text(&join(folder, b"package.json"))?;
        let value = text
            .and_then(|text| serde_json::from_str(&text).ok())
            .filter(Value::is_object)
            .map(Rc::new);
        self.manifests.insert(folder.to_vec(), value.clone());
        Ok(value)
    }

    /// The nearest package.json above a file, and its folder.
    pub(super) fn nearest(&mut self, files: &Files, from: &[u8]) -> Result<Option<Package>, Unreadable> {
        for folder in upward(from) {
            if let Some(manifest) = self.manifest(files, folder)? {
                return Ok(Some((folder.to_vec(), manifest)));
            }
        }
        Ok(None)
    }

    /// The folders of the own packages that a specifier names, and what is left of the specifier
    /// (without a slash in front).
    pub(super) fn packages<'s>(
        &mut self,
        files: &Files,
        specifier: &'s str,
        from: &[u8],
    ) -> Result<(Vec<Vec<u8>>, &'s str), Unreadable> {
        let (name, rest) = split(specifier);
        let mut found = Vec::new();
        // By its own name, from inside.
        for folder in upward(from) {
            if let Some(manifest) = self.manifest(files, folder)?
                && manifest.get("name").and_then(Value::as_str) == Some(name)
            {
                found.push(folder.to_vec());
            }
        }
        // Through a link of a `node_modules` that git has.
        for folder in upward(from) {
            let link = join(&join(folder, b"node_modules"), name.as_bytes());
            found.extend(
                files
                    .folder(&link)
                    .filter(|real| !real.split(|&byte| byte == b'/').any(|part| part == b"node_modules")),
            );
        }
        let mut other = None;
        if let Some((folder, manifest)) = self.nearest(files, from)? {
            found.extend(
                links(&manifest)
                    .filter(|(key, _)| key == name)
                    .filter_map(|(_, path)| files.folder(&follow(&folder, path.as_bytes())?)),
            );
            other = renamed(&manifest, name);
        }
        let members = self.members(files)?;
        for name in [Some(name), other.as_deref()].into_iter().flatten() {
            found.extend(members.get(name).into_iter().flatten().cloned());
        }
        Ok((found, rest))
    }

    /// Whether the package.json around a file does not take a package of this name from a registry: it names none, or a
    /// folder, or any version, or one that the workspace's own member has.
    pub(super) fn is_linked(&mut self, files: &Files, specifier: &str, from: &[u8]) -> Result<bool, Unreadable> {
        let (name, _) = split(specifier);
        let Some((_, manifest)) = self.nearest(files, from)? else {
            return Ok(true);
        };
        let all: Vec<&str> = specs(&manifest)
            .filter(|(key, _)| *key == name)
            .map(|(_, spec)| spec)
            .collect();
        let folders = self.members(files)?.get(name).cloned().unwrap_or_default();
        for spec in all {
            let schemes = ["workspace:", "file:", "link:", "portal:", "."];
            if matches!(spec, "" | "*") || schemes.iter().any(|scheme| spec.starts_with(scheme)) {
                continue;
            }
            let mut is_met = false;
            for folder in &folders {
                let member = self.manifest(files, folder)?;
                let version = member.as_ref().and_then(|member| member.get("version")?.as_str());
                is_met |= version
                    .and_then(release)
                    .is_some_and(|version| Some(version) == release(spec));
            }
            if !is_met {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The path that a specifier into an own package stands for, whatever its `exports` say.
    pub(super) fn folder_of(
        &mut self,
        files: &Files,
        specifier: &str,
        from: &[u8],
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let (found, rest) = self.packages(files, specifier, from)?;
        Ok(found.first().and_then(|folder| follow(folder, rest.as_bytes())))
    }

    fn members(&mut self, files: &Files) -> Result<&HashMap<String, Vec<Vec<u8>>>, Unreadable> {
        if self.members.is_none() {
            self.members = Some(self.read_members(files)?);
        }
        match &self.members {
            Some(members) => Ok(members),
            None => unreachable!("it was set above"),
        }
    }

    fn read_members(&mut self, files: &Files) -> Result<HashMap<String, Vec<Vec<u8>>>, Unreadable> {
        let folders: Vec<Vec<u8>> = files
            .named(b"package.json")
            .iter()
            .map(|path| parent(path).to_vec())
            .filter(|folder| !folder.split(|&byte| byte == b'/').any(|part| part == b"node_modules"))
            .take(MAX_PACKAGES)
            .collect();
        let mut workspaces = Vec::new();
        for folder in &folders {
            let patterns = self.manifest(files, folder)?.map(|manifest| {
                let list = manifest.get("workspaces");
                strings(list.and_then(|list| list.get("packages")).or(list))
            });
            workspaces.extend(
                patterns
                    .filter(|list| !list.is_empty())
                    .map(|list| (folder.clone(), list)),
            );
        }
        for path in files
            .named(b"lerna.json")
            .iter()
            .chain(files.named(b"pnpm-workspace.yaml"))
        {
            if let Some(text) = files.text(path)? {
                let patterns = match file_name(path) {
                    b"lerna.json" => {
                        let value: Option<Value> = serde_json::from_str(&text).ok();
                        strings(value.as_ref().and_then(|value| value.get("packages")))
                    }
                    _ => pnpm(&text),
                };
                workspaces.push((parent(path).to_vec(), patterns));
            }
        }
        let workspaces: Vec<(Vec<u8>, Patterns)> = workspaces
            .into_iter()
            .map(|(folder, patterns)| (folder, patterns.iter().filter_map(|text| rule(text)).collect()))
            .collect();
        let mut members: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
        for folder in folders {
            let is_member = workspaces.iter().any(|(root, rules)| {
                below(&folder, root).is_some_and(|path| {
                    // The last pattern that matches decides, and `!` takes out.
                    let last = rules.iter().rev().find(|(_, rule)| rule.allows(path));
                    path.is_empty() || last.is_some_and(|(takes, _)| *takes)
                })
            });
            if is_member
                && let Some(manifest) = self.manifest(files, &folder)?
                && let Some(name) = manifest.get("name").and_then(Value::as_str)
            {
                members.entry(name.to_owned()).or_default().push(folder);
            }
        }
        Ok(members)
    }
}

/// The names of the members of a tree's workspaces; `None` where it is too large to be indexed.
pub(in crate::gate) fn names(tree: &dyn Tree) -> Result<Option<HashSet<String>>, Unreadable> {
    let files = Files::of(tree)?;
    if !files.is_whole() {
        return Ok(None);
    }
    let members = Packages::default().read_members(&files)?;
    Ok(Some(members.into_keys().collect()))
}

/// What of a version, or of a simple range, must be the same for the one to be in the other: `1`, of `0.3.1` `0.3`.
fn release(version: &str) -> Option<(u64, Option<u64>)> {
    let mut parts = version
        .trim_start_matches(['^', '~', '=', 'v', '>', ' '])
        .split(['.', '-', '+']);
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().and_then(|minor| minor.parse().ok());
    Some((major, minor.filter(|_| major == 0)))
}

/// Name and rest of a bare specifier: `@a/b/c/d` is `@a/b` and `c/d`.
fn split(specifier: &str) -> (&str, &str) {
    let slashes = if specifier.starts_with('@') { 2 } else { 1 };
    match specifier.match_indices('/').nth(slashes - 1) {
        Some((slash, _)) => (&specifier[..slash], &specifier[slash + 1..]),
        None => (specifier, ""),
    }
}

const SECTIONS: [&str; 4] = [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
];

/// The dependencies of a package.json with what stands for their version.
fn specs(manifest: &Value) -> impl Iterator<Item = (&String, &str)> {
    SECTIONS
        .iter()
        .filter_map(|section| manifest.get(section)?.as_object())
        .flatten()
        .filter_map(|(name, spec)| Some((name, spec.as_str()?.trim())))
}

/// The dependencies that are folders, each with the path to it (`file:../x`, `workspace:../x`, `../x`).
pub(in crate::gate) fn links(manifest: &Value) -> impl Iterator<Item = (String, String)> {
    specs(manifest).filter_map(|(name, spec)| {
        let schemes = ["file:", "link:", "portal:"];
        let path = schemes.iter().find_map(|scheme| spec.strip_prefix(scheme));
        let path = path.or_else(|| {
            let path = spec.strip_prefix("workspace:").unwrap_or(spec);
            path.starts_with('.').then_some(path)
        })?;
        Some((name.clone(), path.to_owned()))
    })
}

/// The package that a dependency of this name is, where it is another one (`workspace:@x/db@*`, `npm:db@1`).
fn renamed(manifest: &Value, name: &str) -> Option<String> {
    let (_, spec) = specs(manifest).find(|(key, _)| *key == name)?;
    let target = spec.strip_prefix("workspace:").or_else(|| spec.strip_prefix("npm:"))?;
    let (end, _) = target.char_indices().skip(1).find(|(_, c)| *c == '@')?;
    Some(target[..end].to_owned())
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// `packages` of a pnpm-workspace.yaml. Where the strict reader refuses the file, every package below
/// counts: an edge too many is seen, one too few is not.
fn pnpm(text: &str) -> Vec<String> {
    let Ok((source, entries)) = yaml::read("pnpm-workspace.yaml", text.as_bytes()) else {
        return vec!["**/*".to_owned()];
    };
    let packages = entries.iter().find(|entry| entry.key == "packages");
    let Some(packages) = packages else { return Vec::new() };
    match source.strings(&packages.value, "packages") {
        Ok(patterns) => patterns.into_iter().map(|(text, _)| text.to_owned()).collect(),
        Err(_) => vec!["**/*".to_owned()],
    }
}

/// A pattern of a workspace, and whether it takes in (`true`) or out.
fn rule(pattern: &str) -> Option<(bool, PathRule)> {
    let (takes, pattern) = match pattern.strip_prefix('!') {
        Some(rest) => (false, rest),
        None => (true, pattern),
    };
    // `packages/**` means the folders below; here it would be everything at any depth, as it is there.
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    PathRule::parse(pattern, String::new()).ok().map(|rule| (takes, rule))
}

/// The files that `exports` or `imports` name for a key (`.`, `./x`, `#x`), each condition's, in the
/// order of the file; with their star filled in. Nothing where the key is not there.
pub(in crate::gate) fn mapped(table: &Value, key: &str) -> Vec<String> {
    let is_map = |table: &serde_json::Map<String, Value>| table.keys().any(|key| key.starts_with(['.', '#']));
    let (value, star) = match table {
        Value::Object(map) if is_map(map) => match map.get(key) {
            Some(value) => (value, ""),
            None => {
                let mut patterns: Vec<(&String, &Value)> = map.iter().filter(|(key, _)| key.contains('*')).collect();
                patterns.sort_by_key(|(pattern, _)| std::cmp::Reverse((pattern.find('*'), pattern.len())));
                let found = patterns
                    .into_iter()
                    .find_map(|(pattern, value)| super::tsconfig::matched(pattern, key).map(|star| (value, star)));
                match found {
                    Some(found) => found,
                    None => return Vec::new(),
                }
            }
        },
        value if key == "." => (value, ""),
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut open = vec![value];
    for _ in 0..MAX_VALUES {
        match open.pop() {
            None => break,
            Some(Value::String(text)) => found.push(text.replace('*', star)),
            Some(Value::Array(items)) => open.extend(items.iter().rev()),
            Some(Value::Object(map)) => open.extend(map.values().collect::<Vec<_>>().into_iter().rev()),
            Some(_) => {}
        }
    }
    found
}
