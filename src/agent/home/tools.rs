//! Tools that the person installed below the real home: a fresh one would hide them.

use std::path::PathBuf;

use anyhow::Result;

use super::Person;
use super::folder::{self, Private};

/// A tool's own variable, and where its folder lies below the home when that is not set. They are
/// read, not written: with confinement in force they cannot be.
const TOOLS: &[(&str, &[&str])] = &[
    ("RUSTUP_HOME", &[".rustup"]),
    ("NVM_DIR", &[".nvm", ".config/nvm"]),
    ("FNM_DIR", &[".local/share/fnm", ".fnm"]),
    ("N_PREFIX", &["n"]),
    ("VOLTA_HOME", &[".volta"]),
    ("NODENV_ROOT", &[".nodenv"]),
    ("PNPM_HOME", &[".local/share/pnpm"]),
    ("COREPACK_HOME", &[".cache/node/corepack"]),
    ("BUN_INSTALL", &[".bun"]),
    ("DENO_INSTALL", &[".deno"]),
    ("PYENV_ROOT", &[".pyenv"]),
    ("UV_PYTHON_INSTALL_DIR", &[".local/share/uv/python"]),
    ("RBENV_ROOT", &[".rbenv"]),
    ("GOENV_ROOT", &[".goenv"]),
    ("JENV_ROOT", &[".jenv"]),
    ("SDKMAN_DIR", &[".sdkman"]),
    ("ASDF_DIR", &[".asdf"]),
    ("ASDF_DATA_DIR", &[".asdf"]),
    ("MISE_DATA_DIR", &[".local/share/mise"]),
    ("PROTO_HOME", &[".proto"]),
    ("OPAMROOT", &[".opam"]),
    ("ELAN_HOME", &[".elan"]),
    ("JULIAUP_DEPOT_PATH", &[".julia"]),
    ("DOTNET_ROOT", &[".dotnet"]),
    ("ANDROID_HOME", &["Android/Sdk"]),
    ("PLAYWRIGHT_BROWSERS_PATH", &[".cache/ms-playwright"]),
    ("PUPPETEER_CACHE_DIR", &[".cache/puppeteer"]),
    ("CYPRESS_CACHE_FOLDER", &[".cache/Cypress"]),
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
    TOOLS.iter().any(|(tool, _)| *tool == name)
}

pub(super) fn find(home: &mut Private, person: Person<'_>) -> Result<()> {
    let Some(real) = person.home() else { return Ok(()) };
    for (name, places) in TOOLS {
        if person.var(name).is_some() {
            continue;
        }
        let here = places.iter().map(|place| real.join(place)).find(|place| place.is_dir());
        if let Some(place) = here {
            home.set(name, place.as_os_str());
        }
    }
    for name in VERSIONS {
        if let Some(bytes) = folder::read(&real.join(name)) {
            home.write(name, &bytes)?;
        }
    }
    user_site(home, real.join(".local/lib"))
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
