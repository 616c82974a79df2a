//! A home of its own for each job: what a job leaves there is gone with it, and the next one sees
//! nothing of it.
//!
//! Flags alone do not make an agent stateless, a fresh home does. Tools that the person installed
//! below the real home are still found (`tools`), caches are new but for what can be read without
//! being written (`cargo`, `packages`), and of the person's own files only those that are
//! named come along (`logins`).

mod cargo;
mod folder;
mod git;
mod logins;
mod packages;
mod places;
mod renewed;
pub(super) mod tools;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use folder::Private;
use logins::Login;
pub use logins::LoginError;

/// The person's side.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    /// All variables of the person.
    pub vars: &'a [(OsString, OsString)],
}

impl<'a> Person<'a> {
    /// A variable that is set and not empty.
    pub(super) fn var(&self, name: &str) -> Option<&'a OsStr> {
        let found = self.vars.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_os_str()).filter(|value| !value.is_empty())
    }

    /// A variable that names an absolute path.
    fn path(&self, name: &str) -> Option<&'a Path> {
        self.var(name).map(Path::new).filter(|path| path.is_absolute())
    }

    fn home(&self) -> Option<&'a Path> {
        self.path("HOME")
    }

    /// What a variable names, else this place below the home.
    fn folder(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        let named = self.path(name).map(Path::to_owned);
        named.or_else(|| Some(self.home()?.join(below_home)))
    }
}

/// What one job's home is to have.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// The job's id, for the identity of the agent's own commits.
    pub job: &'a str,
    /// The job's worktree.
    pub worktree: &'a Path,
    /// Single files of the person's home that are copied in, relative to it or absolute.
    pub home_files: &'a [PathBuf],
    /// Keys and values of git's configuration to take over.
    pub git: &'a [(String, String)],
}

/// A job's home, ready for its agent.
#[derive(Debug)]
pub struct Home {
    /// Variables that lead to it: they go before the person's own.
    pub variables: Vec<(OsString, OsString)>,
    /// What the person should know about it.
    pub notices: Vec<String>,
    folder: PathBuf,
    logins: Vec<Login>,
}

impl Home {
    /// Fills `<private>/home` and `<private>/tmp`.
    ///
    /// # Errors
    /// [`LoginError`] for a file of `home_files` that is not a regular file, and when something
    /// cannot be made.
    pub fn make(private: &Path, person: Person<'_>, wishes: &Wishes<'_>) -> Result<Home> {
        let mut home = Private::new(private.join("home"), private.join("tmp"))?;
        // First what can be refused.
        let logins = logins::copy(&mut home, person, wishes.home_files)?;
        places::make(&mut home)?;
        places::redirect_what_is_set(&mut home, person)?;
        git::configure(&mut home, wishes)?;
        tools::find(&mut home, person)?;
        cargo::share(&mut home, person, wishes.worktree)?;
        packages::share(&mut home, person)?;
        if let Some(notice) = long_socket(&home.tmp) {
            home.notices.push(notice);
        }
        Ok(Home {
            variables: home.variables.into_iter().collect(),
            notices: home.notices,
            folder: home.folder,
            logins,
        })
    }

    /// That of a job whose process is gone. What its login files held at the start is not known any more: the
    /// person's own, as they are now, stand for it.
    pub fn left_behind(private: &Path, person: Person<'_>, home_files: &[PathBuf]) -> Home {
        let folder = private.join("home");
        Home {
            variables: Vec::new(),
            notices: Vec::new(),
            logins: logins::left_behind(&folder, person, home_files),
            folder,
        }
    }

    /// Brings renewed logins back to the person, once nothing of the agent is left: a refresh token
    /// serves once, so the person's own copy may be worth nothing any more. `lock` is a file that
    /// all jobs of the person share. The copies are deleted; what is worth telling is returned.
    pub fn settle(&mut self, lock: &Path) -> Vec<String> {
        logins::settle(&self.folder, std::mem::take(&mut self.logins), lock)
    }
}

/// Most bytes of a Unix socket's path (`sun_path`, less the final NUL).
const SOCKET: usize = 107;

/// tmux makes `<TMUX_TMPDIR>/tmux-<uid>/default`. There is no shorter place to send it to: /tmp and
/// /dev/shm are shared between jobs, the runtime folder is the person's session.
fn long_socket(tmp: &Path) -> Option<String> {
    let uid = rustix::process::getuid().as_raw();
    let length = tmp.join(format!("tmux-{uid}/default")).as_os_str().as_bytes().len();
    (length > SOCKET).then(|| {
        format!(
            "the job's temporary folder has a long name ({}): a tmux server of the agent cannot listen there \
             (its socket would need {length} bytes of at most {SOCKET}); a clone nearer to / or a shorter --job-id helps",
            tmp.display()
        )
    })
}

#[cfg(test)]
#[path = "home/tests.rs"]
mod tests;
