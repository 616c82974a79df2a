//! `check --checks`: the commands of `checks:` on the head of a range that breaks no other rule.
//!
//! Invariant: a range cannot change what it is checked by. As with policies, the settings are those of the merge
//! base and, where they differ, also the base's own.

use std::path::Path;

use anyhow::Result;
use git2::Oid;

use super::judge::Scene;
use crate::agent::effective::{Asked, Effective, label};
use crate::agent::settings::{Check, Person, Settings};
use crate::commands::checks::{Bench, Room, Subject, run_all, sweep};
use crate::commands::implementer::{self, Chosen};
use crate::commands::run::{Copies, not_run, root_of, settings_of};
use crate::commands::{Surroundings, Watch};
use crate::exit::{Exit, Stop};
use crate::gate::tree::{diff, lookup};
use crate::gate::{self, GateError, SETTINGS_PATH, Verdict};
use crate::git::repo::Checkout;
use crate::git::settings::ContentSettings;
use crate::process::signals;

/// What was asked of the commands.
#[derive(Clone, Debug)]
pub struct Commands {
    /// How far they are confined, what they reach and get.
    pub asked: Asked,
    /// `--verbose`
    pub verbose: bool,
}

/// One version of the settings that binds the range.
struct Source {
    /// Where it was read.
    commit: Oid,
    /// Its blob; none where that commit has no settings.
    blob: Option<gate::Oid>,
    settings: Settings,
}

/// The settings of each merge base, of the base itself and of the target that the CI names; each version once.
fn sources(scene: &Scene, person: &Person) -> Result<Vec<Source>> {
    let mut found: Vec<Source> = Vec::new();
    for commit in scene
        .range
        .merge_bases
        .iter()
        .copied()
        .chain([scene.tip])
        .chain(scene.target)
    {
        let tree = scene.tree(commit)?;
        let entry = lookup(&tree, SETTINGS_PATH.as_bytes()).map_err(GateError::from)?;
        let blob = entry.map(|entry| entry.id);
        if found.iter().all(|known| known.blob != blob) {
            let settings = settings_of(&tree, person).map_err(|error| match error.downcast::<Stop>() {
                Ok(stop) => Stop {
                    message: format!("in base {commit}: {}", stop.message),
                    ..stop
                }
                .into(),
                Err(error) => error,
            })?;
            found.push(Source { commit, blob, settings });
        }
    }
    Ok(found)
}

