//! Files that an agent or one of its tools left behind, told by their names: histories, caches, swap
//! files, settings that a tool rewrites whenever it starts.
//!
//! Nothing is refused for it: a name proves nothing, and a person decides.

use std::sync::LazyLock;

use super::known::{self, Pattern, Place};
use super::paths::Match;
use super::tree::{Unreadable, diff};
use super::{Kind, Tree};

/// What each is, and its patterns: a list of words.
const LEFT: &[(&str, &str)] = &[
    ("crush's own data", "**/.crush/**"),
    ("a copilot session", "**/copilot-session-*.md"),
    ("openhands' own data", "**/.openhands/**"),
    ("goose's own data", "**/.goose*"),
    ("output of nohup", "**/nohup.out"),
    ("swap file of an editor", "**/*.swp **/*.swo"),
    ("backup or lock file of an editor", "**/*~ **/.#*"),
];

/// Settings that a tool writes by itself.
const SETTINGS: &[(&str, &str)] = &[
    ("of opencode", "**/opencode.json* **/.opencode/opencode.json*"),
    ("of qwen", "**/.qwen/settings.json"),
    ("of gemini", "**/.gemini/settings.json"),
    ("of claude", "**/.claude/settings.json **/.claude/settings.local.json"),
    ("of codex", "**/.codex/config.toml"),
    (
        "of aider",
        "**/.aider.conf.yml **/.aider.model.settings.yml **/.aiderignore",
    ),
    ("of crush", "**/.crush.json **/crush.json"),
    ("of goose", "**/.goosehints **/.gooseignore"),
];

/// After [`SETTINGS`], which has the exceptions.
const AIDER: &[(&str, &str)] = &[("history or cache of aider", "**/.aider*")];

type Table = LazyLock<Vec<(Pattern, (Sort, &'static str))>>;

static PATTERNS: Table = LazyLock::new(|| {
    let mut patterns = Vec::new();
    let lists = [(Sort::Settings, SETTINGS), (Sort::Left, LEFT), (Sort::Left, AIDER)];
    for (sort, list) in lists {
        for (what, words) in list {
            let words = words.split_ascii_whitespace();
            patterns.extend(words.map(|word| (Pattern::new(word), (sort, *what))));
        }
    }
    patterns
});

/// What a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Something that nobody meant to keep.
    Left,
    /// Settings of a tool, which it may have written by itself.
    Settings,
}

/// A file of the candidate that looks so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Repository-relative path as git's bytes.
    pub path: Vec<u8>,
    /// Which sort.
    pub sort: Sort,
    /// What it is or whose, in words.
    pub what: &'static str,
}

/// What the name of a file says: which sort, and whose in words.
pub fn find(path: &[u8]) -> Option<(Sort, &'static str)> {
    if is_core_dump(path) {
        return Some((Sort::Left, "core dump"));
    }
    match known::find(&PATTERNS, path)? {
        (entry, Place::Within, Match::Exact) => Some(entry.1),
        _ => None,
    }
}

/// The files of this kind that the candidate adds or changes, by path. A file with the name of a
/// core dump counts only where it is new: `core` is a name that people use.
pub fn among_changes(base: &dyn Tree, candidate: &dyn Tree) -> Result<Vec<Leftover>, Unreadable> {
    let mut found = Vec::new();
    for change in diff(base, candidate)? {
        let is_file = change
            .after
            .is_some_and(|side| matches!(side.kind, Kind::File | Kind::Executable));
        if !is_file || change.before.is_some() && is_core_dump(&change.path) {
            continue;
        }
        if let Some((sort, what)) = find(&change.path) {
            let path = change.path;
            found.push(Leftover { path, sort, what });
        }
    }
    Ok(found)
}

/// `core`, `core.4711`, `vgcore.4711`.
fn is_core_dump(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let numbered = [b"core.".as_slice(), b"vgcore."]
        .iter()
        .find_map(|start| name.strip_prefix(*start));
    name == b"core" || numbered.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell() {
        for (path, what) in [
            (".aider.chat.history.md", "history or cache of aider"),
            ("x/.aider.tags.cache.v4/cache.db", "history or cache of aider"),
            (".aider.conf.yml", "of aider"),
            (".crush/crush.db", "crush's own data"),
            ("copilot-session-1f.md", "a copilot session"),
            (".openhands/conversations/1", "openhands' own data"),
            (".goose/x", "goose's own data"),
            ("nohup.out", "output of nohup"),
            ("src/.a.ts.swp", "swap file of an editor"),
            ("src/a.ts~", "backup or lock file of an editor"),
            ("core.4711", "core dump"),
            ("a/core", "core dump"),
            ("opencode.json", "of opencode"),
            (".qwen/settings.json", "of qwen"),
        ] {
            assert_eq!(find(path.as_bytes()).map(|(_, what)| what), Some(what), "{path}");
        }
        for path in [
            "core/a.ts",
            "core.ts",
            "core.1.js",
            "core.",
            ".DS_Store",
            "src/opencode.ts",
            "a.swift",
        ] {
            assert_eq!(find(path.as_bytes()), None, "{path}");
        }
    }
}
