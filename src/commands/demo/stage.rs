//! The throwaway repository, and running the real binary in it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::commands::Surroundings;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::program::{Git, first_lines};
use crate::git::shell;
use crate::process::{Status, Tool, ToolError, signals};

/// Path in the repository and content, from `fixtures/`.
macro_rules! embedded {
    ($($folder:literal => $prefix:literal: [$($path:literal),+ $(,)?];)+) => {
        &[$($((concat!($prefix, $path), include_str!(concat!("../../../fixtures/", $folder, "/", $path))),)+)+]
    };
}

const FILES: &[(&str, &str)] = embedded! {
    "payments" => "": [
        "README.md",
        "architecture/invariants.yml",
        "infra/deploy.yml",
        "package.json",
        "payments/charge.ts",
        "payments/ledger.ts",
        "payments/retry.ts",
        "scripts/invariants.sh",
        "tasks/bounded-retry.md",
        "tasks/retry-queue.md",
        "test/payments/charge.test.ts",
    ];
    "agents" => "agents/": ["bounded-retry.sh", "retry-queue.sh"];
};

/// A repository in the system's folder for temporary files, and what is needed to play in it.
pub(super) struct Stage {
    /// All of the demo, for `rm -rf`.
    pub(super) folder: PathBuf,
    /// The clone.
    pub(super) repository: PathBuf,
    /// Its first commit.
    pub(super) base: String,
    pub(super) git: Git,
    binary: PathBuf,
    path: Option<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// A job that was run.
pub(super) struct Played {
    /// As a person would type it.
    pub(super) command: String,
    pub(super) status: Status,
    pub(super) id: String,
    /// Folder of the record, from the repository's top.
    pub(super) record: String,
    /// Its standard error.
    pub(super) said: String,
}

impl Stage {
    pub(super) fn build(surroundings: &Surroundings) -> Result<Stage> {
        signals::install().context("cannot catch signals")?;
        let binary = std::env::current_exe().context("cannot tell where agentgate itself is")?;
        let temp = tempfile::Builder::new()
            .prefix("agentgate-demo-")
            .tempdir()
            .context("cannot make a folder for the demo")?;
        // Until it is kept below, an error takes it away again.
        let folder = std::fs::canonicalize(temp.path()).context("cannot resolve the demo's folder")?;
        let repository = folder.join("payments");
        for (path, content) in FILES {
            let to = repository.join(path);
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
            }
            let mode = if path.ends_with(".sh") { 0o755 } else { 0o644 };
            files::replace(&to, content.as_bytes(), mode).with_context(|| format!("cannot write {}", to.display()))?;
        }
        let environment = environment(&surroundings.vars, &folder);
        let git = Git::find(&environment)?;
        let base = first_commit(&git, &repository).context("cannot make the demo's repository")?;
        let _ = temp.keep();
        Ok(Stage {
            folder,
            repository,
            base,
            git,
            binary,
            path: surroundings.var("PATH").map(OsStr::to_owned),
            environment,
        })
    }

    /// `agentgate run TASK -- sh AGENT`, in the repository.
    pub(super) fn run(&self, task: &str, agent: &str) -> Result<Played> {
        let tool = Tool::new(&self.binary, &self.repository)
            .args(["run", task, "--", "sh", agent])
            .environment(self.environment.clone())
            .stop_on_signal();
        let outcome = match tool.run() {
            Ok(outcome) => outcome,
            Err(ToolError::Interrupted { signal, .. }) => {
                return Err(Stop::new(Exit::from_signal(signal), "the demo was interrupted")
                    .hint(format!("rm -rf {}", shell(&self.folder)))
                    .into());
            }
            Err(error) => return Err(error.into()),
        };
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let answered = String::from_utf8_lossy(&outcome.stdout).into_owned();
        let Some(id) = answered.lines().find_map(|line| line.strip_prefix("job_id=")) else {
            bail!("agentgate run {task} made no job ({}):\n{said}", outcome.status);
        };
        Ok(Played {
            command: format!("agentgate run {task} -- sh {agent}"),
            status: outcome.status,
            id: id.to_owned(),
            record: format!(".git/agentgate/jobs/{id}"),
            said,
        })
    }

