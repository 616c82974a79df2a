//! Dependencies that a change declares in manifests (exit 8).
//!
//! Invariants: a dependency is known only if the base's version of the same manifest declared it;
//! for a manifest in a new place, if a manifest deleted in the same change did (a move). A manifest
//! that a rule looks at and that cannot be read is a finding, never passed over.
//!
//! The rules are the policy's `dependencies`, the `forbidden_imports` of areas, and a task that
//! rules out new dependencies. Not judged: a known name that comes from another source or in
//! another version, and what packages bring along by themselves.

mod cargo;
mod cargo_names;
mod code;
mod composer;
mod conda;
mod declared;
mod deno;
mod dotnet;
mod explained;
mod format;
mod from_outside;
mod golang;
mod gradle;
mod gradle_catalog;
mod gradle_names;
mod included;
mod inherited;
mod inline;
mod json;
mod judges;
mod lines;
mod links;
mod locks;
mod maven;
mod maven_modules;
mod names;
mod npm;
mod own;
mod pip;
mod pnpm;
mod python;
mod ruby;
mod setup_cfg;
mod setup_py;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_code;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_inline;
#[cfg(test)]
mod tests_names;
#[cfg(test)]
mod tests_xml;
mod toml;
mod tox;
mod xml;

use std::collections::{HashMap, HashSet};

use super::policy::Stance;
use super::resolve::Files;
use super::rules::{finding, is_regular, shown};
use super::survey::Survey;
use super::tree::Side;
use super::{Change, Extent, Kind, Policy, Rule, Tree, Unreadable, Verdict, Warning};
use crate::task::Task;
use declared::{Declared, Named};
use format::{Format, bounds_versions, file_name, format, is_of_another_tool, is_unread};
use included::Included;
use inherited::Shelves;
use inline::Inline;
use judges::{Judges, Speaks, TASK};
use lines::Lines;
use links::Links;
use maven_modules::Modules;
use names::Ecosystem;
use own::Taken;

pub use explained::{ManifestRules, rules_for};
pub(super) use from_outside::FromOutside;
pub(super) use inline::{Inline as InlineList, of as inline_list};

pub(super) use cargo_names::{Names as CargoNames, Renames as CargoRenames};

/// Manifests above this many bytes are not read.
pub(super) const MAX_MANIFEST: u64 = 10 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Aliases that a package.json declares, from the imported name to the installed one.
pub(super) fn npm_aliases(package_json: &[u8]) -> HashMap<String, Vec<String>> {
    npm::aliases(package_json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(package_json))
}

/// The same, by a pnpm-workspace.yaml.
pub(super) fn pnpm_aliases(workspace: &[u8]) -> HashMap<String, Vec<String>> {
    let bytes = workspace.strip_prefix(BYTE_ORDER_MARK).unwrap_or(workspace);
    std::str::from_utf8(bytes).map(pnpm::aliases).unwrap_or_default()
}

/// The names of packages and imported namespaces in a project file of .NET, in lower case; none where it cannot be read.
pub(super) fn nuget_names(path: &[u8], text: &str) -> Vec<String> {
    let found = match file_name(path) == b"packages.lock.json" {
        true => return dotnet::locked(text),
        false if format(path) == Some(Format::Dotnet) => dotnet::dependencies(text),
        false => return Vec::new(),
    };
    let found = found.map(|declared| declared.found).unwrap_or_default();
    found.into_iter().map(|dependency| dependency.name).collect()
}

/// What a Cargo.toml says of the names of crates in code.
pub(super) fn cargo_names(cargo_toml: &[u8]) -> CargoNames {
    let bytes = cargo_toml.strip_prefix(BYTE_ORDER_MARK).unwrap_or(cargo_toml);
    std::str::from_utf8(bytes).map(cargo_names::names).unwrap_or_default()
}

