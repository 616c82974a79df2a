//! What holds for one job: command line, task, the repository's settings, the person's, defaults, in this
//! order. Lists add up.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::command::{CommandError, Fill, Source, fill_value, is_option};
use super::environment::Filter;
use super::profiles::Profile;
use super::settings::{AgentSettings, Check, CopyIn, NamedAgent, Person, Runs, Settings};
use crate::confine::{Mode, Network};
use crate::exit::{Exit, Stop};
use crate::gate::SETTINGS_PATH;
use crate::job::role::Role;
use crate::trailer;

/// The default limit of an agent: 60 minutes.
const DEFAULT_TIMEOUT: u64 = 60 * 60;

/// What the command line says about agent and confinement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The command after `--`; may be empty.
    pub command: Vec<OsString>,
    /// `--agent`
    pub agent: Option<String>,
    /// `--timeout` in seconds.
    pub timeout: Option<u64>,
    /// `--idle-timeout` in seconds.
    pub idle_timeout: Option<u64>,
    /// `--allow-unconfined`
    pub allow_unconfined: bool,
    /// `--confinement`
    pub confinement: Option<Mode>,
    /// `--network`
    pub network: Option<Network>,
    /// `--hide`, as typed.
    pub hide: Vec<PathBuf>,
    /// `--pass-env`
    pub pass_env: Vec<String>,
}

/// Everything that goes into a job's [`Effective`] settings.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// The command line.
    pub asked: &'a Asked,
    /// `AGENT_CMD`
    pub agent_cmd: Option<&'a str>,
    /// `AGENT_MODEL_LABEL`
    pub model_label: Option<&'a str>,
    /// The task file, as typed, for messages.
    pub task: &'a Path,
    /// The task's `Timeout` in seconds.
    pub task_timeout: Option<u64>,
    /// The base's settings.
    pub repository: &'a Settings,
    /// The person's settings and profiles.
    pub person: &'a Person,
    /// The person's home.
    pub home: Option<&'a Path>,
    /// The folder that typed paths are relative to; absolute.
    pub start_dir: &'a Path,
}

/// What holds for one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The command that runs.
    pub source: Source,
    /// `env` of the profile and of the settings, with placeholders; later ones win.
    env: Vec<(String, String)>,
    /// For the trailer and `{model}`; valid, never made up.
    pub model_label: Option<String>,
    /// Wall-clock limit of the agent in seconds.
    pub timeout: u64,
    /// Limit of silence in seconds.
    pub idle_timeout: Option<u64>,
    /// How far the agent is confined.
    pub confinement: Mode,
    /// The person goes on where there is no confinement.
    pub allow_unconfined: bool,
    /// What it may reach.
    pub network: Network,
    /// Absolute paths that it cannot read, beside those that it never can.
    pub hide: Vec<PathBuf>,
    /// Paths relative to the person's home that it must be able to read, whatever is hidden by default.
    pub needs: Vec<String>,
    /// Files relative to the person's home that the person lets into the private one.
    pub home_files: Vec<String>,
    /// The same for the profile's login files: those that are there.
    pub logins: Vec<String>,
    /// Login files of all known agents, relative to the person's home: what is hidden of it.
    pub known_logins: Vec<String>,
    /// Folders to make in the private home.
    pub home_folders: Vec<String>,
    /// Names of variables that it gets.
    pub pass_env: Vec<String>,
    /// The part of it that the person named, for what is no agent: `setup`.
    pub pass_env_to_setup: Vec<String>,
    /// Where the worktrees of all clones go; absolute.
    pub worktree_root: Option<PathBuf>,
    /// Commands to run in the worktree before the agent: the repository's, then the person's.
    pub setup: Vec<Vec<String>>,
    /// What is copied into the worktree. `from` is absolute.
    pub copy: Vec<CopyIn>,
    /// What the candidate must pass; the repository's.
    pub checks: Vec<Check>,
}

