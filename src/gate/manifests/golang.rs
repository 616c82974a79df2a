//! go.mod, and go.work with its replacements. The grammar is made of lines (go.dev/ref/mod#go-mod-file-grammar), so no parser is needed.

use std::collections::HashMap;

use super::declared::{Dependency, Named, guesses};
use crate::gate::imports::vendored;

/// Modules of `require`, the right-hand side of `replace`, packages of `tool`, and what a folder of `replace` may be a copy of.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut folders: HashMap<String, String> = HashMap::new();
    let mut block: Option<String> = None;
    let mut next = 0;
    for whole in text.split('\n') {
        let at = next;
        next += whole.len() + 1;
        let line = whole
            .split_once("//")
            .filter(|(code, _)| !code.ends_with(':'))
            .map_or(whole, |(code, _)| code);
        let mut words: Vec<String> = line
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '`']).into())
            .collect();
        if words.is_empty() {
            continue;
        }
        // Go decodes it: `"github.com/\x72edis/x"` names another module than it seems to.
        if line.contains('"') && line.contains('\\') {
            return Err("an escape in a quoted path".into());
        }
        if block.is_some() && words[0] == ")" {
            block = None;
            continue;
        }
        let verb = match &block {
            Some(verb) => verb.clone(),
            None => {
                let first = words.remove(0);
                // `require(` without a blank is accepted by go.
                let (verb, opens) = match first.strip_suffix('(') {
                    Some(verb) => (verb.to_string(), true),
                    None => (first, words.first().is_some_and(|word| word == "(")),
                };
                if opens {
                    block = Some(verb);
                    continue;
                }
                verb
            }
        };
        let module = match verb.as_str() {
            "require" | "tool" => words.first(),
            "replace" => words
                .iter()
                .position(|word| word == "=>")
                .and_then(|at| words.get(at + 1)),
            _ => None,
        };
        // A replacement by a folder of the repository's own brings in no module; a copy of one is called after it.
        if let Some(folder) = module.filter(|module| module.starts_with(['.', '/']))
            && let Some(name) = copied(folder)
        {
            folders.insert(words[0].clone(), folder.clone());
            let column = whole.find(folder.as_str()).unwrap_or_default();
            let found_here = Dependency::new(name, folder.as_str()).of_kind(Named::InPlace(folder.clone()));
            found.push(found_here.at(Some(at + column)));
        }
        if let Some(module) = module.filter(|module| !module.starts_with(['.', '/'])) {
            let column = whole.find(module.as_str()).unwrap_or_default();
            found.push(Dependency::new(without_major(module), module.as_str()).at(Some(at + column)));
        }
    }
    // What is required and lies in a folder is that folder.
    for dependency in &mut found {
        if let Some(folder) = folders
            .get(&dependency.written)
            .filter(|_| dependency.kind == Named::Outright)
        {
            dependency.kind = Named::Local(folder.clone());
        }
    }
    match block {
        Some(verb) => Err(format!("a `{}` block does not end", verb.escape_debug())),
        None => Ok(found),
    }
}

/// What a folder of copies holds at a path, or any other folder by its name.
fn copied(folder: &str) -> Option<String> {
    match vendored(folder) {
        Some(segments) => Some(segments.join("/")),
        None => guesses(folder).map(str::to_owned),
    }
}

/// `/v2` at the end is a version of the same module.
fn without_major(module: &str) -> &str {
    match module.rsplit_once("/v") {
        Some((path, major)) if !major.is_empty() && major.bytes().all(|b| b.is_ascii_digit()) => path,
        _ => module,
    }
}
