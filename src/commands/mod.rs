//! One file a verb: plain functions from options and adapters to a report.
//!
//! Nothing here prints: progress goes to a [`Watch`], results are data for `report/`.

pub mod agents;
pub mod answered;
pub mod attach;
pub mod baseline;
pub mod check;
pub mod checks;
pub mod closing;
pub mod demo;
pub mod detach;
pub mod doctor;
pub mod drop;
pub mod explain;
mod first_policy;
pub mod following;
pub mod graph;
pub mod implementer;
pub mod init;
pub mod jobs;
pub mod land;
pub mod mcp;
pub mod open;
pub mod preflight;
pub mod remains;
pub mod run;
pub mod schema;
pub mod stop;
pub mod trailers;
pub mod verify;
pub mod wait;
pub mod walls;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use crate::agent::command::OwnSandbox;
use crate::agent::settings::Person;
use crate::confine::Layers;
use crate::exit::{Exit, Stop};
use crate::git::program::Git;
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::store::{Folder, Store};

/// The process's surroundings, read once at the start.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// All variables.
    pub vars: Vec<(OsString, OsString)>,
    /// The folder agentgate was started in, as the shell names it.
    pub cwd: PathBuf,
}

impl Surroundings {
    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_os_str())
            .filter(|value| !value.is_empty())
    }

    /// The same as text.
    ///
    /// # Errors
    /// Exit 64 for a value that is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(value) = self.var(name) else { return Ok(None) };
        match value.to_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(Stop::new(Exit::Usage, format!("{name} is not UTF-8")).into()),
        }
    }

    /// The person's home.
    pub fn home(&self) -> Option<&Path> {
        self.var("HOME").map(Path::new)
    }

    /// `$XDG_STATE_HOME`, or its default.
    pub fn state_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// `$XDG_CONFIG_HOME`, or its default.
    pub fn config_home(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// The person's settings.
    ///
    /// # Errors
    /// Exit 64 for a file that cannot be used, and where it cannot be told which one is meant.
    pub fn person(&self) -> Result<Person> {
        if let Some(folder) = self
            .var("XDG_CONFIG_HOME")
            .filter(|folder| Path::new(folder).is_relative())
        {
            // It would be ignored, and with it what may hold a job in bounds.
            let stop = format!("XDG_CONFIG_HOME is not an absolute path: {}", folder.to_string_lossy());
            return Err(Stop::new(Exit::Usage, stop)
                .hint("your settings are read from there; write it out, or unset it for ~/.config")
                .into());
        }
        let config_home = self.config_home();
        if let Some(folder) = config_home.as_ref().filter(|folder| folder.is_relative()) {
            let stop = format!(
                "HOME is not an absolute path: your settings would be in {}",
                folder.display()
            );
            return Err(Stop::new(Exit::Usage, stop)
                .hint("set HOME to the path of your home")
                .into());
        }
        Person::read(config_home.as_deref()).map_err(|error| Stop::new(error.exit(), error.to_string()).into())
    }

    fn xdg(&self, name: &str, default: &str) -> Option<PathBuf> {
        // The specification says that a relative path is to be ignored.
        let named = self.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        named.or_else(|| self.home().map(|home| home.join(default)))
    }

    /// The checkout that agentgate was started in.
    pub fn checkout(&self) -> Result<Checkout> {
        Checkout::discover(Git::find(&self.vars)?, &self.cwd)
    }

    /// The same for a command that may need no git: whoever starts the checkout's git proves it first.
    pub fn quiet_checkout(&self) -> Result<Checkout> {
        Checkout::discover_quietly(&self.vars, &self.cwd)
    }
}

/// Whether an agent's own sandbox is to be on: not inside of ours.
pub fn own_sandbox(layers: Layers) -> OwnSandbox {
    if layers.hold() { OwnSandbox::Off } else { OwnSandbox::On }
}

/// Somebody who looks on while a job runs.
pub trait Watch {
    /// A step begins or something worth a line happened.
    fn step(&self, text: &str);
    /// The agent is at work: time since its start, and the last line of its output.
    fn agent(&self, elapsed: Duration, last_line: &str);
    /// The agent has ended: nothing that moves is left on the terminal.
    fn settled(&self);
}

/// `agentgate` for this checkout, as it can be typed in any folder.
pub fn typed(checkout: &Checkout) -> String {
    format!(
        "agentgate -C {}",
        shell(checkout.workdir.as_ref().unwrap_or(&checkout.clone))
    )
}

/// The folder of a job that must exist.
///
/// # Errors
/// Exit 23 for a job that is not there, 64 for an id that cannot be one.
pub fn job_folder(store: &Store, id: &str) -> Result<Folder> {
    if !crate::trailer::valid_job_id(id) {
        return Err(bad_job_id(id).into());
    }
    store.find(id)?.ok_or_else(|| {
        Stop::new(Exit::WrongState, format!("there is no job {id} in this clone"))
            .hint("agentgate status lists the jobs")
            .into()
    })
}

/// The refusal of a job id.
pub fn bad_job_id(id: &str) -> Stop {
    Stop::new(Exit::Usage, format!("bad job id {id:?}"))
        .hint("1 to 64 of A-Z a-z 0-9 . _ -, not beginning with . or -, no .., not ending in . or .lock")
}
