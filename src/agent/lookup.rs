//! Finding a program as exec*p(3) would, early enough to refuse before anything was made.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::command::CommandError;

/// Where exec*p(3) looks when there is no PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";
/// The kernel reads no more of a script's first line (BINPRM_BUF_SIZE).
const FIRST_LINE: u64 = 256;

/// The absolute path of a program that can be executed, its interpreter included.
pub fn program(name: &OsStr, start_dir: &Path, path: Option<&OsStr>) -> Result<PathBuf, CommandError> {
    let found = find(name, start_dir, path)?;
    interpreter(&found, start_dir, path)?;
    Ok(found)
}

/// The same without a look at a script's first line.
pub fn find(name: &OsStr, start_dir: &Path, path: Option<&OsStr>) -> Result<PathBuf, CommandError> {
    let not_found = || CommandError::NotFound {
        program: name.to_string_lossy().into_owned(),
        hint: hint(name),
    };
    if name.as_bytes().contains(&b'/') {
        let found = start_dir.join(name);
        return match found.metadata() {
            Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => Err(not_found()),
            Ok(_) if executable(&found) => Ok(found),
            _ => Err(CommandError::NotExecutable { path: found }),
        };
    }
    let mut refused = None;
    for folder in std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH))) {
        // An empty or relative entry counts from where we were started, not from the worktree:
        // the agent's own files must not become the agent.
        let found = start_dir.join(folder).join(name);
        if executable(&found) {
            return Ok(found);
        }
        if found.is_file() {
            refused.get_or_insert(found);
        }
    }
    Err(refused.map_or_else(not_found, |path| CommandError::NotExecutable { path }))
}

fn executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// What a person may have meant by a word that only a shell would understand.
fn hint(name: &OsStr) -> Option<String> {
    let name = name.to_str()?;
    let hint = if name.starts_with('~') || name.contains('$') {
        "no shell is involved: `~` and `$` are not expanded; write the path out"
    } else if name.contains(' ') {
        "program and arguments are one word; separate them"
    } else if name.contains('=') {
        "to set a variable, put `env` in front"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// Checks a script's first line: `#!/usr/bin/python4` and `#!/usr/bin/env python4` fail at exec
/// with an error that names the script, not what is missing.
fn interpreter(script: &Path, start_dir: &Path, path: Option<&OsStr>) -> Result<(), CommandError> {
    let Some(words) = first_line(script) else { return Ok(()) };
    let fail = |interpreter: &OsStr, reason: &str| {
        let (path, interpreter) = (script.to_owned(), interpreter.to_string_lossy().into_owned());
        Err(CommandError::Interpreter {
            path,
            interpreter,
            reason: reason.to_owned(),
        })
    };
    let Some(interpreter) = words.first() else {
        return fail(OsStr::new(""), "its first line names none");
    };
    if interpreter.as_bytes().ends_with(b"\r") {
        return fail(interpreter, "the script has Windows line ends");
    }
    if !Path::new(interpreter).is_absolute() {
        return fail(interpreter, "not an absolute path");
    }
    if !executable(Path::new(interpreter)) {
        return fail(interpreter, "not found or not executable");
    }
    if Path::new(interpreter).file_name() == Some(OsStr::new("env"))
        && let Some(argument) = words.get(1)
        && let Some(program) = program_of_env(argument)
    {
        if program.as_bytes().ends_with(b"\r") {
            return fail(&program, "the script has Windows line ends");
        }
        if find(&program, start_dir, path).is_err() {
            return fail(&program, "not found on PATH");
        }
    }
    Ok(())
}

/// The interpreter and the rest of the line, which the kernel passes on as ONE argument. `None`
/// if it is no script or cannot be read (which executing a binary does not need).
fn first_line(script: &Path) -> Option<Vec<OsString>> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|&b| b == b'\n').next().unwrap_or(line);
    let blank = |b: &u8| *b == b' ' || *b == b'\t';
    let begin = line.iter().position(|b| !blank(b)).unwrap_or(line.len());
    let line = &line[begin..];
    let end = line.iter().position(blank).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    let words = [interpreter, trim(rest)].into_iter().filter(|word| !word.is_empty());
    Some(words.map(|word| OsString::from_vec(word.to_vec())).collect())
}

fn trim(bytes: &[u8]) -> &[u8] {
    let blank = |b: &u8| *b == b' ' || *b == b'\t';
    let begin = bytes.iter().position(|b| !blank(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !blank(b)).map_or(begin, |last| last + 1);
    &bytes[begin..end]
}

/// The program that `env` will run, if that can be told: options other than `-S` are left alone.
fn program_of_env(argument: &OsStr) -> Option<OsString> {
    let bytes = argument.as_bytes();
    let split = bytes
        .strip_prefix(b"-S")
        .or_else(|| bytes.strip_prefix(b"--split-string="));
    let word = match split {
        None if bytes.starts_with(b"-") => return None,
        // Without -S, env looks for a program whose name holds the blanks.
        None => bytes,
        Some(rest) => {
            let mut words = rest
                .split(|b| *b == b' ' || *b == b'\t')
                .filter(|word| !word.is_empty());
            words.find(|word| !word.contains(&b'='))?
        }
    };
    let odd = word.first().is_none_or(|first| b"-$\"'\\".contains(first));
    let assignment = split.is_none() && word.contains(&b'=');
    (!odd && !assignment).then(|| OsString::from_vec(word.to_vec()))
}
