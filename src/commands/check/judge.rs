//! The judgement of a range: its end points, then each commit by itself.

use std::collections::HashSet;

use anyhow::Result;
use git2::{Oid, Repository};

use crate::exit::{Exit, Stop};
use crate::gate::content::MALFORMED;
use crate::gate::policy::PolicyError;
use crate::gate::tree::lookup;
use crate::gate::{Finding, GateError, POLICY_PATH, Policy, Rule, SCHEMA_PATH, Tree, Verdict, rules};
use crate::git::range::{Graph, Range};
use crate::git::tree::{Folders, GitTree};
use crate::task::Task;

/// A range and what is around it.
pub(super) struct Scene<'a> {
    pub(super) repo: &'a Repository,
    pub(super) graph: &'a Graph<'a>,
    pub(super) range: &'a Range,
    /// The base itself, which may have moved on since the merge base.
    pub(super) tip: Oid,
    /// Tip of the branch that the CI names as the target, if it does.
    pub(super) target: Option<Oid>,
    pub(super) head: Oid,
    /// What was read of all their trees.
    pub(super) folders: Folders,
}

impl<'a> Scene<'a> {
    /// The tree of a commit.
    pub(super) fn tree(&self, commit: Oid) -> Result<GitTree<'a>> {
        Ok(GitTree::of_commit_with(self.repo, commit, &self.folders).map_err(GateError::from)?)
    }

    /// The trees of a commit's parents; the empty tree where it is a root. Parents are the ones
    /// that the commit object names: grafts do not count.
    pub(super) fn parents(&self, commit: Oid) -> Result<Vec<GitTree<'a>>> {
        let parents = self.graph.parents(commit)?;
        if parents.is_empty() {
            return Ok(vec![GitTree::empty(self.repo)]);
        }
        parents.into_iter().map(|parent| self.tree(parent)).collect()
    }

    /// The policies that judge: each merge base's and, where it differs, the base's own, so that a
    /// branch forked before a rule was added is held to that rule too.
    pub(super) fn policies(&self) -> Result<Vec<Policy>> {
        let mut policies: Vec<Policy> = Vec::new();
        for commit in self.range.merge_bases.iter().chain([&self.tip]) {
            let policy = self.policy(*commit)?;
            if !policies.iter().any(|known| is_same(known, &policy)) {
                policies.push(policy);
            }
        }
        // A target without a policy takes nothing away from those of the base.
        if let Some(target) = self.target
            && lookup(&self.tree(target)?, POLICY_PATH.as_bytes())
                .map_err(GateError::from)?
                .is_some()
        {
            let policy = self.policy(target)?;
            if !policies.iter().any(|known| is_same(known, &policy)) {
                policies.push(policy);
            }
        }
        Ok(policies)
    }

    fn policy(&self, commit: Oid) -> Result<Policy> {
        match Policy::of(&self.tree(commit)?) {
            Ok(policy) => Ok(policy),
            Err(PolicyError::Missing) => Err(self.no_rules(commit)?.into()),
            Err(PolicyError::Invalid(text)) => {
                Err(GateError::Policy(PolicyError::Invalid(format!("in base {commit}: {text}"))).into())
            }
            Err(error) => Err(GateError::Policy(error).into()),
        }
    }

    /// A range cannot bring its own rules.
    fn no_rules(&self, commit: Oid) -> Result<Stop> {
        let stop = Stop::new(
            Exit::PolicyUnusable,
            format!("no rules in base {commit}: it has no {POLICY_PATH}"),
        );
        let has = |other: Oid| -> Result<bool> {
            let found = lookup(&self.tree(other)?, POLICY_PATH.as_bytes()).map_err(GateError::from)?;
            Ok(found.is_some())
        };
        Ok(if commit != self.tip && has(self.tip)? {
            stop.hint("the branch left the base before the policy landed there; bring it up to date")
                .hint(format!("git merge {}", self.tip))
        } else if has(self.head)? {
            stop.hint("a range is not judged by rules that it brings itself; land the policy on its own first")
                .hint("agentgate check --allow-policy-change   (with the same base; accepts a range that brings nothing else)")
        } else {
            let top = self.repo.workdir();
            let files = match top.is_some_and(|top| top.join(SCHEMA_PATH).is_file()) {
                true => format!("{POLICY_PATH} {SCHEMA_PATH}"),
                false => POLICY_PATH.to_owned(),
            };
            match top.is_some_and(|top| top.join(POLICY_PATH).is_file()) {
                true => stop
                    .hint("it is in this checkout, but not committed; an uncommitted policy judges nothing")
                    .hint(format!("git add {files} && git commit")),
                false => stop.hint("agentgate init, then the line that it ends with"),
            }
            .hint("agentgate check --allow-policy-change   (accepts the change that lands it)")
        })
    }

    /// Judges everything.
    pub(super) fn judge(&self, task: Option<&Task>) -> Result<Verdict> {
        let policies = self.policies()?;
        let mut verdict = Verdict::default();
        let head = self.tree(self.head)?;
        for base in &self.range.merge_bases {
            let base = self.tree(*base)?;
            for policy in &policies {
                verdict.merge(rules::judge(policy, &base, &head, task)?);
            }
        }
        // No checkout shows what is meant, so the commit is named that does.
        for finding in verdict.findings.iter_mut().filter(|f| f.judged_by == MALFORMED) {
            finding.commit = Some(self.head.to_string());
        }
        let known: HashSet<Place> = verdict.findings.iter().map(place).collect();
        for commit in &self.range.commits {
            // The only commit between the end points is what was just judged, by more rules.
            if *commit == self.head && self.graph.parents(*commit)? == self.range.merge_bases {
                continue;
            }
            let mut single = self.commit(&policies, *commit)?;
            single.findings.retain(|found| !known.contains(&place(found)));
            let start = self
                .range
                .merge_bases
                .first()
                .map_or_else(String::new, ToString::to_string);
            for found in single
                .findings
                .iter_mut()
                .filter(|found| found.rule != Rule::Credential)
            {
                found.hint.push_str(&format!(
                    "; a later commit does not undo what this one did: `git reset --soft {}` and `git commit` make one \
                     commit of the range",
                    start.get(..12).unwrap_or(&start)
                ));
            }
            verdict.merge(single);
        }
        Ok(verdict)
    }

    /// One commit by itself: what was touched and put back is not in the end points' difference.
    fn commit(&self, policies: &[Policy], commit: Oid) -> Result<Verdict> {
        let (tree, parents) = (self.tree(commit)?, self.parents(commit)?);
        let mut verdict = Verdict::default();
        for policy in policies {
            verdict.merge(match parents.as_slice() {
                [parent] => rules::judge_commit(policy, parent, &tree)?,
                many => {
                    let many: Vec<&dyn Tree> = many.iter().map(|tree| tree as &dyn Tree).collect();
                    rules::judge_merge(policy, &many, &tree)?
                }
            });
        }
        for finding in &mut verdict.findings {
            finding.commit = Some(commit.to_string());
        }
        for warning in &mut verdict.warnings {
            warning.commit = Some(commit.to_string());
        }
        // The summary counts the paths of the end points' difference.
        verdict.paths_checked = 0;
        Ok(verdict)
    }

    /// Whether nothing is left of the range's commits.
    pub(super) fn is_net_empty(&self) -> Result<bool> {
        let head = self.tree(self.head)?.root();
        for base in &self.range.merge_bases {
            if self.tree(*base)?.root() != head {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a commit by itself is not blamed for again.
type Place = (Rule, Vec<u8>, Option<String>);

/// Of two credentials in one file each counts: the one that the end of the range still has does not stand for the other,
/// and the message tells them apart.
fn place(found: &Finding) -> Place {
    let which = (found.rule == Rule::Credential).then(|| found.message.clone());
    (found.rule, found.path.clone(), which)
}

/// Equal text, and equal built-in paths: those depend on the CI files beside it.
fn is_same(one: &Policy, other: &Policy) -> bool {
    let paths = |policy: &Policy| -> Vec<String> {
        let rules = policy.must_not_touch.iter();
        rules.map(|rule| rule.text.clone()).collect()
    };
    one.id == other.id && paths(one) == paths(other)
}
