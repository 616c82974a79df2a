//! JavaScript and TypeScript: relative paths, `paths` of a tsconfig, `imports` of a package.json,
//! packages of the workspace.
//!
//! What is bare and matches none of these is external. `~/x` and `@/x` that no tsconfig maps are a
//! bundler's own aliases, whose configuration is code: unresolved.

use super::files::{Files, follow, name, parent, upward};
use super::tsconfig::{Aim, Configs, filled, matched};
use super::{Target, maps, npm};
use crate::gate::imports::percent_decoded;
use crate::gate::tree::{Unreadable, join};

/// Endings that may be left out.
const ENDINGS: &[&str] = &[
    "ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts", "d.mts", "d.cts", "vue", "svelte", "json", "es6",
];
/// TypeScript's source is imported by the name of what it is compiled to.
const COMPILED: &[(&str, &[&str])] = &[
    (".js", &[".ts", ".tsx", ".d.ts", ".jsx"]),
    (".jsx", &[".tsx", ".d.ts"]),
    (".mjs", &[".mts", ".d.mts"]),
    (".cjs", &[".cts", ".d.cts"]),
];
/// What a package.json may name as its entry, the source before what is built from it.
const ENTRIES: &[&str] = &["source", "types", "typings", "module", "main", "browser"];

/// Where a specifier of the file at `from` leads.
pub(super) fn resolve(
    files: &Files,
    configs: &mut Configs,
    npm: &mut npm::Packages,
    raw: &str,
    from: &[u8],
) -> Result<Target, Unreadable> {
    // A bundler's loaders stand before the module, its options after it.
    let specifier = raw.rsplit('!').next().unwrap_or(raw);
    let specifier = specifier.split('?').next().unwrap_or(specifier);
    if specifier.starts_with('.') {
        return relative(files, npm, specifier, from);
    }
    if specifier.is_empty() {
        return Ok(Target::External);
    }
    if specifier.starts_with(['/', '\\']) || is_scheme(specifier, "file:") {
        return Ok(of_site(files, specifier).unwrap_or_else(|| Target::unresolved("an absolute path")));
    }
    if ["node:", "npm:", "jsr:", "http:", "https:", "data:", "blob:", "bun:"]
        .iter()
        .any(|scheme| is_scheme(specifier, scheme))
    {
        return Ok(Target::External);
    }
    if let Some(target) = by_tsconfig(files, configs, npm, specifier, from)? {
        return Ok(target);
    }
    if specifier.starts_with('#') {
        return by_imports(files, npm, specifier, from);
    }
    if let Target::Local(found) = by_package(files, npm, specifier, from)? {
        return Ok(Target::Local(found));
    }
    if ["@/", "~/", "~~/", "@@/"]
        .iter()
        .any(|head| specifier.starts_with(head))
        || matches!(specifier, "@" | "~")
    {
        return Ok(Target::unresolved(
            "no `paths` of a tsconfig.json above the file maps it",
        ));
    }
    Ok(Target::External)
}

/// The files that a path from the top of a site may mean: which folder the site begins at, its server says, so each
/// file whose path ends so counts. None for a path of the machine.
fn of_site(files: &Files, specifier: &str) -> Option<Target> {
    let path = specifier.split(['?', '#']).next()?;
    if !path.starts_with('/') || path.starts_with("//") || is_of_machine(path) || path.contains("/../") {
        return None;
    }
    let found: Vec<Vec<u8>> = (files.named(name(path.as_bytes())).iter())
        .filter(|found| found.ends_with(path.as_bytes()) || *found == &path.as_bytes()[1..])
        .cloned()
        .collect();
    (!found.is_empty()).then(|| Target::all(found))
}

/// Whether an absolute path begins as those of a machine's file system do, which no site has.
pub(in crate::gate) fn is_of_machine(path: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "opt", "usr", "home", "root", "etc", "tmp", "var", "srv", "mnt", "proc", "Users",
    ];
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    FOLDERS.contains(&first)
}

fn is_scheme(specifier: &str, scheme: &str) -> bool {
    specifier
        .get(..scheme.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(scheme))
}

