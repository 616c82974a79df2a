//! `frozen.json`: what the candidate's tree does not show of what an agent left, for whoever judges it later or
//! goes on with its job.
//!
//! Invariant: with the tree, the base and this file the verdict can be reached again, and the job's report be
//! written, although worktree, private folder and the process that froze them are gone.

use serde::{Deserialize, Serialize};

/// The shape of the file.
pub const SCHEMA: &str = "agentgate/frozen/1";

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// [`SCHEMA`]
    pub schema: String,
    /// Id (hex) of the tree.
    pub tree: String,
    /// How many paths differ from the base, those counted that the tree cannot show.
    pub changed: u64,
    /// Folders in which the agent had put a repository of its own.
    pub nested: Vec<RawPath>,
    /// What was called `.git` but for case.
    pub twins: Vec<RawPath>,
    /// What else the tree does not show as it is.
    pub uninspectable: Vec<Uninspectable>,
    /// How many files only the agent's own ignore rules hide.
    pub hidden: u64,
    /// Branches, tags and stashes of the agent's, the first of them.
    pub refs: Vec<String>,
    /// What changed in the clone's configuration meanwhile.
    pub collisions: Vec<String>,
    /// What was told on the way.
    pub notices: Vec<String>,
    /// Names of variables that the agent was not given.
    pub withheld: Vec<String>,
    /// The last lines of its output.
    pub last_output: String,
    /// Its output speaks of a write that was refused.
    pub met_a_wall: bool,
}

/// Something that nobody can inspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninspectable {
    /// Where.
    pub path: RawPath,
    /// Why.
    #[serde(flatten)]
    pub why: Why,
}

/// Why nobody can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Why {
    /// The path is too long for programs.
    Path,
    /// git takes the folder for a repository.
    Repository,
    /// Too large to be taken in.
    Size {
        /// Bytes.
        bytes: u64,
    },
    /// Not in the encoding that the base's attributes say.
    Encoding,
}

/// Bytes of a path or a word of a command line: text where they are UTF-8, which they almost always are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RawPath {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes {
        /// The bytes as numbers.
        bytes: Vec<u8>,
    },
}

impl RawPath {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> RawPath {
        match std::str::from_utf8(bytes) {
            Ok(text) => RawPath::Text(text.to_owned()),
            Err(_) => RawPath::Bytes { bytes: bytes.to_vec() },
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            RawPath::Text(text) => text.as_bytes(),
            RawPath::Bytes { bytes } => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_bytes_come_back() {
        for path in [&b"a/b"[..], b"a\xff", b"", b"{\"bytes\":[1]}"] {
            let text = serde_json::to_string(&RawPath::of(path)).expect("JSON");
            let back: RawPath = serde_json::from_str(&text).expect("it reads");
            assert_eq!(back.bytes(), path, "{text}");
        }
    }

    #[test]
    fn why_stands_beside_the_path() {
        let one = Uninspectable {
            path: RawPath::of(b"a"),
            why: Why::Size { bytes: 7 },
        };
        let json = serde_json::to_value(&one).expect("JSON");
        assert_eq!(json, serde_json::json!({"path": "a", "why": "size", "bytes": 7}));
        assert_eq!(serde_json::from_value::<Uninspectable>(json).expect("it reads"), one);
    }
}
