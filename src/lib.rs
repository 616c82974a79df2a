//! `agentgate` wraps coding agents: each job in its own git worktree, judged by a policy that
//! only people may change.

pub mod agent;
pub mod commands;
pub mod confine;
pub mod exit;
pub mod files;
pub mod gate;
pub mod git;
pub mod job;
pub mod lock;
pub mod process;
pub mod settings;
pub mod store;
pub mod task;
pub mod trailer;
