//! `agentgate demo`: two real jobs in a throwaway repository.
//!
//! Invariant: what is told is what was found. Each claim about a job is looked up in the repository
//! after the job has ended, and the demo is a success only if all of them hold.

mod facts;
mod stage;

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Surroundings, Watch};
use crate::exit::Exit;
use crate::git::shell;
use crate::process::Status;
use crate::store;

use facts::Fact;
use stage::{Played, Stage};

/// Columns of the narrowest terminal that is worth the care.
const WIDTH: usize = 80;

/// How the demo went.
#[derive(Clone, Debug)]
pub struct Report {
    /// 0 only if both jobs went as described.
    pub exit: Exit,
    /// The throwaway repository.
    pub repository: PathBuf,
    /// Closing words, ready to print.
    pub text: String,
}

/// One job as it is told.
struct Act {
    title: &'static str,
    task: &'static str,
    agent: &'static str,
    expected: Exit,
}

const ACTS: [Act; 2] = [
    Act {
        title: "Job 1 of 2: an agent reaches for a queue",
        task: "tasks/retry-queue.md",
        agent: "agents/retry-queue.sh",
        expected: Exit::ForbiddenDirectory,
    },
    Act {
        title: "Job 2 of 2: an agent stays inside the task",
        task: "tasks/bounded-retry.md",
        agent: "agents/bounded-retry.sh",
        expected: Exit::Ok,
    },
];

/// Plays it.
///
/// # Errors
/// Whatever keeps the throwaway repository from being made. That a job went otherwise than
/// described is no error but a report with exit 1.
pub fn demo(surroundings: &Surroundings, watch: &dyn Watch) -> Result<Report> {
    let stage = Stage::build(surroundings)?;
    watch.step(&format!("demo: a throwaway repository in {}", stage.folder.display()));
    let mut text = opening(&stage)?;
    let mut ids = Vec::new();
    let mut as_described = true;
    for act in &ACTS {
        watch.step(&format!("demo: {} works on {}", act.agent, act.task));
        let played = stage.run(act.task, act.agent)?;
        let facts = match act.expected {
            Exit::Ok => facts::kept(&stage, &played),
            _ => facts::refused(&stage, &played, act.expected),
        }
        .with_context(|| {
            format!(
                "the demo cannot read what {} left; agentgate said:\n{}",
                act.title, played.said
            )
        })?;
        as_described &= facts.iter().all(|fact| fact.holds);
        text.push_str(&tell(&stage, act, &played, &facts)?);
        ids.push(played.id);
    }
    text.push_str(&closing(&stage, &ids, as_described));
    Ok(Report {
        exit: if as_described { Exit::Ok } else { Exit::Internal },
        repository: stage.repository,
        text,
    })
}

fn opening(stage: &Stage) -> Result<String> {
    let policy = stage.read(crate::gate::POLICY_PATH)?;
    let mut text = String::from("\nA small payments service. Its policy, which only people may change:\n\n");
    text.push_str(&quoted(policy.lines().take(6).map(without_comment)));
    Ok(text)
}

fn tell(stage: &Stage, act: &Act, played: &Played, facts: &[Fact]) -> Result<String> {
    let rule = "-".repeat(WIDTH.saturating_sub(act.title.len() + 5));
    let mut text = format!("\n--- {} {rule}\n\nThe task, {}:\n\n", act.title, act.task);
    text.push_str(&quoted(stage.read(act.task)?.lines().skip(2)));
    text.push_str(&format!("\nThe command:\n\n    $ {}\n", played.command));
    let record = |name: &str| stage.read(&format!("{}/{name}", played.record));
    text.push_str("\nThe agent, in a worktree of its own:\n\n");
    text.push_str(&quoted(record(store::AGENT_LOG)?.lines()));
    text.push_str("\nThe gate, on what the agent left:\n\n");
    text.push_str(&quoted(record(store::GATE_LOG)?.lines()));
    let outcome = match played.status {
        Status::Exited(code) => match u8::try_from(code).ok().and_then(Exit::from_code) {
            Some(Exit::Ok) => "Kept: exit 0".to_owned(),
            Some(exit) => format!("Refused: exit {} ({})", exit.code(), exit.name()),
            None => format!("Ended: exit {code}"),
        },
        status @ Status::Signaled(_) => format!("Ended: {status}"),
    };
    text.push_str(&format!("\n{outcome}. Looked up afterwards:\n\n"));
    for fact in facts {
        let mark = if fact.holds { "ok " } else { "NOT" };
        text.push_str(&wrapped(&format!("    {mark}  {}", fact.claim), 9));
        if let Some(found) = fact.found.as_ref().filter(|_| !fact.holds) {
            text.push_str(&wrapped(&format!("         found: {found}"), 9));
        }
    }
    if facts.iter().any(|fact| !fact.holds) {
        text.push_str("\nWhat agentgate said:\n\n");
        text.push_str(&quoted(played.said.lines()));
    }
    text.push_str(&format!("\nThe record: {}/\n", played.record));
    Ok(text)
}

fn closing(stage: &Stage, ids: &[String], as_described: bool) -> String {
    let rule = "-".repeat(WIDTH - 9);
    let mut text = format!("\n--- Next {rule}\n\n");
    if !as_described {
        text.push_str("The demo did NOT go as described: see the lines marked NOT above.\n\n");
    }
    let mut next = |why: &str, commands: &[String]| {
        text.push_str(&format!("{why}\n"));
        text.extend(commands.iter().map(|command| format!("    {command}\n")));
    };
    let mut begin = vec![format!("cd {}", shell(&stage.repository))];
    begin.extend(stage.alias());
    next("Go there:", &begin);
    if let [refused, kept] = ids {
        next("Both jobs:", &["agentgate status".to_owned()]);
        next("Step by step, what job 1 did:", &[format!("agentgate log {refused}")]);
        next(
            "Its refused change, as a worktree:",
            &[format!("agentgate open {refused}")],
        );
        next("The commit of job 2:", &[format!("git show agent/{kept}")]);
        next("Put it on main:", &[format!("agentgate land {kept}")]);
    }
    next(
        "When you have seen enough:",
        &[format!("cd / && rm -rf {}", shell(&stage.folder))],
    );
    text
}

/// A policy's line without its comment: the keys are what matters here.
fn without_comment(line: &str) -> &str {
    line.split_once(" #").map_or(line, |(key, _)| key.trim_end())
}

/// Lines set in, those that are too long broken between words.
fn quoted<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines
        .map(|line| {
            let own = line.len() - line.trim_start().len();
            wrapped(&format!("    {line}"), own + 6)
        })
        .collect()
}

/// A line of prose as one or more lines of at most [`WIDTH`] columns, the later ones set in by
/// `hang`. A word that is too long stays whole: it may be a path that somebody wants to paste.
fn wrapped(line: &str, hang: usize) -> String {
    let start = line.len() - line.trim_start().len();
    let mut text = line[..start].to_owned();
    let mut column = start;
    for (index, word) in line[start..].split(' ').enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(hang));
            column = hang;
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_between_words_and_short_ones_stay() {
        assert_eq!(quoted("a\n\n  b: c".lines()), "    a\n\n      b: c\n");
        let long = format!("  hint: {}", "word ".repeat(30).trim_end());
        let shown = quoted(long.lines());
        assert!(shown.lines().all(|line| line.len() <= WIDTH), "{shown}");
        assert!(
            shown.lines().skip(1).all(|line| line.starts_with("        word")),
            "{shown}"
        );
        let path = format!("    {}", "p".repeat(100));
        assert_eq!(wrapped(&path, 6), format!("{path}\n"));
    }
}
