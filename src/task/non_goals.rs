//! Which limits a Non-goal names.

use super::is_invisible;

/// What of an item is enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) dependencies: bool,
    pub(super) directories: bool,
    /// Whether it names something new that is not enforced (`new files or folders`).
    pub(super) others: bool,
}

const DEPENDENCIES: &[&str] = &[
    "dependency",
    "dependencies",
    "dep",
    "deps",
    "package",
    "packages",
    "library",
    "libraries",
];
const DIRECTORIES: &[&str] = &[
    "directory",
    "directories",
    "dir",
    "dirs",
    "folder",
    "folders",
    "subdirectory",
    "subdirectories",
    "subfolder",
    "subfolders",
];
/// Words that may stand between `new` and what is new.
const BETWEEN: &[&str] = &[
    "and", "any", "external", "new", "nor", "or", "party", "sub", "third", "&",
];
const OTHERS: &[&str] = &[
    "api",
    "apis",
    "class",
    "classes",
    "endpoint",
    "endpoints",
    "file",
    "files",
    "module",
    "modules",
    "service",
    "services",
    "test",
    "tests",
];

/// Reads an item: `new` with a word of the lists behind it, or several joined by `or`, `and`, a
/// slash or a comma. Case, hyphens, underscores and Markdown's marks do not count.
pub(super) fn limits(item: &str) -> Limits {
    let plain: String = item
        .chars()
        .filter(|&c| !matches!(c, '*' | '`') && !is_invisible(c))
        .map(|c| if c.is_alphanumeric() || c == '&' { c } else { ' ' })
        .collect();
    let plain = plain.to_lowercase();
    let mut limits = Limits::default();
    let mut is_new = false;
    for word in plain.split_whitespace() {
        if word == "new" {
            is_new = true;
        } else if is_new {
            limits.dependencies |= DEPENDENCIES.contains(&word);
            limits.directories |= DIRECTORIES.contains(&word);
            limits.others |= OTHERS.contains(&word);
            is_new = [DEPENDENCIES, DIRECTORIES, BETWEEN, OTHERS]
                .iter()
                .any(|list| list.contains(&word));
        }
    }
    limits
}
