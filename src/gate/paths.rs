//! How an entry of the policy or of a task matches a path.

/// A plain path (matches itself and everything below it, by whole components) or a glob.
#[derive(Clone, Debug)]
pub struct PathRule {
    /// As written.
    pub text: String,
    /// The key and index it stands under, such as `must_not_touch[2]`.
    pub key: String,
    pub(super) compiled: (),
}

/// How a rule matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Byte for byte.
    Exact,
    /// Only after case folding and Unicode normalisation (NFKC): a twin of the path.
    Twin,
}

impl PathRule {
    /// Reads an entry. `secrets`, `secrets/`, `./secrets` mean the same. An entry with
    /// `*`, `?`, `[` or `{` is a glob in which `*` does not cross `/` and `**` does.
    /// Errors (one line, lower case) name what is wrong: absolute path, `..`, empty, broken glob.
    pub fn parse(text: &str, key: String) -> Result<PathRule, String> {
        todo!()
    }

    /// Whether this path is matched byte for byte (allow-lists use this).
    pub fn allows(&self, path: &[u8]) -> bool {
        todo!()
    }

    /// Whether this path is matched, counting case and Unicode twins (deny-lists use this).
    pub fn denies(&self, path: &[u8]) -> Option<Match> {
        todo!()
    }
}
