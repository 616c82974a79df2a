//! What roles are told and what they answer, between one call and the next.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::outside::rules_of;
use super::prepare::{Job, Seat};
use crate::commands::Watch;
use crate::commands::remains::remember_ignored;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::credentials::search;
use crate::gate::{self, POLICY_PATH, Tree};
use crate::git::evidence;
use crate::git::from_git2;
use crate::git::history;
use crate::git::shadow::copy_index;
use crate::git::tree::GitTree;
use crate::job::answer::{self, Answer, Decision, NEEDS_HUMAN, PLAN, Plan, REVIEW, Review};
use crate::job::pipeline::Call;
use crate::job::role::Role;
use crate::job::{AgentEnd, Answered, Event, FileRef};
use crate::store;

use super::steps::SAVED_INDEX;

impl Job {
    /// The agent of a role.
    pub(super) fn seat(&self, role: Role) -> Result<Seat> {
        if role == Role::Implementer {
            return Ok(Seat {
                role,
                effective: self.effective.clone(),
                agent: self.agent.clone(),
                walls: self.walls.clone(),
                model_label: (self.created.model_label != "unspecified").then(|| self.created.model_label.clone()),
            });
        }
        let seat = self.seats.iter().find(|seat| seat.role == role);
        seat.cloned()
            .with_context(|| format!("the settings name no {}", role.name()))
    }

    /// Takes away what the last call had: its home, its git dir, its temporary files, its answers. What was set
    /// aside of ignored folders to make one tree goes back, since tools in the worktree may need it.
    pub(super) fn sweep_up(&mut self) -> Result<()> {
        for (from, to) in self
            .frozen
            .iter_mut()
            .flat_map(|frozen| std::mem::take(&mut frozen.put_back))
        {
            files::rename_long(&to, &from).with_context(|| format!("cannot put {} back", from.display()))?;
        }
        for name in ["git", "tmp", "outbox", "home"] {
            files::remove_tree(&self.places.private.join(name))?;
        }
        for name in ["git", "tmp", "outbox", "home"] {
            files::make_private_dir(&self.places.private.join(name))?;
        }
        Ok(())
    }

    /// Removes the worktree that a step which is made again had worked in.
    pub(super) fn clear_worktree(&mut self) -> Result<()> {
        self.stage = None;
        if let Some(worktree) = self.worktree.take()
            && let Some(left) = worktree.remove(&self.owner.folder.id, &self.places.trash)?
        {
            self.notices.push(left);
        }
        files::remove_tree(&self.places.private)?;
        self.bring_back_good()
    }