/// Every name that a changed manifest declares, its base version did not, and a rule refuses; and
/// lock files that changed alone.
pub(super) fn judge(
    policy: &Policy,
    (base, candidate): (&dyn Tree, &dyn Tree),
    changes: &[Change],
    survey: &Survey,
    task: Option<&Task>,
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let is_ruled_out = task.is_some_and(|task| task.no_new_dependencies);
    let everywhere = Judges::everywhere(policy, is_ruled_out);
    let has_areas = policy.areas.iter().any(|area| !area.forbidden_imports.is_empty());
    if everywhere.first_key().is_none() && !has_areas {
        return Ok(());
    }
    let all = Judges {
        areas: policy.areas.iter().collect(),
        ..Judges::everywhere(policy, is_ruled_out)
    };
    let included = Included::of(candidate, changes, |side| matters(candidate, side, &all))?;
    verdict.notices.extend(included.notice.clone());
    let links = Links::of(candidate, changes, survey, |side| may_name(candidate, side, &all))?;
    verdict.notices.extend(links.notice.clone());
    let taken = Taken::of(base, candidate, changes)?;
    verdict.notices.extend(taken.notice.clone());
    let mut trees = Trees {
        taken,
        modules: Modules::default(),
        base: Shelves::of(base),
        candidate: Shelves::of(candidate),
    };
    for change in changes {
        let own_format = format(&change.path).or_else(|| included.format(&change.path));
        let format = own_format;
        let Some(after) = change.after else { continue };
        if change.before == Some(after) || after.kind == Kind::Submodule {
            continue;
        }
        for link in links.to(&change.path) {
            let Some(format) = self::format::format(link) else {
                continue;
            };
            let areas = judges::areas(policy, base, candidate, link, Some(format), Speaks::ForFolders)?;
            // What holds everywhere is said once, where the file goes by its own name already.
            let judges = match own_format == Some(format) {
                true => Judges {
                    areas,
                    dependencies: None,
                    ..Judges::everywhere(policy, false)
                },
                false => Judges {
                    areas,
                    ..Judges::everywhere(policy, is_ruled_out)
                },
            };
            if judges.first_key().is_none() {
                continue;
            }
            let shown = Change {
                path: link.clone(),
                ..change.clone()
            };
            manifest(
                &mut trees,
                (base, candidate),
                (&shown, &after),
                format,
                &judges,
                changes,
                verdict,
            )?;
        }
        let inline = match format.is_none() && is_regular(&after) {
            true => inline_of(candidate, change, &after, survey)?,
            false => Inline::Nothing,
        };
        let format = match inline {
            Inline::Read => inline::format(&change.path),
            _ => format,
        };
        let is_bounds = format.is_none() && bounds_versions(&change.path);
        if format.is_none() && inline == Inline::Nothing && !is_bounds && !is_unread(&change.path) {
            continue;
        }
        let speaks = match inline != Inline::Nothing || self::format::is_of_an_image(&change.path) {
            true => Speaks::ForItself,
            false => Speaks::ForFolders,
        };
        let judges = Judges {
            areas: judges::areas(policy, base, candidate, &change.path, format, speaks)?,
            ..Judges::everywhere(policy, is_ruled_out)
        };
        if judges.first_key().is_none() {
            continue;
        }
        match format {
            Some(format) => manifest(
                &mut trees,
                (base, candidate),
                (change, &after),
                format,
                &judges,
                changes,
                verdict,
            )?,
            // It installs nothing by itself, so that no name in it is a dependency.
            None if is_bounds => verdict.notices.push(format!(
                "{}: bounds versions of what other files install; no name in it was looked at",
                shown(&change.path)
            )),
            None => {
                let message = match inline {
                    Inline::Unread => {
                        "dependencies that its code declares were not looked for, since this version does not read them"
                    }
                    _ => "new dependencies in it were not looked for, since this version does not read it",
                };
                verdict.inspected.skip_dependencies(&change.path);
                say(&change.path, &judges, message, verdict);
            }
        }
    }
    if trees.taken.is_any() {
        unchanged(policy, is_ruled_out, &mut trees, (base, candidate), changes, verdict)?;
    }
    let task = is_ruled_out.then_some(TASK);
    let keys: Vec<&str> = task
        .into_iter()
        .chain(everywhere.dependencies.map(|_| "dependencies"))
        .collect();
    locks::judge(changes, &keys, verdict);
    Ok(())
}

