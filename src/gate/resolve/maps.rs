//! Names of JavaScript that a page or a runtime maps to files: import maps (in pages, `deno.json`, `import_map.json`,
//! Rails' `config/importmap.rb`) and the configuration of an AMD loader.
//!
//! Invariant: only what a map writes out is known, and a name leads to a path only if there is a file. What a map of a
//! page says may hold for any script of the project (the folder of the package.json around it), since pages load scripts
//! from anywhere; a file of JSON holds below its folder. What a map leads out of the repository is no matter here.

use serde_json::Value;

use super::files::{Files, below, follow, name, parent, upward};
use super::jsonc::plain_text;
use crate::gate::tree::{Unreadable, join};

/// Pages and scripts that are read for maps, of each kind.
const MAX_READ: usize = 2_000;
/// Entries of all maps together.
const MAX_ENTRIES: usize = 5_000;
/// Folders that names are looked up from, and maps or configurations of one file.
const MAX_BASES: usize = 500;
const MAX_IN_FILE: usize = 20;
/// How much of a script is looked at behind the call that configures a loader, in bytes.
const MAX_CONFIG: usize = 64 * 1024;
/// Pages, and templates of pages.
const PAGES: &[&[u8]] = &[
    b".html", b".htm", b".xhtml", b".erb", b".ejs", b".php", b".twig", b".njk", b".hbs", b".jinja", b".j2",
];
/// Where an AMD loader is configured.
const SCRIPTS: &[&[u8]] = &[
    b"main.js",
    b"app.js",
    b"config.js",
    b"common.js",
    b"index.js",
    b"require-config.js",
    b"requirejs-config.js",
    b"require.config.js",
    b"requirejs.config.js",
    b"test-main.js",
];
const JSON: &[&[u8]] = &[b"deno.json", b"deno.jsonc", b"import_map.json", b"importmap.json"];
const CALLS: &[&str] = &["requirejs.config", "require.config", "requirejs({", "var require ="];

/// One name, or with a slash at its end the beginning of many.
struct Entry {
    key: String,
    /// From the folder that it is seen from, or with a slash from the top of a site.
    aim: String,
    folder: Vec<u8>,
    /// Below which folder it holds.
    scope: Vec<u8>,
    is_prefix: bool,
}

/// The maps of one tree.
#[derive(Default)]
pub(super) struct Maps {
    entries: Vec<Entry>,
    /// Folders from which an AMD loader looks names up, each with the one below which that holds.
    bases: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Reads the maps, once.
pub(super) fn maps<'k>(files: &Files, known: &'k mut Option<Maps>) -> Result<&'k Maps, Unreadable> {
    if known.is_none() {
        let mut maps = Maps::default();
        maps.read(files)?;
        *known = Some(maps);
    }
    match known {
        Some(known) => Ok(known),
        None => unreachable!("it was set above"),
    }
}

impl Maps {
    /// The paths that a name may stand for in the file at `from`, and whether a map says so by the beginning of the
    /// name; whether there are files is for the caller to see.
    pub(super) fn lookup(&self, specifier: &str, from: &[u8]) -> (Vec<Vec<u8>>, bool) {
        let mut found = Vec::new();
        let mut is_mapped = false;
        for entry in self.entries.iter().filter(|entry| below(from, &entry.scope).is_some()) {
            let rest = match specifier.strip_prefix(entry.key.as_str()) {
                Some("") => "",
                Some(rest) if entry.is_prefix => rest,
                _ => continue,
            };
            is_mapped |= entry.is_prefix && !entry.key.is_empty();
            let aim = format!("{}{rest}", entry.aim);
            match aim.strip_prefix('/') {
                // Where a site begins is not known: at the map, or above it.
                Some(path) => {
                    let here = join(&entry.folder, b"x");
                    found.extend(upward(&here).filter_map(|folder| follow(folder, path.as_bytes())));
                }
                None => found.extend(follow(&entry.folder, aim.as_bytes())),
            }
        }
        let bases = self.bases.iter().filter(|(_, scope)| below(from, scope).is_some());
        found.extend(bases.filter_map(|(base, _)| follow(base, specifier.as_bytes())));
        (found, is_mapped)
    }

