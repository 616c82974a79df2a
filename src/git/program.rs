//! The git program: found once, called with a fixed environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::confine::Plan;
use crate::exit::{Exit, Stop};
use crate::process::{Outcome, Tool};

/// The oldest git that knows `GIT_ATTR_SOURCE`.
pub const MINIMUM: (u32, u32) = (2, 41);

/// The version of a git that nobody asked yet.
const UNPROVEN: (u32, u32) = (0, 0);

/// Settings that every call gets: nothing of a repository may run, nothing may ask.
const SAFE: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("log.showSignature", "false"),
    ("advice.detachedHead", "false"),
    ("advice.addEmbeddedRepo", "false"),
    // A bare clone is where the person's own worktree says it is; git is never left to find one.
    ("safe.bareRepository", "all"),
];

/// A git that is new enough, and the person's environment for it.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
    env: Vec<(OsString, OsString)>,
}

/// One call of git.
pub struct Call<'a> {
    git: &'a Git,
    cwd: PathBuf,
    config: Vec<(String, String)>,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    sealed: bool,
    stdin: Vec<u8>,
    limit: Option<Duration>,
    patience: Option<Duration>,
    plan: Option<Plan>,
}

impl Git {
    /// The first git on PATH that is new enough (two gits on one machine are common).
    ///
    /// # Errors
    /// A [`Stop`] with exit 64 that names what was found.
    pub fn find(env: &[(OsString, OsString)]) -> Result<Git> {
        let mut seen = Vec::new();
        for program in candidates(env) {
            let git = Git {
                program: program.clone(),
                version: UNPROVEN,
                env: allowed(env),
            };
            let Ok(version) = git
                .at(Path::new("/"))
                .arg("version")
                .limit(Duration::from_secs(30))
                .text()
            else {
                seen.push(format!("{} does not run", program.display()));
                continue;
            };
            match parse_version(&version) {
                Some(found) if found >= MINIMUM => return Ok(Git { version: found, ..git }),
                _ => seen.push(format!("{} is {}", program.display(), version.trim())),
            }
        }
        let found = if seen.is_empty() {
            "none is on PATH".to_owned()
        } else {
            seen.join("; ")
        };
        let (major, minor) = MINIMUM;
        Err(
            Stop::new(Exit::Usage, format!("git {major}.{minor} or newer is needed: {found}"))
                .hint("install a newer git and put its folder first on PATH")
                .into(),
        )
    }

    /// The first git on PATH, which was not started yet: see [`Git::proven`]. `None` where PATH names none.
    pub fn likely(env: &[(OsString, OsString)]) -> Option<Git> {
        let program = candidates(env).next()?;
        Some(Git {
            program,
            version: UNPROVEN,
            env: allowed(env),
        })
    }

    /// A git that is known to be new enough, before it is first started.
    ///
    /// # Errors
    /// As [`Git::find`].
    pub fn proven(&self) -> Result<Git> {
        match self.version {
            UNPROVEN => Git::find(&self.env),
            _ => Ok(self.clone()),
        }
    }

    /// The same with a variable that each of its processes has: by it they are found when whoever started them is
    /// gone.
    pub fn marked(&self, name: &str, value: &Path) -> Git {
        let mut marked = self.clone();
        marked.env.push((name.into(), value.into()));
        marked
    }

    /// Its path, as PATH names it.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A call in this folder.
    pub fn at(&self, cwd: &Path) -> Call<'_> {
        Call {
            git: self,
            cwd: cwd.to_owned(),
            config: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            sealed: false,
            stdin: Vec::new(),
            limit: None,
            patience: None,
            plan: None,
        }
    }
}

/// Every git on PATH, in its order. Two on one machine are common.
fn candidates(env: &[(OsString, OsString)]) -> impl Iterator<Item = PathBuf> {
    let path = env.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value);
    let folders: Vec<PathBuf> = path.map_or(Vec::new(), |path| std::env::split_paths(path).collect());
    let programs = folders
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("git"));
    programs.filter(|program| program.is_file())
}

