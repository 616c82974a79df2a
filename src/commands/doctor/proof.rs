//! The live proof of the confinement: a child under the real stub, with the plan of an agent, that
//! tries to write outside and must fail, and inside and must succeed.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::as_stop;
use super::report::Report;
use super::trial::{self, Attempt};
use crate::commands::Surroundings;
use crate::commands::walls::Walls;
use crate::confine::Plan;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::repo::Checkout;
use crate::process::{AgentRun, Ending};

/// How long the child may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The proof, and what it came to.
pub fn confinement(
    report: &mut Report,
    walls: &Walls,
    checkout: Option<&Checkout>,
    root: Option<&Path>,
    surroundings: &Surroundings,
) {
    let name = "proof";
    let scratch = match Scratch::make(root) {
        Ok(scratch) => scratch,
        Err(error) => {
            let stop = as_stop(error).hint("name a folder that can be written: TMPDIR, or XDG_STATE_HOME");
            report.fail(name, &stop);
            return;
        }
    };
    match prove(&scratch, walls, checkout, surroundings) {
        Ok(Outcome { refused, open, closed }) if open.is_empty() && closed.is_empty() => report.ok(
            name,
            format!("a child under these walls could write inside, and {refused} attempts outside were refused"),
        ),
        Ok(Outcome { open, closed, .. }) => {
            let what = if open.is_empty() {
                format!("a child under these walls could not {}", closed.join(", nor "))
            } else {
                format!("the walls do not hold: a child could {}", open.join(", and "))
            };
            let stop = Stop::new(Exit::Unconfined, what).hint("let no agent run here before this is understood");
            report.fail(name, &stop);
        }
        Err(error) => report.fail(name, &as_stop(error)),
    }
}

/// What the child could do.
struct Outcome {
    /// How many attempts outside were refused.
    refused: usize,
    /// What it could do outside.
    open: Vec<String>,
    /// What it could not do inside.
    closed: Vec<String>,
}

fn prove(
    scratch: &Scratch,
    walls: &Walls,
    checkout: Option<&Checkout>,
    surroundings: &Surroundings,
) -> Result<Outcome> {
    let places = &scratch.places;
    let program = Path::new(AgentRun::SELF);
    let plan = match checkout {
        Some(checkout) => walls.agent(checkout, places, program, surroundings),
        None => Plan {
            needed: vec![places.private.clone()],
            ..walls.tool(places.writable())
        },
    };
    let own = format!(".agentgate-doctor-{}", std::process::id());
    let inside: Vec<(Attempt, PathBuf)> = places
        .writable()
        .iter()
        .map(|folder| (Attempt::Create, folder.join(&own)))
        .collect();
    let mut outside: Vec<(Attempt, PathBuf)> = outside_folders(checkout, surroundings)
        .into_iter()
        // What we cannot write ourselves would prove nothing.
        .filter(|folder| folder.is_dir() && is_writable(folder))
        .filter(|folder| !plan.writable.iter().any(|granted| folder.starts_with(granted)))
        .map(|folder| (Attempt::Create, folder.join(&own)))
        .collect();
    let mut on_file = vec![Attempt::Append, Attempt::Truncate, Attempt::Rename];
    // Landlock alone does not stop a change of mode, which is told among what is not covered.
    on_file.extend(walls.layers.mounts.then_some(Attempt::Mode));
    on_file.push(Attempt::Remove);
    outside.extend(on_file.into_iter().map(|attempt| (attempt, scratch.canary.clone())));
    let words = inside.iter().chain(&outside).map(|(attempt, path)| attempt.on(path));
    let argv: Vec<OsString> = ["agentgate".into(), trial::WRITES.into()]
        .into_iter()
        .chain(words)
        .collect();
    let said = run(scratch, plan, argv)?;
    let lines: Vec<&str> = said.lines().collect();
    if lines.len() != inside.len() + outside.len() {
        bail!("the child that tries to write said {said:?}");
    }
    let (at_inside, at_outside) = lines.split_at(inside.len());
    let told = |(attempt, path): &(Attempt, PathBuf)| {
        let shown = if *attempt == Attempt::Create {
            path.parent().unwrap_or(path)
        } else {
            path
        };
        format!("{} {}", attempt.words(), shown.display())
    };
    let with = |tried: &[(Attempt, PathBuf)], lines: &[&str], ok: bool| -> Vec<String> {
        let both = tried.iter().zip(lines);
        both.filter(|(_, line)| (**line == "ok") == ok)
            .map(|(tried, _)| told(tried))
            .collect()
    };
    let mut open = with(&outside, at_outside, true);
    // Its own word is not all: the file says it too.
    let is_whole = files::read_small(&scratch.canary, 64).is_ok_and(|bytes| bytes == CANARY);
    if !is_whole && open.is_empty() {
        open.push(format!("change {}", scratch.canary.display()));
    }
    Ok(Outcome {
        refused: outside.len() - open.len().min(outside.len()),
        open,
        closed: with(&inside, at_inside, false),
    })
}

