//! `--allow-policy-change`: the way in which people change what is theirs.
//!
//! Invariant: it lets through human-owned files only, of people's commits only, and never a head
//! whose policy could not judge the next change.

use anyhow::Result;
use git2::Oid;

use super::judge::Scene;
use crate::agent::settings::{Person, Settings};
use crate::commands::Surroundings;
use crate::commands::trailers::Row;
use crate::exit::{Exit, Stop};
use crate::gate::autoexec;
use crate::gate::baseline::Baseline;
use crate::gate::policy::{self, PolicyError, Stance};
use crate::gate::tree::{diff, lookup};
use crate::gate::{GateError, POLICY_PATH, Policy, Rule, SETTINGS_PATH, Tree, Unreadable, Verdict, render, rules};
use crate::paths::{Match, PathRule};

/// Variables that CIs set.
const CIS: [&str; 4] = ["CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"];

/// What a person is told whose change of human-owned files was refused and would be accepted.
pub(super) fn how(surroundings: &Surroundings) -> &'static str {
    let is_ci = CIS.iter().any(|name| surroundings.var(name).is_some());
    match is_ci {
        true => {
            "only human-owned files change: this job, which runs without --allow-policy-change, stays red on this branch; \
             an owner runs `agentgate check --allow-policy-change` on it and merges over the red job"
        }
        false => {
            "a person's change of human-owned files alone is accepted with --allow-policy-change; the job in CI stays red \
             on it, and an owner merges over that"
        }
    }
}

/// Whether the option would let all of a refused range through.
pub(super) fn would_accept(scene: &Scene, agents: &[Row], verdict: &Verdict) -> bool {
    matches!(claim(scene, agents), Ok(Claim::Change)) && accept(verdict.clone()).findings.is_empty()
}

/// The same for two trees.
pub(super) fn is_acceptable(policy: &Policy, base: &dyn Tree, candidate: &dyn Tree, verdict: &Verdict) -> bool {
    of_trees(policy, base, candidate, verdict.clone()).is_ok_and(|verdict| verdict.findings.is_empty())
}

