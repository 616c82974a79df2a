//! Freezing what the agent left, and saving what the frozen tree does not hold.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::prepare::Job;
use crate::commands::Watch;
use crate::exit::{Exit, Stop};
use crate::gate::leftovers;
use crate::gate::{self, GateError};
use crate::git::agent_refs;
use crate::git::disarm::Moved;
use crate::git::evidence;
use crate::git::from_git2;
use crate::git::history;
use crate::git::lfs;
use crate::git::program::Git;
use crate::git::settings::ContentSettings;
use crate::git::snapshot::Hidden;
use crate::git::tree::GitTree;
use crate::git::worktree::Worktree;
use crate::job::left::{Left, RawPath};
use crate::job::machine::IMPLEMENT;
use crate::job::pipeline::Call;
use crate::job::role::Role;
use crate::job::{AgentEnd, Event, FileRef};
use crate::store;

/// Where a git dir that the agent put in the place of the worktree's `.git` file waits to be saved.
const REPLACED: &str = "git.replaced";

impl Job {
    /// Makes one tree of what the agent left, after it `ended` so, and saves beside it what the tree does not
    /// show. What comes back is the event that says so, and the file with all that another process would need.
    pub(super) fn freeze(&mut self, call: &Call, ended: &AgentEnd, watch: &dyn Watch) -> Result<(Event, FileRef)> {
        self.suffix = call
            .number
            .filter(|number| *number > 1)
            .map_or_else(String::new, |number| format!("-{number}"));
        watch.step("freeze what the agent left");
        let worktree = self.worktree.clone().context("no worktree")?;
        let content = self.content.clone().context("no settings")?;
        let private = self.places.private.clone();
        let git = self.checkout.git.clone();
        if !self.worktree_is_there() {
            if let Some(shadow) = &self.shadow {
                self.refs = agent_refs::read(shadow, &self.created.base);
                let refs = self.refs.clone();
                self.save_refs(&git, &content, &refs)?;
            }
            self.save_git_dirs(false)?;
            let what = format!(
                "{} is gone: something removed or replaced the worktree under the job",
                worktree.path.display()
            );
            return Err(Stop::new(Exit::Collision, what).into());
        }
        let stage = self.stage_of(&content, &worktree)?;
        let frozen = stage.freeze(&git, &self.checkout.repo, self.base, &private.join("git/index"))?;
        self.find_credentials(&frozen)?;
        let base_tree = evidence::base_tree(&self.checkout.repo, self.base)?;
        let hidden = evidence::hidden_files(&git, &stage, &base_tree)?;
        let inside = evidence::submodule_files(&git, &content, &private, &worktree.path, &frozen.submodules)?;
        self.save_hidden(&worktree.path, &hidden, &inside, &frozen.twins)?;
        if !frozen.nested.is_empty() {
            self.notices.push(format!(
                "repositories of the agent's own in {}: their files are taken as files, their history is not kept",
                names(frozen.nested.iter().map(Vec::as_slice))
            ));
        }
        if !frozen.special.is_empty() {
            self.notices.push(format!(
                "no file any more, and deleted in the candidate: {}",
                names(frozen.special.iter().map(Vec::as_slice))
            ));
        }
        if !frozen.kept_out.is_empty() {
            self.notices.push(format!(
                "copied in for the job, and kept out of the candidate although the agent had added it: {}",
                names(frozen.kept_out.iter().map(Vec::as_slice))
            ));
        }
        if frozen.attributes {
            self.notices.push(
                "a .gitattributes file changed: the base's attributes decided how files became blobs, so look at \
                 git status after landing"
                    .into(),
            );
        }
        if let Some(shadow) = &self.shadow {
            self.refs = agent_refs::read(shadow, &self.created.base);
            let mut refs = self.refs.clone();
            // On success the history behind HEAD is in the candidate; otherwise it may hold what
            // the last state does not.
            let success = *ended == (AgentEnd::Exited { status: 0 }) && frozen.changed > 0;
            if success && refs.refs.is_empty() {
                refs.head = None;
            }
            self.save_refs(&git, &content, &refs)?;
        }
        self.save_git_dirs(frozen.unread_index)?;
        let collisions = self.compare_clone()?;
        let twins = frozen.twins.iter().map(|twin| &twin.path);
        let nested = frozen.nested.iter().chain(twins);
        let nested = few(nested.map(|path| gate::render::path(path)));
        let mut record = frozen.left();
        record.hidden = hidden.len() as u64;
        record.refs = few(self.refs.refs.keys().cloned());
        record.collisions = few(collisions.into_iter());
        let large: Vec<Vec<u8>> = frozen.uninspectable.iter().filter_map(with_size).collect();
        if !large.is_empty() {
            self.notices.push(format!(
                "too large to be taken in, so neither in the candidate nor in the record: {}",
                names(large.iter().map(Vec::as_slice))
            ));
        }
        if frozen.uninspectable.iter().any(|(_, why)| *why == Hidden::Path) {
            self.notices.push(
                "what lies below paths that are too long for any program was taken out: it is neither in the \
                 candidate nor in the record"
                    .into(),
            );
        }
        let candidate = GitTree::new(&self.checkout.repo, from_git2(frozen.tree()));
        let base = GitTree::of_commit(&self.checkout.repo, self.base).map_err(GateError::from)?;
        let left = leftovers::among_changes(&base, &candidate).map_err(GateError::from)?;
        let from = [stage.git_dir.clone(), private.join("git")];
        self.bring_lfs(
            lfs::bring(&base, &candidate, &from, &lfs::store(&content, &self.checkout.common))?,
            watch,
        );
        // What was judged before was another candidate.
        self.verdict = None;
        let frozen_tree = frozen.tree();
        self.frozen = Some(frozen);
        self.stage = Some(stage);
        self.name_leftovers(&left, &hidden);
        record.notices.clone_from(&self.notices);
        record.withheld.clone_from(&self.withheld);
        record.last_output.clone_from(&self.last_output);
        record.met_a_wall = self.met_a_wall;
        if call.number.is_some() {
            let before = self.left.iter().flat_map(|left| left.outside.clone());
            let now = self.outside_of_step(call, frozen_tree)?;
            record.outside = match call.role {
                Role::Fixer => Vec::new(),
                _ => before.chain(now.iter().map(|path| RawPath::of(path))).collect(),
            };
        }
        let json = format!("{:#}\n", serde_json::to_value(&record)?);
        self.left = Some(record.clone());
        self.owner.must_be_sole()?;
        if call.number.is_some() {
            // The next step may undo this one.
            let base = history::tree_of(&self.checkout.repo, self.base)?.to_string();
            let tree = frozen_tree.to_string();
            let stage = self.stage.as_ref().context("nothing was staged")?;
            let patch = match self.credentials.is_empty() {
                true => evidence::patch(&git, stage, &base, &tree)?,
                false => self.blanked_patch(stage, &base, &tree)?,
            };
            self.owner.folder.save(&step_patch(call), &patch)?;
        }
        let file = self.owner.folder.save(&self.numbered(store::FROZEN), json.as_bytes())?;
        // Before it is said that the step is finished: from then on nobody makes it again.
        if let Err(error) = self.write_record_ref()
            && record.collisions.is_empty()
        {
            return Err(error);
        }
        let mut files = self.saved_beside()?;
        if call.number.is_some() {
            files.push(self.owner.folder.describe(&step_patch(call))?);
        }
        Ok((self.frozen_event(&record, nested, files), file))
    }

