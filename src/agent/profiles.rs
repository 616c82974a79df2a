//! Known agents as data: how each is run, from `profiles.yml` and what the person changed or added.
//!
//! Invariant: no code knows an agent by its name.

mod parse;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::gate::yaml::nearest;

use super::command::{CommandError, Input, OwnSandbox};
use super::lookup;

pub use parse::KEYS as PROFILE_KEYS;
pub(super) use parse::changes;

/// The word of a command that stands for the arguments of the agent's own sandbox.
pub(super) const SANDBOX: &str = "{sandbox}";
const BUILT_IN: &str = include_str!("profiles.yml");

/// How a known agent is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What `--agent` and `profile:` call it.
    pub name: String,
    /// Who wrote it.
    pub origin: Origin,
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// Names its program may have, the first that is found counts.
    pub programs: Vec<String>,
    /// Names that other programs have too.
    pub generic: Vec<String>,
    /// Where the task goes.
    pub input: Input,
    /// Arguments for its own sandbox where agentgate confines it.
    pub confined: Vec<String>,
    /// The same where agentgate does not.
    pub unconfined: Vec<String>,
    /// Variables that it gets, with placeholders.
    pub env: Vec<(String, String)>,
    /// Variables of the person that it gets: keys and endpoints.
    pub pass_env: Vec<String>,
    /// Login files, relative to the person's home.
    pub home_files: Vec<String>,
    /// Folders to make in the private home.
    pub home_folders: Vec<String>,
    /// Folders below the person's home that it may need to read.
    pub needs: Vec<String>,
    /// How it is given the job's MCP server.
    pub mcp: Mcp,
    /// A word of advice; may be empty.
    pub note: String,
}

/// What gives an agent an MCP server of its own for one run, with `{agentgate}` for the program and `{mcp}` for the
/// socket. Empty for one that does not speak the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mcp {
    /// Arguments after those of its command.
    pub args: Vec<String>,
    /// Settings: a path below its home, and what stands there.
    pub files: Vec<(String, String)>,
}

/// Who wrote a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It comes with agentgate.
    BuiltIn,
    /// It comes with agentgate, and the person's settings change it.
    Changed,
    /// The person's settings.
    Person,
}

/// All profiles, in the order of their files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profiles(pub(super) Vec<Profile>);

impl Default for Profiles {
    fn default() -> Profiles {
        Profiles::built_in()
    }
}

impl Profiles {
    /// Those that come with agentgate.
    ///
    /// # Panics
    /// The embedded file is wrong, which a test would have told.
    pub fn built_in() -> Profiles {
        parse::built_in(BUILT_IN).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The profile with this name.
    pub fn find(&self, name: &str) -> Option<&Profile> {
        self.0.iter().find(|profile| profile.name == name)
    }

    /// All of them.
    pub fn all(&self) -> &[Profile] {
        &self.0
    }

    /// What to say to a name that no profile has.
    pub fn hint(&self, name: &str) -> String {
        let names: Vec<&str> = self.0.iter().map(|profile| profile.name.as_str()).collect();
        match nearest(name, &names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", names.join(", ")),
        }
    }
}

impl Profile {
    /// The name and absolute path of its program, as [`lookup`] finds it.
    pub fn program(&self, start_dir: &Path, path: Option<&OsStr>) -> Result<(String, PathBuf), CommandError> {
        let mut refused = None;
        for name in &self.programs {
            match lookup::program(OsStr::new(name), start_dir, path) {
                Ok(found) => return Ok((name.clone(), found)),
                Err(CommandError::NotFound { .. }) => {}
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let mut hint = None;
        for name in &self.generic {
            let Ok(found) = lookup::program(OsStr::new(name), start_dir, path) else {
                continue;
            };
            if self.is_behind(&found) {
                return Ok((name.clone(), found));
            }
            hint = Some(format!("{} is another program of that name", found.display()));
        }
        Err(refused.unwrap_or_else(|| CommandError::NotFound {
            program: [&self.programs[..], &self.generic].concat().join(" or "),
            hint,
        }))
    }

    /// Whether a generic name leads to a file whose path names one of the profile's programs.
    fn is_behind(&self, found: &Path) -> bool {
        let Ok(real) = found.canonicalize() else { return false };
        real.components()
            .any(|part| self.programs.iter().any(|name| part.as_os_str() == name.as_str()))
    }

    /// The arguments for its own sandbox.
    pub fn sandbox(&self, own: OwnSandbox) -> &[String] {
        match own {
            OwnSandbox::Off => &self.confined,
            OwnSandbox::On => &self.unconfined,
        }
    }

    /// Whether it cannot run without a model label.
    pub fn demands_model(&self) -> bool {
        let values = self.env.iter().map(|(_, value)| value);
        self.command.iter().chain(values).any(|text| text.contains("{model}"))
    }
}

/// For a command from `AGENT_CMD` whose program is a known agent, which does not take the flags added to
/// it: what to type instead. A wrapper in front (`npx`, `env`) is looked through.
pub fn hint(argv: &[OsString]) -> Option<String> {
    let profiles = Profiles::built_in();
    let names = argv
        .iter()
        .take(3)
        .filter_map(|word| Path::new(word).file_name()?.to_str());
    let (name, profile) = names
        .filter_map(|name| {
            let knows = |profile: &&Profile| profile.programs.iter().any(|known| known == name);
            Some((name, profiles.all().iter().find(knows)?))
        })
        .next()?;
    Some(format!(
        "{name} does not know --stateless, --input and --apply, which are added to AGENT_CMD; \
         use its profile instead: agentgate run TASK.md --agent {}",
        profile.name
    ))
}
