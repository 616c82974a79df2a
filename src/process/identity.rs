//! Who a process is: a pid alone is reused within seconds on a busy machine.

use std::io;

use serde::{Deserialize, Serialize};

/// A process, told apart from every other that has or had the same pid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// The process number.
    pub pid: i32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/<pid>/stat`.
    pub start_time: u64,
    /// `/proc/sys/kernel/random/boot_id`: start times of different boots do not compare.
    pub boot_id: String,
}

impl ProcessId {
    /// This process. Fails where `/proc` cannot be read.
    pub fn current() -> io::Result<ProcessId> {
        todo!()
    }

    /// Whether that very process runs now. A zombie does not. False when `/proc` cannot be read.
    pub fn alive(&self) -> bool {
        todo!()
    }
}
