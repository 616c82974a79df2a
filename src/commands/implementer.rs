//! Which agent a job starts, who named it, and whether it could start: the same for `run`, `preflight`,
//! `doctor` and `agents`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Surroundings;
use super::walls::Walls;
use crate::agent::command::Found;
use crate::agent::effective::{Asked, Effective, Wishes, label};
use crate::agent::settings::{AgentSettings, Person, Runs, Settings};
use crate::exit::{Exit, Stop};
use crate::gate::SETTINGS_PATH;
use crate::job::role::Role;

/// What a job's agent is chosen from, beside the process's surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// The command line.
    pub asked: &'a Asked,
    /// The task file, as typed, for messages.
    pub task: &'a Path,
    /// The task's `Timeout` in seconds.
    pub task_timeout: Option<u64>,
    /// The base's settings.
    pub repository: &'a Settings,
    /// The person's.
    pub person: &'a Person,
}

/// Who decided what of a job, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Who named the agent.
    pub agent: String,
    /// Who set its limit; none for the default.
    pub limit: Option<String>,
    /// Who set the limit of its silence; none where there is none.
    pub idle_limit: Option<String>,
}

impl Chosen<'_> {
    /// Who decided.
    pub fn origin(&self, surroundings: &Surroundings) -> Origin {
        Origin {
            agent: self.named_by(surroundings).unwrap_or_default(),
            limit: self.first_of(self.asked.timeout.map(|_| "--timeout"), self.task_timeout, |block| {
                block.timeout
            }),
            idle_limit: self.first_of(self.asked.idle_timeout.map(|_| "--idle-timeout"), None, |block| {
                block.idle_timeout
            }),
        }
    }

    /// What command line, task and settings come to.
    ///
    /// # Errors
    /// Exit 64, as [`Effective::of`] and for labels that cannot stand in a trailer.
    pub fn effective(&self, surroundings: &Surroundings) -> Result<Effective> {
        self.effective_of(Role::Implementer, surroundings)
    }

    /// The same for another role.
    ///
    /// # Errors
    /// As [`Chosen::effective`].
    pub fn effective_of(&self, role: Role, surroundings: &Surroundings) -> Result<Effective> {
        Ok(Effective::of_role(
            &Wishes {
                asked: self.asked,
                agent_cmd: surroundings.text("AGENT_CMD")?.as_deref(),
                model_label: label(surroundings.text("AGENT_MODEL_LABEL")?, "AGENT_MODEL_LABEL")?.as_deref(),
                task: self.task,
                task_timeout: self.task_timeout,
                repository: self.repository,
                person: self.person,
                home: surroundings.home(),
                start_dir: &surroundings.cwd,
            },
            role,
        )?)
    }

    /// Who named the agent; none where nobody did.
    pub fn named_by(&self, surroundings: &Surroundings) -> Option<String> {
        if !self.asked.command.is_empty() {
            return Some("the command line".to_owned());
        }
        if let Some(name) = &self.asked.agent {
            return Some(format!("--agent {name}"));
        }
        if surroundings.var("AGENT_CMD").is_some() {
            return Some("AGENT_CMD".to_owned());
        }
        let names = |settings: &Settings| settings.implementer.as_ref().is_some_and(|block| block.agent.is_some());
        if names(self.repository) {
            return Some(SETTINGS_PATH.to_owned());
        }
        names(&self.person.settings).then(|| self.person.shown())
    }

    fn first_of(
        &self,
        option: Option<&str>,
        task: Option<u64>,
        of: fn(&AgentSettings) -> Option<u64>,
    ) -> Option<String> {
        let sets = |settings: &Settings| settings.implementer.as_ref().and_then(of).is_some();
        match option {
            Some(option) => Some(option.to_owned()),
            None if task.is_some() => Some("the task".to_owned()),
            None if sets(self.repository) => Some(SETTINGS_PATH.to_owned()),
            None => sets(&self.person.settings).then(|| self.person.shown()),
        }
    }
}