/// Starts the child as an agent is started; what it printed.
fn run(scratch: &Scratch, plan: Plan, argv: Vec<OsString>) -> Result<String> {
    let log = scratch.places.private.join("log");
    let run = AgentRun {
        program: AgentRun::SELF.into(),
        argv,
        cwd: scratch.places.worktree.clone(),
        plan,
        environment: Vec::new(),
        stdin: None,
        log: log.clone(),
        verbose: false,
        limit: Some(PATIENCE),
        idle: None,
        grace: AgentRun::GRACE,
    };
    let finished = run.run(&mut |_| {})?;
    match finished.ending {
        Ending::Exited(0) => {}
        Ending::NotStarted(why) => bail!("the child that tries to write could not be started: {why}"),
        other => bail!("the child that tries to write did not end by itself: {other:?}"),
    }
    let bytes = files::read_small(&log, 1 << 20).with_context(|| format!("cannot read {}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where an agent would do harm.
fn outside_folders(checkout: Option<&Checkout>, surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut folders = vec![
        surroundings.cwd.clone(),
        PathBuf::from("/tmp"),
        PathBuf::from("/var/tmp"),
    ];
    folders.extend(surroundings.home().map(Path::to_owned));
    if let Some(checkout) = checkout {
        folders.extend(checkout.workdir.clone());
        folders.push(checkout.clone.clone());
        folders.extend(["", "hooks", "refs/heads", "objects", "info"].map(|name| checkout.common.join(name)));
    }
    folders.sort();
    folders.dedup();
    folders
}

fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

const CANARY: &[u8] = b"nobody may change this\n";

/// The folders of a job that is none: no job id begins with a dot. Removed in the end.
struct Scratch {
    places: Places,
    /// A file that the child must not be able to change, in a folder that we may write.
    canary: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Scratch {
    /// Where the clone's jobs lie; without a clone, in a temporary folder.
    fn make(root: Option<&Path>) -> Result<Scratch> {
        let folder = match root {
            Some(_) => None,
            None => Some(tempfile::tempdir().context("cannot make a temporary folder")?),
        };
        let root = match (&folder, root) {
            (Some(folder), _) => std::fs::canonicalize(folder.path())?,
            (None, Some(root)) => {
                std::fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
                std::fs::canonicalize(root)?
            }
            (None, None) => bail!("there is no folder"),
        };
        let places = Places::of(&root, &format!(".doctor-{}", std::process::id()));
        let scratch = Scratch {
            canary: places.private.join("canary"),
            places,
            _folder: folder,
        };
        for folder in scratch.places.writable() {
            files::make_private_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        files::create_new(&scratch.canary, CANARY, 0o600)?;
        std::fs::set_permissions(&scratch.canary, std::fs::Permissions::from_mode(0o600))?;
        // As in a job, one file is seen in the place of the other.
        files::create_new(&scratch.places.git_pointer(), b"gitdir: none\n", 0o600)?;
        files::create_new(&scratch.places.worktree.join(".git"), b"gitdir: none\n", 0o600)?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = files::remove_tree(&self.places.worktree);
        let _ = files::remove_tree(&self.places.private);
        // Only where they are empty: jobs of the clone may use them.
        for folder in [self.places.private.parent(), Some(self.places.root.as_path())]
            .into_iter()
            .flatten()
        {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
