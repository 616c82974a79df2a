//! What a manifest declares, as every reader of a format returns it.

/// A declared dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Normalised as its registry does.
    pub(super) name: String,
    /// As written, to find the line where `at` does not say it.
    pub(super) written: String,
    /// Byte offset in the text, where the reader knows it.
    pub(super) at: Option<usize>,
    pub(super) kind: Named,
}

/// How a name comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// It is declared.
    Outright,
    /// Another manifest says which package goes by this name: Cargo's `workspace = true`, pnpm's
    /// `catalog:NAME`, Gradle's `libs.NAME`.
    Elsewhere(Shelf),
    /// It is a folder, this one from the manifest's own (`workspace:` of npm's: that itself). Where that is the
    /// repository's own (see `own`), it is no new name.
    Local(String),
    /// It is a folder that is put in the place of something declared under another name. Where that is the repository's
    /// own it says nothing, else it is as [`Named::Guessed`].
    InPlace(String),
    /// It is a module of this repository, so that it is no new name.
    Module,
    /// Read out of an address or a path that is declared under another name. Entries that forbid
    /// are compared with it; by itself it is no new name.
    Guessed,
}

/// Where names are kept that other manifests refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    /// `workspace.dependencies` of a Cargo.toml in this folder or above.
    Workspace,
    /// A catalog of a pnpm-workspace.yaml in this folder or above.
    Catalog(String),
    /// `gradle/libs.versions.toml` of this folder or above.
    Libraries,
    /// The plugins in it.
    Plugins,
}

impl Dependency {
    pub(super) fn new(name: impl Into<String>, written: impl Into<String>) -> Dependency {
        Dependency {
            name: name.into(),
            written: written.into(),
            at: None,
            kind: Named::Outright,
        }
    }

    /// With the place of its declaration.
    pub(super) fn at(self, at: Option<usize>) -> Dependency {
        Dependency { at, ..self }
    }

    pub(super) fn of_kind(self, kind: Named) -> Dependency {
        Dependency { kind, ..self }
    }
}

/// All that one manifest declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) found: Vec<Dependency>,
    /// Declarations whose name only running the manifest would tell.
    pub(super) computed: Vec<Computed>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Computed {
    /// The declaration as written, blanks evened out, so that it can be found again in the base.
    pub(super) text: String,
    pub(super) at: usize,
}

impl From<Vec<Dependency>> for Declared {
    fn from(found: Vec<Dependency>) -> Declared {
        Declared {
            found,
            computed: Vec::new(),
        }
    }
}

/// Names that an address or a path may hold: of `git+https://example.com/a/redis.git#v4`,
/// `../redis` and `redis-4.0.tar.gz` it is `redis`.
pub(super) fn guesses(address: &str) -> Option<&str> {
    let end = address.find(['#', '?']).unwrap_or(address.len());
    let last = address[..end].trim_end_matches('/').rsplit(['/', ':', '\\']).next()?;
    let last = last.split('@').next().unwrap_or(last);
    let stem = [".git", ".tgz", ".tar.gz", ".tar.bz2", ".zip", ".whl"]
        .iter()
        .find_map(|ending| last.strip_suffix(ending))
        .unwrap_or(last);
    // `name-1.2.3` and what follows: a version begins with a digit.
    let version = stem
        .match_indices('-')
        .map(|(at, _)| at)
        .find(|&at| stem[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let name = &stem[..version.unwrap_or(stem.len())];
    (!name.is_empty() && !matches!(name, "." | "..")).then_some(name)
}