    /// Takes the answer of a call that is over. The inner error is why there is none that is valid.
    pub(super) fn take_answer(&mut self, call: &Call, number: u64, end: &AgentEnd) -> Result<Result<(), String>> {
        if matches!(end, AgentEnd::Interrupted { .. } | AgentEnd::NotStarted { .. }) {
            return Ok(Ok(()));
        }
        let own = match call.role {
            Role::Planner => Some(PLAN),
            Role::Reviewer => Some(REVIEW),
            Role::Implementer | Role::Fixer => None,
        };
        // Who asks for a person is heard before anything else it says.
        let mut why = own.map(|name| format!("there is no {name} in its outbox ($AGENTGATE_OUTBOX)"));
        for name in std::iter::once(NEEDS_HUMAN).chain(own) {
            let path = self.outbox.join(name);
            let bytes = match files::read_small(&path, answer::MAX) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    why = Some(format!("{name} cannot be read: {error}"));
                    continue;
                }
            };
            match self.valid(name, &bytes) {
                Ok(answer) => {
                    self.record_answer(call, number, &answer, name, &bytes)?;
                    return Ok(Ok(()));
                }
                Err(wrong) => why = Some(wrong),
            }
        }
        Ok(match why {
            Some(why) => Err(why),
            None => Ok(()),
        })
    }

    pub(super) fn valid(&self, name: &str, bytes: &[u8]) -> Result<Answer, String> {
        let answer = Answer::parse(name, bytes)?;
        if !search(bytes).is_empty() {
            return Err(format!("{name} holds a credential, which cannot go into the record"));
        }
        Ok(answer)
    }

    pub(super) fn record_answer(
        &mut self,
        call: &Call,
        number: u64,
        answer: &Answer,
        name: &str,
        bytes: &[u8],
    ) -> Result<()> {
        let file = self.owner.folder.save(&format!("call-{number}-{name}"), bytes)?;
        let answered = match answer {
            Answer::Plan(plan) => Answered::Plan {
                steps: plan.steps.len() as u64,
            },
            Answer::Review(review) => Answered::Review {
                decision: review.decision,
                blocking: review.blocking().count() as u64,
                digest: review.digest(),
            },
            Answer::NeedsHuman(ask) => Answered::NeedsHuman {
                reason: answer::line(&format!("the {} asks: {}", call.role.name(), ask.question)),
            },
        };
        let tree = match &self.owner.state.progress.good {
            Some(((tree, _), _)) => tree.clone(),
            None => self.base_tree()?.to_string(),
        };
        self.owner.append(&Event::StepAnswered {
            step: call.step.clone(),
            call: number,
            answered,
            tree,
            file,
        })
    }

    /// A role that only reads must not have changed what it judges. Walls hold that; where there are none, it is
    /// looked at.
    pub(super) fn must_be_unmoved(&mut self, call: &Call) -> Result<()> {
        if self.walls.layers.hold() {
            return Ok(());
        }
        let worktree = self.worktree.clone().context("no worktree")?;
        let content = self.content.clone().context("no settings")?;
        let private = self.places.private.clone();
        let stage = self.stage_of(&content, &worktree)?;
        let git = self.checkout.git.clone();
        let now = stage.freeze(&git, &self.checkout.repo, self.base, &private.join("git/index"))?;
        let expected = match &self.owner.state.progress.good {
            Some(((tree, _), _)) => tree.clone(),
            None => self.base_tree()?.to_string(),
        };
        if now.tree().to_string() == expected {
            return Ok(());
        }
        Err(Stop::new(
            Exit::Collision,
            format!(
                "the {} changed the worktree, which it was only to read",
                call.role.name()
            ),
        )
        .hint("with confinement the kernel would have held it back: agentgate doctor says what this machine offers")
        .into())
    }

    /// A file of the record that an event names, unchanged since.
    pub(super) fn recorded(&self, file: &FileRef) -> Result<Vec<u8>> {
        let bytes = files::read_small(&self.owner.folder.path.join(&file.name), answer::MAX)
            .with_context(|| format!("cannot read {} of the record", file.name))?;
        if crate::job::log::sha256_hex(&[&bytes]) != file.sha256 {
            return Err(Stop::new(
                Exit::WrongState,
                format!("{} of the record is not the one that its log names", file.name),
            )
            .into());
        }
        Ok(bytes)
    }

    /// The plan, if there is one.
    pub(super) fn plan(&self) -> Result<Option<Plan>> {
        let Some((file, _)) = self.owner.state.progress.plan.clone() else {
            return Ok(None);
        };
        match Answer::parse(PLAN, &self.recorded(&file)?) {
            Ok(Answer::Plan(plan)) => Ok(Some(plan)),
            Ok(_) => anyhow::bail!("{} is no plan", file.name),
            Err(error) => anyhow::bail!("{error}"),
        }
    }

    /// The last review, if there is one.
    pub(super) fn review(&self) -> Result<Option<Review>> {
        let Some(file) = self.owner.state.progress.review.clone() else {
            return Ok(None);
        };
        match Answer::parse(REVIEW, &self.recorded(&file)?) {
            Ok(Answer::Review(review)) => Ok(Some(review)),
            _ => Ok(None),
        }
    }

    /// Writes what a role is told: a brief, and the files that it names beside it. Its path and its text.
    pub(super) fn write_brief(&mut self, call: &Call) -> Result<(PathBuf, String)> {
        let folder = self.places.private.join("task");
        let put = |name: &str, bytes: &[u8]| {
            files::replace(&folder.join(name), bytes, 0o600).with_context(|| format!("cannot write {name}"))
        };
        // What an earlier call was told is no input of this one.
        for name in [PLAN, "step.json", "change.patch", "invariants.yml", "findings.json"] {
            match std::fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {name}"));
                }
                _ => {}
            }
        }
        let plan = self.plan()?;
        if let Some(plan) = &plan {
            put(PLAN, pretty(plan)?.as_bytes())?;
        }
        let mut text = format!("You are the {} of a job.\n", call.role.name());
        let step = usize::try_from(self.owner.state.progress.implemented).unwrap_or(usize::MAX);
        match call.role {
            Role::Planner => text.push_str(
                "Read the task and the repository, and plan the work: concrete steps, each with the files it may touch. \
                 You can read the worktree and not write to it.\n",
            ),
            Role::Implementer => match plan.as_ref().and_then(|plan| plan.steps.get(step)) {
                Some(step) => {
                    put("step.json", pretty(step)?.as_bytes())?;
                    text.push_str("Do this one step of the plan, and no other. Touch no file but those that it names.\n");
                }
                None => text.push_str("Do the task.\n"),
            },
            Role::Reviewer => text.push_str(
                "Judge the change against task, plan and rules. The gate and the checks of the repository have passed. \
                 You can read the worktree and not write to it.\n",
            ),
            Role::Fixer => text.push_str("Mend what was found, and nothing else.\n"),
        }
        text.push_str(&format!("\nThe job's files are in {}:\n", folder.display()));
        text.push_str("- TASK.md: the task\n");
        if plan.is_some() {
            text.push_str("- plan.json: the plan\n");
        }
        if folder.join("step.json").exists() && call.role == Role::Implementer {
            text.push_str("- step.json: your step\n");
        }
        if matches!(call.role, Role::Reviewer | Role::Fixer) {
            put("change.patch", &self.patch_now()?)?;
            text.push_str("- change.patch: the change so far, against the base\n");
            if let Some(rules) = self.rules()? {
                put("invariants.yml", &rules)?;
                text.push_str("- invariants.yml: the rules\n");
            }
            let findings = self.findings_now(call.role)?;
            if !findings.is_empty() {
                put("findings.json", findings.as_bytes())?;
                text.push_str(match call.role {
                    Role::Fixer => "- findings.json: what was found; what is `blocking` must be mended\n",
                    _ => "- findings.json: what an earlier review found\n",
                });
            }
        }
        for (index, person) in self.owner.state.progress.persons.clone().iter().enumerate() {
            let name = format!("person-{}.md", index + 1);
            put(&name, &self.recorded(person)?)?;
            text.push_str(&format!("- {name}: what a person said; it goes before all else\n"));
        }
        text.push_str(&answer_words(call.role, &self.outbox.display().to_string()));
        let progress = &self.owner.state.progress;
        if progress.asked_again {
            text.push_str(&format!("\nYour last answer did not count: {}\n", progress.last_reason));
        }
        text.push_str(&format!("\nThe task:\n\n{}\n", self.task.text));
        if call.role == Role::Implementer
            && let Some(step) = plan.as_ref().and_then(|plan| plan.steps.get(step))
        {
            text.push_str(&format!(
                "\nYour step: {}\n{}\nIts files: {}\n",
                step.title,
                step.detail,
                step.files.join(", ")
            ));
        }
        put("BRIEF.md", text.as_bytes())?;
        Ok((folder.join("BRIEF.md"), text))
    }

    /// The policy as it is in the base.
    pub(super) fn rules(&self) -> Result<Option<Vec<u8>>> {
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(gate::GateError::from)?;
        let entry = gate::tree::lookup(&base, POLICY_PATH.as_bytes()).map_err(gate::GateError::from)?;
        let rules = entry.map(|entry| base.blob(&entry.id)).transpose();
        Ok(rules.map_err(gate::GateError::from)?)
    }

    /// The change against the base as it is now.
    fn patch_now(&self) -> Result<Vec<u8>> {
        let base = history::tree_of(&self.checkout.repo, self.base)?.to_string();
        let tree = match &self.owner.state.progress.good {
            Some(((tree, _), _)) => tree.clone(),
            None => base.clone(),
        };
        let stage = self.stage.as_ref().context("nothing was staged")?;
        evidence::patch(&self.checkout.git, stage, &base, &tree)
    }

    /// What the fixer has to mend, or a reviewer is to know of: the gate's findings, else the last review's.
    fn findings_now(&self, role: Role) -> Result<String> {
        let state = &self.owner.state;
        let by_gate = role == Role::Fixer && state.progress.rejected.is_some_and(|rejected| rejected.by_gate);
        if by_gate {
            let verdict = self.verdict.as_ref().context("there is no verdict")?;
            return Ok(format!("{:#}\n", gate::render::json(verdict)));
        }
        match self.review()? {
            Some(review) => pretty(&review),
            None => Ok(String::new()),
        }
    }

    /// Leaves the worktree with all that there is, and waits for a person.
    pub(super) fn needs_human(&mut self, reason: &str, watch: &dyn Watch) -> Result<()> {
        let reason = match self.unanswered.take() {
            Some(why) => format!("{reason}: {why}"),
            None => reason.to_owned(),
        };
        let reason = answer::line(&reason);
        if self.frozen.is_some() && self.stage.is_some() {
            self.save_patch()?;
        }
        if self.verdict.is_none() {
            let text = format!("not judged: {reason}\n");
            self.owner.folder.save(store::GATE_LOG, text.as_bytes())?;
        }
        let dispute = self.dispute(&reason)?;
        self.owner.folder.save(store::DISPUTE, dispute.as_bytes())?;
        let mut files = self.owner.unnamed()?;
        // The answer that is to come goes on from it.
        files.push(self.owner.folder.describe(store::RESUME)?);
        if let Some(worktree) = self.worktree.clone()
            && self.worktree_is_there()
        {
            // Whoever runs git there must not meet the agent's git dir.
            worktree.restore_git_file()?;
            for (from, to) in self
                .frozen
                .iter_mut()
                .flat_map(|frozen| std::mem::take(&mut frozen.put_back))
            {
                files::rename_long(&to, &from).with_context(|| format!("cannot put {} back", from.display()))?;
            }
            let index = match &self.stage {
                Some(stage) => stage.git_dir.join("index"),
                None => self.places.private.join(SAVED_INDEX),
            };
            copy_index(&index, &worktree.admin.join("index"))?;
            remember_ignored(&self.checkout.git, &worktree)?;
            worktree.unlock()?;
        }
        self.owner.append(&Event::NeedsHuman {
            exit: Exit::NeedsHuman.code(),
            reason: reason.clone(),
            files,
        })?;
        self.write_record_ref()?;
        self.copy_artifacts();
        self.remove_private();
        watch.step(&format!("a person must decide: {reason}"));
        Ok(())
    }

    /// What is disputed, for the person who decides.
    fn dispute(&self, reason: &str) -> Result<String> {
        let progress = &self.owner.state.progress;
        let mut text = format!("Job {} waits for a person.\n\n{reason}\n", self.owner.folder.id);
        text.push_str(&format!(
            "\n{} call(s), {} round(s), {} fix(es) so far.\n",
            progress.calls, progress.rounds, progress.fixes
        ));
        if let Some(review) = self.review()? {
            let decision = match review.decision {
                Decision::Approve => "approves",
                Decision::RequestChanges => "requests changes",
                Decision::NeedsHuman => "asks for a person",
            };
            text.push_str(&format!("\nThe last review {decision}: {}\n", review.summary));
            for finding in &review.findings {
                let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
                let blocking = if finding.blocking { "blocking" } else { "not blocking" };
                text.push_str(&format!("- {}{line} ({blocking}): {}\n", finding.path, finding.message));
            }
        }
        if let Some(verdict) = &self.verdict {
            text.push_str(&format!("\nThe gate: {}\n", gate::render::summary(verdict)));
        }
        Ok(gate::render::lines(&text))
    }

    /// One line a dispute, for the closing report.
    pub(super) fn dispute_words(&self) -> Vec<String> {
        let path = self.owner.folder.path.join(store::DISPUTE);
        let text = files::read_small(&path, 4 * answer::MAX).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        // Title and reason stand in the report by themselves.
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).skip(2);
        lines.take(20).map(str::to_owned).collect()
    }

    /// Paths that a step changed although the plan does not name them for it.
    pub(super) fn outside_of_step(&self, call: &Call, tree: git2::Oid) -> Result<Vec<Vec<u8>>> {
        let index = usize::try_from(self.owner.state.progress.implemented).unwrap_or(usize::MAX);
        let plan = match call.role {
            Role::Implementer => self.plan()?,
            _ => None,
        };
        let Some(step) = plan.and_then(|plan| plan.steps.get(index).cloned()) else {
            return Ok(Vec::new());
        };
        let rules = rules_of(&step.files);
        let before = GitTree::new(&self.checkout.repo, from_git2(self.tree_before()?));
        let after = GitTree::new(&self.checkout.repo, from_git2(tree));
        let changes = gate::tree::diff(&before, &after).map_err(gate::GateError::from)?;
        let paths = changes.into_iter().map(|change| change.path);
        Ok(paths
            .filter(|path| !rules.iter().any(|rule| rule.allows(path)))
            .collect())
    }

    pub(super) fn tree_before(&self) -> Result<git2::Oid> {
        match &self.owner.state.progress.good {
            Some(((tree, _), _)) => Ok(git2::Oid::from_str(tree)?),
            None => self.base_tree(),
        }
    }
}

