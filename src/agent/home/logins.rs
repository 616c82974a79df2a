//! Login files of the person, copied in and, renewed, brought back.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use serde_json::Value;

use super::folder::Private;
use super::{Person, renewed};
use crate::files;
use crate::lock::{FileLock, LockError};

/// No login file is larger.
const MAX: u64 = 1 << 20;
/// How long to wait for another job that is writing a login back.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that was copied.
#[derive(Debug)]
pub(super) struct Login {
    /// The person's.
    original: PathBuf,
    /// Below the private home.
    below: PathBuf,
    /// What it held.
    bytes: Vec<u8>,
}

/// A file that is not copied.
#[derive(Debug)]
pub struct LoginError {
    path: PathBuf,
    why: &'static str,
}

impl fmt::Display for LoginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "home_files: {} {}", self.path.display(), self.why)
    }
}

impl std::error::Error for LoginError {}

/// Variables that move a folder of the home elsewhere, and where it lies in the private home.
const MOVED: &[(&str, &str)] = &[
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CODEX_HOME", ".codex"),
    ("COPILOT_HOME", ".copilot"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The person's file and its place below the private home.
fn place(person: Person<'_>, named: &Path) -> Result<(PathBuf, PathBuf), LoginError> {
    let refuse = |why| {
        Err(LoginError {
            path: named.to_owned(),
            why,
        })
    };
    if named.components().any(|part| part == Component::ParentDir) || named.file_name().is_none() {
        return refuse("must name a file, without `..`");
    }
    let moved = || {
        MOVED
            .iter()
            .filter_map(|(name, below)| Some((person.path(name)?, Path::new(*below))))
    };
    if named.is_absolute() {
        let home = person.home().map(|home| (home, Path::new("")));
        for (folder, below) in moved().chain(home) {
            if let Ok(rest) = named.strip_prefix(folder) {
                return Ok((named.to_owned(), below.join(rest)));
            }
        }
        return refuse("does not lie in your home, so it has no place in the agent's");
    }
    let named: PathBuf = named.components().filter(|part| *part != Component::CurDir).collect();
    for (folder, below) in moved() {
        if let Ok(rest) = named.strip_prefix(below) {
            return Ok((folder.join(rest), named));
        }
    }
    match person.home() {
        Some(home) => Ok((home.join(&named), named)),
        None => refuse("cannot be found: HOME is not set"),
    }
}

pub(super) fn copy(home: &mut Private, person: Person<'_>, named: &[PathBuf]) -> Result<Vec<Login>> {
    let mut logins = Vec::new();
    for named in named {
        let (original, below) = place(person, named)?;
        let refuse = |why| LoginError {
            path: original.clone(),
            why,
        };
        let meta = match original.symlink_metadata() {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                home.notices.push(format!(
                    "home_files: {} is not there, so the agent did not get it",
                    original.display()
                ));
                continue;
            }
            meta => meta.with_context(|| format!("cannot look at {}", original.display()))?,
        };
        if meta.is_symlink() {
            return Err(refuse("is a link, which is not followed: put the file itself there").into());
        }
        if meta.is_dir() {
            return Err(refuse("is a folder: name its files one by one").into());
        }
        if !meta.is_file() {
            return Err(refuse("is not a regular file").into());
        }
        if meta.len() > MAX {
            return Err(refuse("is larger than 1 MiB").into());
        }
        let bytes = files::read_small(&original, MAX).with_context(|| format!("cannot read {}", original.display()))?;
        home.write(&below, &bytes)?;
        logins.push(Login { original, below, bytes });
    }
    Ok(logins)
}

/// The copies that are still there.
pub(super) fn left_behind(home: &Path, person: Person<'_>, named: &[PathBuf]) -> Vec<Login> {
    let mut logins = Vec::new();
    for named in named {
        let Ok((original, below)) = place(person, named) else {
            continue;
        };
        let is_there = home.join(&below).symlink_metadata().is_ok_and(|meta| meta.is_file());
        if let Ok(bytes) = files::read_small(&original, MAX)
            && is_there
        {
            logins.push(Login { original, below, bytes });
        }
    }
    logins
}

pub(super) fn settle(home: &Path, logins: Vec<Login>, lock: &Path) -> Vec<String> {
    let mut notices = Vec::new();
    for login in logins {
        match bring_back(home, &login, lock) {
            Ok(Back::Same) => {}
            Ok(Back::Written) => notices.push(format!(
                "{}: the agent renewed this login, and yours is the renewed one now",
                login.original.display()
            )),
            Err(why) => notices.push(format!(
                "{}: the agent left another one, which was not brought back: {why}; if you are asked to log in again, \
                 that is why",
                login.original.display()
            )),
        }
        // The copy holds a secret; the folder around it may be kept after a failure.
        let _ = delete_copy(home, &login.below);
    }
    notices
}

enum Back {
    Same,
    Written,
}

fn bring_back(home: &Path, login: &Login, lock: &Path) -> Result<Back, String> {
    let new = match read_copy(home, &login.below) {
        Ok(new) => new,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err("it was deleted".into()),
        Err(error) => return Err(format!("it cannot be read as a regular file ({error})")),
    };
    if new == login.bytes {
        return Ok(Back::Same);
    }
    let json = |bytes: &[u8], whose: &str| -> Result<Value, String> {
        serde_json::from_slice(bytes).map_err(|_| format!("{whose} is not JSON"))
    };
    let renewed = json(&new, "it")?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    renewed::judge(&json(&login.bytes, "yours")?, &renewed, now)?;
    if let Some(above) = lock.parent() {
        std::fs::create_dir_all(above).map_err(|error| format!("cannot make {}: {error}", above.display()))?;
    }
    let _lock = locked(lock)?;
    let original = &login.original;
    let meta = original
        .symlink_metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)
        .ok_or("yours is not there any more")?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err("yours belongs to another user".into());
    }
    match files::read_small(original, MAX) {
        Ok(current) if current == login.bytes => {}
        Ok(_) => return Err("yours has changed meanwhile".into()),
        Err(error) => return Err(format!("yours cannot be read ({error})")),
    }
    // Written anew from what was judged: a key that stands twice would be read differently by
    // others.
    let mut text = serde_json::to_vec_pretty(&renewed).map_err(|error| error.to_string())?;
    text.push(b'\n');
    files::replace(original, &text, meta.permissions().mode() & 0o7777)
        .map_err(|error| format!("yours cannot be written ({error})"))?;
    Ok(Back::Written)
}

fn locked(path: &Path) -> Result<FileLock, String> {
    let started = Instant::now();
    loop {
        match FileLock::try_exclusive(path) {
            Ok(lock) => return Ok(lock),
            Err(LockError::Held { .. }) if started.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20))
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The folder of a copy, reached through no link: the agent may have put one, to a folder of the
/// person's, in the place of any folder on the way.
fn folder_of(home: &Path, below: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = openat(CWD, home, flags, Mode::empty())?;
    for part in below.parent().into_iter().flat_map(Path::components) {
        folder = openat(&folder, part.as_os_str(), flags, Mode::empty())?;
    }
    Ok(folder)
}

fn read_copy(home: &Path, below: &Path) -> io::Result<Vec<u8>> {
    let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = files::regular(openat(folder_of(home, below)?, name, flags, Mode::empty())?.into())?;
    let mut bytes = Vec::new();
    file.take(MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// What is not the copy any more is left to the deletion of the private folder.
fn delete_copy(home: &Path, below: &Path) -> io::Result<()> {
    let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(unlinkat(folder_of(home, below)?, name, AtFlags::empty())?)
}