fn relative(files: &Files, npm: &mut npm::Packages, specifier: &str, from: &[u8]) -> Result<Target, Unreadable> {
    if specifier.contains("node_modules/") {
        return Ok(Target::External);
    }
    // To `require` a path is a path; to `import` it is a URL.
    let url = percent_decoded(specifier)
        .replace('\\', "/")
        .replace(['\t', '\n', '\r'], "");
    let mut leaves = true;
    for specifier in [specifier, &url, url.split('#').next().unwrap_or(&url)] {
        let Some(path) = follow(parent(from), specifier.as_bytes()) else {
            continue;
        };
        leaves = false;
        if let Some(found) = module(files, npm, &path)? {
            return Ok(Target::one(found));
        }
        // A folder without an index file: what is computed below it, or a bundler's affair.
        if let Some(found) = files.folder(&path) {
            return Ok(Target::one(found));
        }
        // `./billing/` + something computed.
        if let Some(found) = specifier
            .rsplit_once('/')
            .filter(|(_, last)| last.is_empty())
            .and_then(|(folder, _)| follow(parent(from), folder.as_bytes()).and_then(|path| files.folder(&path)))
        {
            return Ok(Target::one(found));
        }
    }
    Ok(Target::unresolved(match leaves {
        true => "it leads out of the repository",
        false => "no such file",
    }))
}

/// The file that a module path stands for.
fn module(files: &Files, npm: &mut npm::Packages, path: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
    if let Some(found) = file(files, path) {
        return Ok(Some(found));
    }
    let Some(folder) = files.folder(path) else {
        return Ok(None);
    };
    if let Some(manifest) = npm.manifest(files, &folder)? {
        for entry in ENTRIES {
            let entry = manifest.get(entry).and_then(|entry| entry.as_str());
            let entry = entry.and_then(|entry| follow(&folder, entry.as_bytes()));
            if let Some(found) = entry.and_then(|entry| file(files, &entry).or_else(|| index(files, &entry))) {
                return Ok(Some(found));
            }
        }
    }
    Ok(index(files, &folder))
}

fn file(files: &Files, path: &[u8]) -> Option<Vec<u8>> {
    if path.is_empty() {
        return None;
    }
    let with = |stem: &[u8], ending: &str| files.file(&[stem, ending.as_bytes()].concat());
    if let Some(found) = files.file(path) {
        return Some(found);
    }
    for (built, sources) in COMPILED {
        if let Some(stem) = path.strip_suffix(built.as_bytes())
            && let Some(found) = sources.iter().find_map(|ending| with(stem, ending))
        {
            return Some(found);
        }
    }
    ENDINGS.iter().find_map(|ending| with(path, &format!(".{ending}")))
}

fn index(files: &Files, folder: &[u8]) -> Option<Vec<u8>> {
    ENDINGS
        .iter()
        .find_map(|ending| files.file(&join(folder, format!("index.{ending}").as_bytes())))
}

fn by_tsconfig(
    files: &Files,
    configs: &mut Configs,
    npm: &mut npm::Packages,
    specifier: &str,
    from: &[u8],
) -> Result<Option<Target>, Unreadable> {
    let mut missed = None;
    let mut all = Vec::new();
    for folder in upward(from) {
        let found = configs.in_folder(files, npm, folder)?;
        for config in found.iter() {
            let mut is_outside = false;
            'config: for (pattern, aims) in &config.paths {
                let Some(star) = matched(pattern, specifier) else {
                    continue;
                };
                for aim in aims {
                    let Aim::Path(target) = aim else {
                        is_outside = true;
                        continue;
                    };
                    let Some(path) = follow(b"", &filled(target, star)) else {
                        continue;
                    };
                    let folder = files.folder(&path).filter(|_| specifier.ends_with('/'));
                    if let Some(found) = module(files, npm, &path)?.or(folder) {
                        all.push(found);
                        break 'config;
                    }
                }
                if pattern != "*" && !is_outside {
                    missed.get_or_insert_with(|| format!("`paths` maps it by {pattern:?}, and there is no such file"));
                }
            }
            if let Some(path) = config.base.as_ref().and_then(|base| follow(base, specifier.as_bytes()))
                && let Some(found) = module(files, npm, &path)?
            {
                all.push(found);
            }
        }
    }
    let found = Target::all(all);
    if found != Target::External {
        return Ok(Some(found));
    }
    // A package may have a name that a pattern matches too.
    match missed {
        Some(why) if by_package(files, npm, specifier, from)? == Target::External => Ok(Some(Target::Unresolved(why))),
        _ => Ok(None),
    }
}

