//! Commit messages of agent commits: written, parsed and required in one place.

/// What the message of a candidate is made of. Values are checked, never cleaned up silently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailers {
    /// `Agent-Job-Id`
    pub job_id: String,
    /// `Agent-Host`
    pub host: String,
    /// `Agent-Model-Label`
    pub model_label: String,
    /// `Agent-Task-Sha256`, lower-case hex
    pub task_sha256: Option<String>,
    /// `Agent-Policy-Oid`, hex
    pub policy_oid: Option<String>,
    /// `Agent-Confinement`
    pub confinement: Option<String>,
    /// `Agent-Log-Sum`, lower-case hex
    pub log_sum: Option<String>,
}

/// Whether a value may stand in a trailer: `[A-Za-z0-9._:/@+,-]{1,128}`.
pub fn valid_value(value: &str) -> bool {
    todo!()
}

/// The whole commit message, with a final newline. `goal` is cut to one line of 72 columns for
/// the subject, control characters replaced.
pub fn message(goal: &str, trailers: &Trailers) -> String {
    todo!()
}

/// What a commit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Not an agent commit.
    Human,
    /// An agent commit with valid trailers.
    Agent(Trailers),
    /// An agent commit whose trailers are wrong; each fault one line.
    Faulty(Vec<String>),
}

/// Reads a commit. `message` is the raw message, `block` what git itself takes for its trailers
/// (`%(trailers:only,unfold)`), so that git's own idea of the last paragraph counts.
pub fn read(message: &[u8], block: &[u8]) -> Reading {
    todo!()
}
