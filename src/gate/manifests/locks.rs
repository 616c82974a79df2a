//! Lock files that change although no manifest of theirs does (exit 8): what is installed is then
//! something that no reviewed line asks for.

use super::format::{Format, file_name, format, home, parent};
use crate::gate::rules::{PUT_BACK, finding, shown};
use crate::gate::{Change, POLICY_PATH, Rule, Verdict};

struct Lock {
    files: &'static [&'static str],
    /// How other names of such files begin and end.
    like: Option<(&'static str, &'static str)>,
    formats: &'static [Format],
    /// Manifests by name, where they are of no format that is read.
    unread: &'static [&'static str],
    /// Whether manifests of folders above count, too.
    from_above: bool,
}

const fn lock(files: &'static [&'static str], formats: &'static [Format]) -> Lock {
    Lock {
        files,
        like: None,
        formats,
        unread: &[],
        from_above: false,
    }
}

const LOCKS: &[Lock] = &[
    lock(
        &[
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
        ],
        &[Format::Npm, Format::PnpmWorkspace],
    ),
    lock(&["cargo.lock"], &[Format::Cargo]),
    Lock {
        like: Some(("pylock.", ".toml")),
        ..lock(
            &["poetry.lock", "uv.lock", "pdm.lock", "pylock.toml"],
            &[Format::Pyproject, Format::Requirements, Format::Uv],
        )
    },
    lock(&["pipfile.lock"], &[Format::Pipfile]),
    lock(&["pixi.lock"], &[Format::Pixi, Format::Pyproject]),
    lock(&["go.sum", "go.work.sum"], &[Format::Golang]),
    lock(&["composer.lock"], &[Format::Composer]),
    lock(&["gemfile.lock", "gems.locked"], &[Format::Ruby]),
    // `gemfiles/rails_7.gemfile.lock`, of gems that a gemspec above names, too.
    Lock {
        like: Some(("", ".gemfile.lock")),
        from_above: true,
        ..lock(&[], &[Format::Ruby])
    },
    Lock {
        from_above: true,
        ..lock(
            &[
                "gradle.lockfile",
                "buildscript-gradle.lockfile",
                "settings-gradle.lockfile",
            ],
            &[Format::Gradle, Format::GradleKotlin, Format::GradleCatalog],
        )
    },
    Lock {
        from_above: true,
        ..lock(&["packages.lock.json"], &[Format::Dotnet, Format::GlobalJson])
    },
    lock(&["deno.lock"], &[Format::Npm, Format::Deno]),
    Lock {
        unread: &["mix.exs"],
        ..lock(&["mix.lock"], &[])
    },
    Lock {
        unread: &["pubspec.yaml"],
        ..lock(&["pubspec.lock"], &[])
    },
];

/// One finding for each such file and each of the rules (by their keys) that ask for it.
pub(super) fn judge(changes: &[Change], judged_by: &[&str], verdict: &mut Verdict) {
    for change in changes {
        let name = file_name(&change.path);
        let is_changed = change.after.is_some() && content(change);
        let lock = LOCKS.iter().find(|lock| lock.has(&name));
        let Some(lock) = lock.filter(|_| is_changed) else {
            continue;
        };
        if changes.iter().any(|other| lock.belongs_to(&change.path, other)) {
            continue;
        }
        for key in judged_by {
            verdict.findings.push(finding(
                Rule::LockFile,
                &change.path,
                key,
                format!("{} changed and no manifest that it belongs to did", shown(&name)),
                format!(
                    "{PUT_BACK}, or change the manifest whose dependencies it locks; an update of locked \
                     versions alone is for an owner of {POLICY_PATH}"
                ),
            ));
        }
    }
}

impl Lock {
    /// Whether this is the name, in lower case, of such a file.
    fn has(&self, name: &[u8]) -> bool {
        let is_like = |(start, end): (&str, &str)| {
            name.len() > start.len() + end.len() && name.starts_with(start.as_bytes()) && name.ends_with(end.as_bytes())
        };
        self.files.iter().any(|file| file.as_bytes() == name) || self.like.is_some_and(is_like)
    }

    /// Whether the other change is one of a manifest in the lock's folder or below, as workspaces
    /// have them.
    fn belongs_to(&self, lock: &[u8], other: &Change) -> bool {
        let is_manifest = match format(&other.path) {
            Some(format) => self.formats.contains(&format),
            None => {
                let name = file_name(&other.path);
                self.unread.iter().any(|known| known.as_bytes() == name)
            }
        };
        let (folder, manifest) = (parent(lock), home(&other.path));
        is_manifest
            && content(other)
            && (is_at_or_below(manifest, folder) || self.from_above && is_at_or_below(folder, manifest))
    }
}

/// Whether the content differs, not the mode alone.
fn content(change: &Change) -> bool {
    change.before.map(|side| side.id) != change.after.map(|side| side.id)
}

/// Whether `path` is `folder` or lies below it, by whole components.
pub(super) fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
