//! What each kind of rule is called and what to do about its findings, for reports that explain
//! themselves to a reader without the README.

use super::Rule;

/// The code under which reports show a [`super::Warning`].
pub const WARNING: &str = "autoexec";
/// What a warning is, in a few words.
pub const WARNING_TITLE: &str = "A file that tools run or obey by themselves changed";
/// What to do about a warning.
pub const WARNING_HELP: &str =
    "Read what runs by itself before you use the change. With `autoexec: deny` in the policy such a change is refused.";

/// The same as the hint of a single warning.
pub const WARNING_HINT: &str =
    "read what runs by itself before you use it; `autoexec: deny` in architecture/invariants.yml refuses such changes";

/// Every rule once; a variant that is missing here does not compile.
macro_rules! rules {
    ($($variant:ident: $title:literal, $help:literal;)+) => {
        impl Rule {
            /// Every kind of rule, in the order of reports.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),+];

            /// What is wrong when it breaks, as a short sentence without a full stop.
            pub const fn title(self) -> &'static str {
                match self { $(Rule::$variant => $title),+ }
            }

            /// What it is for and what to do about a finding, in one or two sentences.
            pub const fn help(self) -> &'static str {
                match self { $(Rule::$variant => $help),+ }
            }
        }
    };
}

rules! {
    Credential: "A credential in the change or in the task",
        "Whatever a commit holds is in the history for good. Take the value out and revoke it; what only looks like one goes into `allowed_credentials` by its fingerprint.";
    StaleBaseline: "The baseline lists a finding that is no longer there",
        "A stale entry would excuse the same fault if it came back. `agentgate baseline update` takes it out.";
    ProtectedPath: "A human-owned file changed",
        "`must_not_touch` and the policy's own files belong to people. Undo the change, or let an owner of the policy make it.";
    ForbiddenDirectory: "A change inside a forbidden directory",
        "Nothing may change below an area's `forbidden_dirs`. Move the change elsewhere, or ask an owner of the policy.";
    ForbiddenImport: "An import that the area forbids",
        "The file's area lists this package in `forbidden_imports`. Remove the import, or ask an owner of the policy to allow it.";
    DependencyEdge: "An import of an area that this one may not depend on",
        "The package graph of the policy (`may_depend_on`) has no such edge. `agentgate graph` shows it. Go through an area that is allowed, or ask an owner of the policy.";
    ImportNotAllowed: "An import from outside that the area does not list",
        "The area's `allowed_imports` is the whole list of packages that its files may import. Do without this one, or ask an owner of the policy to add it.";
    DynamicImport: "An import whose name is computed",
        "No rule can tell what it loads, and the policy says `dynamic_imports: deny`. Write the name as a literal, or ask an owner of the policy.";
    NewTopLevelDirectory: "More new top-level directories than allowed",
        "`max_new_top_level_dirs` bounds how many folders a change may add to the root. Put the files into an existing folder.";
    NewDirectory: "A new directory although the task rules them out",
        "The task's Non-goals name new directories. Put the files into a folder that the base has, or name the path under `Allowed files`.";
    OutOfScope: "A change outside of the scope",
        "The path lies outside the task's `Allowed files` or areas, or belongs to no area where the policy says `unmapped: deny`. Undo the change, or have the scope widened.";
    TooLarge: "A change larger than the policy allows",
        "`max_changed_files` and `max_changed_lines` bound what one review has to read. Split the change.";
    NewDependency: "A new dependency that the policy or the task rules out",
        "The policy's `dependencies` or the task's Non-goals rule out new names in manifests. Do without the package, or have one of the two changed.";
    ForbiddenDependency: "A dependency that the policy forbids",
        "`dependencies.forbidden` or an area's `forbidden_imports` names this package. Do without it, or ask an owner of the policy to allow it.";
    LockFile: "A lock file that changed without its manifest",
        "What is installed would change and no manifest says so. Change the manifest that asks for it, or put the lock file back.";
    Uninspectable: "Content that hides from review",
        "Submodule links, links out of the repository, source that is not readable text, disguised names and bidirectional controls cannot be reviewed, whatever the policy says. Replace them with plain files.";
    CheckFailed: "A command of the repository's checks failed",
        "A command under `checks:` in architecture/agentgate.yml failed on the candidate. Its last lines of output say why; `baseline: true` tells whether it was red before.";
    Trailers: "An agent commit without valid trailers",
        "A commit of an agent names its job, host and model in its last paragraph, once each. Let `agentgate run` make the commit, or reword it.";
}

impl Rule {
    /// The code in words joined by capitals: `ProtectedPath`.
    pub fn name(self) -> String {
        camel(self.code())
    }
}

/// `protected-path` as `ProtectedPath`.
pub fn camel(code: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    code.split('-').map(capital).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_differ_and_no_text_is_empty() {
        let codes: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.code()).chain([WARNING]).collect();
        assert_eq!(codes.len(), Rule::ALL.len() + 1);
        for rule in Rule::ALL {
            assert!(!rule.title().is_empty() && !rule.title().ends_with('.'), "{rule:?}");
            assert!(rule.help().ends_with('.'), "{rule:?}");
        }
        assert_eq!(Rule::NewTopLevelDirectory.name(), "NewTopLevelDirectory");
    }
}
