//! Tools that the person installed below the real home: a fresh one would hide them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Person;
use super::folder::{self, Private};

/// A tool's own variable, where its folder lies below the home when that is not set, and what must
/// be in it to be one. They are read, not written: with confinement in force they cannot be.
const TOOLS: &[(&str, &[&str], &str)] = &[
    ("RUSTUP_HOME", &[".rustup"], ""),
    ("NVM_DIR", &[".nvm", ".config/nvm"], ""),
    ("FNM_DIR", &[".local/share/fnm", ".fnm"], ""),
    ("N_PREFIX", &["n", ".n"], "n/versions"),
    ("VOLTA_HOME", &[".volta"], ""),
    ("NODENV_ROOT", &[".nodenv"], ""),
    ("BUN_INSTALL", &[".bun"], "bin"),
    ("DENO_INSTALL", &[".deno"], "bin"),
    ("PYENV_ROOT", &[".pyenv"], ""),
    ("RBENV_ROOT", &[".rbenv"], ""),
    ("GOENV_ROOT", &[".goenv"], ""),
    ("JENV_ROOT", &[".jenv"], ""),
    ("SDKMAN_DIR", &[".sdkman"], ""),
    ("ASDF_DIR", &[".asdf"], "asdf.sh"),
    ("ASDF_DATA_DIR", &[".asdf"], ""),
    ("MISE_DATA_DIR", &[".local/share/mise"], ""),
    ("PROTO_HOME", &[".proto"], ""),
    ("OPAMROOT", &[".opam"], ""),
    ("ELAN_HOME", &[".elan"], ""),
    // `dotnet` itself makes the folder for a note of its first run.
    ("DOTNET_ROOT", &[".dotnet"], "dotnet"),
    ("ANDROID_HOME", &["Android/Sdk"], ""),
];

/// Folders in which a tool keeps one folder a version, how deep. New ones must be possible beside
/// them, so the private folder holds a link to each.
const VERSIONED: &[(&str, usize)] = &[
    (".local/share/uv/python", 1),
    (".cache/node/corepack/v1", 2),
    (".cache/ms-playwright", 1),
    (".cache/puppeteer", 2),
    (".cache/Cypress", 1),
];

/// Which version of a tool is meant everywhere; no secrets in them.
const VERSIONS: &[&str] = &[
    ".tool-versions",
    ".asdfrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
];

/// Whether a variable names where a tool is installed.
pub(in crate::agent) fn is_tool_home(name: &str) -> bool {
    TOOLS.iter().any(|(tool, ..)| *tool == name)
}

pub(super) fn find(home: &mut Private, person: Person<'_>) -> Result<()> {
    let Some(real) = person.home() else { return Ok(()) };
    for (name, places, inside) in TOOLS {
        if person.var(name).is_some() {
            continue;
        }
        let here = places
            .iter()
            .map(|place| real.join(place))
            .find(|place| place.is_dir() && place.join(inside).exists());
        if let Some(place) = here {
            home.set(name, place.as_os_str());
        }
    }
    for name in VERSIONS {
        if let Some(bytes) = folder::read(&real.join(name)) {
            home.write(name, &bytes)?;
        }
    }
    for (below, depth) in VERSIONED {
        links(&real.join(below), &home.folder.join(below), *depth)?;
    }
    user_site(home, real.join(".local/lib"))
}

/// Folders down to a depth, links below.
fn links(from: &Path, to: &Path, depth: usize) -> Result<()> {
    let Ok(entries) = from.read_dir() else { return Ok(()) };
    folder::make(to)?;
    for entry in entries.flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if depth > 1 && source.is_dir() {
            links(&source, &target, depth - 1)?;
        } else {
            symlink(&source, &target).with_context(|| format!("cannot make {}", target.display()))?;
        }
    }
    Ok(())
}

/// Programs in `~/.local/bin` that `pip install --user` made import their packages from the home.
/// PYTHONPATH would reach into virtual environments, PYTHONUSERBASE would have new packages
/// installed in the person's home; a line in a `.pth` file does neither.
fn user_site(home: &mut Private, library: PathBuf) -> Result<()> {
    let Ok(entries) = library.read_dir() else { return Ok(()) };
    for entry in entries.flatten() {
        let packages = entry.path().join("site-packages");
        let name = entry.file_name();
        let (Some(version), Some(text)) = (name.to_str(), packages.to_str()) else {
            continue;
        };
        if version.starts_with("python") && packages.is_dir() && !text.contains(|letter: char| letter.is_control()) {
            let quoted = text.replace('\\', "\\\\").replace('\'', "\\'");
            let line = format!("import site; site.addsitedir('{quoted}')\n");
            let below = format!(".local/lib/{version}/site-packages/the-persons-own.pth");
            home.write(below, line.as_bytes())?;
        }
    }
    Ok(())
}