/// Manifests that did not change and that declare something else, since what they refer to did. What a shelf says is
/// judged there by the rules that hold everywhere.
fn unchanged(
    policy: &Policy,
    is_ruled_out: bool,
    trees: &mut Trees,
    (base, candidate): (&dyn Tree, &dyn Tree),
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let changed: HashSet<&[u8]> = changes.iter().map(|change| change.path.as_slice()).collect();
    let files = Files::of(candidate)?;
    if !files.is_whole() {
        verdict
            .notices
            .push("the tree has too many entries to look for manifests that take names from a changed one".to_owned());
        return Ok(());
    }
    let paths = (files.named(b"package.json").iter()).chain(files.named(b"Cargo.toml"));
    for path in paths.filter(|path| !changed.contains(path.as_slice())) {
        let Some(format) = self::format::format(path) else {
            continue;
        };
        let is_others = path.split(|&byte| byte == b'/').any(|part| part == b"node_modules");
        let Some(side) = own::side(candidate, path)?.filter(|_| !is_others) else {
            continue;
        };
        let Ok(text) = text_of(candidate, &side)? else { continue };
        // One that does not parse declared nothing before, either.
        if !trees.taken.concerns(format, &text) || read(&text, format).is_err() {
            continue;
        }
        let everywhere = match format == Format::Npm && !trees.taken.members.is_empty() {
            true => Judges::everywhere(policy, is_ruled_out),
            false => Judges {
                dependencies: None,
                ..Judges::everywhere(policy, false)
            },
        };
        let judges = Judges {
            areas: judges::areas(policy, base, candidate, path, Some(format), Speaks::ForFolders)?,
            existing: Stance::Allow,
            ..everywhere
        };
        if judges.first_key().is_none() {
            continue;
        }
        let change = Change {
            path: path.clone(),
            before: Some(side),
            after: Some(side),
        };
        manifest(
            trees,
            (base, candidate),
            (&change, &side),
            format,
            &judges,
            changes,
            verdict,
        )?;
    }
    Ok(())
}

struct Trees<'a> {
    taken: Taken,
    modules: Modules,
    base: Shelves<'a>,
    candidate: Shelves<'a>,
}

/// One changed manifest.
fn manifest(
    trees: &mut Trees,
    (base, candidate): (&dyn Tree, &dyn Tree),
    (change, after): (&Change, &Side),
    format: Format,
    judges: &Judges,
    changes: &[Change],
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let path = &change.path;
    let text = text_of(candidate, after)?;
    if matches!(&text, Ok(text) if format == Format::Dotnet && is_of_another_tool(path, text)) {
        return Ok(());
    }
    let declared = match text.as_ref().map_err(String::clone).and_then(|text| read(text, format)) {
        Ok(declared) => {
            let declared = trees.candidate.resolve(path, declared)?;
            own::settled(candidate, path, declared, &trees.taken.members)?
        }
        Err(why) => {
            verdict.findings.push(finding(
                Rule::Uninspectable,
                path,
                &judges.first_key().unwrap_or_default(),
                format!("its dependencies cannot be read: {why}"),
                "make the manifest a regular file that parses".into(),
            ));
            return Ok(());
        }
    };
    if !format.is_inline() || declared != Declared::default() {
        verdict.inspected.read_manifest(path);
    }
    let text = text.unwrap_or_default();
    let known = known(&mut trees.base, base, change, format, changes)?;
    let mut lines = Lines::of(&text);
    let mut reported = HashSet::new();
    for dependency in &declared.found {
        let is_guess = dependency.kind == Named::Guessed;
        let is_local = matches!(dependency.kind, Named::Local(_));
        let is_gone = format == Format::Npm && trees.taken.members.contains(&dependency.name);
        let was_own = known.own.contains(&dependency.name);
        let is_known = known.names.contains(&dependency.name) && (is_local || !is_gone)
            || is_local && was_own
            || is_guess && known.guesses.contains(&dependency.name);
        if reported.insert((&dependency.name, is_guess, is_local)) {
            let is_module = format == Format::Maven
                && !is_known
                && !judges.denials().is_empty()
                && trees.modules.has(base, candidate, &dependency.name)?;
            let module = is_module.then(|| dependency.clone().of_kind(Named::Module));
            for mut finding in judges.name(path, format, module.as_ref().unwrap_or(dependency), !is_known) {
                finding.line = lines.of_dependency(dependency);
                if !is_known && !is_local && (was_own || is_gone) {
                    finding.message.push_str("; so far it is the repository's own");
                }
                verdict.findings.push(finding);
            }
        }
    }
    let mut texts = HashSet::new();
    let new = declared
        .computed
        .iter()
        .filter(|computed| !known.computed.contains(&computed.text) && texts.insert(&computed.text));
    let new: Vec<_> = new.collect();
    for computed in &new {
        for mut finding in judges.computed(path, computed) {
            finding.line = lines.at(computed.at);
            verdict.findings.push(finding);
        }
    }
    if !new.is_empty() && judges.denials().is_empty() {
        verdict.notices.push(format!(
            "{}: {} dependenc{} whose name is computed, which no rule can look at",
            shown(path),
            new.len(),
            if new.len() == 1 { "y" } else { "ies" }
        ));
    }
    // `install_requires=NAMES` is as it was, and the list may not be.
    if declared
        .computed
        .iter()
        .any(|computed| known.computed.contains(&computed.text))
    {
        say(
            path,
            judges,
            "names in it are computed, as in the base, so that new ones may not be seen",
            verdict,
        );
    }
    Ok(())
}

