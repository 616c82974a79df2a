//! Hooks, filters and what else the clone's configuration has git run.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::as_stop;
use super::report::Report;
use crate::agent::lookup;
use crate::commands::Surroundings;
use crate::gate::{self, Tree};
use crate::git::repo::Checkout;
use crate::git::shell;
use crate::git::tree::GitTree;

/// The effective configuration, without what our own calls add to it.
fn configuration(checkout: &Checkout) -> anyhow::Result<Vec<(String, String)>> {
    let here = checkout.workdir.as_deref().unwrap_or(&checkout.common);
    let listed = checkout
        .git
        .at(here)
        .args(["config", "--list", "--show-scope", "-z"])
        .bytes()?;
    let text = String::from_utf8_lossy(&listed).into_owned();
    let mut parts = text.split('\0');
    let mut found = Vec::new();
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        if scope != "command" {
            // A key without a value means true.
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            found.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(found)
}

fn last<'a>(config: &'a [(String, String)], key: &str) -> Option<&'a str> {
    let found = config.iter().rev().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

/// The hooks that git would run for the person, and what else it would start.
pub fn hooks(report: &mut Report, checkout: &Checkout, surroundings: &Surroundings) {
    let config = match configuration(checkout) {
        Ok(config) => config,
        Err(error) => return report.fail("config", &as_stop(error)),
    };
    let top = checkout.workdir.as_ref().unwrap_or(&checkout.common);
    let named = last(&config, "core.hookspath");
    let folder = match named {
        None => checkout.common.join("hooks"),
        Some(value) => match (value.strip_prefix("~/"), surroundings.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => top.join(value),
        },
    };
    let hooks = hooks_in(&folder);
    match (named, hooks) {
        (Some(value), None) => report.warn(
            "hooks",
            format!(
                "core.hooksPath is {value}, and {} does not exist: no hook of yours runs",
                folder.display()
            ),
            &[
                format!("mkdir -p {}", shell(&folder)),
                format!("or: git -C {} config --unset core.hooksPath", shell(top)),
            ],
        ),
        (None, None) => report.ok("hooks", "none"),
        (named, Some(hooks)) => {
            let place = named.map_or_else(String::new, |value| format!(", in core.hooksPath {value}"));
            let text = if hooks.is_empty() {
                format!("none{place}")
            } else {
                format!("{}{place}; a job's own git calls run none of them", hooks.join(", "))
            };
            report.ok("hooks", text);
        }
    }
    let monitor = last(&config, "core.fsmonitor").filter(|value| !matches!(*value, "" | "false" | "0" | "no" | "off"));
    report.ok(
        "fsmonitor",
        match monitor {
            None => "off".to_owned(),
            Some(value) => format!("core.fsmonitor is {value}; a job's own git calls do without"),
        },
    );
}

/// Names of the hooks in a folder that git would run; none where there is no such folder.
fn hooks_in(folder: &Path) -> Option<Vec<String>> {
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| {
            let meta = std::fs::metadata(entry.path());
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.contains('.'))
        .collect();
    found.sort();
    Some(found)
}

/// The filters that turn files into blobs and back, and whether their programs are there.
pub fn filters(report: &mut Report, checkout: &Checkout, surroundings: &Surroundings) {
    let Ok(config) = configuration(checkout) else { return };
    let mut names: Vec<&str> = Vec::new();
    for (key, _) in &config {
        let name = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.'));
        if let Some((name, _)) = name
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    let here = checkout.workdir.as_ref().unwrap_or(&checkout.common);
    for name in &names {
        let missing = missing_program(&config, name, here, surroundings);
        let what = format!("filter {name}");
        match missing {
            None => report.ok(&what, "its programs are there"),
            Some(program) => report.warn(
                &what,
                format!("{program} is not found: files with this filter cannot be checked out or staged"),
                &[install_line(&program)],
            ),
        }
    }
    if !names.contains(&"lfs") && uses_lfs(checkout) {
        report.warn(
            "filter lfs",
            "the base's .gitattributes asks for it, and it is not configured: pointers stay pointers",
            &["git lfs install".to_owned()],
        );
    }
}

/// The first program of a filter that cannot be found. A filter's value is a line for a shell: its first
/// word is the program.
fn missing_program(
    config: &[(String, String)],
    name: &str,
    here: &Path,
    surroundings: &Surroundings,
) -> Option<String> {
    let process = last(config, &format!("filter.{name}.process"));
    let pair = ["clean", "smudge"].map(|side| last(config, &format!("filter.{name}.{side}")));
    // Where there is a process, git asks neither of the others.
    let commands = process.map_or_else(|| pair.into_iter().flatten().collect(), |command| vec![command]);
    commands
        .into_iter()
        .filter(|command| !command.is_empty())
        .find_map(|command| {
            let words = shell_words::split(command).ok()?;
            let program = words.first().filter(|word| !word.contains(['$', '=', '`']))?;
            let program = match (program.strip_prefix("~/"), surroundings.home()) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(program),
            };
            let found = lookup::find(program.as_os_str(), here, surroundings.var("PATH"));
            let is_builtin = ["cat", "test", "true"]
                .iter()
                .any(|builtin| program.as_os_str() == OsStr::new(builtin));
            (found.is_err() && !is_builtin).then(|| program.display().to_string())
        })
}

fn install_line(program: &str) -> String {
    match program {
        "git-lfs" => "apt install git-lfs, or see https://git-lfs.com".to_owned(),
        program => format!("install {program}, or put its folder on PATH"),
    }
}

/// Whether the top folder's attributes of the base name the filter.
fn uses_lfs(checkout: &Checkout) -> bool {
    let read = || {
        let head = checkout.head().ok()?;
        let tree = GitTree::of_commit(&checkout.repo, head.commit).ok()?;
        let entry = gate::tree::lookup(&tree, b".gitattributes").ok()??;
        tree.blob(&entry.id).ok()
    };
    read().is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("filter=lfs"))
}