/// The paths into folders of other people's packages that tsconfigs make of a specifier.
pub(super) fn configured(
    files: &Files,
    configs: &mut Configs,
    npm: &mut npm::Packages,
    specifier: &str,
    from: &[u8],
) -> Result<Vec<String>, Unreadable> {
    let mut all = Vec::new();
    for folder in upward(from) {
        for config in configs.in_folder(files, npm, folder)?.iter() {
            for (pattern, aims) in &config.paths {
                let Some(star) = matched(pattern, specifier) else {
                    continue;
                };
                all.extend(aims.iter().map(|aim| match aim {
                    Aim::Path(target) => filled(target, star),
                    Aim::Outside(target) => filled(target.as_bytes(), star),
                }));
            }
            all.extend(config.base.as_ref().and_then(|base| follow(base, specifier.as_bytes())));
        }
    }
    Ok(all
        .iter()
        .map(|path| format!("./{}", String::from_utf8_lossy(path)))
        .collect())
}

fn by_package(files: &Files, npm: &mut npm::Packages, specifier: &str, from: &[u8]) -> Result<Target, Unreadable> {
    let (folders, rest) = npm.packages(files, specifier, from)?;
    let mut all = Vec::new();
    for folder in folders {
        all.push(in_package(files, npm, &folder, rest)?);
    }
    Ok(Target::all(all))
}

/// Where an import map or the configuration of a loader leads a bare name.
pub(super) fn by_maps(
    files: &Files,
    known: &mut Option<maps::Maps>,
    npm: &mut npm::Packages,
    raw: &str,
    from: &[u8],
) -> Result<Target, Unreadable> {
    let specifier = raw.split('?').next().unwrap_or(raw);
    if specifier.is_empty() || specifier.contains(':') || specifier.contains("node_modules/") {
        return Ok(Target::External);
    }
    let (paths, is_mapped) = maps::maps(files, known)?.lookup(specifier, from);
    if paths.is_empty() || !npm.is_linked(files, specifier, from)? {
        return Ok(Target::External);
    }
    let mut all = Vec::new();
    for path in paths {
        all.extend(module(files, npm, &path)?);
    }
    Ok(match Target::all(all) {
        Target::External if is_mapped => Target::unresolved("a map leads it to no file of the repository"),
        found => found,
    })
}

fn by_imports(files: &Files, npm: &mut npm::Packages, specifier: &str, from: &[u8]) -> Result<Target, Unreadable> {
    let unmapped = Target::unresolved("no `imports` of the package.json above the file maps it");
    let Some((folder, manifest)) = npm.nearest(files, from)? else {
        return Ok(unmapped);
    };
    let aims = manifest.get("imports").map(|table| npm::mapped(table, specifier));
    let Some(aims) = aims.filter(|aims| !aims.is_empty()) else {
        return Ok(unmapped);
    };
    // Which condition holds is for whoever runs the code to say: all of them count.
    let mut all = Vec::new();
    for aim in &aims {
        if let Some(path) = aim.strip_prefix("./").and_then(|path| follow(&folder, path.as_bytes()))
            && let Some(found) = module(files, npm, &path)?
        {
            all.push(found);
        }
        if !aim.starts_with('.')
            && let Target::Local(found) = by_package(files, npm, aim, from)?
        {
            all.extend(found);
        }
    }
    if !all.is_empty() {
        return Ok(Target::all(all));
    }
    Ok(match aims.iter().all(|aim| !aim.starts_with('.')) {
        true => Target::External,
        false => Target::unresolved("`imports` maps it to no file of the repository"),
    })
}

/// The file of an own package that a specifier names; where what it exports is only built later, the
/// package's folder.
fn in_package(files: &Files, npm: &mut npm::Packages, folder: &[u8], rest: &str) -> Result<Vec<u8>, Unreadable> {
    if let Some(manifest) = npm.manifest(files, folder)?
        && let Some(exports) = manifest.get("exports")
    {
        let key = if rest.is_empty() {
            ".".to_owned()
        } else {
            format!("./{rest}")
        };
        for aim in npm::mapped(exports, &key) {
            if let Some(found) = follow(folder, aim.as_bytes()).and_then(|path| file(files, &path)) {
                return Ok(found);
            }
        }
    }
    for inner in ["", "src/"] {
        if let Some(path) = follow(folder, format!("{inner}{rest}").as_bytes())
            && let Some(found) = module(files, npm, &path)?
        {
            return Ok(found);
        }
    }
    Ok(follow(folder, rest.as_bytes())
        .and_then(|path| files.folder(&path))
        .unwrap_or_else(|| folder.to_vec()))
}