/// What a source file says about dependencies besides its code.
fn inline_of(candidate: &dyn Tree, change: &Change, after: &Side, survey: &Survey) -> Result<Inline, Unreadable> {
    if let Some(known) = survey.inline(&change.path, &after.id) {
        return Ok(known);
    }
    // As for a manifest: what is larger, no tool reads as a script.
    if !inline::may_have(&change.path) || candidate.blob_size(&after.id)? > MAX_MANIFEST {
        return Ok(Inline::Nothing);
    }
    Ok(inline::of(&change.path, &candidate.blob(&after.id)?))
}

/// What no rule could look at in a changed manifest. Where every new name is refused it is a
/// warning, which reports show apart: a finding would forbid every edit of such a file.
fn say(path: &[u8], judges: &Judges, message: &str, verdict: &mut Verdict) {
    match judges.dependencies.filter(|rules| rules.new == Stance::Deny) {
        Some(rules) => verdict.warnings.push(Warning {
            path: path.to_vec(),
            judged_by: rules.new_key.into(),
            message: format!("changed; {message}"),
            commit: None,
        }),
        None if verdict.extent == Extent::Tree => {
            let message = message.replace("new dependencies", "dependencies");
            verdict.notices.push(format!("{}: {message}", shown(path)));
        }
        None => verdict.notices.push(format!("{} changed; {message}", shown(path))),
    }
}

/// Whether a file that is no manifest by name would be judged if requirements included it.
fn matters(tree: &dyn Tree, side: &Side, judges: &Judges) -> Result<bool, Unreadable> {
    if !judges.denials().is_empty() {
        return Ok(true);
    }
    // What only names refuse is looked for by these names: the search for who includes the file
    // opens the whole tree.
    Ok(text_of(tree, side)?.is_ok_and(|text| {
        let found = pip::read(&text).found;
        let gems = ruby::dependencies(&text).unwrap_or_default().found;
        found
            .iter()
            .any(|dependency| judges.forbid(Ecosystem::Python, &dependency.name))
            || gems
                .iter()
                .any(|dependency| judges.forbid(Ecosystem::Ruby, &dependency.name))
    }))
}

/// Whether a file, read as any manifest, may declare what a rule refuses: the search for links to it
/// opens the whole tree. What a format can write otherwise (`\u0072`, `%72`, `&#114;`) counts.
fn may_name(tree: &dyn Tree, side: &Side, judges: &Judges) -> Result<bool, Unreadable> {
    if !judges.denials().is_empty() || tree.blob_size(&side.id)? > MAX_MANIFEST {
        return Ok(true);
    }
    Ok(names_any(&tree.blob(&side.id)?, judges.words()))
}

fn names_any(content: &[u8], mut words: impl Iterator<Item = impl AsRef<str>>) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return true;
    };
    let text = text.to_ascii_lowercase();
    text.contains(['\\', '%']) || text.contains("&#") || words.any(|word| text.contains(word.as_ref()))
}

/// What a file must say so that, read as some manifest, a rule may refuse it: for those who have its content.
/// Without words, anything.
pub(super) struct Mentions(Option<Vec<String>>);