    /// Writes down the candidate of a step that was finished by an owner that is gone: it had saved all of it and
    /// said so, and only this was missing. Where it is not there, the step has to be made again.
    pub(super) fn pin(&mut self, watch: &dyn Watch) -> Result<()> {
        let lost = match &self.left {
            None => "what the agent left had not become one tree when its owner ended",
            Some(left) if !self.has_tree(&left.tree) => "the tree that the agent's work had become is gone",
            Some(left) => {
                let event = self.frozen_as(left)?;
                return self.owner.append(&event);
            }
        };
        watch.step(&format!("the agent is started again: {lost}"));
        self.owner.append(&Event::StepRetried {
            step: self
                .owner
                .state
                .progress
                .calling
                .as_ref()
                .map_or_else(|| IMPLEMENT.to_owned(), |call| call.step.clone()),
            reason: lost.into(),
            failed: false,
        })?;
        self.bring_back_good()
    }

    /// The event of a candidate, from what is left of it in the record.
    fn frozen_as(&self, left: &Left) -> Result<Event> {
        let nested = left.nested.iter().chain(&left.twins);
        let nested = few(nested.map(|path| gate::render::path(path.bytes())));
        let mut files = self.saved_beside()?;
        let patch = self.owner.state.progress.calling.as_ref().map(step_patch);
        if let Some(patch) = patch.filter(|patch| self.owner.folder.path.join(patch).exists()) {
            files.push(self.owner.folder.describe(&patch)?);
        }
        Ok(self.frozen_event(left, nested, files))
    }

    /// The event that is due before a job ends: its step was finished and its tree frozen, and saving what belongs to
    /// it failed. A candidate that the log does not speak of, such as that of the step before, is let go: the record's
    /// ref must not hold what the log does not.
    pub(super) fn frozen_unsaid(&mut self) -> Result<Option<Event>> {
        let (state, frozen) = (&self.owner.state, &self.frozen);
        let Some(tree) = frozen.as_ref().filter(|_| state.frozen.is_none()).map(|one| one.tree()) else {
            return Ok(None);
        };
        let is_of_the_step = |left: &&Left| left.tree == tree.to_string() && state.agent.is_some();
        match self.left.as_ref().filter(is_of_the_step) {
            Some(left) => self.frozen_as(left).map(Some),
            None => {
                self.frozen = None;
                self.verdict = None;
                Ok(None)
            }
        }
    }

