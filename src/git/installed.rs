//! Every git on PATH: two on one machine are common, and they do not always agree.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::Tool;

/// How long one may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// A git program and the version that it says, or why it says none.
pub type Installed = (PathBuf, Result<String, String>);

/// All that PATH names, in its order. One file under several names counts once.
pub fn on_path(path: &OsStr) -> Vec<Installed> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let program = folder.join("git");
        let Ok(real) = std::fs::canonicalize(&program) else {
            continue;
        };
        if !real.is_file() || seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let said = Tool::new(&program, "/")
            .arg("version")
            .variable("PATH", path)
            .time_limit(PATIENCE)
            .run();
        let version = match said {
            Ok(outcome) if outcome.success() => {
                let text = String::from_utf8_lossy(&outcome.stdout).trim().to_owned();
                Ok(text.strip_prefix("git version ").unwrap_or(&text).to_owned())
            }
            Ok(outcome) => Err(outcome.status.to_string()),
            Err(error) => Err(error.to_string()),
        };
        found.push((program, version));
    }
    found
}
