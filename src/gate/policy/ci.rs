//! CI files that call agentgate: who may edit them could switch the gate off.

use super::super::tree::{Kind, Tree, Unreadable, join, lookup};

/// Files and folders that CI systems read. Only these are walked.
pub const KNOWN: &[&str] = &[
    ".github/workflows",
    ".github/actions",
    ".forgejo/workflows",
    ".gitea/workflows",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".drone.yml",
    ".travis.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
];

/// A file beyond this size is counted as a mention without being read.
const MAX_BYTES: u64 = 1024 * 1024;

/// Paths of the tree's CI files in whose content `agentgate` stands, in any case.
pub(super) fn mentions(tree: &dyn Tree) -> Result<Vec<Vec<u8>>, Unreadable> {
    let mut found = Vec::new();
    for known in KNOWN {
        let Some(entry) = lookup(tree, known.as_bytes())? else {
            continue;
        };
        let mut open = vec![(known.as_bytes().to_vec(), entry)];
        while let Some((path, entry)) = open.pop() {
            match entry.kind {
                Kind::Tree => {
                    let entries = tree.entries(&entry.id)?;
                    open.extend(entries.into_iter().map(|entry| (join(&path, &entry.name), entry)));
                }
                Kind::Submodule => {}
                Kind::File | Kind::Executable | Kind::Symlink => {
                    if tree.blob_size(&entry.id)? > MAX_BYTES || is_mention(&tree.blob(&entry.id)?) {
                        found.push(path);
                    }
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether `agentgate` stands in such a file, in any case.
pub fn is_mention(content: &[u8]) -> bool {
    content
        .windows(b"agentgate".len())
        .any(|window| window.eq_ignore_ascii_case(b"agentgate"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::autoexec;

    #[test]
    fn ci_files_are_files_that_run_by_themselves() {
        let is_known = |path: &&str| autoexec::find(path.as_bytes()).is_some_and(|known| !known.is_above);
        let unknown: Vec<&&str> = KNOWN.iter().filter(|path| !is_known(path)).collect();
        assert_eq!(unknown, [&""; 0]);
    }
}