/// Whether any commit that binds the range has settings.
fn has_settings(scene: &Scene) -> Result<bool> {
    for commit in scene
        .range
        .merge_bases
        .iter()
        .copied()
        .chain([scene.tip])
        .chain(scene.target)
    {
        let tree = scene.tree(commit)?;
        if lookup(&tree, SETTINGS_PATH.as_bytes())
            .map_err(GateError::from)?
            .is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is said where nobody asked for them: that there are some.
pub(super) fn told_of(scene: &Scene) -> Option<String> {
    // Most have none: then nothing of a person's settings need be put together.
    if let Ok(false) = has_settings(scene) {
        return None;
    }
    let count = |sources: Vec<Source>| checks_of(&sources).iter().map(|(_, checks)| checks.len()).sum();
    match sources(scene, &Person::default()).map(count) {
        Ok(0) => None,
        Ok(1) => Some(format!("1 check of {SETTINGS_PATH} was not run; add --checks")),
        Ok(count) => Some(format!("{count} checks of {SETTINGS_PATH} were not run; add --checks")),
        Err(error) => {
            let error = format!("{error:#}");
            let first = error.lines().next().unwrap_or_default();
            Some(format!("whether there are checks is not known: {first}"))
        }
    }
}

/// Which checks of which settings: an older version's that a later one repeats, set-up included, are run once.
fn checks_of(sources: &[Source]) -> Vec<(&Source, Vec<(String, Check)>)> {
    let mut found: Vec<(&Source, Vec<(String, Check)>)> = Vec::new();
    for source in sources {
        let is_known = |check: &Check| {
            found.iter().any(|(other, checks)| {
                let prepares_alike =
                    other.settings.setup == source.settings.setup && other.settings.copy == source.settings.copy;
                prepares_alike && checks.iter().any(|(_, known)| known == check)
            })
        };
        let place = match found.is_empty() {
            true => String::new(),
            false => format!(" of {:.12}", source.commit.to_string()),
        };
        let checks = source.settings.checks.iter().cloned().enumerate();
        let checks: Vec<(String, Check)> = checks
            .filter(|(_, check)| !is_known(check))
            .map(|(index, check)| (format!("checks[{index}]{place}"), check))
            .collect();
        found.push((source, checks));
    }
    found.retain(|(_, checks)| !checks.is_empty());
    found
}

/// Runs them and puts what they came to into the verdict.
///
/// # Errors
/// Exit 21 without confinement that nobody waived, 2 for settings that cannot be used, 64 for what a person set
/// and that cannot work, 20 where the clone changed meanwhile, 129, 130, 143 for a signal.
pub(super) fn run(
    commands: &Commands,
    scene: &Scene,
    checkout: &Checkout,
    surroundings: &Surroundings,
    watch: &dyn Watch,
    verdict: &mut Verdict,
) -> Result<()> {
    let person = surroundings.person()?;
    let sources = sources(scene, &person)?;
    let wanted = checks_of(&sources);
    let count = wanted.iter().map(|(_, checks)| checks.len()).sum();
    if count == 0 {
        verdict
            .notices
            .push(format!("{SETTINGS_PATH} of the base has no checks"));
        return Ok(());
    }
    if !verdict.findings.is_empty() {
        verdict.notices.push(not_run(count, "the gate refuses the range"));
        return Ok(());
    }
    if scene.range.commits.is_empty() {
        verdict.notices.push(not_run(count, "the range is empty"));
        return Ok(());
    }
    // A runner obeys what a candidate's program prints; `::stop-commands::` would switch off our own annotations.
    let in_actions = surroundings.var("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    if in_actions && commands.verbose {
        verdict.notices.push(
            "--verbose does not pass the output of checks on in GitHub Actions, where it could give commands to the runner"
                .to_owned(),
        );
    }
    signals::install()?;
    let base = scene.range.merge_bases.first().copied().unwrap_or(scene.tip);
    let mut changed: Vec<Vec<u8>> = Vec::new();
    for base in &scene.range.merge_bases {
        let changes = diff(&scene.tree(*base)?, &scene.tree(scene.head)?).map_err(GateError::from)?;
        changed.extend(changes.into_iter().map(|change| change.path));
    }
    let content = ContentSettings::read(
        checkout,
        &checkout.git_dir,
        surroundings.home(),
        surroundings.config_home().as_deref(),
    )?;
    let host = label(surroundings.text("AGENT_HOST_LABEL")?, "AGENT_HOST_LABEL")?.unwrap_or_else(|| "local".into());
    let mut first = 1;
    for (source, checks) in wanted {
        let effective = effective(commands, &source.settings, &person, surroundings)?;
        let walls = implementer::walls(&effective, surroundings)?;
        let mut notices = walls.odd_to_hide()?;
        let mut copies = Copies::plan(checkout, base, &effective.copy)?;
        notices.append(&mut copies.notices);
        let root = root_of(checkout, &effective, &person, surroundings)?;
        notices.append(&mut sweep(&root));
        let room = Room::make(&root)?;
        watch.step(&format!(
            "checks of {:.12} ({})",
            source.commit.to_string(),
            walls.layers.tier()
        ));
        let bench = Bench {
            checkout,
            surroundings,
            effective: &effective,
            walls: &walls,
            content: &content,
            copies: &copies,
            candidate: Subject {
                tree: checkout.repo.find_commit(scene.head)?.tree_id(),
                head: scene.head,
            },
            base,
            root: &root,
            folder: &room.folder.join("check"),
            mark: &room.mark(),
            job: &room.name,
            host: &host,
            logs: &room.folder,
            verbose: commands.verbose && !in_actions,
        };
        let mut outcome = run_all(&bench, &checks, first, &changed, watch, &mut |_| Ok(()))?;
        if let Some(signal) = outcome.interrupted {
            return Err(Stop::new(Exit::from_signal(signal), "interrupted while the checks ran")
                .hint("nothing was judged; what they had made is removed")
                .into());
        }
        first += checks.len();
        for result in &mut outcome.results {
            // It goes with the folder.
            result.log = None;
            verdict.findings.extend(result.finding());
        }
        verdict.checks.append(&mut outcome.results);
        verdict.notices.extend(notices.into_iter().chain(outcome.notices));
    }
    verdict.settle();
    Ok(())
}

/// What command line and settings come to; there is no agent.
fn effective(
    commands: &Commands,
    repository: &Settings,
    person: &Person,
    surroundings: &Surroundings,
) -> Result<Effective> {
    let asked = Asked {
        command: vec!["true".into()],
        ..commands.asked.clone()
    };
    Chosen {
        asked: &asked,
        task: Path::new("TASK.md"),
        task_timeout: None,
        repository,
        person,
    }
    .effective(surroundings)
}
