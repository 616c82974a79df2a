//! The person's own file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::profiles::Profiles;
use super::{BadSettings, Settings};
use crate::exit::Exit;
use crate::files;
use crate::gate::yaml::MAX_BYTES;

/// Where it is below `$XDG_CONFIG_HOME`.
pub const PERSON_PATH: &str = "agentgate/config.yml";

/// What the person has settled for all repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// Where the file is, or would be; none where there is no home.
    pub path: Option<PathBuf>,
    /// The settings in it.
    pub settings: Settings,
    /// The profiles that come with agentgate, changed by `profiles:`.
    pub profiles: Profiles,
}

impl Person {
    /// Reads the file below `config_home`. That there is none is fine; one that cannot be read is an error,
    /// since it may hold what narrows a job.
    pub fn read(config_home: Option<&Path>) -> Result<Person, BadSettings> {
        let Some(path) = config_home.map(|folder| folder.join(PERSON_PATH)) else {
            return Ok(Person::default());
        };
        let name = path.display().to_string();
        let bad = |what: &str, hint: &str| BadSettings {
            text: format!("{name}: {what}\nhint: {hint}"),
            exit: Exit::Usage,
        };
        // Many people keep such files elsewhere and link to them.
        let bytes = match path
            .canonicalize()
            .and_then(|real| files::read_small(&real, MAX_BYTES as u64))
        {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    return Err(bad("the link leads nowhere", "remove it, or put the file there"));
                }
                return Ok(Person {
                    path: Some(path),
                    ..Person::default()
                });
            }
            Err(_) if path.exists() && !path.is_file() => {
                return Err(bad(
                    "not a regular file",
                    "your settings are one YAML file; move this away",
                ));
            }
            Err(error) => {
                let what = format!("cannot be read: {error}");
                return Err(bad(
                    &what,
                    "mend it or move it away: settings that cannot be read are not passed over",
                ));
            }
        };
        let (settings, profiles) = Settings::of_person(&name, &bytes)?;
        Ok(Person {
            path: Some(path),
            settings,
            profiles,
        })
    }

    /// The file's name for messages.
    pub fn shown(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("~/.config/{PERSON_PATH}"),
        }
    }
}
