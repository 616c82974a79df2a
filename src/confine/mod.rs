//! What keeps the agent's writes inside its own folders.
//!
//! The layers (read-only mounts, a ruleset of the kernel, a PID namespace) go here: they are
//! applied by [`stub`], in the process that becomes the agent, and the choice of them reaches it
//! as arguments. In this version there is none, and [`tier`] says so wherever it is shown.

pub mod stub;
pub mod sys;
mod wish;

pub use wish::{Mode, Network};

/// The name of the layers in force, as it stands in the log, the summary and the commit.
pub fn tier() -> &'static str {
    "unconfined"
}

/// What the layers in force do not cover, one line each, for people.
pub fn not_covered() -> &'static [&'static str] {
    &[
        "the agent can write wherever you can: its worktree is where it starts, not a wall",
        "the agent can read your files and use the network",
        "if agentgate itself is killed with SIGKILL, daemons of the agent live on",
    ]
}