/// Finds the agent's program.
///
/// # Errors
/// Exit 16 for one that is not there or cannot be executed.
pub fn found(effective: &Effective, surroundings: &Surroundings) -> Result<Found, Stop> {
    let path = surroundings.var("PATH");
    Found::find(&effective.source, &surroundings.cwd, path).map_err(|error| {
        let stop = Stop::new(Exit::AgentFailed, format!("the agent could not be started: {error}"));
        match error.remedy() {
            Some(remedy) => stop.hint(format!("nothing was begun; {remedy}")),
            None => stop.hint(
                "nothing was begun; is it installed, and its folder on PATH? a path such as ./agent.sh works too",
            ),
        }
    })
}

/// Whether the agents of the other roles that settings name could start.
///
/// # Errors
/// As [`Chosen::effective_of`] and [`found`], with the role's name before it.
pub fn others_start(chosen: &Chosen<'_>, surroundings: &Surroundings) -> Result<()> {
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Implementer) {
        let files = [chosen.repository, &chosen.person.settings];
        if files.iter().all(|settings| settings.of_role(role).is_none()) {
            continue;
        }
        let effective = chosen.effective_of(role, surroundings)?;
        found(&effective, surroundings).map_err(|mut stop| {
            stop.message = format!("{}: {}", role.name(), stop.message);
            stop
        })?;
    }
    Ok(())
}

/// The walls that the agent would have.
///
/// # Errors
/// Exit 21 where there are none and nobody waived them.
pub fn walls(effective: &Effective, surroundings: &Surroundings) -> Result<Walls> {
    let mut walls = Walls::choose(
        effective.confinement,
        effective.network.clone(),
        effective.allow_unconfined,
    )?;
    walls.hide.clone_from(&effective.hide);
    if let Some(home) = surroundings.home() {
        walls.logins = effective.known_logins.iter().map(|login| home.join(login)).collect();
        walls.show = effective.needs.iter().map(|needed| home.join(needed)).collect();
    }
    Ok(walls)
}

/// The agent that a `run` starts which names none.
#[derive(Clone, Debug)]
pub struct Implementer {
    /// `AGENT_CMD`, or the file that names it.
    pub named_by: String,
    /// `profile claude`, or the command's program.
    pub name: String,
    /// Its program, or what such a run would end with.
    pub program: Result<PathBuf, Stop>,
}

/// What `run TASK.md`, with no word about the agent, comes to: the agent that it would start, if somebody
/// named one, and all that holds for it.
///
/// The second has the errors of [`Chosen::effective`]; those of the agent itself stand in the first as well.
pub fn configured(
    surroundings: &Surroundings,
    task: &Path,
    repository: &Settings,
    person: &Person,
) -> (Option<Implementer>, Result<Effective>) {
    let asked = Asked::default();
    let chosen = Chosen {
        asked: &asked,
        task,
        task_timeout: None,
        repository,
        person,
    };
    let Some(named_by) = chosen.named_by(surroundings) else {
        // It will stand behind `--`; all else can be looked at.
        let asked = Asked {
            command: vec![OsString::from("true")],
            ..Asked::default()
        };
        let effective = Chosen {
            asked: &asked,
            ..chosen
        }
        .effective(surroundings);
        return (None, effective);
    };
    let effective = chosen.effective(surroundings);
    let program = match &effective {
        Ok(effective) => found(effective, surroundings).map(|found| found.program().to_owned()),
        Err(error) => Err(match error.downcast_ref::<Stop>() {
            Some(stop) => stop.clone(),
            None => Stop::new(Exit::Internal, format!("{error:#}")),
        }),
    };
    let name = name(surroundings, repository, person);
    let implementer = Implementer {
        named_by,
        name,
        program,
    };
    (Some(implementer), effective)
}

/// Arguments stay out: those of `AGENT_CMD` may hold a secret.
fn name(surroundings: &Surroundings, repository: &Settings, person: &Person) -> String {
    if let Some(value) = surroundings.var("AGENT_CMD") {
        let words = shell_words::split(&value.to_string_lossy()).unwrap_or_default();
        return words.into_iter().next().unwrap_or_default();
    }
    let blocks = [&repository.implementer, &person.settings.implementer];
    let mut named = blocks.into_iter().flatten().filter_map(|block| block.agent.as_ref());
    match named.next().map(|named| &named.runs) {
        Some(Runs::Profile(name)) => format!("profile {name}"),
        Some(Runs::Command(words)) => words.first().cloned().unwrap_or_default(),
        None => String::new(),
    }
}
