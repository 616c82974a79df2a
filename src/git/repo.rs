//! The checkout a command was started in, and the clone it belongs to.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::exit::{Exit, Stop};

use super::program::{Git, first_lines};
use super::{plain, shell};

/// Where a command was started.
pub struct Checkout {
    /// The git program.
    pub git: Git,
    /// libgit2's view of this checkout.
    pub repo: git2::Repository,
    /// The checkout's own git dir.
    pub git_dir: PathBuf,
    /// The git dir that all worktrees of the clone share.
    pub common: PathBuf,
    /// Top folder of this checkout; none in a bare repository.
    pub workdir: Option<PathBuf>,
    /// Top folder of the clone's main checkout; none in a bare clone, and where it cannot be told
    /// from here: a git dir that lies apart (`--separate-git-dir`) does not name it.
    pub main: Option<PathBuf>,
    /// The same; the git dir itself where there is none.
    pub clone: PathBuf,
}

/// What HEAD is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The commit.
    pub commit: git2::Oid,
    /// Full ref name of the branch; none when detached.
    pub branch: Option<String>,
}

impl Checkout {
    /// Finds the repository around a folder. git answers first (it knows `safe.directory` and
    /// the extensions it supports), then libgit2 opens the same.
    ///
    /// # Errors
    /// A [`Stop`] with exit 2 for a repository that one of the two cannot read.
    pub fn discover(git: Git, cwd: &Path) -> Result<Checkout> {
        let outcome = git.at(cwd).args(["rev-parse", "--git-dir"]).outcome()?;
        if !outcome.success() {
            return Err(refusal(&String::from_utf8_lossy(&outcome.stderr), cwd).into());
        }
        crate::confine::sys::bound_mapped_packs();
        crate::confine::sys::leave_ownership_to_git();
        let repo = git2::Repository::open_ext(
            cwd,
            git2::RepositoryOpenFlags::CROSS_FS,
            std::iter::empty::<&std::ffi::OsStr>(),
        )
        .map_err(|error| unsupported(error.message(), cwd))?;
        let git_dir = real(repo.path())?;
        let common = real(repo.commondir())?;
        if let Ok(config) = git2::Config::open(&common.join("config"))
            && let Ok(format) = config.get_string("extensions.objectformat")
            && format != "sha1"
        {
            return Err(unsupported(&format!("object format {format}"), cwd).into());
        }
        let workdir = repo.workdir().map(real).transpose()?;
        let shared = git2::Repository::open(&common).map_err(|error| unsupported(error.message(), cwd))?;
        let here = workdir.clone().filter(|_| git_dir == common);
        let named = shared.workdir().and_then(|top| real(top).ok());
        // Without a setting libgit2 takes the parent of any git dir for its work tree.
        let main = here.into_iter().chain(named).find(|top| belongs_to(top, &common));
        let clone = main.clone().unwrap_or_else(|| common.clone());
        Ok(Checkout {
            git,
            repo,
            git_dir,
            common,
            workdir,
            main,
            clone,
        })
    }

    /// The same for a command that may need no git at all: its git is not proven yet, and no program is started where
    /// a plain clone leaves nothing to ask it.
    ///
    /// # Errors
    /// As [`Checkout::discover`] and [`Git::find`].
    pub fn discover_quietly(env: &[(OsString, OsString)], cwd: &Path) -> Result<Checkout> {
        crate::confine::sys::bound_mapped_packs();
        let (Some(git), Some(repo)) = (Git::likely(env), plain::open(cwd)) else {
            return Checkout::discover(Git::find(env)?, cwd);
        };
        crate::confine::sys::leave_ownership_to_git();
        let git_dir = real(repo.path())?;
        let workdir = repo.workdir().map(real).transpose()?;
        Ok(Checkout {
            git,
            repo,
            common: git_dir.clone(),
            main: workdir.clone(),
            clone: workdir.clone().unwrap_or_else(|| git_dir.clone()),
            git_dir,
            workdir,
        })
    }

