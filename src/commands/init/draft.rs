//! The text of a first policy.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{Layout, text};
use crate::gate::Policy;
use crate::paths::PathRule;

/// Folders that hold no source of the project's own; they share the last area. Lists here are
/// words in one text.
const NO_SOURCE: &str = "architecture asset assets build coverage dist doc docs documentation image images img \
    licenses man media node_modules out screenshots target third-party third_party thirdparty vendor vendored venv \
    wiki __pycache__";

/// Where tests of the folder `payments` may lie in a folder `payments` of their own.
const TESTS: &str = "test tests spec __tests__";

/// Files of the root that hold terms, whatever follows: `LICENSE-MIT`, `License.md`, `COPYING`.
const TERMS: &str = "license licence copying notice codeowners";

/// Where the files of CIs lie.
const CI: &str = ".github/workflows .github/actions .forgejo/workflows .gitea/workflows .gitlab-ci.yml .gitlab-ci.yaml .ci \
    .circleci .buildkite .woodpecker .woodpecker.yml .woodpecker.yaml .drone.yml .travis.yml Jenkinsfile \
    azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml";

/// [`CI`], a path each.
pub(super) fn ci_files() -> impl Iterator<Item = &'static str> {
    words(CI)
}

/// What people usually keep to themselves, by reason. The first also gets the root's [`TERMS`], the second [`CI`].
const HUMAN_OWNED: &[(&str, &str)] = &[
    (
        "terms and owners",
        "SECURITY.md .github/CODEOWNERS .gitlab/CODEOWNERS docs/CODEOWNERS",
    ),
    ("CI: who can edit it can switch checks off", "scripts/invariants.sh"),
    (
        "what tools run or read by themselves: hooks, settings of agents and editors",
        ".gitmodules .husky .githooks .pre-commit-config.yaml lefthook.yml .envrc .vscode .devcontainer .mcp.json \
         .claude .cursor .codex AGENTS.md CLAUDE.md GEMINI.md",
    ),
];

/// Packages that bring in a queue or a broker, by the manifests that would declare them.
const IMPORTS: &[(&str, &str)] = &[
    ("package.json", "bullmq amqplib ioredis redis"),
    (
        "pyproject.toml requirements.txt setup.py setup.cfg Pipfile",
        "celery redis pika",
    ),
];

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace()
}

/// A policy as text, and the areas in it with their folders.
pub(super) struct Draft {
    pub(super) text: String,
    pub(super) areas: Vec<(String, String)>,
}

/// Writes it. Every line of the result that is a comment with a key in it can be uncommented.
pub(super) fn draft(layout: &Layout) -> Draft {
    let (source, rest): (Vec<&[u8]>, Vec<&[u8]>) = layout.folders().into_iter().partition(|name| is_source(name));
    let mut out = String::from(HEAD);
    let mut areas: Vec<(String, String)> = Vec::new();
    let mut area = |out: &mut String, wanted: &str, roots: Vec<String>, imports: &[&str]| {
        let name = area_name(wanted, &areas);
        let listed: Vec<String> = roots.iter().map(|root| yaml(root)).collect();
        out.push_str(&format!("{}:\n  allowed_roots: [{}]\n", yaml(&name), listed.join(", ")));
        if !imports.is_empty() {
            out.push_str(&format!("  # forbidden_imports: [{}]\n", imports.join(", ")));
        }
        out.push('\n');
        areas.push((name, roots.join(", ")));
    };
    for name in source {
        let mut roots = vec![entry(name)];
        roots.extend(tests_of(layout, name));
        area(&mut out, &ascii(name), roots, &imports(layout, name));
    }
    out.push_str("# Files directly in the root (\".\"), and folders that hold no source of this project.\n");
    let mut roots = vec![".".to_owned()];
    roots.extend(rest.into_iter().map(entry));
    if !layout.has_folder(b"architecture") {
        roots.push("architecture/".to_owned());
    }
    area(&mut out, "rest", roots, &[]);
    out.push_str(TOP_LEVEL);
    let mut terms = layout
        .paths
        .iter()
        .filter_map(|path| text(path))
        .filter(|path| is_terms(path));
    for (index, (why, paths)) in HUMAN_OWNED.iter().enumerate() {
        let of_ci = words(CI).filter(|_| index == 1);
        let there = of_ci.chain(words(paths)).filter(|path| layout.has(path.as_bytes()));
        // All of them at once, so that the next group has none.
        let found: Vec<&str> = terms.by_ref().chain(there).collect();
        if !found.is_empty() {
            out.push_str(&format!("  # {why}\n"));
            out.extend(found.iter().map(|path| format!("  - {}\n", yaml(path))));
        }
    }
    out.push_str(TAIL);
    Draft { text: out, areas }
}

const HEAD: &str = "\
# yaml-language-server: $schema=invariants.schema.json
# What coding agents may change in this repository. agentgate reads this file from the commit that
# a job or a branch starts from: an agent that edits it is refused and judged by the old one.
version: 1