    fn read(&mut self, files: &Files) -> Result<(), Unreadable> {
        for path in JSON.iter().flat_map(|name| files.named(name)).take(MAX_READ) {
            let text = files.text(path)?.unwrap_or_default();
            let value: Value = serde_json::from_str(&plain_text(&text)).unwrap_or_default();
            self.table(&value, parent(path), parent(path));
        }
        let mut pages: Vec<&Vec<u8>> = files.ending(PAGES).collect();
        pages.sort_unstable();
        for path in pages.into_iter().take(MAX_READ) {
            let text = files.text(path)?.unwrap_or_default();
            let scope = project(files, path);
            for map in import_maps(&text).take(MAX_IN_FILE) {
                let value: Value = serde_json::from_str(map).unwrap_or_default();
                self.table(&value, parent(path), scope);
            }
            self.amd(&text, parent(path), scope);
            self.data_main(&text, parent(path), scope);
        }
        for path in SCRIPTS.iter().flat_map(|name| files.named(name)).take(MAX_READ) {
            let text = files.text(path)?.unwrap_or_default();
            self.amd(&text, parent(path), project(files, path));
        }
        for path in files.named(b"importmap.rb") {
            if name(parent(path)) == b"config" {
                self.rails(files, &files.text(path)?.unwrap_or_default(), parent(parent(path)));
            }
        }
        self.bases.sort_unstable();
        self.bases.dedup();
        self.bases.truncate(MAX_BASES);
        Ok(())
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.len() < MAX_ENTRIES {
            self.entries.push(entry);
        }
    }

    fn table(&mut self, map: &Value, folder: &[u8], scope: &[u8]) {
        let scopes = map.get("scopes").and_then(Value::as_object);
        let tables = map
            .get("imports")
            .into_iter()
            .chain(scopes.into_iter().flat_map(|scopes| scopes.values()));
        for (key, aim) in tables.filter_map(Value::as_object).flatten() {
            if let Some(aim) = aim
                .as_str()
                .filter(|aim| aim.starts_with(['.', '/']) && !aim.starts_with("//"))
            {
                self.push(Entry {
                    key: key.clone(),
                    aim: aim.to_owned(),
                    folder: folder.to_vec(),
                    scope: scope.to_vec(),
                    is_prefix: key.ends_with('/'),
                });
            }
        }
    }

    /// `pin "app", to: "app.js"` and `pin_all_from "app/javascript/x", under: "x"`.
    fn rails(&mut self, files: &Files, text: &str, top: &[u8]) {
        for line in text.lines().map(str::trim) {
            let (is_all, rest) = match (line.strip_prefix("pin_all_from"), line.strip_prefix("pin")) {
                (Some(rest), _) => (true, rest),
                (None, Some(rest)) => (false, rest),
                (None, None) => continue,
            };
            let Some((first, rest)) = quoted(rest) else { continue };
            let behind = |word: &str| {
                rest.split_once(word)
                    .and_then(|(_, rest)| quoted(rest))
                    .map(|(text, _)| text)
            };
            if is_all {
                let under = behind("under:").unwrap_or_default();
                let Some(folder) = follow(top, first.as_bytes()) else {
                    continue;
                };
                self.push(Entry {
                    key: match under {
                        "" => String::new(),
                        under => format!("{under}/"),
                    },
                    aim: String::new(),
                    folder: folder.clone(),
                    scope: top.to_vec(),
                    is_prefix: true,
                });
                if !under.is_empty() {
                    self.push(Entry {
                        key: under.to_owned(),
                        aim: "index.js".to_owned(),
                        folder,
                        scope: top.to_vec(),
                        is_prefix: false,
                    });
                }
                continue;
            }
            let aim = behind("to:").map_or_else(|| format!("{first}.js"), str::to_owned);
            if aim.contains("//") {
                continue;
            }
            for root in ["app/javascript", "app/assets/javascripts", "vendor/javascript"] {
                if let Some(folder) = follow(top, root.as_bytes()).filter(|folder| files.folder(folder).is_some()) {
                    self.push(Entry {
                        key: first.to_owned(),
                        aim: aim.clone(),
                        folder,
                        scope: top.to_vec(),
                        is_prefix: false,
                    });
                }
            }
        }
    }