    /// The name of a file of the record that each writing call has one of: `ignored.tar`, `ignored-3.tar`.
    pub(super) fn numbered(&self, name: &str) -> String {
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        format!("{stem}{}.{ending}", self.suffix)
    }

    fn frozen_event(&self, left: &Left, nested: Vec<String>, files: Vec<FileRef>) -> Event {
        let credentials = self.credentials.iter().map(|holder| holder.hits.len() as u64);
        Event::Frozen {
            tree: left.tree.clone(),
            changed: left.changed,
            hidden: left.hidden,
            refs: left.refs.clone(),
            nested,
            collisions: left.collisions.clone(),
            credentials: credentials.sum(),
            files,
        }
    }

    /// Whether a tree is in the clone's store.
    pub(super) fn has_tree(&self, id: &str) -> bool {
        git2::Oid::from_str(id).is_ok_and(|id| self.checkout.repo.find_tree(id).is_ok())
    }

    /// Saves the files that the candidate does not hold: those that only the agent's own ignore rules
    /// hide, its work inside submodules, and what it called `.git` in another case.
    fn save_hidden(&mut self, worktree: &Path, hidden: &[PathBuf], inside: &[PathBuf], twins: &[Moved]) -> Result<()> {
        let of_twins = evidence::files_of_moved(twins);
        let twins: Vec<PathBuf> = of_twins.iter().map(|(_, path)| path.clone()).collect();
        let there = hidden
            .iter()
            .chain(inside)
            .map(|path| (worktree.join(path), path.clone()));
        let all: Vec<(PathBuf, PathBuf)> = there.chain(of_twins).collect();
        if all.is_empty() {
            return Ok(());
        }
        let (archive, left_out) = evidence::archive_as(all.into_iter())?;
        if self.holds_credential(&archive) {
            self.notices.push(format!(
                "{} file(s) that the candidate does not hold were not saved: the credential stands in them too",
                hidden.len() + inside.len() + twins.len()
            ));
            return Ok(());
        }
        self.owner.folder.save(&self.numbered(store::HIDDEN), &archive)?;
        for (paths, why) in [
            (hidden, "the agent's own ignore rules hide"),
            (inside, "inside submodules the agent left"),
            (
                &twins,
                "under names that some file systems take for .git the agent left",
            ),
        ] {
            if !paths.is_empty() {
                self.notices.push(format!(
                    "{why} {} file(s) that the candidate does not hold: {}; they are in {}",
                    paths.len(),
                    names(paths.iter().map(|path| path.as_os_str().as_encoded_bytes())),
                    store::HIDDEN
                ));
            }
        }
        if left_out > 0 {
            self.notices.push(format!(
                "{left_out} of these file(s) did not fit into {} or could not be read",
                store::HIDDEN
            ));
        }
        Ok(())
    }

    /// What was saved of what the frozen tree does not hold.
    fn saved_beside(&self) -> Result<Vec<FileRef>> {
        let folder = &self.owner.folder;
        [store::HIDDEN, store::BUNDLE, store::GIT_DIRS]
            .into_iter()
            .map(|name| self.numbered(name))
            .filter(|name| folder.path.join(name).exists())
            .map(|name| folder.describe(&name))
            .collect()
    }

    /// Says what became of the large files that the candidate's pointers name.
    fn bring_lfs(&mut self, brought: lfs::Brought, watch: &dyn Watch) {
        if brought.new > 0 {
            watch.step(&format!("{} new LFS object(s) are in the clone's store", brought.new));
        }
        let told = [
            (
                brought.missing,
                "the content of these LFS pointers is not on this machine, so that they can be filled only if the \
                 LFS server has it",
            ),
            (
                brought.wrong,
                "the agent left something else under the name of the content of these LFS pointers, and it stayed out",
            ),
        ];
        for (paths, what) in told {
            if !paths.is_empty() {
                self.notices
                    .push(format!("{what}: {}", names(paths.iter().map(Vec::as_slice))));
            }
        }
    }

    /// What the agent, or somebody else, changed in the clone meanwhile.
    pub(super) fn compare_clone(&mut self) -> Result<Vec<String>> {
        let Some(before) = &self.before else {
            return Ok(Vec::new());
        };
        let difference = before.difference(&self.checkout, &self.owner.folder.id)?;
        if !difference.told.is_empty() {
            let shown: Vec<&str> = difference.told.iter().take(10).map(String::as_str).collect();
            self.notices.push(format!(
                "the clone changed while the agent ran, origin unknown (nothing of it is in the candidate): {}",
                shown.join("; ")
            ));
        }
        Ok(difference.collisions)
    }

