//! `agentgate` wraps coding agents: each job in its own git worktree, judged by a policy that
//! only people may change.

pub mod agent;
pub mod confine;
pub mod exit;
pub mod files;
pub mod gate;
pub mod lock;
pub mod process;
pub mod task;
pub mod trailer;