/// What git gets of the person's environment: where it finds its configuration, filters and keys;
/// nothing that points it at another repository.
fn allowed(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    const KEPT: &[&str] = &[
        "PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_RUNTIME_DIR",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "TZ",
        "GNUPGHOME",
        "GPG_TTY",
        "SSH_AUTH_SOCK",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "EMAIL",
        "LD_LIBRARY_PATH",
    ];
    env.iter()
        .filter(|(key, _)| {
            let key = key.to_string_lossy();
            KEPT.contains(&key.as_ref())
                || key.starts_with("GIT_CONFIG_KEY_")
                || key.starts_with("GIT_CONFIG_VALUE_")
                || key == "GIT_CONFIG_COUNT"
        })
        .cloned()
        .collect()
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

impl Call<'_> {
    /// One argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Several arguments.
    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A configuration value for this call alone.
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.push((key.to_owned(), value.to_owned()));
        self
    }

    /// A variable for this call alone.
    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.into(), value.as_ref().to_owned()));
        self
    }

    /// Nothing of the person's environment but PATH, and no configuration but that of the git dir
    /// it is pointed at: for calls that look at what an agent left.
    pub fn sealed(mut self) -> Self {
        self.sealed = true;
        self.env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
    }

    /// After [`Call::sealed`]: filters that the person configured find their own files. git itself
    /// reads no configuration there.
    pub fn persons_home(mut self) -> Self {
        let kept = ["HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        let theirs = self
            .git
            .env
            .iter()
            .filter(|(key, _)| kept.iter().any(|name| key == name));
        self.env.extend(theirs.cloned());
        self
    }

    /// Bytes for standard input; without, it is empty.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// A time limit; a call that runs past it is ended and is an error.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Ends it this long after a signal, or at once on a second one; see
    /// [`Tool::finish_after_signal`]. Without, it runs to its end whatever arrives.
    pub fn finish_after_signal(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Runs it under the kernel's rules: for calls that run filters on what an agent left.
    pub fn confined(mut self, plan: &Plan) -> Self {
        self.plan = Some(plan.clone());
        self
    }

    /// Runs it, whatever its status.
    pub fn outcome(self) -> Result<Outcome> {
        let mut args: Vec<OsString> = Vec::new();
        for (key, value) in SAFE
            .iter()
            .map(|(k, v)| (*k, *v))
            .chain(self.config.iter().map(|(k, v)| (k.as_str(), v.as_str())))
        {
            args.push("-c".into());
            args.push(format!("{key}={value}").into());
        }
        args.push("--no-pager".into());
        args.extend(self.args);
        let mut env: Vec<(OsString, OsString)> = self.git.env.clone();
        if self.sealed {
            env.retain(|(key, _)| key == "PATH" || key == "LD_LIBRARY_PATH");
        }
        let fixed = [
            ("LC_ALL", "C"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", "false"),
            ("GIT_LITERAL_PATHSPECS", "0"),
        ];
        env.extend(
            fixed
                .iter()
                .map(|(key, value)| (OsString::from(key), OsString::from(value))),
        );
        env.extend(self.env);
        let mut tool = Tool::new(&self.git.program, &self.cwd)
            .args(args)
            .environment(env)
            .stdin(self.stdin);
        if let Some(plan) = self.plan {
            tool = tool.confined(plan);
        }
        if let Some(limit) = self.limit {
            tool = tool.time_limit(limit);
        }
        if let Some(patience) = self.patience {
            tool = tool.finish_after_signal(patience);
        }
        Ok(tool.run()?)
    }

    /// Runs it and returns standard output.
    ///
    /// # Errors
    /// Any status but 0, with git's own words.
    pub fn bytes(self) -> Result<Vec<u8>> {
        let shown = self
            .args
            .iter()
            .map(|arg| arg.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ");
        let outcome = self.outcome().with_context(|| format!("git {shown}"))?;
        if !outcome.success() {
            bail!("git {shown} failed: {}", first_lines(&outcome.stderr));
        }
        Ok(outcome.stdout)
    }

    /// Runs it and returns standard output as text without its final newline.
    pub fn text(self) -> Result<String> {
        let bytes = self.bytes()?;
        let text = String::from_utf8(bytes).context("git answered with something that is not UTF-8")?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }
}

/// git's message, short enough for one line of ours.
pub fn first_lines(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("hint:"))
        .take(3)
        .collect();
    if lines.is_empty() {
        "it said nothing".to_owned()
    } else {
        lines.join("; ")
    }
}