/// What is wrong with the policy, its baseline or the settings that a refused change leaves behind: merged over the
/// refusal, they would judge nothing.
pub(super) fn unusable(candidate: &dyn Tree, verdict: &Verdict) -> Option<String> {
    let is_changed = |path: &str| {
        let mut findings = verdict.findings.iter();
        findings.any(|found| found.rule == Rule::ProtectedPath && found.path == path.as_bytes())
    };
    let policy = Policy::of(candidate);
    let listed = policy.as_ref().ok().and_then(|policy| policy.baseline.clone());
    let mut faults: Vec<(&str, String)> = Vec::new();
    match &policy {
        Ok(policy) => {
            if let Some(path) = listed
                .as_deref()
                .filter(|path| is_changed(path) || is_changed(POLICY_PATH))
                && let Err(error) = Baseline::of(policy, candidate)
            {
                faults.push((path, error.to_string()));
            }
        }
        Err(PolicyError::Missing) if is_changed(POLICY_PATH) => {
            faults.push((POLICY_PATH, "there would be no policy".to_owned()));
        }
        Err(error) if is_changed(POLICY_PATH) => faults.push((POLICY_PATH, error.to_string())),
        Err(_) => {}
    }
    if is_changed(SETTINGS_PATH)
        && let Err(why) = settings(candidate)
    {
        faults.push((SETTINGS_PATH, why));
    }
    let told = faults.into_iter().map(|(path, why)| {
        // The line with its caret is left out.
        let mut lines = why.lines();
        let first = lines.next().unwrap_or_default();
        let hints = lines.filter_map(|line| line.trim_start().strip_prefix("hint: "));
        let words: Vec<&str> = std::iter::once(first).chain(hints).collect();
        let words = render::lines(&words.join("; "));
        format!("{path} changed, and it would be unusable: {words}")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// What the option comes to for a range.
pub(super) enum Claim {
    /// It does not apply; the range is judged as any other, and this is why.
    Void(Option<String>),
    /// Only human-owned files change: judge, then [`accept`].
    Change,
    /// The range brings the first policy: its base has none to judge by.
    First(Box<Verdict>),
}

/// Whether the option applies.
///
/// # Errors
/// Exit 2 where it does and the head's policy or settings are unusable.
pub(super) fn claim(scene: &Scene, agents: &[Row]) -> Result<Claim> {
    let void = |why: String| Ok(Claim::Void(Some(format!("--allow-policy-change is void: {why}"))));
    if let Some(row) = agents.first() {
        return void(format!("{} is an agent commit", row.commit));
    }
    let is_first = lacks_policy(scene)?;
    let head = scene.tree(scene.head)?;
    if is_first
        && lookup(&head, POLICY_PATH.as_bytes())
            .map_err(GateError::from)?
            .is_none()
    {
        return void("neither the base nor the head has a policy".to_owned());
    }
    let mut owns_autoexec = false;
    let owned: Vec<PathRule> = if is_first {
        // No policy names anything yet. What always is a person's: the policy, the settings, and
        // the CI files that call agentgate.
        let rules = usable(scene.head, &head)?.must_not_touch.into_iter();
        rules.filter(|rule| rule.key == policy::BUILT_IN).collect()
    } else {
        let policies = scene.policies()?;
        owns_autoexec = policies.iter().any(|policy| policy.autoexec == Stance::Deny);
        policies.into_iter().flat_map(|policy| policy.must_not_touch).collect()
    };
    // A twin of a human-owned path is no person's file but a disguise.
    let runs_by_itself =
        |path: &[u8]| autoexec::find(path).is_some_and(|known| !known.is_above && known.spelling == Match::Exact);
    let is_owned = |path: &[u8]| {
        owned.iter().any(|rule| rule.denies(path) == Some(Match::Exact)) || owns_autoexec && runs_by_itself(path)
    };
    if let Some(other) = changed(scene)?.iter().find(|path| !is_owned(path)) {
        return void(format!("the range also changes {}", render::path(other)));
    }
    let policy = usable(scene.head, &head)?;
    if !is_first {
        return Ok(Claim::Change);
    }
    let mut verdict = Verdict::default();
    for base in &scene.range.merge_bases {
        verdict.merge(rules::judge_commit(&policy, &scene.tree(*base)?, &head)?);
    }
    let mut verdict = accept(verdict);
    verdict.notices.push(format!(
        "the base has no policy; the first one is policy {} at {}",
        policy.id, scene.head
    ));
    Ok(Claim::First(Box::new(verdict)))
}

/// The verdict without what a person may do to human-owned files. Content that hides from review
/// stays a finding, whoever made it.
pub(super) fn accept(mut verdict: Verdict) -> Verdict {
    let before = verdict.findings.len();
    verdict.findings.retain(|finding| match finding.rule {
        Rule::ProtectedPath | Rule::ForbiddenDirectory | Rule::NewTopLevelDirectory | Rule::TooLarge => false,
        // A task's scope still holds, where there is one.
        Rule::OutOfScope => finding.judged_by != "unmapped",
        _ => true,
    });
    verdict.notices.push(format!(
        "human-owned files changed only; --allow-policy-change accepts {} finding{}",
        before - verdict.findings.len(),
        if before - verdict.findings.len() == 1 { "" } else { "s" }
    ));
    verdict
}

/// The same for two trees: a verdict over what is not committed.
pub(super) fn of_trees(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    mut verdict: Verdict,
) -> Result<Verdict> {
    let is_owned = |path: &[u8]| {
        let runs = autoexec::find(path).is_some_and(|known| !known.is_above && known.spelling == Match::Exact);
        let rules = &policy.must_not_touch;
        rules.iter().any(|rule| rule.denies(path) == Some(Match::Exact)) || policy.autoexec == Stance::Deny && runs
    };
    let changes = diff(base, candidate).map_err(GateError::from)?;
    // Nothing is there to be accepted.
    if changes.is_empty() {
        return Ok(verdict);
    }
    if let Some(other) = changes.iter().find(|change| !is_owned(&change.path)) {
        let why = format!(
            "--allow-policy-change is void: {} changes as well",
            render::path(&other.path)
        );
        verdict.notices.push(why);
        return Ok(verdict);
    }
    readable("what is not committed", candidate)?;
    Ok(accept(verdict))
}

/// The first policy of a repository, before it is committed: with nothing else but what belongs to it.
///
/// # Errors
/// Exit 2 for a policy that could not judge, and where anything else changes.
pub(super) fn first_of_tree(base: &dyn Tree, candidate: &dyn Tree) -> Result<Verdict> {
    let policy = readable("what is not committed", candidate)?;
    let owned: Vec<&PathRule> = policy
        .must_not_touch
        .iter()
        .filter(|rule| rule.key == policy::BUILT_IN)
        .collect();
    let changes = diff(base, candidate).map_err(GateError::from)?;
    let is_owned = |path: &[u8]| owned.iter().any(|rule| rule.denies(path) == Some(Match::Exact));
    if let Some(other) = changes.iter().find(|change| !is_owned(&change.path)) {
        return Err(Stop::new(
            Exit::PolicyUnusable,
            format!(
                "the base has no policy, and {} changes as well",
                render::path(&other.path)
            ),
        )
        .hint("commit the first policy on its own; it judges from the next commit on")
        .into());
    }
    let mut verdict = accept(rules::judge_commit(&policy, base, candidate)?);
    verdict
        .notices
        .push("the base has no policy; this is the first one".to_owned());
    Ok(verdict)
}

/// Whether neither the merge bases nor the base itself have a policy.
fn lacks_policy(scene: &Scene) -> Result<bool> {
    for commit in scene.range.merge_bases.iter().chain([&scene.tip]) {
        match Policy::of(&scene.tree(*commit)?) {
            Err(PolicyError::Missing) => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Every path that the range changes, also the ones that it puts back. For a merge only those that
/// differ from all its parents.
fn changed(scene: &Scene) -> Result<Vec<Vec<u8>>> {
    // Sorted, as differences are.
    let paths_of = |from: &dyn Tree, to: &dyn Tree| -> Result<Vec<Vec<u8>>, Unreadable> {
        Ok(diff(from, to)?.into_iter().map(|change| change.path).collect())
    };
    let mut paths = Vec::new();
    let head = scene.tree(scene.head)?;
    for base in &scene.range.merge_bases {
        paths.extend(paths_of(&scene.tree(*base)?, &head).map_err(GateError::from)?);
    }
    for commit in &scene.range.commits {
        let tree = scene.tree(*commit)?;
        let mut own: Option<Vec<Vec<u8>>> = None;
        for parent in scene.parents(*commit)? {
            let differs = paths_of(&parent, &tree).map_err(GateError::from)?;
            own = Some(match own {
                None => differs,
                Some(own) => own
                    .into_iter()
                    .filter(|path| differs.binary_search(path).is_ok())
                    .collect(),
            });
        }
        paths.extend(own.unwrap_or_default());
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The policy that the range leaves behind; its settings must be readable too.
fn usable(head: Oid, tree: &dyn Tree) -> Result<Policy> {
    readable(&format!("head {head}"), tree)
}

fn readable(place: &str, tree: &dyn Tree) -> Result<Policy> {
    let refuse = |why: String| Stop::new(Exit::PolicyUnusable, format!("in {place}: {why}"));
    let policy = match Policy::of(tree) {
        Ok(policy) => policy,
        Err(PolicyError::Missing) => {
            return Err(refuse("there would be no policy".to_owned())
                .hint("change its rules, but keep the file: without it nothing is judged")
                .into());
        }
        Err(error) => return Err(refuse(error.to_string()).into()),
    };
    settings(tree).map_err(refuse)?;
    Ok(policy)
}

/// Whether the settings, if there are any, can be read. Whoever judges, the answer is the same: nobody's own settings
/// count.
fn settings(tree: &dyn Tree) -> Result<(), String> {
    let unreadable = |error: Unreadable| GateError::from(error).to_string();
    let Some(entry) = lookup(tree, SETTINGS_PATH.as_bytes()).map_err(unreadable)? else {
        return Ok(());
    };
    let bytes = tree.blob(&entry.id).map_err(unreadable)?;
    match Settings::of_repository(&bytes, &Person::default()) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