    /// What a script tells RequireJS or its like: `baseUrl`, and `paths` below it.
    fn amd(&mut self, text: &str, folder: &[u8], scope: &[u8]) {
        // Without any of it a page's own folder is the base.
        if text.contains("<script") && (text.contains("require([") || text.contains("requirejs([")) {
            self.bases.push((folder.to_vec(), scope.to_vec()));
        }
        for call in CALLS {
            for (at, _) in text.match_indices(call).take(MAX_IN_FILE) {
                let mut end = (at + MAX_CONFIG).min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let config = &text[at..end];
                let base = value_of(config, "baseUrl").and_then(quoted).map(|(text, _)| text);
                let here = join(folder, b"x");
                // A page's address decides, which may lie above the script.
                let bases: Vec<Vec<u8>> = match base {
                    None => vec![folder.to_vec()],
                    Some(base) => {
                        let base = base.trim_start_matches('/');
                        upward(&here)
                            .filter_map(|folder| follow(folder, base.as_bytes()))
                            .collect()
                    }
                };
                if let Some(paths) = value_of(config, "paths").and_then(|rest| rest.trim_start().strip_prefix('{')) {
                    let paths = &paths[..paths.find('}').unwrap_or(paths.len())];
                    for (key, aim) in pairs(paths) {
                        if aim.contains("//") {
                            continue;
                        }
                        for base in &bases {
                            for (key, aim, is_prefix) in [
                                (key.to_owned(), aim.to_owned(), false),
                                (format!("{key}/"), format!("{aim}/"), true),
                            ] {
                                self.push(Entry {
                                    key,
                                    aim,
                                    folder: base.clone(),
                                    scope: scope.to_vec(),
                                    is_prefix,
                                });
                            }
                        }
                    }
                }
                self.bases.extend(bases.into_iter().map(|base| (base, scope.to_vec())));
            }
        }
    }

    /// `<script data-main="js/main" src="require.js">`: names are looked up beside that script.
    fn data_main(&mut self, text: &str, folder: &[u8], scope: &[u8]) {
        for (at, word) in text.match_indices("data-main=").take(MAX_IN_FILE) {
            let Some((script, _)) = quoted(&text[at + word.len()..]) else {
                continue;
            };
            let script = script.trim_start_matches('/');
            let here = join(folder, b"x");
            let scripts = upward(&here).filter_map(|folder| follow(folder, script.as_bytes()));
            self.bases
                .extend(scripts.map(|script| (parent(&script).to_vec(), scope.to_vec())));
        }
    }
}

/// The folder of the package.json around a file, else the top.
fn project<'p>(files: &Files, path: &'p [u8]) -> &'p [u8] {
    let has_manifest = |folder: &&[u8]| files.file(&join(folder, b"package.json")).is_some();
    upward(path).find(has_manifest).unwrap_or_default()
}

/// The blocks of import maps in a page.
fn import_maps(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("importmap").take(1_000).filter_map(|(at, _)| {
        let rest = &text[at..];
        let open = rest.find('>').filter(|open| *open < 200)?;
        let end = rest[open..].find("</")?;
        Some(&rest[open + 1..open + end])
    })
}

/// The first text in quotes, if it comes next, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '(', '[']);
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote)
}

/// What follows `key:` or `"key":`.
fn value_of<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.match_indices(key).find_map(|(at, _)| {
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'']).trim_start();
        let is_key = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        rest.strip_prefix(':').filter(|_| is_key)
    })
}

/// The names and texts of a flat object.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for part in text.split(',') {
        let Some((key, value)) = part.split_once(':') else {
            continue;
        };
        let key = key.lines().last().unwrap_or(key).trim().trim_matches(['"', '\'']);
        if let Some((value, _)) = quoted(value).filter(|_| !key.is_empty()) {
            found.push((key, value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_is_read_as_far_as_it_is_written_out() {
        let mut maps = Maps::default();
        maps.amd(
            "requirejs.config({\n baseUrl: 'js',\n paths: {\n // x\n app: '../app', \"lib\": [\"lib/x\"], cdn: 'https://x/y' }\n})",
            b"www",
            b"",
        );
        assert_eq!(maps.lookup("app/main", b"a.js").0[0], b"www/app/main");
        assert!(maps.lookup("lib", b"a.js").0.contains(&b"www/js/lib/x".to_vec()));
        assert!(maps.lookup("own", b"a.js").0.contains(&b"www/js/own".to_vec()));
        assert!(!maps.entries.iter().any(|entry| entry.key == "cdn"));
    }

    #[test]
    fn maps_of_pages_are_found() {
        let page =
            "<script type=\"importmap\">{\"imports\": {\"a/\": \"./b/\"}}</script><script type='importmap' src='x'>";
        assert_eq!(import_maps(page).next(), Some("{\"imports\": {\"a/\": \"./b/\"}}"));
        let mut maps = Maps::default();
        maps.table(
            &serde_json::json!({"imports": {"a/": "./b/", "c": "/d.js", "e": "npm:e"}}),
            b"x/y",
            b"x",
        );
        assert_eq!(maps.lookup("a/z", b"x/q.js"), (vec![b"x/y/b/z".to_vec()], true));
        assert_eq!(
            maps.lookup("c", b"x/q.js").0,
            [b"x/y/d.js".to_vec(), b"x/d.js".to_vec(), b"d.js".to_vec()]
        );
        assert!(maps.lookup("a/z", b"w.js").0.is_empty() && maps.lookup("e", b"x/q.js").0.is_empty());
    }
}