# An area is a part of the repository with rules of its own. Its name is yours to choose.
#   allowed_roots: [payments/]        what it consists of: folders, files, globs
#   forbidden_imports: [redis]        packages that its files must not import (exit 5)
#   forbidden_dirs: [infra/async]     folders in which nothing may change (exit 4)
";

const TOP_LEVEL: &str = "\
# A change under no area is refused (exit 7): give a new folder an area before agents work in it.
unmapped: deny

# How many new top-level folders one change may add (exit 6 beyond it).
max_new_top_level_dirs: 0

# Owned by people: a change of these is refused (exit 3). This file always is.
must_not_touch:
  - architecture/invariants.yml
";

const TAIL: &str = "
# Whether an import that a file already had passes (allow) or fails as well (deny).
existing: allow

# Files that tools run or obey by themselves later (hooks, settings of agents and editors, CI),
# whether listed above or not: deny protects them (exit 3), warn only names their changes.
autoexec: deny
";

fn is_source(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    !name.starts_with(b".") && !words(NO_SOURCE).any(|known| known.as_bytes() == lower)
}

fn is_terms(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    words(TERMS).filter_map(|name| lower.strip_prefix(name)).any(|rest| {
        let plain = [".md", ".txt", ".rst"]
            .iter()
            .fold(rest, |rest, ending| rest.trim_end_matches(ending));
        !rest.contains('/') && (plain.is_empty() || plain.starts_with(['-', '_']) && !plain.contains('.'))
    })
}

fn tests_of(layout: &Layout, name: &[u8]) -> Vec<String> {
    words(TESTS)
        .filter(|tests| tests.as_bytes() != name)
        .map(|tests| [tests.as_bytes(), b"/", name].concat())
        .filter(|path| layout.has_folder(path))
        .map(|path| entry(&path))
        .collect()
}

fn imports(layout: &Layout, name: &[u8]) -> Vec<&'static str> {
    let there =
        |manifest: &str| layout.has(manifest.as_bytes()) || layout.has(&[name, b"/", manifest.as_bytes()].concat());
    let found = IMPORTS.iter().filter(|(manifests, _)| words(manifests).any(there));
    let mut names: Vec<&str> = found.flat_map(|(_, names)| words(names)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A folder as an entry of `allowed_roots`. What an entry cannot spell (a backslash, a byte that
/// is not UTF-8) becomes a `?`, which matches one character of any kind.
fn entry(folder: &[u8]) -> String {
    let inside = [folder, b"/x"].concat();
    if let Some(plain) = text(folder).map(|name| format!("{name}/"))
        && PathRule::parse(&plain, String::new()).is_ok_and(|rule| !rule.is_glob() && rule.allows(&inside))
    {
        return plain;
    }
    let mut glob = String::new();
    for chunk in folder.utf8_chunks() {
        for (index, letter) in chunk.valid().char_indices() {
            let first = glob.is_empty() && index == 0;
            let special = matches!(letter, '*' | '?' | '[' | ']' | '{' | '}' | '\\') || letter.is_control();
            glob.push(if special || first && !letter.is_alphanumeric() {
                '?'
            } else {
                letter
            });
        }
        glob.extend(chunk.invalid().iter().map(|_| '?'));
    }
    glob + "/"
}

/// The ASCII letters of a folder's name, for the name of its area.
fn ascii(folder: &[u8]) -> String {
    let mut name = String::new();
    for letter in String::from_utf8_lossy(folder)
        .nfkd()
        .filter(|&letter| !is_combining_mark(letter))
    {
        if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
            name.push(letter);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "area".to_owned()
    } else {
        name.to_owned()
    }
}

/// A name near `wanted` that the policy's reader takes for an area and that is free. The reader
/// is asked, so that a key reserved later is avoided as well.
fn area_name(wanted: &str, taken: &[(String, String)]) -> String {
    let is_free = |name: &str| {
        let probe = format!("version: 1\nunmapped: deny\n{}:\n  allowed_roots: [x/]\n", yaml(name));
        taken.iter().all(|(other, _)| other != name) && Policy::validate(probe.as_bytes()).is_ok()
    };
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    [wanted.to_owned(), format!("{wanted}-folder")]
        .into_iter()
        .chain(numbered.take(taken.len() + 1))
        .find(|name| is_free(name))
        .unwrap_or_else(|| wanted.to_owned())
}

/// Text as a YAML scalar: plain where every reader takes it for text, else in double quotes.
fn yaml(text: &str) -> String {
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b))
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            ' '..='~' => quoted.push(letter),
            letter if letter.is_alphanumeric() => quoted.push(letter),
            // What could hide or turn text around is spelled out.
            letter => quoted.push_str(&format!("\\U{:08X}", u32::from(letter))),
        }
    }
    quoted + "\""
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
