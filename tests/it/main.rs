//! The one integration binary: one link for all tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files by themselves, independently of what they test"
)]

mod after;
mod agents;
mod autoexec;
mod check;
mod checks;
mod cli;
mod confine;
mod contract;
mod demo;
mod detach;
mod doctor;
mod drop_open;
mod events;
mod exits;
mod explain;
mod floors;
mod formats;
mod gate;
mod graph;
mod init;
mod land;
mod lock;
mod mcp;
mod oracle;
mod preflight;
mod real_agents;
mod resume;
mod roles;
mod run_agent;
mod run_base;
mod run_commit;
mod run_credentials;
mod run_env;
mod run_exit;
mod run_gate;
mod run_home;
mod run_lfs;
mod run_preflight;
mod run_record;
mod run_setup;
mod run_submodule;
mod run_task;
mod run_tree;
mod run_words;
mod schemas;
mod settings;
mod signals;
mod status_log;
mod support;
mod trailers;
mod verify;
