//! In which forms a command's result is wanted, and where each of them goes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{CheckArgs, Command};
use crate::commands::Surroundings;
use crate::exit::{Exit, Stop};
use crate::gate::render;
use crate::git::places::git_dir_around;

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for a person.
    Text,
    /// One JSON object, `agentgate schema report`.
    Json,
    /// SARIF 2.1.0, as code scanning services read it.
    Sarif,
    /// Workflow commands of GitHub Actions, which become annotations.
    Github,
    /// JUnit XML, as Jenkins and GitLab read it.
    Junit,
    /// GitHub-flavoured Markdown for a comment or a job's summary.
    Markdown,
    /// GitLab's Code Quality JSON.
    Gitlab,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 7] = [
        Format::Text,
        Format::Json,
        Format::Sarif,
        Format::Github,
        Format::Junit,
        Format::Markdown,
        Format::Gitlab,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
            Format::Gitlab => "gitlab",
        }
    }

    fn find(word: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == word)
    }
}

/// The value of `--format`.
pub(super) fn format(word: &str) -> Result<Format, String> {
    Format::find(word).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("one of: {}", names.join(", "))
    })
}

/// A report that goes to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// In which form.
    pub format: Format,
    /// As given; relative to the folder agentgate was started in.
    pub file: PathBuf,
}

/// The value of `--output`.
pub(super) fn output(text: impl AsRef<OsStr>) -> Result<Output, String> {
    let text = text.as_ref().as_bytes();
    let (word, file) = text
        .iter()
        .position(|&byte| byte == b'=')
        .map(|at| (&text[..at], &text[at + 1..]))
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write FORMAT=FILE, such as sarif=agentgate.sarif")?;
    Ok(Output {
        format: format(&String::from_utf8_lossy(word))?,
        // A path is whatever bytes the file system takes.
        file: OsString::from_vec(file.to_vec()).into(),
    })
}

/// Where a command's result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reports {
    /// To standard output, in this order.
    pub shown: Vec<Format>,
    /// Whether they are the result of a `check`, which has all formats.
    pub is_check: bool,
    /// To files.
    pub files: Vec<Output>,
    /// A file that a job's summary is appended to.
    pub summary: Option<PathBuf>,
}

impl Reports {
    /// Of a command that has text and JSON.
    pub fn plain(json: bool) -> Reports {
        Reports {
            shown: vec![if json { Format::Json } else { Format::Text }],
            is_check: false,
            files: Vec::new(),
            summary: None,
        }
    }

    /// What was asked for; for `check` without a format that is what suits the place it runs in.
    pub fn of(command: &Command, surroundings: &Surroundings) -> Reports {
        match command {
            Command::Check(args) => Reports::of_check(args.format(), args.output.clone(), surroundings),
            other => Reports::plain(other.json()),
        }
    }

    fn of_check(format: Option<Format>, files: Vec<Output>, surroundings: &Surroundings) -> Reports {
        let is_github = surroundings.var("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let (shown, summary) = match format {
            Some(format) => (vec![format], None),
            // Annotations first: the last line stays the verdict.
            None if is_github => (
                vec![Format::Github, Format::Text],
                surroundings.var("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            ),
            None => (vec![Format::Text], None),
        };
        Reports {
            shown,
            is_check: true,
            files,
            summary,
        }
    }

    /// What was probably asked for by words that could not be understood. What stands after `--` is
    /// the agent's.
    pub fn guess(args: &[OsString], surroundings: &Surroundings) -> Reports {
        let words: Vec<&[u8]> = args
            .iter()
            .take_while(|arg| *arg != "--")
            .map(|arg| arg.as_bytes())
            .collect();
        let json = words.contains(&b"--json".as_slice());
        if !words.contains(&b"check".as_slice()) {
            return Reports::plain(json);
        }
        let values = |option: &str| -> Vec<&OsStr> {
            let mut found = Vec::new();
            for (index, word) in words.iter().enumerate() {
                match word.strip_prefix(option.as_bytes()) {
                    Some(b"") => found.extend(words.get(index + 1).copied()),
                    Some(rest) => found.extend(rest.strip_prefix(b"=")),
                    None => {}
                }
            }
            found.into_iter().map(OsStr::from_bytes).collect()
        };
        let format = values("--format")
            .into_iter()
            .find_map(|word| Format::find(word.to_str()?));
        let files: Vec<Output> = values("--output")
            .into_iter()
            .filter_map(|text| output(text).ok())
            .collect();
        let mut reports = Reports::of_check(format.or(json.then_some(Format::Json)), files, surroundings);
        if reports.validate(&surroundings.cwd).is_err() {
            reports.files.clear();
        }
        reports
    }

    /// Refuses files that no report may go to: one that another report goes to, one in a git dir, and `-`, which
    /// elsewhere is standard output.
    ///
    /// # Errors
    /// Exit 64. Nothing is to be written to any of the files then.
    pub fn validate(&self, cwd: &Path) -> Result<(), Stop> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for Output { format, file } in &self.files {
            let (format, shown) = (format.name(), render::path(file.as_os_str().as_bytes()));
            if file.as_os_str() == "-" {
                return Err(Stop::new(
                    Exit::Usage,
                    format!("--output {format}=- names no file: what standard output gets is said by --format"),
                )
                .hint(format!(
                    "--format {format}, or --output {format}=./- for a file of that name"
                )));
            }
            let place = place(&cwd.join(file));
            if seen.contains(&place) {
                return Err(Stop::new(Exit::Usage, format!("two reports are to go to {shown}"))
                    .hint("give each --output a file of its own"));
            }
            if let Some(git_dir) = git_dir_around(&place) {
                return Err(Stop::new(
                    Exit::Usage,
                    format!(
                        "--output {format}={shown} lies in a git dir, {}, which no report is written into",
                        render::path(git_dir.as_os_str().as_bytes())
                    ),
                )
                .hint(format!(
                    "give a file outside of it, such as --output {format}=agentgate.{format}"
                )));
            }
            seen.push(place);
        }
        Ok(())
    }
}

/// Where a file would lie: its folder without links, `.` and `..`, as far as there is one. A link in the file's own
/// place is replaced, not followed.
fn place(file: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut folder = file;
    while let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) {
        missing.push(name);
        folder = above;
        if let Ok(real) = folder.canonicalize() {
            return real.join(missing.iter().rev().collect::<PathBuf>());
        }
    }
    file.to_owned()
}

impl CheckArgs {
    /// The format for standard output, where one was given.
    fn format(&self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }
}
