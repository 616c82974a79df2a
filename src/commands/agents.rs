//! `agentgate agents`: which agents `run --agent` knows, and what of them is here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::implementer::{self, Implementer};
use super::walls::probe;
use super::{Surroundings, own_sandbox, run};
use crate::agent::command::{CommandError, Input, OwnSandbox};
use crate::agent::effective::label;
use crate::agent::profiles::Profile;
use crate::agent::settings::{Person, Settings};
use crate::gate::GateError;
use crate::git::tree::GitTree;
use crate::process::{Tool, signals};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the installed programs are asked for their versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Each is started with `--version`.
    Ask,
    /// No program is started.
    Leave,
}

/// One profile, as it would run here.
#[derive(Clone, Debug)]
pub struct Row {
    /// The profile.
    pub profile: Profile,
    /// Its program, if that is installed.
    pub program: Option<PathBuf>,
    /// Why it is not, one line.
    pub missing: Option<String>,
    /// What the program said to `--version`, if it was asked and answered.
    pub version: Option<String>,
    /// Its variables that are set, by name.
    pub keys_set: Vec<String>,
    /// Its login files that are there, relative to the home.
    pub logins: Vec<String>,
    /// The command line, with those placeholders that only a job has.
    pub command: String,
    /// It cannot run before a model label is set.
    pub lacks_model: bool,
}

/// All profiles.
#[derive(Clone, Debug)]
pub struct Report {
    /// In the order of their files.
    pub rows: Vec<Row>,
    /// The one that a `run` starts here which names none.
    pub implementer: Option<Implementer>,
    /// Why the settings of this checkout's HEAD could not be asked, one line.
    pub unread: Option<String>,
    /// Where the person's settings are, or would be.
    pub settings: String,
}

/// Lists them. It works outside of a repository too.
///
/// # Errors
/// Exit 64 for settings of the person that cannot be used, or a bad `AGENT_MODEL_LABEL`.
pub fn agents(surroundings: &Surroundings, versions: Versions) -> Result<Report> {
    let person = surroundings.person()?;
    let model = label(surroundings.text("AGENT_MODEL_LABEL")?, "AGENT_MODEL_LABEL")?;
    if versions == Versions::Ask {
        signals::install().context("cannot catch signals")?;
    }
    let own = own_sandbox(probe()?.layers());
    let mut rows = Vec::new();
    for profile in person.profiles.all() {
        let found = profile.program(&surroundings.cwd, surroundings.var("PATH"));
        let name = found.as_ref().map_or(&profile.command[0], |(name, _)| name).clone();
        let command = command_line(profile, name, model.as_deref(), own);
        let (program, missing) = match found {
            Ok((_, program)) => (Some(program), None),
            Err(CommandError::NotFound { program, hint: None }) => (None, Some(format!("not found: {program}"))),
            Err(error) => (None, Some(error.to_string().replace("\nhint: ", "; "))),
        };
        let version = match (&program, versions) {
            (Some(program), Versions::Ask) => version(program, surroundings)?,
            _ => None,
        };
        let is_set = |name: &&String| surroundings.var(name).is_some();
        let is_there = |path: &&String| surroundings.home().is_some_and(|home| home.join(path).is_file());
        rows.push(Row {
            program,
            missing,
            version,
            keys_set: profile.pass_env.iter().filter(is_set).cloned().collect(),
            logins: profile.home_files.iter().filter(is_there).cloned().collect(),
            command,
            lacks_model: model.is_none() && profile.demands_model(),
            profile: profile.clone(),
        });
    }
    let (implementer, unread) = match settings_here(surroundings, &person) {
        Ok(settings) => {
            let task = Path::new("TASK.md");
            (implementer::configured(surroundings, task, &settings, &person).0, None)
        }
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    Ok(Report {
        rows,
        implementer,
        unread,
        settings: person.shown(),
    })
}

/// The settings at HEAD; none where there is no checkout and no commit.
fn settings_here(surroundings: &Surroundings, person: &Person) -> Result<Settings> {
    let Ok(checkout) = surroundings.checkout() else {
        return Ok(Settings::default());
    };
    let Ok(head) = checkout.head() else {
        return Ok(Settings::default());
    };
    let tree = GitTree::of_commit(&checkout.repo, head.commit).map_err(GateError::from)?;
    run::settings_of(&tree, person)
}

fn command_line(profile: &Profile, name: String, model: Option<&str>, own: OwnSandbox) -> String {
    let mut words = vec![name];
    for word in &profile.command[1..] {
        match word.as_str() {
            "{sandbox}" => words.extend(profile.sandbox(own).iter().cloned()),
            word => words.push(word.replace("{model}", model.unwrap_or("{model}"))),
        }
    }
    let mut line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    if profile.input == Input::Stdin {
        line.push("< {task_file}".to_owned());
    }
    line.join(" ")
}

/// Placeholders stay readable.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=,+@%{}".contains(&b);
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => shell_words::quote(word).into_owned(),
    }
}

/// The first line of what a program says to `--version`. It runs in `/`, where no repository's settings
/// are near.
fn version(program: &PathBuf, surroundings: &Surroundings) -> Result<Option<String>> {
    let asked = Tool::new(program, "/")
        .arg("--version")
        .environment(surroundings.vars.clone())
        .stdout_limit(1 << 20)
        .time_limit(PATIENCE)
        .stop_on_signal()
        .run();
    let outcome = match asked {
        Ok(outcome) if outcome.success() => outcome,
        Err(error @ crate::process::ToolError::Interrupted { .. }) => return Err(error.into()),
        // It is installed all the same.
        _ => return Ok(None),
    };
    let text = String::from_utf8_lossy(&outcome.stdout);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line: String = line.trim().chars().filter(|c| !c.is_control()).take(100).collect();
    Ok((!line.is_empty()).then_some(line))
}