impl Effective {
    /// Merges them.
    ///
    /// # Errors
    /// Exit 64: no agent, no such profile, a profile that demands a model label where none is set, a
    /// label that the agent would read as an option, or a path below a home that there is not.
    pub fn of(wishes: &Wishes<'_>) -> Result<Effective, Stop> {
        Effective::of_role(wishes, Role::Implementer)
    }

    /// The same for any role. What the command line and AGENT_CMD say of an agent is about the implementer; who
    /// has no fixer lets it mend its own.
    ///
    /// # Errors
    /// As [`Effective::of`].
    pub fn of_role(wishes: &Wishes<'_>, role: Role) -> Result<Effective, Stop> {
        let Wishes {
            asked,
            repository,
            person,
            ..
        } = wishes;
        let mine = &person.settings;
        let of_role = |role: Role| [repository, mine].map(|settings| settings.of_role(role));
        let named = of_role(role).iter().flatten().any(|block| block.agent.is_some());
        let (blocks, typed) = match role {
            Role::Implementer => (of_role(role), true),
            Role::Fixer if !named => (of_role(Role::Implementer), true),
            _ => (of_role(role), false),
        };
        let (source, named) = match typed {
            true => source(wishes, blocks)?,
            false => settled(wishes, blocks, role)?,
        };
        let profile = match &source {
            Source::Profile(profile) => Some(&**profile),
            _ => None,
        };
        let mut env = profile.map(|profile| profile.env.clone()).unwrap_or_default();
        if let Some(named) = named {
            env.retain(|(name, _)| named.env.iter().all(|(other, _)| other != name));
            env.extend(named.env.iter().cloned());
        }
        let model_label = match wishes.model_label.filter(|_| typed) {
            Some(label) => Some(label.to_owned()),
            None => model_label(blocks, &source, named),
        };
        demand_model(profile, &env, model_label.as_deref())?;
        refuse_option(&source, &env, model_label.as_deref())?;
        let seconds = |of: fn(&AgentSettings) -> Option<u64>| blocks.into_iter().flatten().find_map(of);
        let none = Vec::new();
        let lists =
            |of: fn(&Profile) -> &Vec<String>| profile.map_or_else(|| none.clone(), |profile| of(profile).clone());
        Ok(Effective {
            env,
            timeout: asked
                .timeout
                .or(wishes.task_timeout)
                .or(seconds(|block| block.timeout))
                .unwrap_or(DEFAULT_TIMEOUT),
            idle_timeout: asked.idle_timeout.or(seconds(|block| block.idle_timeout)),
            confinement: asked.confinement.or(mine.confinement).unwrap_or_default(),
            allow_unconfined: asked.allow_unconfined,
            network: asked.network.clone().or(mine.network.clone()).unwrap_or_default(),
            hide: hide(wishes)?,
            needs: lists(|profile| &profile.needs),
            home_files: mine.home_files.clone(),
            logins: lists(|profile| &profile.home_files),
            known_logins: person
                .profiles
                .all()
                .iter()
                .flat_map(|profile| profile.home_files.clone())
                .collect(),
            home_folders: lists(|profile| &profile.home_folders),
            pass_env: union([
                lists(|profile| &profile.pass_env),
                asked.pass_env.clone(),
                mine.pass_env.clone(),
            ]),
            pass_env_to_setup: union([asked.pass_env.clone(), mine.pass_env.clone()]),
            worktree_root: match &mine.worktree_root {
                Some(root) => Some(wishes.absolute(Path::new(root), "worktree_root")?),
                None => None,
            },
            setup: [&repository.setup[..], &mine.setup].concat(),
            copy: copy(wishes)?,
            checks: repository.checks.clone(),
            model_label,
            source,
        })
    }

    /// Which of the person's variables the agent gets.
    pub fn filter(&self) -> Filter {
        match &self.source {
            Source::CommandLine(_) | Source::Variable(_) => Filter::Withhold,
            Source::Settings(_) => Filter::Allow,
            Source::Profile(_) => Filter::Profile,
        }
    }

