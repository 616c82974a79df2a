//! How a program of a job ended, for the log and for people.

use crate::job::AgentEnd;
use crate::process::Ending;

/// For the log.
pub(super) fn agent_end(ending: Ending) -> AgentEnd {
    match ending {
        Ending::Exited(status) => AgentEnd::Exited { status },
        Ending::Signaled(signal) => AgentEnd::Signaled { signal },
        Ending::TimedOut => AgentEnd::TimedOut,
        Ending::Silent(idle) => AgentEnd::Silent {
            idle_timeout: idle.as_secs(),
        },
        Ending::Interrupted(signal) => AgentEnd::Interrupted { signal },
        Ending::NotStarted(error) => AgentEnd::NotStarted {
            error: error.chars().take(500).collect(),
        },
    }
}

/// For a progress line.
pub(super) fn end_words(end: &AgentEnd) -> String {
    match end {
        AgentEnd::Exited { status: 0 } => "done".into(),
        AgentEnd::Exited { status } => format!("exited with {status}"),
        AgentEnd::Signaled { signal } => format!("killed by signal {signal}"),
        AgentEnd::TimedOut => "timed out".into(),
        AgentEnd::Silent { .. } => "ended for its silence".into(),
        AgentEnd::Interrupted { .. } => "interrupted".into(),
        AgentEnd::NotStarted { .. } => "not started".into(),
    }
}

/// The last five lines of output, printable.
pub(super) fn last_lines(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(5)..];
    last.iter()
        .map(|line| {
            line.chars()
                .filter(|letter| !letter.is_control())
                .take(300)
                .collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("\n")
}
