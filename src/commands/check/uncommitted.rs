//! `check --all`, `--worktree`, `--staged` and `--paths`: trees instead of a range.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use git2::Oid;

use super::super::{Surroundings, first_policy};
use super::{Options, Report, Subject, policy_change};
use crate::exit::{Exit, Stop};
use crate::gate::baseline::{self, Baseline};
use crate::gate::policy::{BASELINE_PATH, PolicyError};
use crate::gate::tree::lookup;
use crate::gate::{Finding, GateError, POLICY_PATH, Policy, Rule, SCHEMA_PATH, Tree, Verdict, render, rules, whole};
use crate::git::from_git2;
use crate::git::repo::Checkout;
use crate::git::tree::GitTree;
use crate::git::uncommitted::{self, What};
use crate::task::Task;

/// Judges the subject of the options, which is no range.
pub(super) fn judge(
    options: &Options,
    checkout: &Checkout,
    surroundings: &Surroundings,
    task: Option<&Task>,
) -> Result<Report> {
    match &options.subject {
        Subject::All => all(options, checkout, surroundings),
        Subject::Worktree => {
            let file = options.task.as_deref().map(|file| surroundings.cwd.join(file));
            difference(options, checkout, surroundings, &What::Worktree(file.as_deref()), task)
        }
        Subject::Staged => {
            let named = surroundings.var("GIT_INDEX_FILE").map(PathBuf::from);
            difference(options, checkout, surroundings, &What::Staged(named), task)
        }
        Subject::Paths(paths) => difference(
            options,
            checkout,
            surroundings,
            &What::Paths(paths, &surroundings.cwd),
            task,
        ),
        Subject::Range => Err(anyhow::anyhow!("a range is judged elsewhere")),
    }
}

/// The whole tree of a commit by its own policy.
fn all(options: &Options, checkout: &Checkout, surroundings: &Surroundings) -> Result<Report> {
    let head = super::resolve_head(checkout, &options.head)?;
    let tree = tree(checkout, head)?;
    first_policy::must_be_in(checkout, &surroundings.cwd, head, &tree)?;
    let policy = Policy::of(&tree).map_err(GateError::from)?;
    let mut verdict = whole::judge(&policy, &tree).map_err(anyhow::Error::from)?;
    if let Some(known) = Baseline::of(&policy, &tree)? {
        let stale = baseline::settle(&known, &tree, &mut verdict).map_err(GateError::from)?;
        if options.strict_baseline {
            let path = policy.baseline.clone().unwrap_or_default();
            verdict.findings.extend(stale.iter().map(|known| Finding {
                rule: Rule::StaleBaseline,
                path: path.clone().into_bytes(),
                line: None,
                column: None,
                judged_by: "--strict-baseline".to_owned(),
                message: format!("lists {}", baseline::stale(known)),
                hint: "agentgate baseline update, then commit the file".to_owned(),
                commit: None,
                at: None,
            }));
        } else {
            verdict.notices.extend(baseline::told_of(&stale));
        }
    } else if options.strict_baseline {
        verdict
            .notices
            .push("the policy names no `baseline`, so --strict-baseline has nothing to look at".to_owned());
    }
    if policy.baseline.is_none() && verdict.findings.iter().any(|found| baseline::may_be_known(found.rule)) {
        verdict.notices.push(format!(
            "what was there before a rule can be listed: `baseline: {BASELINE_PATH}` in the policy, then `agentgate baseline \
             update --grow`"
        ));
    }
    verdict.settle();
    report(options, checkout, verdict, (head, head), "the tree's own policy")
}

/// What is not committed, by the policy of HEAD or of `--base`.
fn difference(
    options: &Options,
    checkout: &Checkout,
    surroundings: &Surroundings,
    what: &What<'_>,
    task: Option<&Task>,
) -> Result<Report> {
    let (base, from) = match &options.base {
        None => (head(checkout, what)?, "HEAD"),
        Some(given) => match crate::git::range::resolve(&checkout.repo, given)? {
            Some(commit) => (commit, "--base"),
            None => {
                return Err(Stop::new(
                    Exit::PolicyUnusable,
                    format!("the base {given:?} names no commit of this clone"),
                )
                .hint("git fetch origin, then name a branch or commit that is here")
                .into());
            }
        },
    };
    let base_tree = tree(checkout, base)?;
    let what = match what {
        // Left out, a file that the base has would be taken for deleted.
        What::Worktree(Some(file)) if is_in(&base_tree, checkout, file)? => &What::Worktree(None),
        what => what,
    };
    let made = uncommitted::tree(checkout, what)?;
    let candidate = GitTree::new(&checkout.repo, from_git2(made.tree));
    let policy = match Policy::of(&base_tree) {
        Err(PolicyError::Missing) if lookup(&candidate, POLICY_PATH.as_bytes())?.is_none() => {
            let is_same = base_tree.root() == candidate.root();
            return Err(no_policy(checkout, what, (base, from), is_same).into());
        }
        Err(PolicyError::Missing) if options.allow_policy_change => {
            let verdict = policy_change::first_of_tree(&base_tree, &candidate)?;
            return report(options, checkout, verdict, (base, made.tree), from);
        }
        Err(PolicyError::Missing) => {
            return Err(Stop::new(
                Exit::PolicyUnusable,
                format!("no {POLICY_PATH} in {base}; the one here judges from the next commit on"),
            )
            .hint("--allow-policy-change accepts the change that brings the first policy, if it brings nothing else")
            .into());
        }
        policy => policy.map_err(GateError::from)?,
    };
    let mut verdict = rules::judge(&policy, &base_tree, &candidate, task)?;
    if options.allow_policy_change {
        verdict = policy_change::of_trees(&policy, &base_tree, &candidate, verdict)?;
    } else if verdict.findings.iter().any(|found| found.rule == Rule::ProtectedPath)
        && policy_change::is_acceptable(&policy, &base_tree, &candidate, &verdict)
    {
        verdict.notices.push(policy_change::how(surroundings).to_owned());
    }
    if let Some(why) = policy_change::unusable(&candidate, &verdict) {
        verdict.notices.push(why);
    }
    super::restore::add_commands(&mut verdict, base, checkout);
    if let Some(path) = &made.spared {
        verdict.notices.push(format!(
            "{} is the task and untracked, so it is no part of the change",
            render::path(path.as_os_str().as_bytes())
        ));
    }
    if verdict.paths_checked == 0 {
        verdict.notices.push(match what {
            What::Worktree(_) => "nothing is changed, so nothing was judged".to_owned(),
            What::Staged(_) => "nothing is staged, so nothing was judged".to_owned(),
            What::Paths(..) => "nothing is changed in these paths, so nothing was judged; `agentgate explain PATH` \
                                says what may be changed"
                .to_owned(),
        });
    }
    report(options, checkout, verdict, (base, made.tree), from)
}

