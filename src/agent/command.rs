//! From what a person wrote to the program and arguments that run. No shell is involved.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::lookup;
use super::profiles::{Profile, SANDBOX};

pub use super::input::Input;
pub use super::profiles::hint;

/// Where the command stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// After `--` on the command line.
    CommandLine(Vec<OsString>),
    /// In `AGENT_CMD`: split like a shell does, then `--stateless --input <task> --apply` added.
    Variable(String),
    /// In the settings.
    Settings(Vec<String>),
    /// A profile's, named on the command line or in the settings.
    Profile(Box<Profile>),
}

impl Source {
    /// Whether the model label becomes a part of the command.
    pub(super) fn names_model(&self) -> bool {
        let names = |word: &str| word.contains(MODEL);
        match self {
            Source::CommandLine(words) => words.iter().skip(1).any(|word| names(&word.to_string_lossy())),
            Source::Variable(value) => names(value),
            Source::Settings(words) => words.iter().skip(1).any(|word| names(word)),
            Source::Profile(profile) => profile.demands_model(),
        }
    }
}

/// Whether an agent's own sandbox is to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnSandbox {
    /// agentgate confines it: a second one inside fails, or hides what went wrong.
    Off,
    /// Nothing else confines it.
    On,
}

/// What placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    /// `{task_file}`: the agent's copy of the task.
    pub task_file: &'a Path,
    /// `{task}`: its text.
    pub task: &'a str,
    /// `{worktree}`.
    pub worktree: &'a Path,
    /// `{job}`: the job's id.
    pub job: &'a str,
    /// `{model}`: the model label, if one was given.
    pub model: Option<&'a str>,
    /// `{home}` in profiles and `env`: the job's private home.
    pub home: &'a Path,
    /// `{tmp}` in profiles and `env`: the job's folder for temporary files.
    pub tmp: &'a Path,
    /// What `{sandbox}` in a profile is.
    pub own_sandbox: OwnSandbox,
    /// How a profile's agent reaches the job's MCP server; none where that cannot stand in its settings.
    pub connector: Option<Connector<'a>>,
}

/// The program that connects an agent with the MCP server of its call, and the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connector<'a> {
    program: &'a str,
    socket: &'a str,
}

impl<'a> Connector<'a> {
    /// `None` for paths with a character that JSON, TOML or a list of words would not take as it is: settings of
    /// agents are templates into which the two are put.
    pub fn new(program: &'a Path, socket: &'a Path) -> Option<Connector<'a>> {
        let plain = |path: &'a Path| {
            let text = path.to_str()?;
            let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@~=,:".contains(letter);
            text.chars().all(is_plain).then_some(text)
        };
        Some(Connector {
            program: plain(program)?,
            socket: plain(socket)?,
        })
    }
}

/// A command whose program was found; placeholders are not yet filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    program: PathBuf,
    words: Vec<OsString>,
    kind: Kind,
}

/// What is done to a command beyond its contract's placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// The documented flags are added.
    Variable,
    /// It has placeholders of its own.
    Profile(Box<Profile>),
}

/// A command ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// The arguments, with the name as it was written first.
    pub argv: Vec<OsString>,
    /// What standard input is.
    pub stdin: Stdin,
    /// Settings of its own that it needs: a path below its home, and what is to stand there.
    pub files: Vec<(String, String)>,
}

/// What the agent reads on standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// The task file: no placeholder took it.
    Task,
    /// /dev/null.
    Null,
}