    /// The commit that HEAD names.
    ///
    /// # Errors
    /// Exit 2 where there is no commit yet.
    pub fn head(&self) -> Result<Head> {
        let head = self.repo.head().map_err(|error| {
            if error.code() == git2::ErrorCode::UnbornBranch || error.code() == git2::ErrorCode::NotFound {
                Stop::new(
                    Exit::PolicyUnusable,
                    "the repository has no commit yet, so there is no base to start from",
                )
                .hint("make a first commit: git add -A && git commit")
            } else {
                Stop::new(Exit::PolicyUnusable, format!("cannot read HEAD: {}", error.message()))
            }
        })?;
        if let Some(target) = head.target() {
            super::range::readable(&self.repo, target)?;
        }
        let commit = head.peel_to_commit().map_err(|error| {
            Stop::new(
                Exit::PolicyUnusable,
                format!("HEAD names no readable commit: {}", error.message()),
            )
        })?;
        let branch = head
            .is_branch()
            .then(|| String::from_utf8_lossy(head.name_bytes()).into_owned());
        Ok(Head {
            commit: commit.id(),
            branch,
        })
    }

    /// The commit that a revision names; `None` where there is none.
    pub fn commit(&self, revision: &str) -> Result<Option<git2::Oid>> {
        match self.repo.revparse_single(revision) {
            Ok(object) => Ok(object.peel_to_commit().ok().map(|commit| commit.id())),
            Err(error)
                if matches!(
                    error.code(),
                    git2::ErrorCode::NotFound | git2::ErrorCode::InvalidSpec | git2::ErrorCode::Ambiguous
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("cannot resolve {revision}")),
        }
    }

    /// An operation that git has under way here, in words.
    pub fn operation(&self) -> Option<&'static str> {
        under_way(&self.repo)
    }

    /// What makes this checkout dirty, in porcelain lines; `spared` (a path below the work tree)
    /// does not count while it is untracked. git decides, whatever `status.showUntrackedFiles` or
    /// a submodule's `ignore` say, and the index is not rewritten.
    pub fn dirt(&self, spared: Option<&Path>) -> Result<Vec<String>> {
        let Some(workdir) = &self.workdir else {
            return Ok(Vec::new());
        };
        let spared = spared
            .and_then(|path| path.strip_prefix(workdir).ok())
            .map(|path| path.as_os_str().as_bytes().to_vec());
        dirt_of(&self.git, workdir, spared.as_deref())
    }

    /// The same, but of a submodule only that it stands at another commit: no git is started in one.
    pub fn dirt_but_inside_submodules(&self) -> Result<Vec<String>> {
        match &self.workdir {
            Some(workdir) => dirt_with(&self.git, workdir, None, "--ignore-submodules=dirty"),
            None => Ok(Vec::new()),
        }
    }
}

/// An operation that git has under way in a checkout, in words.
pub fn under_way(repo: &git2::Repository) -> Option<&'static str> {
    match repo.state() {
        git2::RepositoryState::Merge => Some("a merge"),
        git2::RepositoryState::Revert | git2::RepositoryState::RevertSequence => Some("a revert"),
        git2::RepositoryState::CherryPick | git2::RepositoryState::CherryPickSequence => Some("a cherry-pick"),
        git2::RepositoryState::Bisect => Some("a bisect"),
        git2::RepositoryState::Rebase
        | git2::RepositoryState::RebaseInteractive
        | git2::RepositoryState::RebaseMerge
        | git2::RepositoryState::ApplyMailboxOrRebase
        | git2::RepositoryState::ApplyMailbox => Some("a rebase or am"),
        git2::RepositoryState::Clean => None,
    }
}

/// Porcelain lines of a checkout; see [`Checkout::dirt`].
pub fn dirt_of(git: &Git, workdir: &Path, spared: Option<&[u8]>) -> Result<Vec<String>> {
    dirt_with(git, workdir, spared, "--ignore-submodules=none")
}

