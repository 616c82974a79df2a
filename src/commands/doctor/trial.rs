//! The processes that must fail: this program again, by hidden subcommands, so that neither a shell
//! nor another program of the machine is part of the proof.

use std::ffi::{OsStr, OsString};
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use crate::lock::{FileLock, LockError};

/// Tries to write; see [`writes`].
pub const WRITES: &str = "__try-writes";
/// Tries to take a lock; see [`lock`].
pub const LOCK: &str = "__try-lock";
/// What [`lock`] prints when somebody else has it.
pub const HELD: &str = "held";
/// What [`lock`] prints when nobody has.
pub const FREE: &str = "free";

/// One thing that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// A new file, removed again.
    Create,
    /// A byte at the end of a file.
    Append,
    /// A file cut to nothing.
    Truncate,
    /// A file under another name.
    Rename,
    /// A file removed.
    Remove,
    /// Another mode.
    Mode,
}

impl Attempt {
    const ALL: [(Attempt, u8); 6] = [
        (Attempt::Create, b'c'),
        (Attempt::Append, b'a'),
        (Attempt::Truncate, b't'),
        (Attempt::Rename, b'r'),
        (Attempt::Remove, b'd'),
        (Attempt::Mode, b'm'),
    ];

    /// As a word of the command line: a letter, then the path.
    pub fn on(self, path: &Path) -> OsString {
        let letter = Attempt::ALL
            .iter()
            .find(|(known, _)| *known == self)
            .map_or(b'c', |(_, letter)| *letter);
        OsString::from_vec([&[letter], path.as_os_str().as_bytes()].concat())
    }

    /// In words, after "could".
    pub fn words(self) -> &'static str {
        match self {
            Attempt::Create => "make a file in",
            Attempt::Append => "append to",
            Attempt::Truncate => "truncate",
            Attempt::Rename => "rename",
            Attempt::Remove => "remove",
            Attempt::Mode => "change the mode of",
        }
    }

    fn make(self, path: &Path) -> io::Result<()> {
        match self {
            Attempt::Create => {
                OpenOptions::new().write(true).create_new(true).open(path)?;
                std::fs::remove_file(path)
            }
            Attempt::Append => {
                let file = OpenOptions::new().append(true).open(path)?;
                io::Write::write_all(&mut &file, b"x")
            }
            Attempt::Truncate => OpenOptions::new().write(true).truncate(true).open(path).map(drop),
            Attempt::Rename => {
                let mut other = path.as_os_str().to_owned();
                other.push(".renamed");
                std::fs::rename(path, &other)?;
                std::fs::rename(&other, path)
            }
            Attempt::Remove => std::fs::remove_file(path),
            Attempt::Mode => std::fs::set_permissions(path, Permissions::from_mode(0o640)),
        }
    }
}

/// Tries each word of the command line in turn and prints a line for each: `ok`, or the errno.
pub fn writes(args: &[OsString]) -> ExitCode {
    let mut said = String::new();
    for word in args {
        let Some((letter, path)) = word.as_bytes().split_first() else {
            return ExitCode::FAILURE;
        };
        let Some((attempt, _)) = Attempt::ALL.iter().find(|(_, known)| known == letter) else {
            return ExitCode::FAILURE;
        };
        said.push_str(&match attempt.make(Path::new(OsStr::from_bytes(path))) {
            Ok(()) => "ok\n".to_owned(),
            Err(error) => format!("{}\n", error.raw_os_error().unwrap_or(0)),
        });
    }
    print(&said)
}

/// Tries to take the lock of a file and prints [`HELD`] or [`FREE`]; it is given back at once.
pub fn lock(args: &[OsString]) -> ExitCode {
    let [path] = args else { return ExitCode::FAILURE };
    match FileLock::try_exclusive(Path::new(path)) {
        Ok(_lock) => print(FREE),
        Err(LockError::Held { .. }) => print(HELD),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Straight to the descriptor: this is a message to our own parent, not a result.
fn print(text: &str) -> ExitCode {
    match rustix::io::write(rustix::stdio::stdout(), text.as_bytes()) {
        Ok(written) if written == text.len() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
