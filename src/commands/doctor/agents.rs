//! Which agents are installed.

use super::as_stop;
use super::report::Report;
use crate::commands::Surroundings;
use crate::commands::agents::{self, Versions};

pub use crate::commands::agents::Row;

/// Looks for those that have a profile. Any command can be an agent, so that none is there is only told.
pub fn look(report: &mut Report, surroundings: &Surroundings) {
    let rows = match agents::agents(surroundings, Versions::Leave) {
        Ok(report) => report.rows,
        // The settings, which are a check of their own, or the label.
        Err(error) => return report.warn("agents", as_stop(error).message, &[]),
    };
    let names: Vec<&str> = rows.iter().map(|row| row.profile.name.as_str()).collect();
    let none = format!("none of {} is on PATH", names.join(", "));
    report.agents = rows.into_iter().filter(|row| row.program.is_some()).collect();
    if report.agents.is_empty() {
        let hint = "any command can be one: agentgate run TASK.md -- my-agent --its-flags";
        return report.warn("agents", none, &[hint.to_owned()]);
    }
    let found: Vec<String> = report
        .agents
        .iter()
        .filter_map(|row| Some(format!("{} ({})", row.profile.name, row.program.as_ref()?.display())))
        .collect();
    report.ok("agents", found.join(", "));
}