    /// The agent's own variables, filled.
    pub fn variables(&self, fill: &Fill<'_>) -> Result<Vec<(OsString, OsString)>, CommandError> {
        let fill = |(name, value): &(String, String)| Ok((OsString::from(name), fill_value(value, fill)?));
        self.env.iter().map(fill).collect()
    }
}

impl Wishes<'_> {
    /// A path that begins with `~/` below the home, any other from where we were started.
    fn absolute(&self, path: &Path, what: &str) -> Result<PathBuf, Stop> {
        let Ok(below) = path.strip_prefix("~") else {
            return Ok(self.start_dir.join(path));
        };
        match self.home {
            Some(home) if home.is_absolute() => Ok(home.join(below)),
            _ => Err(Stop::new(
                Exit::Usage,
                format!(
                    "{what}: {} cannot be found: HOME is not an absolute path",
                    path.display()
                ),
            )
            .hint("set HOME, or write the path out")),
        }
    }
}

/// Which command runs, and the block of the settings that names it, if one does.
fn source<'a>(
    wishes: &Wishes<'a>,
    blocks: [Option<&'a AgentSettings>; 2],
) -> Result<(Source, Option<&'a NamedAgent>), Stop> {
    let profile = |name: &str| {
        let profiles = &wishes.person.profiles;
        match profiles.find(name) {
            Some(profile) => Ok(Source::Profile(Box::new(profile.clone()))),
            None => Err(Stop::new(Exit::Usage, format!("there is no agent {name:?}"))
                .hint(profiles.hint(name))
                .hint("agentgate agents lists them; a command of your own goes after `--`")),
        }
    };
    if !wishes.asked.command.is_empty() {
        return Ok((Source::CommandLine(wishes.asked.command.clone()), None));
    }
    let mut named = blocks.into_iter().flatten().filter_map(|block| block.agent.as_ref());
    if let Some(name) = &wishes.asked.agent {
        // Settings for this very profile hold, whoever asks for it.
        let named = named.find(|named| matches!(&named.runs, Runs::Profile(other) if other == name));
        return Ok((profile(name)?, named));
    }
    if let Some(command) = wishes.agent_cmd {
        return Ok((Source::Variable(command.to_owned()), None));
    }
    let Some(named) = named.next() else {
        return Err(Stop::new(
            Exit::Usage,
            "no agent command: nothing after --, no --agent, AGENT_CMD is not set, and no settings name one",
        )
        .hint(format!(
            "agentgate run {} -- my-agent --its-flags",
            shell_words::quote(&wishes.task.to_string_lossy())
        ))
        .hint("or a known agent: agentgate agents lists what --agent takes")
        .hint(format!(
            "or commit agents.implementer.command in {SETTINGS_PATH}, or put it into {}",
            wishes.person.shown()
        )));
    };
    let source = match &named.runs {
        Runs::Profile(name) => profile(name)?,
        Runs::Command(words) => Source::Settings(words.clone()),
    };
    Ok((source, Some(named)))
}

/// The same by settings alone.
fn settled<'a>(
    wishes: &Wishes<'a>,
    blocks: [Option<&'a AgentSettings>; 2],
    role: Role,
) -> Result<(Source, Option<&'a NamedAgent>), Stop> {
    let named = blocks.into_iter().flatten().find_map(|block| block.agent.as_ref());
    let Some(named) = named else {
        let stop = format!("no settings name a {}", role.name());
        return Err(Stop::new(Exit::Usage, stop).hint(format!("agents.{}.command in {SETTINGS_PATH}", role.name())));
    };
    let source = match &named.runs {
        Runs::Command(words) => Source::Settings(words.clone()),
        Runs::Profile(name) => match wishes.person.profiles.find(name) {
            Some(profile) => Source::Profile(Box::new(profile.clone())),
            None => return Err(Stop::new(Exit::Usage, format!("there is no agent {name:?}"))),
        },
    };
    Ok((source, Some(named)))
}

