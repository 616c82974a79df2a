//! `agentgate` wraps coding agents: each job in its own git worktree, judged by a policy that
//! only people may change.

pub mod exit;
pub mod gate;
pub mod settings;
pub mod task;
pub mod trailer;