impl Mentions {
    /// By the rules of this policy and task.
    pub(super) fn of(policy: &Policy, task: Option<&Task>) -> Mentions {
        let all = Judges {
            areas: policy.areas.iter().collect(),
            ..Judges::everywhere(policy, task.is_some_and(|task| task.no_new_dependencies))
        };
        Mentions(all.denials().is_empty().then(|| all.words().collect()))
    }

    /// Whether this content, of a regular file at this path, says any of it.
    pub(super) fn stand_in(&self, path: &[u8], content: &[u8]) -> bool {
        links::reads_as_a_manifest(path, content)
            && self.0.as_ref().is_none_or(|words| names_any(content, words.iter()))
    }
}

/// What the base declared.
#[derive(Default)]
struct Known {
    names: HashSet<String>,
    /// Those that are the repository's own folders.
    own: HashSet<String>,
    guesses: HashSet<String>,
    computed: HashSet<String>,
}

/// In this manifest, or for a new one in those that go away. A base version that cannot be read
/// declares nothing that could be known.
fn known(
    shelves: &mut Shelves,
    base: &dyn Tree,
    change: &Change,
    format: Format,
    changes: &[Change],
) -> Result<Known, Unreadable> {
    let sides: Vec<(&[u8], Side)> = match change.before {
        Some(before) => vec![(&change.path, before)],
        None => changes
            .iter()
            .filter(|other| other.after.is_none())
            .filter(|other| self::format(&other.path).or_else(|| inline::format(&other.path)) == Some(format))
            .filter_map(|other| Some((other.path.as_slice(), other.before?)))
            .collect(),
    };
    let mut known = Known::default();
    for (path, side) in sides {
        let Ok(declared) = text_of(base, &side)?.and_then(|text| read(&text, format)) else {
            continue;
        };
        let declared = shelves.resolve(path, declared)?;
        let declared = own::settled(base, path, declared, &HashSet::new())?;
        for dependency in declared.found {
            match dependency.kind {
                Named::Guessed => known.guesses.insert(dependency.name),
                Named::Local(_) => known.own.insert(dependency.name),
                _ => known.names.insert(dependency.name),
            };
        }
        known
            .computed
            .extend(declared.computed.into_iter().map(|computed| computed.text));
    }
    Ok(known)
}

/// The text of a manifest without its byte order mark, or why it has none.
fn text_of(tree: &dyn Tree, side: &Side) -> Result<Result<String, String>, Unreadable> {
    if !is_regular(side) {
        return Ok(Err("it is a symlink".into()));
    }
    let size = tree.blob_size(&side.id)?;
    if size > MAX_MANIFEST {
        return Ok(Err(format!("{size} bytes, more than the {MAX_MANIFEST} that are read")));
    }
    let mut bytes = tree.blob(&side.id)?;
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into()))
}

fn read(text: &str, format: Format) -> Result<Declared, String> {
    let found = match format {
        Format::Npm => npm::dependencies(text),
        Format::PnpmWorkspace => pnpm::dependencies(text),
        Format::Cargo => cargo::dependencies(text),
        Format::Pyproject => python::pyproject(text),
        Format::Requirements => Ok(pip::read(text).found),
        Format::Pipfile => python::pipfile(text),
        Format::Pixi => python::pixi_manifest(text),
        Format::SetupCfg => setup_cfg::dependencies(text),
        Format::Uv => python::uv_manifest(text),
        Format::Hatch => python::hatch_manifest(text),
        Format::Tox => tox::dependencies(text),
        Format::Deno => deno::dependencies(text),
        Format::GlobalJson => deno::global_json(text),
        Format::Golang => golang::dependencies(text),
        Format::GradleCatalog => gradle_catalog::dependencies(text),
        Format::Composer => composer::dependencies(text),
        Format::Conda => conda::dependencies(text),
        Format::SetupPy => return setup_py::dependencies(text),
        Format::Maven => return maven::dependencies(text),
        Format::Gradle => return gradle::dependencies(text, code::Language::Groovy),
        Format::GradleKotlin => return gradle::dependencies(text, code::Language::Kotlin),
        Format::Dotnet => return dotnet::dependencies(text),
        Format::Ruby => return ruby::dependencies(text),
        Format::PythonScript => return inline::python_script(text),
        Format::CsharpScript => return Ok(inline::csharp_script(text)),
        Format::Jbang => return Ok(inline::jbang(text)),
    };
    found.map(Declared::from)
}