/// A label that stands beside an agent is that agent's; one that stands alone is whoever's runs.
fn model_label(blocks: [Option<&AgentSettings>; 2], source: &Source, named: Option<&NamedAgent>) -> Option<String> {
    let same = |agent: &NamedAgent| match (&agent.runs, source) {
        (Runs::Profile(name), Source::Profile(profile)) => *name == profile.name,
        _ => named == Some(agent),
    };
    let holds = |block: &&AgentSettings| block.agent.as_ref().is_none_or(same);
    let mut blocks = blocks.into_iter().flatten().filter(holds);
    blocks.find_map(|block| block.model_label.clone())
}

/// A model's name is never made up.
fn demand_model(profile: Option<&Profile>, env: &[(String, String)], label: Option<&str>) -> Result<(), Stop> {
    let demands = profile.is_some_and(Profile::demands_model) || env.iter().any(|(_, value)| value.contains("{model}"));
    if label.is_some() || !demands {
        return Ok(());
    }
    let who = profile.map_or("the agent", |profile| &profile.name);
    Err(Stop::new(
        Exit::Usage,
        format!("{who} must be told its model, and no model label is set"),
    )
    .hint("set AGENT_MODEL_LABEL to the model's name as the agent knows it: AGENT_MODEL_LABEL=... agentgate run ...")
    .hint("or settle it: agents.implementer.model_label in the settings"))
}

/// Refuses a label that would become an option of the agent's. As a claim in the trailer it may stand.
fn refuse_option(source: &Source, env: &[(String, String)], label: Option<&str>) -> Result<(), Stop> {
    let is_named = source.names_model() || env.iter().any(|(_, value)| value.contains("{model}"));
    match label.filter(|label| is_named && is_option(label)) {
        None => Ok(()),
        Some(label) => Err(Stop::new(
            Exit::Usage,
            format!("the model label {label} starts with `-`, so the agent would read it as an option"),
        )
        .hint("set AGENT_MODEL_LABEL, or model_label in the settings, to the model's name as the agent knows it")
        .hint("or take {model} out of the command, and write the option there")),
    }
}

/// Refuses a label that cannot stand in a trailer.
///
/// # Errors
/// Exit 64.
pub fn label(value: Option<String>, name: &str) -> Result<Option<String>, Stop> {
    match value {
        Some(value) if !trailer::valid_value(&value) => Err(Stop::new(
            Exit::Usage,
            format!("{name} {value:?} cannot stand in a trailer"),
        )
        .hint("1 to 128 of A-Z a-z 0-9 . _ : / @ + , -")),
        other => Ok(other),
    }
}

fn hide(wishes: &Wishes<'_>) -> Result<Vec<PathBuf>, Stop> {
    let mut all: Vec<PathBuf> = Vec::new();
    let typed = wishes.asked.hide.iter().map(|path| (path.as_path(), "--hide"));
    let settled = wishes.person.settings.hide.iter().map(|path| (Path::new(path), "hide"));
    for (path, what) in typed.chain(settled) {
        let path = wishes.absolute(path, what)?;
        if !all.contains(&path) {
            all.push(path);
        }
    }
    Ok(all)
}

fn copy(wishes: &Wishes<'_>) -> Result<Vec<CopyIn>, Stop> {
    let mut all = Vec::new();
    for copy in wishes.repository.copy.iter().chain(&wishes.person.settings.copy) {
        let copy = match copy {
            CopyIn::Ignored(_) => copy.clone(),
            CopyIn::Outside { from, to } => CopyIn::Outside {
                from: wishes.absolute(Path::new(from), "copy")?.to_string_lossy().into_owned(),
                to: to.clone(),
            },
        };
        if !all.contains(&copy) {
            all.push(copy);
        }
    }
    Ok(all)
}

fn union<const N: usize>(lists: [Vec<String>; N]) -> Vec<String> {
    let mut all = Vec::new();
    for item in lists.into_iter().flatten() {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}