/// HEAD's commit.
fn head(checkout: &Checkout, what: &What<'_>) -> Result<Oid> {
    let is_unborn = matches!(checkout.repo.head(), Err(error) if error.code() == git2::ErrorCode::UnbornBranch);
    match checkout.head() {
        Ok(head) => Ok(head.commit),
        // Most likely this is a hook, which refuses the first commit as well.
        Err(error) if is_unborn && matches!(what, What::Staged(_)) => match error.downcast::<Stop>() {
            Ok(stop) => Err(stop
                .hint("where a hook runs this, that one commit goes past it: git commit --no-verify")
                .into()),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// The refusal where neither the base nor what is judged has a policy. One may lie in the checkout all the same.
fn no_policy(checkout: &Checkout, what: &What<'_>, (base, from): (Oid, &str), is_same: bool) -> Stop {
    let here = match (what, is_same) {
        (What::Staged(_), true) => "nothing is staged",
        (What::Staged(_), false) => "none is staged",
        (What::Worktree(_), _) => "none in the checkout that git would take",
        (What::Paths(..), _) => "none among these paths",
    };
    let short = base.to_string();
    let short = short.get(..12).unwrap_or(&short);
    let stop = Stop::new(
        Exit::PolicyUnusable,
        format!("no {POLICY_PATH} in the base ({from}, {short}), and {here}"),
    );
    let lies_there = checkout
        .workdir
        .as_deref()
        .is_some_and(|top| top.join(POLICY_PATH).is_file());
    let files = match (lies_there, checkout.workdir.as_deref()) {
        (true, Some(top)) if !top.join(SCHEMA_PATH).is_file() => POLICY_PATH.to_owned(),
        _ => format!("{POLICY_PATH} {SCHEMA_PATH}"),
    };
    match (what, lies_there) {
        (_, false) => stop.hint(format!(
            "write one with `agentgate init`, then `git add {files}` and `git commit`"
        )),
        (What::Staged(_), true) => stop.hint(format!("one lies in the checkout: git add {files}")),
        (What::Worktree(_), true) => stop.hint(format!("one lies there, but git ignores it: git add --force {files}")),
        (What::Paths(..), true) => stop.hint(format!(
            "one lies in the checkout; it judges once it is committed: git add {files} && git commit"
        )),
    }
}

/// Whether a tree has something at the place of this file.
fn is_in(tree: &GitTree<'_>, checkout: &Checkout, file: &Path) -> Result<bool> {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let real = folder.map(|folder| folder.join(file.file_name().unwrap_or_default()));
    let path = real.as_deref().zip(checkout.workdir.as_deref());
    match path.and_then(|(real, top)| real.strip_prefix(top).ok()) {
        Some(path) => Ok(lookup(tree, path.as_os_str().as_bytes())?.is_some()),
        None => Ok(false),
    }
}

fn tree(checkout: &Checkout, commit: Oid) -> Result<GitTree<'_>> {
    Ok(GitTree::of_commit(&checkout.repo, commit).map_err(GateError::from)?)
}

fn report(
    options: &Options,
    checkout: &Checkout,
    mut verdict: Verdict,
    (base, head): (Oid, Oid),
    from: &str,
) -> Result<Report> {
    if let Some(why) = verdict.is_hollow() {
        if options.require_inspected && verdict.exit() == Exit::Ok {
            return Err(super::hollow(&why, &verdict).into());
        }
        if verdict.paths_checked > 0 {
            verdict.notices.push(why);
        }
    }
    let (base, head) = (base.to_string(), head.to_string());
    Ok(Report {
        head_time: checkout.repo.find_commit(Oid::from_str(&base)?)?.time().seconds(),
        origin: super::origin(checkout),
        exit: verdict.exit(),
        subject: options.subject.clone(),
        merge_base: base.clone(),
        base,
        base_from: from.to_owned(),
        verbose: options.verbose,
        head,
        commits: 0,
        verdict,
    })
}
