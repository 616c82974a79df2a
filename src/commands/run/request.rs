//! `resume.json`: what a person asked for, for the process that goes on with the job.
//!
//! A command line may hold a secret, so the file is for its owner alone, is in no ref, and is there only as long
//! as the job is not over. Variables are not in it: whoever goes on brings their own, but for those that say what
//! the job is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::Options;
use crate::agent::effective::Asked;
use crate::commands::Surroundings;
use crate::confine::{Mode, Network};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::job::left::RawPath;
use crate::lock::Wait;
use crate::store::{Folder, RESUME};

/// The shape of the file.
const SCHEMA: &str = "agentgate/resume/1";
/// Larger ones are not read: a command line has at most 2 MiB.
const LIMIT: u64 = 16 << 20;
/// Variables that say what the job is.
const VARIABLES: &[&str] = &["AGENT_CMD", "AGENT_HOST_LABEL", "AGENT_MODEL_LABEL"];

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    schema: String,
    /// The folder that it was asked in.
    cwd: RawPath,
    /// The task file, as typed.
    task: RawPath,
    /// The command after `--`.
    command: Vec<RawPath>,
    agent: Option<String>,
    timeout: Option<u64>,
    idle_timeout: Option<u64>,
    allow_unconfined: bool,
    confinement: Option<Mode>,
    network: Option<Network>,
    hide: Vec<RawPath>,
    pass_env: Vec<String>,
    /// Absolute.
    artifacts: Option<RawPath>,
    land: bool,
    allow_dirty: bool,
    verbose: bool,
    /// [`VARIABLES`], as far as they were set.
    variables: Vec<(String, RawPath)>,
}

impl Request {
    /// What was asked. `artifacts` is the folder as it was found.
    pub(super) fn of(options: &Options, surroundings: &Surroundings, artifacts: Option<&Path>) -> Request {
        let asked = &options.asked;
        let set = |name: &&str| Some(((*name).to_owned(), word(surroundings.var(name)?)));
        Request {
            schema: SCHEMA.to_owned(),
            cwd: word(&surroundings.cwd),
            task: word(&options.task),
            command: asked.command.iter().map(word).collect(),
            agent: asked.agent.clone(),
            timeout: asked.timeout,
            idle_timeout: asked.idle_timeout,
            allow_unconfined: asked.allow_unconfined,
            confinement: asked.confinement,
            network: asked.network.clone(),
            hide: asked.hide.iter().map(word).collect(),
            pass_env: asked.pass_env.clone(),
            artifacts: artifacts.map(word),
            land: options.land,
            allow_dirty: options.allow_dirty,
            verbose: options.verbose,
            variables: VARIABLES.iter().filter_map(set).collect(),
        }
    }

    /// Keeps it beside the log.
    pub(super) fn save(&self, folder: &Folder) -> Result<()> {
        let text = format!("{:#}\n", serde_json::to_value(self)?);
        folder.save(RESUME, text.as_bytes()).map(drop)
    }

    /// That of a job; none where it is over, or was made by a version that kept none.
    ///
    /// # Errors
    /// Exit 23 for a file that cannot be read.
    pub(super) fn read(folder: &Folder) -> Result<Option<Request>> {
        let path = folder.path.join(RESUME);
        let bytes = match files::read_small(&path, LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, &error.to_string()).into()),
        };
        let read: Request = serde_json::from_slice(&bytes).map_err(|error| unreadable(&path, &error.to_string()))?;
        match read.schema.as_str() {
            SCHEMA => Ok(Some(read)),
            other => Err(unreadable(&path, &format!("its schema is {other:?}, not {SCHEMA:?}")).into()),
        }
    }

    /// The options of the `run` that it was.
    pub(super) fn options(&self, id: &str) -> Options {
        Options {
            task: path(&self.task),
            asked: Asked {
                command: self.command.iter().map(os).collect(),
                agent: self.agent.clone(),
                timeout: self.timeout,
                idle_timeout: self.idle_timeout,
                allow_unconfined: self.allow_unconfined,
                confinement: self.confinement,
                network: self.network.clone(),
                hide: self.hide.iter().map(path).collect(),
                pass_env: self.pass_env.clone(),
            },
            base: None,
            job_id: Some(id.to_owned()),
            artifacts: self.artifacts.as_ref().map(path),
            land: self.land,
            allow_dirty: self.allow_dirty,
            wait: Wait::No,
            verbose: self.verbose,
        }
    }

    /// This process's surroundings as those of the job.
    pub(super) fn surroundings(&self, here: &Surroundings) -> Surroundings {
        let others = here
            .vars
            .iter()
            .filter(|(name, _)| !VARIABLES.iter().any(|own| name == own));
        let own = self.variables.iter().map(|(name, value)| (name.into(), os(value)));
        Surroundings {
            vars: others.cloned().chain(own).collect(),
            cwd: path(&self.cwd),
        }
    }
}

fn unreadable(path: &Path, why: &str) -> Stop {
    Stop::new(Exit::WrongState, format!("{} cannot be read: {why}", path.display())).hint(
        "without it nobody knows which agent the job was to run; agentgate drop gives the job up, and its record stays",
    )
}

fn word(word: impl AsRef<OsStr>) -> RawPath {
    RawPath::of(word.as_ref().as_bytes())
}

fn os(word: &RawPath) -> OsString {
    OsStr::from_bytes(word.bytes()).to_owned()
}

fn path(word: &RawPath) -> PathBuf {
    PathBuf::from(os(word))
}
