//! What the machine offers: git, the kernel's layers, room for worktrees.

use std::ffi::OsStr;
use std::path::Path;

use super::as_stop;
use super::locks::shared_file_system;
use super::report::Report;
use crate::agent::settings::Person;
use crate::commands::Surroundings;
use crate::commands::walls::{self, Walls};
use crate::confine::{Layers, Mode, Plan};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::git::program::Git;
use crate::git::{installed, shell};

/// Below this many bytes a job may not have the room for its worktree.
const LITTLE_ROOM: u64 = 1 << 30;

/// The git that a job would use, and the others on PATH.
pub fn git(report: &mut Report, surroundings: &Surroundings) -> Option<Git> {
    let all = installed::on_path(surroundings.var("PATH").unwrap_or(OsStr::new("")));
    let git = match Git::find(&surroundings.vars) {
        Ok(git) => git,
        Err(error) => {
            report.fail("git", &as_stop(error));
            return None;
        }
    };
    let used = all.iter().find(|(path, _)| path == git.program());
    let version = match used {
        Some((_, Ok(version))) => version.clone(),
        _ => format!("{}.{}", git.version.0, git.version.1),
    };
    report.ok("git", format!("{version}, {}", git.program().display()));
    let others: Vec<String> = all
        .iter()
        .filter(|(path, _)| path != git.program())
        .map(|(path, version)| match version {
            Ok(version) => format!("{} ({version})", path.display()),
            Err(error) => format!("{} (does not run: {error})", path.display()),
        })
        .collect();
    if !others.is_empty() {
        report.warn(
            "git",
            format!(
                "others on PATH that your shell or an agent may use: {}",
                others.join(", ")
            ),
            &[],
        );
    }
    Some(git)
}

/// The kernel and its layers; the walls of a job, if there are enough.
pub fn walls(report: &mut Report, person: &Person) -> Option<Walls> {
    let uname = rustix::system::uname();
    report.ok(
        "kernel",
        format!(
            "{} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy()
        ),
    );
    let probe = match walls::probe() {
        Ok(probe) => probe,
        Err(error) => {
            report.fail("confinement", &as_stop(error));
            return None;
        }
    };
    for line in probe.lines() {
        let (name, words) = line.split_once(": ").unwrap_or((line.as_str(), ""));
        match words.strip_prefix("yes") {
            Some(rest) => report.ok(name, format!("in force{rest}")),
            None => report.warn(name, words.strip_prefix("no, ").unwrap_or(words), &[]),
        }
    }
    let mode = person.settings.confinement.unwrap_or_default();
    let network = person.settings.network.clone().unwrap_or_default();
    if mode == Mode::Off {
        let hint = "agentgate run --confinement on";
        report.warn("confinement", format!("off, by {}", person.shown()), &[hint.to_owned()]);
        report.tier = Some(Layers::default().tier());
        report.not_covered = Layers::default().not_covered(&Plan::default());
        return None;
    }
    match Walls::layers_of(&probe, mode, &network, false) {
        Ok(layers) => {
            let plan = Plan {
                private: Plan::private_of(mode),
                network: network.clone(),
                ..Plan::default()
            };
            let walls = Walls {
                layers,
                mode,
                network,
                ..Walls::default()
            };
            report.tier = Some(layers.tier());
            report.not_covered = layers.not_covered(&plan);
            report.ok("confinement", layers.tier());
            Some(walls)
        }
        Err(stop) => {
            report.fail("confinement", &stop);
            None
        }
    }
}

/// Whether worktrees can be made, and the room for them.
pub fn root(report: &mut Report, root: &Path) {
    let name = "worktree root";
    let trial = root.join(format!(".doctor-write-{}", std::process::id()));
    let was_there = root.is_dir();
    let tried = std::fs::create_dir_all(root)
        .and_then(|()| files::create_new(&trial, b"", 0o600))
        .and_then(|()| std::fs::remove_file(&trial));
    let room = rustix::fs::statvfs(root).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    let kind = shared_file_system(root);
    if !was_there {
        let _ = std::fs::remove_dir(root);
    }
    if let Err(error) = tried {
        let stop = Stop::new(Exit::Internal, format!("{} cannot be written: {error}", root.display()))
            .hint(format!("ls -ld {}", shell(root)));
        report.fail(name, &stop);
        return;
    }
    let free = room.map_or_else(|_| "room unknown".to_owned(), |bytes| format!("{} free", amount(bytes)));
    let text = format!("{}, {free}", root.display());
    match (room, kind) {
        (Ok(bytes), _) if bytes < LITTLE_ROOM => report.warn(
            name,
            text,
            &[format!("make room: du -sh {}", shell(root.parent().unwrap_or(root)))],
        ),
        (_, Some(kind)) => report.warn(name, format!("{text}, on {kind}: worktrees are slow there"), &[]),
        _ => report.ok(name, text),
    }
}

/// A number of bytes for people.
fn amount(bytes: u64) -> String {
    match bytes >> 20 {
        mib if mib >= 10 << 10 => format!("{} GiB", mib >> 10),
        mib => format!("{mib} MiB"),
    }
}