    fn save_refs(&mut self, git: &Git, content: &ContentSettings, refs: &agent_refs::AgentRefs) -> Result<()> {
        let Some(shadow) = &self.shadow else { return Ok(()) };
        if refs.refs.is_empty() && refs.head.is_none() {
            return Ok(());
        }
        if !self.credentials.is_empty() {
            // Packed, so that nobody could say whether it holds the value.
            self.notices.push(
                "the agent's own commits, branches and stashes were not saved: they may hold the credential".into(),
            );
            return Ok(());
        }
        let stashes = refs.refs.keys().filter(|name| name.contains("stash")).count();
        let saved = agent_refs::bundle(git, content, shadow, &self.places.private, refs, &self.created.base);
        let names: Vec<&str> = refs
            .refs
            .keys()
            .map(String::as_str)
            .chain(refs.head.as_ref().map(|_| "its own commits"))
            .collect();
        let shown = names.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        match saved {
            Ok(Some(bytes)) => {
                self.owner.folder.save(&self.numbered(store::BUNDLE), &bytes)?;
                self.notices
                    .push(format!("the agent left {shown}; saved in {}", store::BUNDLE));
            }
            Ok(None) => self
                .notices
                .push(format!("the agent left {shown}, without a commit beyond the base")),
            Err(error) => {
                self.unbundled = true;
                self.notices
                    .push(format!("the agent left {shown}, which could not be bundled: {error:#}"));
            }
        }
        if stashes > 0 {
            self.notices.push(format!(
                "the agent stashed work away ({stashes} stash entr{}): it is not in the candidate",
                if stashes == 1 { "y" } else { "ies" }
            ));
        }
        Ok(())
    }

    /// A folder in the place of the worktree's `.git` file is a repository of the agent's own.
    pub(super) fn set_git_dir_aside(&self, worktree: &Worktree) -> Result<()> {
        let there = worktree.path.join(".git");
        if !there.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        let aside = self.places.private.join(REPLACED);
        std::fs::rename(&there, &aside).with_context(|| format!("cannot set {} aside", there.display()))
    }

    /// Saves the agent's git dirs as they are where their refs could not be read the usual way:
    /// another ref format, worktrees of its own, an index that git cannot read, a repository in the
    /// place of the `.git` file.
    fn save_git_dirs(&mut self, unread_index: bool) -> Result<()> {
        let private = self.places.private.clone();
        let mut dirs = Vec::new();
        if let Some(shadow) = &self.shadow
            && (unread_index || self.unbundled || evidence::is_unusual(&shadow.git_dir))
        {
            dirs.push(shadow.git_dir.clone());
        }
        dirs.extend(Some(private.join(REPLACED)).filter(|dir| dir.is_dir()));
        if dirs.is_empty() || !self.credentials.is_empty() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = dirs
            .iter()
            .flat_map(|dir| evidence::files_below(dir, &private))
            .collect();
        let (archive, left_out) = evidence::archive(&private, &paths)?;
        self.owner.folder.save(&self.numbered(store::GIT_DIRS), &archive)?;
        self.notices.push(format!(
            "the agent's git dir holds what its refs do not show; saved as it is in {}",
            store::GIT_DIRS
        ));
        if left_out > 0 {
            self.notices.push(format!(
                "{left_out} of its files did not fit into {} or could not be read",
                store::GIT_DIRS
            ));
        }
        Ok(())
    }
}

/// The change against the base after one step.
fn step_patch(call: &Call) -> String {
    format!("change-{}.patch", call.number.unwrap_or(1))
}

/// A path whose file was too large, with its size.
fn with_size((path, why): &(Vec<u8>, Hidden)) -> Option<Vec<u8>> {
    match why {
        Hidden::Size(bytes) => Some([path, format!(" ({bytes} bytes)").as_bytes()].concat()),
        Hidden::Path | Hidden::Encoding | Hidden::Repository => None,
    }
}

/// The first ten paths, printable.
pub(super) fn names<'a>(paths: impl ExactSizeIterator<Item = &'a [u8]>) -> String {
    let count = paths.len();
    let mut shown: Vec<String> = paths.take(10).map(gate::render::path).collect();
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    shown.join(", ")
}

/// The first names, cut so that three lists of them and five files fit into one line of the log. Where there
/// are any, there is at least one.
fn few(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut room = 850;
    let cut = names.map(|name| name.chars().take(100).collect::<String>());
    cut.take_while(|name| {
        // In JSON a control character takes six bytes.
        let length = name
            .chars()
            .map(|c| if c.is_control() { 6 } else { c.len_utf8() + 1 })
            .sum::<usize>()
            + 3;
        let fits = room >= length;
        room = room.saturating_sub(length);
        fits
    })
    .collect()
}
