//! In which forms a command's result is wanted, and where each of them goes.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{CheckArgs, Command};
use crate::commands::Surroundings;
use crate::exit::{Exit, Stop};

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
pub(super) fn output(text: &str) -> Result<Output, String> {
    let (word, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or("write FORMAT=FILE, such as sarif=agentgate.sarif")?;
    Ok(Output {
        format: format(word)?,
        file: file.into(),
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
        let words: Vec<&str> = args
            .iter()
            .take_while(|arg| *arg != "--")
            .filter_map(|arg| arg.to_str())
            .collect();
        let json = words.contains(&"--json");
        if !words.contains(&"check") {
            return Reports::plain(json);
        }
        let values = |option: &str| -> Vec<&str> {
            let mut found = Vec::new();
            for (index, word) in words.iter().enumerate() {
                match word.strip_prefix(option) {
                    Some("") => found.extend(words.get(index + 1)),
                    Some(rest) => found.extend(rest.strip_prefix('=')),
                    None => {}
                }
            }
            found
        };
        let format = values("--format").into_iter().find_map(Format::find);
        let files: Vec<Output> = values("--output")
            .into_iter()
            .filter_map(|text| output(text).ok())
            .collect();
        // Two reports in one file are what could not be understood.
        let files = if twice(&files).is_some() { Vec::new() } else { files };
        Reports::of_check(format.or(json.then_some(Format::Json)), files, surroundings)
    }
}

/// A file that two reports are to go to.
fn twice(files: &[Output]) -> Option<&Output> {
    files
        .iter()
        .enumerate()
        .find(|(index, output)| files[..*index].iter().any(|other| other.file == output.file))
        .map(|(_, output)| output)
}

impl CheckArgs {
    /// The format for standard output, where one was given.
    fn format(&self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }

    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// Exit 64 where two reports are to go to one file.
    pub fn validate(&self) -> Result<(), Stop> {
        match twice(&self.output) {
            None => Ok(()),
            Some(output) => Err(Stop::new(
                Exit::Usage,
                format!("two reports are to go to {}", output.file.display()),
            )
            .hint("give each --output a file of its own")),
        }
    }
}