fn dirt_with(git: &Git, workdir: &Path, spared: Option<&[u8]>, submodules: &str) -> Result<Vec<String>> {
    let status = |untracked: &str, below: Option<&[u8]>| {
        let mut call = git
            .at(workdir)
            .args(["status", "--porcelain=v2", "-z", "--no-renames"])
            .args([submodules, untracked]);
        if let Some(folder) = below {
            let spec = [b":(top,literal)", folder].concat();
            call = call.arg("--").arg(std::ffi::OsString::from_vec(spec));
        }
        call.bytes()
    };
    let mut lines = Vec::new();
    for (line, path) in porcelain(&status("--untracked-files=normal", None)?) {
        let hides_spared =
            line.starts_with("??") && spared.is_some_and(|spared| path.ends_with(b"/") && spared.starts_with(&path));
        if hides_spared {
            // git folded an untracked folder into one line: look at what else is in it.
            let inside = porcelain(&status("--untracked-files=all", Some(&path))?);
            lines.extend(
                inside
                    .into_iter()
                    .filter(|(_, path)| Some(path.as_slice()) != spared)
                    .map(|(line, _)| line),
            );
        } else if !(line.starts_with("??") && Some(path.as_slice()) == spared) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// `(line as git status --porcelain prints it, path)` of porcelain v2 records.
fn porcelain(records: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut lines = Vec::new();
    for record in records.split(|&b| b == 0).filter(|record| !record.is_empty()) {
        // Fields before the path: "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path".
        let fields = match record[0] {
            b'1' => 8,
            b'u' => 10,
            b'?' | b'!' => 1,
            _ => continue,
        };
        let mut parts = record.splitn(fields + 1, |&b| b == b' ');
        let _kind = parts.next();
        let (state, sub) = if fields == 1 {
            ("??".to_owned(), None)
        } else {
            (text(parts.next()).replace('.', " "), parts.next())
        };
        let path = parts.last().unwrap_or_default().to_vec();
        let why = sub
            .filter(|sub| sub.first() == Some(&b'S'))
            .map_or(String::new(), submodule_words);
        lines.push((format!("{state} {}{why}", path.escape_ascii()), path));
    }
    lines
}

fn text(part: Option<&[u8]>) -> String {
    String::from_utf8_lossy(part.unwrap_or_default()).into_owned()
}

fn submodule_words(sub: &[u8]) -> String {
    let mut words = Vec::new();
    let named = [
        (1, b'C', "new commits"),
        (2, b'M', "modified content"),
        (3, b'U', "untracked content"),
    ];
    words.extend(
        named
            .iter()
            .filter(|(at, mark, _)| sub.get(*at) == Some(mark))
            .map(|(_, _, words)| *words),
    );
    format!(" (submodule: {})", words.join(", "))
}

fn real(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| format!("cannot resolve {}", path.display()))
}

/// Whether a folder is the top of a checkout whose own git dir this is.
fn belongs_to(top: &Path, git_dir: &Path) -> bool {
    top != git_dir
        && git2::Repository::open(top).is_ok_and(|repo| real(repo.path()).is_ok_and(|found| found == git_dir))
}

fn refusal(stderr: &str, cwd: &Path) -> Stop {
    let line = first_lines(stderr.as_bytes());
    if stderr.contains("dubious ownership") {
        let owned = stderr
            .lines()
            .find_map(|line| line.trim().strip_prefix("git config --global --add safe.directory "))
            .map(str::to_owned);
        let path = owned.unwrap_or_else(|| shell(cwd));
        return Stop::new(
            Exit::PolicyUnusable,
            format!(
                "git does not trust this repository: its folder belongs to another user ({})",
                cwd.display()
            ),
        )
        .hint(format!("git config --global --add safe.directory {path}"));
    }
    if stderr.to_lowercase().contains("relativeworktrees") {
        return Stop::new(
            Exit::PolicyUnusable,
            "this git is too old for the repository's extension relativeWorktrees (needs 2.48)",
        )
        .hint("put a newer git first on PATH");
    }
    if stderr.contains("not a git repository") {
        return Stop::new(
            Exit::PolicyUnusable,
            format!("{} is not in a git repository", cwd.display()),
        )
        .hint("start agentgate inside a clone, or make one: git init && git add -A && git commit");
    }
    Stop::new(
        Exit::PolicyUnusable,
        format!("git cannot read the repository at {}: {line}", cwd.display()),
    )
}

fn unsupported(what: &str, cwd: &Path) -> Stop {
    Stop::new(
        Exit::PolicyUnusable,
        format!("agentgate cannot read the repository at {}: {what}", cwd.display()),
    )
    .hint("SHA-256 object ids and reftable are not supported yet")
}