/// Why a command cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// There is no word in it.
    Empty {
        /// Where it stands, in words.
        place: &'static str,
    },
    /// `AGENT_CMD` cannot be split (a quote is not closed).
    Unsplittable {
        /// Its value.
        value: String,
    },
    /// No such program.
    NotFound {
        /// The program as written.
        program: String,
        /// What may be wrong.
        hint: Option<String>,
    },
    /// A file is there but cannot be executed.
    NotExecutable {
        /// Its path.
        path: PathBuf,
    },
    /// The script's first line names an interpreter that cannot run.
    Interpreter {
        /// The script.
        path: PathBuf,
        /// The interpreter.
        interpreter: String,
        /// Why not.
        reason: String,
    },
    /// A placeholder cannot be filled.
    Placeholder {
        /// Its name, with braces.
        name: &'static str,
        /// Why not.
        reason: String,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Empty { place } => write!(f, "no agent command {place}"),
            CommandError::Unsplittable { value } => write!(f, "AGENT_CMD has an open quote: {value}"),
            CommandError::NotFound { program, hint } => {
                write!(f, "agent command not found: {program}")?;
                hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
            }
            CommandError::NotExecutable { path } => {
                write!(f, "agent command is not executable: {}", path.display())
            }
            CommandError::Interpreter {
                path,
                interpreter,
                reason,
            } => {
                write!(
                    f,
                    "agent command {} needs the interpreter {interpreter:?}: {reason}",
                    path.display()
                )
            }
            CommandError::Placeholder { name, reason } => write!(f, "{name} in the agent command: {reason}"),
        }
    }
}

impl std::error::Error for CommandError {}

impl CommandError {
    /// What to do, where that is plain.
    pub fn remedy(&self) -> Option<String> {
        let CommandError::NotExecutable { path } = self else {
            return None;
        };
        Some(if path.is_dir() {
            "that is a folder: name the program in it".to_owned()
        } else {
            format!(
                "make it executable: chmod +x {}",
                shell_words::quote(&path.to_string_lossy())
            )
        })
    }
}

/// The placeholder of the model label.
const MODEL: &str = "{model}";

/// Longest `{task}`: the kernel takes 128 KiB in one argument.
const TASK_LIMIT: usize = 100 << 10;

impl Found {
    /// Finds the program on `path` (the value of PATH), before anything is made. A program with a
    /// slash is relative to `start_dir`, the absolute folder agentgate was started in.
    pub fn find(source: &Source, start_dir: &Path, path: Option<&OsStr>) -> Result<Found, CommandError> {
        let (words, place) = match source {
            Source::Profile(profile) => return Found::of_profile(profile, start_dir, path),
            Source::CommandLine(words) => (words.clone(), "after `--`"),
            Source::Settings(words) => (words.iter().map(OsString::from).collect(), "in the settings"),
            Source::Variable(value) => {
                let words =
                    shell_words::split(value).map_err(|_| CommandError::Unsplittable { value: value.clone() })?;
                (words.into_iter().map(OsString::from).collect(), "in AGENT_CMD")
            }
        };
        let name = words
            .first()
            .filter(|name| !name.is_empty())
            .ok_or(CommandError::Empty { place })?;
        let program = lookup::program(name, start_dir, path)?;
        let kind = match source {
            Source::Variable(_) => Kind::Variable,
            _ => Kind::Plain,
        };
        Ok(Found { program, words, kind })
    }

    fn of_profile(profile: &Profile, start_dir: &Path, path: Option<&OsStr>) -> Result<Found, CommandError> {
        let (name, program) = profile.program(start_dir, path)?;
        let mut words: Vec<OsString> = profile.command.iter().map(OsString::from).collect();
        words[0] = name.into();
        Ok(Found {
            program,
            words,
            kind: Kind::Profile(Box::new(profile.clone())),
        })
    }

    /// Absolute path of the program. Links are not resolved: many agents are one program under
    /// several names.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Fills the placeholders.
    ///
    /// Each argument is gone over once: braces in the task's own text are text. An unknown name
    /// in braces is left as it is, since arguments may be JSON.
    pub fn fill(&self, fill: &Fill<'_>) -> Result<AgentCommand, CommandError> {
        let mut taken = self.kind == Kind::Variable;
        let mut argv = vec![self.words[0].clone()];
        for word in &self.words[1..] {
            match &self.kind {
                Kind::Profile(profile) if word == SANDBOX => {
                    argv.extend(profile.sandbox(fill.own_sandbox).iter().map(OsString::from));
                }
                Kind::Profile(_) => argv.push(fill_word(word, fill, Names::WithFolders, &mut taken)?),
                _ => argv.push(fill_word(word, fill, Names::OfCommands, &mut taken)?),
            }
        }
        if self.kind == Kind::Variable {
            argv.extend([
                "--stateless".into(),
                "--input".into(),
                fill.task_file.into(),
                "--apply".into(),
            ]);
        }
        let mut files = Vec::new();
        if let (Kind::Profile(profile), Some(_)) = (&self.kind, fill.connector) {
            for word in &profile.mcp.args {
                argv.push(fill_word(OsStr::new(word), fill, Names::OfConnector, &mut false)?);
            }
            for (name, text) in &profile.mcp.files {
                let text = fill_word(OsStr::new(text), fill, Names::OfConnector, &mut false)?;
                files.push((name.clone(), text.to_string_lossy().into_owned()));
            }
        }
        let stdin = if taken { Stdin::Null } else { Stdin::Task };
        Ok(AgentCommand {
            program: self.program.clone(),
            argv,
            stdin,
            files,
        })
    }
}

