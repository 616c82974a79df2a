//! How an entry of the policy or of a task matches a path.
//!
//! Invariants: paths are bytes, as git has them, never decoded lossily; a plain entry matches by
//! whole components (`infra/async` is not a prefix of `infra/asyncify.ts`); a glob that denies a
//! folder denies what lies below it, while one that allows a folder allows nothing else, since
//! widening an allow-list lets things through; an entry that could never match, such as an absolute
//! path, is an error and not a dead rule.

mod fold;
mod glob;
mod invisible;
#[cfg(test)]
mod tests;

pub use fold::fold;
use glob::Glob;
pub use invisible::is_invisible;

/// A plain path (matches itself and everything below it, by whole components) or a glob.
#[derive(Clone, Debug)]
pub struct PathRule {
    /// As written.
    pub text: String,
    /// The key and index it stands under, such as `must_not_touch[2]`.
    pub key: String,
    compiled: Compiled,
}

/// How a rule matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Byte for byte.
    Exact,
    /// Only after case folding and Unicode normalisation (NFKC): a twin of the path.
    Twin,
}

#[derive(Clone, Debug)]
enum Compiled {
    /// `.`: entries that lie directly in the root folder, and nothing below it.
    Root,
    /// A path and everything below it.
    Plain { path: Vec<u8>, folded: Vec<u8> },
    /// A glob; `literal` is its own text, since names such as `[id].tsx` are common.
    Glob {
        literal: Vec<u8>,
        exact: Box<Glob>,
        folded: Box<Glob>,
    },
}

impl PathRule {
    /// Reads an entry. `secrets`, `secrets/`, `./secrets` and `secrets/**` mean the same: the path
    /// itself and everything below it. `.` means what lies directly in the root folder.
    ///
    /// An entry with `*`, `?`, `[` or `{` is a glob in which `*` does not cross `/` and `**` does.
    /// [`allows`](Self::allows) takes exactly the paths it describes: `src/*` does not allow
    /// `src/a/b`. [`denies`](Self::denies) takes what lies below them too: `**/async` denies
    /// `infra/async/x`, and `src/*` denies `src/a/b`, since `src/a` is denied. A glob that
    /// ends in `/` or `/**` also matches the folder before it, so that a link put in the folder's
    /// place is seen. A path that equals the text of a glob, or lies below that, is matched too:
    /// folders such as `app/[id]` exist.
    ///
    /// Errors (one line, lower case) name the entry and what is wrong: absolute path, `..`,
    /// backslash, empty, outer blanks, negation, broken glob.
    pub fn parse(text: &str, key: String) -> Result<PathRule, String> {
        let wrong = |what: &str| Err(format!("path `{}`: {what}", text.escape_debug()));
        if text.trim().is_empty() {
            return Err("a path is empty".to_owned());
        }
        if text.contains('\0') {
            return wrong("a NUL byte cannot stand in a path");
        }
        if text.trim() != text {
            return wrong("begins or ends with a blank");
        }
        if text.starts_with('/') {
            return wrong("absolute; paths are relative to the repository's root");
        }
        if text.contains('\\') {
            return wrong("a backslash; folders are separated by `/` and nothing is escaped");
        }
        if text.starts_with('!') {
            return wrong("`!` negates nothing here; list what is meant");
        }
        let mut parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        if parts.contains(&"..") {
            return wrong("`..` leaves the folder; write the path from the repository's root");
        }
        let folder = text.ends_with('/') || parts.last() == Some(&"**");
        while parts.len() > 1 && parts.last() == Some(&"**") {
            parts.pop();
        }
        let path = parts.join("/");
        let compiled = if path.is_empty() {
            Compiled::Root
        } else if is_glob(&path) {
            if let Some(part) = parts.iter().find(|part| part.contains("**") && **part != "**") {
                return wrong(&format!(
                    "`**` must be a whole path component, not part of `{}`; write `**/*` for any depth",
                    part.escape_debug()
                ));
            }
            let glob = |pattern: &str| Glob::new(pattern, folder);
            let exact = match glob(&path) {
                Ok(exact) => exact,
                Err(broken) => return wrong(&format!("broken glob: {broken}")),
            };
            // Folding can break a pattern that was sound (`[Z-a]`, or a full-width bracket that
            // turns into a real one); such a pattern has no twins but itself.
            let folded = String::from_utf8(fold(path.as_bytes()))
                .ok()
                .and_then(|folded| glob(&folded).ok());
            Compiled::Glob {
                literal: path.into_bytes(),
                folded: Box::new(folded.unwrap_or_else(|| exact.clone())),
                exact: Box::new(exact),
            }
        } else {
            Compiled::Plain {
                folded: fold(path.as_bytes()),
                path: path.into_bytes(),
            }
        };
        Ok(PathRule {
            text: text.to_owned(),
            key,
            compiled,
        })
    }

    /// The path as it is, without any syntax in it, and everything below it.
    pub fn exactly(path: &[u8], key: String) -> PathRule {
        PathRule {
            text: String::from_utf8_lossy(path).into_owned(),
            key,
            compiled: Compiled::Plain {
                folded: fold(path),
                path: path.to_vec(),
            },
        }
    }

    /// Whether this path is matched byte for byte (allow-lists use this). What lies below a folder
    /// that a glob describes is not.
    pub fn allows(&self, path: &[u8]) -> bool {
        match &self.compiled {
            Compiled::Root => !path.contains(&b'/'),
            Compiled::Plain { path: rule, .. } => is_at_or_below(path, rule),
            Compiled::Glob { literal, exact, .. } => exact.matches(path) || is_at_or_below(path, literal),
        }
    }

    /// Whether this path or a folder above it is matched, counting case and Unicode twins
    /// (deny-lists use this, and what asks whose rules look at a file).
    pub fn denies(&self, path: &[u8]) -> Option<Match> {
        let is_exact = match &self.compiled {
            Compiled::Glob { exact, .. } => self.allows(path) || parents(path).any(|folder| exact.matches(folder)),
            _ => self.allows(path),
        };
        if is_exact {
            return Some(Match::Exact);
        }
        let path = fold(path);
        let twin = match &self.compiled {
            Compiled::Root => false,
            Compiled::Plain { folded, .. } => is_at_or_below(&path, folded),
            Compiled::Glob { literal, folded, .. } => {
                folded.matches(&path)
                    || parents(&path).any(|folder| folded.matches(folder))
                    || is_at_or_below(&path, &fold(literal))
            }
        };
        twin.then_some(Match::Twin)
    }

    /// Whether the entry is a glob.
    pub fn is_glob(&self) -> bool {
        matches!(self.compiled, Compiled::Glob { .. })
    }

    /// The path a plain entry stands for, without `./`, a trailing `/` or `/**`; `None` for a
    /// glob and for `.`.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.compiled {
            Compiled::Plain { path, .. } => Some(path),
            _ => None,
        }
    }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The folders above a path, without the root.
fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(index, _)| &path[..index])
}

/// Whether `path` is `folder` or lies below it, by whole components.
fn is_at_or_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
