//! The only place that starts programs.
//!
//! Two kinds: [`Tool`] for short-lived programs that are trusted (git), and [`AgentRun`] for a
//! program that is not. Nothing that an [`AgentRun`] started is alive when it returns `Ok`: not a
//! daemon that forked twice, not one in a session of its own, not one that ignores SIGTERM.
//!
//! [`AgentRun::run`] must be called on the main thread: the kernel ends the agent when the THREAD
//! that started it ends.

mod agent_run;
pub mod detach;
mod identity;
mod marked;
mod outcome;
mod output;
pub mod signals;
pub mod stub;
mod supervise;
mod terminal;
mod tool;
mod tree;
mod warden;

pub use agent_run::{AgentRun, Ending, Finished, Progress};
pub use identity::{Found, ProcessId, descends_from_us};
pub use marked::{MARK, end_marked};
pub use outcome::{Outcome, Status, ToolError};
pub use output::printable;
pub use terminal::{is_device, terminal_is_gone};
pub use tool::{Tool, try_layers};