    /// A text file of the repository.
    pub(super) fn read(&self, path: &str) -> Result<String> {
        let path = self.repository.join(path);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// The line that makes `agentgate` mean this binary, where PATH does not do so.
    pub(super) fn alias(&self) -> Option<String> {
        let same = |candidate: &Path| std::fs::canonicalize(candidate).is_ok_and(|found| found == self.binary);
        let on_path = self
            .path
            .as_ref()
            .and_then(|path| {
                std::env::split_paths(path)
                    .map(|folder| folder.join("agentgate"))
                    .find(|candidate| candidate.is_file())
            })
            .is_some_and(|found| same(&found));
        (!on_path).then(|| format!("alias agentgate={}", shell(&self.binary)))
    }
}

/// The person's environment without what would change the story: variables of git, of agents and
/// of a policy's base, the person's settings, and git's own configuration beyond the repository.
fn environment(vars: &[(OsString, OsString)], folder: &Path) -> Vec<(OsString, OsString)> {
    let told = |name: &OsStr| {
        let name = name.to_string_lossy();
        let git = name.starts_with("GIT_") && name != "GIT_EXEC_PATH";
        git || name.starts_with("AGENT_") || name.starts_with("AGENTGATE_") || name == "INVARIANT_BASE"
    };
    let mut kept: Vec<(OsString, OsString)> = vars.iter().filter(|(name, _)| !told(name)).cloned().collect();
    kept.retain(|(name, _)| name != "XDG_STATE_HOME" && name != "XDG_CONFIG_HOME");
    for (name, value) in [
        ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
        ("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null")),
        // Where worktrees go if the folder for temporary files lies in a work tree itself.
        ("XDG_STATE_HOME", folder.join("state").as_os_str()),
        // The person's settings would move worktrees, or run other things.
        ("XDG_CONFIG_HOME", folder.join("config").as_os_str()),
    ] {
        kept.push((name.into(), value.to_owned()));
    }
    kept
}

fn first_commit(git: &Git, repository: &Path) -> Result<String> {
    let run = |args: &[&str]| -> Result<()> {
        let outcome = git
            .at(repository)
            .env("GIT_DEFAULT_HASH", "sha1")
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .args(args)
            .outcome()?;
        match outcome.success() {
            true => Ok(()),
            false => bail!("git {} failed: {}", args.join(" "), first_lines(&outcome.stderr)),
        }
    };
    run(&["init", "--quiet", "--initial-branch=main", "--template="])?;
    // For the person who goes on there with a configuration of their own.
    for (key, value) in [
        ("user.name", "agentgate demo"),
        ("user.email", "demo@example.com"),
        ("commit.gpgsign", "false"),
        ("core.autocrlf", "false"),
    ] {
        run(&["config", key, value])?;
    }
    run(&["add", "--all"])?;
    run(&["commit", "--quiet", "-m", "A small payments service"])?;
    git.at(repository).args(["rev-parse", "HEAD"]).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list is written by hand; a file that is not in it would be missing from the demo.
    #[test]
    fn every_fixture_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let mut found = Vec::new();
        for (folder, prefix) in [("payments", ""), ("agents", "agents/")] {
            let top = root.join(folder);
            for entry in walkdir::WalkDir::new(&top) {
                let entry = entry.expect("a fixture can be listed");
                if entry.file_type().is_file() {
                    let path = entry.path().strip_prefix(&top).expect("it lies below");
                    found.push(format!("{prefix}{}", path.display()));
                }
            }
        }
        found.sort();
        let mut listed: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
        listed.sort_unstable();
        assert_eq!(listed, found);
    }
}