/// The value of a variable of `env`.
pub fn fill_value(value: &str, fill: &Fill<'_>) -> Result<OsString, CommandError> {
    fill_word(OsStr::new(value), fill, Names::OfVariables, &mut false)
}

/// Which placeholders there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Those of any command.
    OfCommands,
    /// `{home}` and `{tmp}` as well.
    WithFolders,
    /// The same without the task.
    OfVariables,
    /// `{agentgate}` and `{mcp}` alone.
    OfConnector,
}

/// `taken` is set when the task went into the word.
fn fill_word(word: &OsStr, fill: &Fill<'_>, names: Names, taken: &mut bool) -> Result<OsString, CommandError> {
    let mut out = Vec::new();
    let mut rest = word.as_bytes();
    while let Some(at) = rest.find_byte(b'{') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let name = rest.find_byte(b'}').map_or(&rest[..1], |end| &rest[..=end]);
        let value = match name {
            b"{agentgate}" if names == Names::OfConnector => fill.connector.map_or("", |it| it.program).as_bytes(),
            b"{mcp}" if names == Names::OfConnector => fill.connector.map_or("", |it| it.socket).as_bytes(),
            _ if names == Names::OfConnector => {
                out.push(b'{');
                rest = &rest[1..];
                continue;
            }
            b"{task_file}" => {
                *taken = true;
                fill.task_file.as_os_str().as_bytes()
            }
            b"{task}" if names != Names::OfVariables => {
                *taken = true;
                task_text(fill.task)?.as_bytes()
            }
            b"{worktree}" => fill.worktree.as_os_str().as_bytes(),
            b"{job}" => fill.job.as_bytes(),
            b"{model}" => model(fill)?.as_bytes(),
            b"{home}" if names != Names::OfCommands => fill.home.as_os_str().as_bytes(),
            b"{tmp}" if names != Names::OfCommands => fill.tmp.as_os_str().as_bytes(),
            // Only the brace is passed over: a placeholder may follow right inside.
            _ => {
                out.push(b'{');
                rest = &rest[1..];
                continue;
            }
        };
        out.extend_from_slice(value);
        rest = &rest[name.len()..];
    }
    out.extend_from_slice(rest);
    Ok(OsString::from_vec(out))
}

fn task_text(task: &str) -> Result<&str, CommandError> {
    let reason = if task.len() > TASK_LIMIT {
        "the task is over 100 KiB; use {task_file} or standard input"
    } else if is_option(task) {
        "the task starts with `-` and would be read as an option; use {task_file} or standard input, or begin it with a line such as `Goal: ...`"
    } else if task.contains('\0') {
        "the task holds a NUL byte; use {task_file} or standard input"
    } else {
        return Ok(task);
    };
    Err(CommandError::Placeholder {
        name: "{task}",
        reason: reason.to_owned(),
    })
}

/// A model's name is never made up, and no option of the agent's.
fn model<'a>(fill: &Fill<'a>) -> Result<&'a str, CommandError> {
    let reason = match fill.model {
        Some(label) if is_option(label) => {
            format!("the model label {label} starts with `-` and would be read as an option; set another one")
        }
        Some(label) => return Ok(label),
        None => "no model label is set; set AGENT_MODEL_LABEL".to_owned(),
    };
    Err(CommandError::Placeholder { name: MODEL, reason })
}

/// Whether a program would read the word as one of its options.
pub(super) fn is_option(word: &str) -> bool {
    word.starts_with('-')
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
