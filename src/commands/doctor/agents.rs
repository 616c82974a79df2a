//! Which agents are installed.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::report::Report;
use crate::agent::lookup;
use crate::commands::Surroundings;

/// An agent that is installed.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its program.
    pub program: PathBuf,
}

/// Name and program of the agents that are known.
fn known() -> Vec<(&'static str, &'static str)> {
    vec![
        ("claude", "claude"),
        ("codex", "codex"),
        ("opencode", "opencode"),
        ("qwen", "qwen"),
        ("gemini", "gemini"),
        ("copilot", "copilot"),
        ("aider", "aider"),
        ("mini", "mini"),
        ("openhands", "openhands"),
        ("goose", "goose"),
        ("crush", "crush"),
        ("cursor", "cursor-agent"),
    ]
}

/// Looks for them on PATH. Any command can be an agent, so that none is there is only told.
pub fn look(report: &mut Report, surroundings: &Surroundings) {
    let path = surroundings.var("PATH");
    for (name, program) in known() {
        if let Ok(program) = lookup::find(OsStr::new(program), &surroundings.cwd, path) {
            let name = name.to_owned();
            report.agents.push(Agent { name, program });
        }
    }
    if report.agents.is_empty() {
        let names: Vec<&str> = known().iter().map(|(name, _)| *name).collect();
        report.warn(
            "agents",
            format!("none of {} is on PATH", names.join(", ")),
            &["any command can be one: agentgate run TASK.md -- my-agent --its-flags".to_owned()],
        );
        return;
    }
    let found: Vec<String> = report
        .agents
        .iter()
        .map(|agent| format!("{} ({})", agent.name, agent.program.display()))
        .collect();
    report.ok("agents", found.join(", "));
}
