//! How an agent starts and ends, for the log and for people.

use std::time::Duration;

use super::inputs::program_of;
use super::prepare::{Job, Seat};
use crate::gate::credentials;
use crate::job::AgentEnd;
use crate::job::pipeline::Call;
use crate::job::role::Role;
use crate::process::Ending;
use crate::task::format_duration;

/// Variables of any shell: that an agent does not get them explains nothing.
const SHELL_NOISE: &[&str] = &["SHLVL", "OLDPWD", "_", "PWD"];
/// What programs say of a write that the kernel refused.
const REFUSED: &[&str] = &["Read-only file system", "Permission denied", "EROFS", "EACCES"];

/// Whether output speaks of such a write.
pub(super) fn speaks_of_a_wall(output: &str) -> bool {
    REFUSED.iter().any(|words| output.contains(words))
}

impl Job {
    /// What is said when a role's agent starts.
    pub(super) fn banner(&self, call: &Call, seat: &Seat, limit: Duration, tier: &str) -> String {
        let by = |who: &Option<String>| who.as_ref().map_or_else(String::new, |who| format!(" by {who}"));
        if call.role != Role::Implementer {
            let mut words = vec![format!("limit {}", format_duration(limit.as_secs())), tier.to_owned()];
            words.extend(seat.walls.narrowed());
            if !call.role.writes() {
                words.push("reads only".to_owned());
            }
            return format!(
                "{} ({}): {} ({})",
                call.role.name(),
                call.step,
                program_of(&seat.effective.source),
                words.join(", ")
            );
        }
        let mut words = vec![format!(
            "limit {}{}",
            format_duration(limit.as_secs()),
            by(&self.origin.limit)
        )];
        if let Some(seconds) = self.effective.idle_timeout {
            words.push(format!(
                "idle limit {}{}",
                format_duration(seconds),
                by(&self.origin.idle_limit)
            ));
        }
        words.push(tier.to_owned());
        words.extend(self.walls.narrowed());
        let step = match call.number {
            Some(_) => format!("implementer ({})", call.step),
            None => "agent".to_owned(),
        };
        format!(
            "{step} {}, from {} ({})",
            self.created.agent,
            self.origin.agent,
            words.join(", ")
        )
    }

    /// Where a limit came from that ended the job, and how to raise it.
    pub(super) fn limit_words(&self) -> String {
        let state = &self.owner.state;
        let ended = state.agent.as_ref().or(state.setup.as_ref());
        let (what, from, options) = match ended {
            Some(AgentEnd::Silent { idle_timeout }) => (
                format!("limit of silence, {}", format_duration(*idle_timeout)),
                &self.origin.idle_limit,
                "--idle-timeout, or `idle_timeout`",
            ),
            _ => (
                format!("limit, {}", format_duration(self.created.timeout)),
                &self.origin.limit,
                "--timeout, `Timeout:` in the task, or `timeout`",
            ),
        };
        let from = from
            .as_deref()
            .map_or_else(|| "is the default".to_owned(), |from| format!("came from {from}"));
        format!("the {what}, {from}; to raise it: {options} below `agents:`, `implementer:` in the settings")
    }

    /// Where the agent may write.
    pub(super) fn wall_words(&self) -> String {
        format!(
            "its output speaks of a write that was refused: the confinement refuses all writes outside of the worktree \
             and $TMPDIR; it may write in {} and in {{tmp,home,outbox}} of {} ($TMPDIR, $HOME, $AGENTGATE_OUTBOX)",
            self.places.worktree.display(),
            self.places.private.display()
        )
    }

    /// The variables that the agent did not get, if that can be why it failed.
    pub(super) fn withheld_words(&self) -> Option<String> {
        let names = self.withheld.iter().map(String::as_str);
        let names: Vec<&str> = names.filter(|name| !SHELL_NOISE.contains(name)).collect();
        (!names.is_empty()).then(|| format!("variables it was not given: {}", names.join(", ")))
    }
}

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

/// The last ten lines of output, printable.
pub(super) fn last_lines(raw: &[u8]) -> String {
    // It is shown and kept; what the agent said itself stays in its own log.
    let text = credentials::masked(&String::from_utf8_lossy(raw));
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(10)..];
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