fn pretty(value: &impl serde::Serialize) -> Result<String> {
    Ok(format!("{:#}\n", serde_json::to_value(value)?))
}

/// How a role answers.
fn answer_words(role: Role, outbox: &str) -> String {
    let ask = format!(
        "Where only a person can decide, write {outbox}/{NEEDS_HUMAN}: {{\"reason\": \"...\", \"question\": \"...\"}}\n\
         Where you have the tools of the MCP server `agentgate`, they take the same answers and say at once whether \
         one counts.\n"
    );
    match role {
        Role::Planner => format!(
            "\nAnswer by writing JSON to {outbox}/{PLAN} (schema: agentgate schema plan):\n\
             {{\"summary\": \"...\", \"steps\": [{{\"title\": \"...\", \"detail\": \"...\", \"files\": [\"path or glob\"]}}]}}\n\
             1 to 50 steps; each names the files it may touch.\n{ask}"
        ),
        Role::Reviewer => format!(
            "\nAnswer by writing JSON to {outbox}/{REVIEW} (schema: agentgate schema review):\n\
             {{\"decision\": \"approve\" or \"request_changes\" or \"needs_human\", \"summary\": \"...\", \"findings\": \
             [{{\"path\": \"...\", \"line\": 1, \"message\": \"...\", \"blocking\": true or false}}]}}\n\
             `request_changes` needs a blocking finding. Exit status 0 is no approval.\n{ask}"
        ),
        Role::Implementer | Role::Fixer => format!("\n{ask}"),
    }
}
