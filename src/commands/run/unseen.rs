//! Findings about what a candidate's tree does not show of what the agent left.

use crate::gate::content::REPOSITORIES;
use crate::gate::{Finding, Rule, Verdict};
use crate::git::snapshot::{Frozen, Hidden};

/// Adds them to the gate's verdict on the tree.
pub fn add(verdict: &mut Verdict, frozen: &Frozen) {
    let told: Vec<Vec<u8>> = verdict
        .findings
        .iter()
        .filter(|found| found.judged_by == REPOSITORIES)
        .map(|found| found.path.clone())
        .collect();
    let mut hidden = |path: &[u8], judged_by: &str, message: &str, hint: &str| {
        verdict.findings.push(Finding {
            rule: Rule::Uninspectable,
            path: path.to_vec(),
            line: None,
            column: None,
            judged_by: judged_by.into(),
            message: message.into(),
            hint: hint.into(),
            commit: None,
            at: None,
        });
    };
    for nested in &frozen.nested {
        hidden(
            nested,
            "nested repository (built in)",
            "the agent put a repository of its own here",
            "remove its .git folder, or work without git init below the worktree",
        );
    }
    for twin in &frozen.twins {
        hidden(
            &twin.path,
            "name of a git dir (built in)",
            "some file systems take this name for `.git`, so git takes nothing below it into a commit",
            "rename it",
        );
    }
    for (path, why) in &frozen.uninspectable {
        let (judged_by, message, hint) = match why {
            Hidden::Path => (
                "path length (built in)",
                "the path is too long for programs, so what is there cannot be inspected",
                "keep paths below the worktree shorter than 3000 bytes",
            ),
            // Said by the gate where the tree shows it.
            Hidden::Repository if told.contains(path) => continue,
            Hidden::Repository => (
                REPOSITORIES,
                "a bare repository, if only by empty folders: git that is run inside it takes it for one, and runs what \
                 its configuration names",
                "delete it; a test that needs one can make it with git init in a temporary folder",
            ),
            Hidden::Size(_) => (
                "file size (built in)",
                "the file is larger than 2 GiB, so it was not taken in",
                "make it smaller, keep it out by a .gitignore rule that the base has, or let the base hand it to git-lfs",
            ),
            Hidden::Encoding => (
                "working-tree-encoding (built in)",
                "the file is not in the encoding that the base's .gitattributes says",
                "write it in that encoding, with a byte order mark where that needs one",
            ),
        };
        hidden(path, judged_by, message, hint);
    }
    verdict.settle();
}
