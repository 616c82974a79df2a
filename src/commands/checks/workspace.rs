//! A fresh checkout of a tree that an agent may have written, with a home and a private git dir of its own.
//!
//! Invariants: it is not registered in the clone, so that nothing of the clone is written and nothing is left
//! there by a crash; no hook runs, and filters run behind walls; it is deleted when it goes out of scope.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Bench, Subject};
use crate::agent::environment::{self, Filter, Given};
use crate::agent::home::{Home, LoginError, Person, Wishes};
use crate::commands::run::login_lock;
use crate::commands::walls::Walls;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::places::Places;
use crate::git::settings::persons_config;
use crate::git::shadow::{Pointer, Shadow};
use crate::git::worktree::{Worktree, fill, git_file, point_git_file};

/// Value of AGENTGATE_ROLE.
const ROLE: &str = "check";

/// One checkout and what is around it.
pub(super) struct Workspace {
    /// Its folders, laid out as a job's are: the walls are the same.
    pub(super) places: Places,
    /// All variables of its commands.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Things worth knowing.
    pub(super) notices: Vec<String>,
    home: Option<Home>,
    lock: Option<PathBuf>,
}

impl Workspace {
    /// Makes it: the tree as git lays it out, then what `copy` names.
    ///
    /// # Errors
    /// A [`Stop`] with 64 for files of the person that cannot be copied in; all else says why the checkout
    /// cannot be made.
    pub(super) fn make(bench: &Bench<'_>, subject: Subject) -> Result<Workspace> {
        let folder = bench.folder.to_owned();
        files::remove_tree(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        let mut made = Workspace {
            places: Places {
                root: bench.root.to_owned(),
                worktree: folder.join("tree"),
                private: folder,
                trash: bench.root.join(".trash"),
            },
            environment: Vec::new(),
            notices: Vec::new(),
            home: None,
            lock: login_lock(bench.surroundings),
        };
        made.fill(bench, subject)?;
        let skipped = bench.copies.put(&made.places.worktree).map_err(anyhow::Error::msg)?;
        if !skipped.is_empty() {
            made.notices
                .push(format!("copy: in the candidate, so not copied: {skipped}"));
        }
        made.settle_in(bench)?;
        Ok(made)
    }

    /// The files, by a git dir that is not looked at again; then the one that the commands see.
    fn fill(&self, bench: &Bench<'_>, subject: Subject) -> Result<()> {
        let private = &self.places.private;
        for name in ["tmp", "home", "outbox", "fill", "tree"] {
            files::make_private_dir(&private.join(name))?;
        }
        // A test needs the whole tree, whatever the person's own checkout leaves out.
        let mut content = bench.content.clone();
        content.sparse = None;
        content
            .config
            .retain(|(key, _)| !key.starts_with("core.sparsecheckout"));
        let (head, base) = (subject.head.to_string(), bench.base.to_string());
        let filling = Worktree {
            path: self.places.worktree.clone(),
            admin: private.join("fill"),
        };
        content.write_into(&filling.admin, &[("core.logallrefupdates", "false")])?;
        files::replace(&filling.admin.join("HEAD"), format!("{head}\n").as_bytes(), 0o600)?;
        point_git_file(&filling.path, &filling.admin)?;
        let writable = vec![filling.path.clone(), filling.admin.clone()];
        let plan = Walls::for_filters(bench.checkout, &filling.path, writable)?;
        fill(&bench.checkout.git, &filling, &subject.tree.to_string(), &base, &plan)?;
        let shadow = Shadow::make(
            &bench.checkout.repo,
            &content,
            &self.places,
            &filling.admin,
            bench.job,
            &head,
            Pointer::Written,
        )?;
        if bench.walls.layers.mounts {
            files::replace(&self.places.git_pointer(), &git_file(&shadow.git_dir), 0o644)?;
        }
        files::remove_tree(&filling.admin)?;
        Ok(())
    }

    /// The home and the variables: those of `setup`.
    fn settle_in(&mut self, bench: &Bench<'_>) -> Result<()> {
        let git = persons_config(bench.checkout)?;
        let home_files: Vec<PathBuf> = bench.effective.home_files.iter().map(PathBuf::from).collect();
        let wishes = Wishes {
            job: bench.job,
            worktree: &self.places.worktree,
            home_files: &home_files,
            git: &git,
        };
        let person = Person {
            vars: &bench.surroundings.vars,
        };
        let home = Home::make(&self.places.private, person, &wishes).map_err(|error| {
            match error.downcast_ref::<LoginError>() {
                Some(refused) => Stop::new(Exit::Usage, refused.to_string())
                    .hint("home_files takes single regular files of your home, copied into the private one")
                    .into(),
                None => error,
            }
        })?;
        let given = Given {
            job: bench.job,
            host_label: bench.host,
            model_label: None,
            task_file: bench.mark,
            role: ROLE,
            outbox: &self.places.private.join("outbox"),
            mcp: None,
            home: &home.variables,
            worktree: &self.places.worktree,
        };
        let named = &bench.effective.pass_env_to_setup;
        self.environment = environment::build(&bench.surroundings.vars, Filter::Profile, named, &given).variables;
        self.notices.extend(home.notices.iter().cloned());
        self.home = Some(home);
        Ok(())
    }

    /// PATH of its commands.
    pub(super) fn path(&self) -> Option<&OsStr> {
        let path = self.environment.iter().find(|(name, _)| name == "PATH");
        path.map(|(_, value)| value.as_os_str())
    }

    /// Deletes it; why, where that cannot be done.
    pub(super) fn remove(mut self) -> Vec<String> {
        self.clear()
    }

    fn clear(&mut self) -> Vec<String> {
        let mut notices = Vec::new();
        if let (Some(mut home), Some(lock)) = (self.home.take(), &self.lock) {
            notices.extend(home.settle(lock));
        }
        if let Err(error) = files::remove_tree(&self.places.private) {
            notices.push(format!(
                "{} could not be deleted: {error}",
                self.places.private.display()
            ));
        }
        notices
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.clear();
    }
}
