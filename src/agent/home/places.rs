//! Which variables lead into the private home.

use std::ffi::OsStr;

use anyhow::Result;

use super::Person;
use super::folder::{self, Private};

/// Set for every agent: name, and folder below the home.
const ALWAYS: &[(&str, &str)] = &[
    ("HOME", ""),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    // State of agents.
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CODEX_HOME", ".codex"),
    ("COPILOT_HOME", ".copilot"),
    // Caches and stores of tools.
    ("CARGO_HOME", ".cargo"),
    ("CCACHE_DIR", ".cache/ccache"),
    ("SCCACHE_DIR", ".cache/sccache"),
    ("npm_config_cache", ".npm"),
    ("YARN_GLOBAL_FOLDER", ".yarn/berry"),
    ("BUN_INSTALL_CACHE_DIR", ".cache/bun"),
    ("DENO_DIR", ".cache/deno"),
    ("PIP_CACHE_DIR", ".cache/pip"),
    ("UV_CACHE_DIR", ".cache/uv"),
    ("PRE_COMMIT_HOME", ".cache/pre-commit"),
    ("GOPATH", "go"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("GOCACHE", ".cache/go-build"),
    ("GRADLE_USER_HOME", ".gradle"),
];

/// Set where the person has set them; else their tools look below HOME or the XDG folders, and
/// some (yarn's cache folder) would no longer find what a repository brings along.
const WHERE_SET: &[(&str, &str)] = &[
    ("BUNDLE_USER_HOME", ".bundle"),
    ("CABAL_DIR", ".cabal"),
    ("CARGO_INSTALL_ROOT", ".cargo"),
    ("COMPOSER_CACHE_DIR", ".cache/composer"),
    ("COMPOSER_HOME", ".config/composer"),
    ("CONAN_USER_HOME", ".conan-home"),
    ("CONDA_PKGS_DIRS", ".conda/pkgs"),
    ("CRUSH_GLOBAL_DATA", ".local/share/crush"),
    ("DOTNET_CLI_HOME", ".dotnet-home"),
    ("GOBIN", "go/bin"),
    ("GOTMPDIR", ".cache/go-tmp"),
    ("HEX_HOME", ".hex"),
    ("HF_HOME", ".cache/huggingface"),
    ("MIX_HOME", ".mix"),
    ("MPLCONFIGDIR", ".config/matplotlib"),
    ("MYPY_CACHE_DIR", ".cache/mypy"),
    ("NUGET_PACKAGES", ".nuget/packages"),
    ("NX_CACHE_DIRECTORY", ".cache/nx"),
    ("PIPENV_CACHE_DIR", ".cache/pipenv"),
    ("PIPX_HOME", ".local/share/pipx"),
    ("PIPX_BIN_DIR", ".local/bin"),
    ("PNPM_HOME", ".local/share/pnpm"),
    ("POETRY_CACHE_DIR", ".cache/pypoetry"),
    ("POETRY_DATA_DIR", ".local/share/pypoetry"),
    ("PUB_CACHE", ".pub-cache"),
    ("PYTHONPYCACHEPREFIX", ".cache/pycache"),
    ("RUFF_CACHE_DIR", ".cache/ruff"),
    ("TURBO_CACHE_DIR", ".cache/turbo"),
    ("UV_TOOL_BIN_DIR", ".local/bin"),
    ("UV_TOOL_DIR", ".local/share/uv/tools"),
    ("WORKON_HOME", ".virtualenvs"),
    ("XDG_BIN_HOME", ".local/bin"),
    ("YARN_CACHE_FOLDER", ".cache/yarn"),
];

/// Everything that names a temporary folder.
const TEMPORARY: &[&str] = &["TMPDIR", "TMP", "TEMP", "TEMPDIR", "TMUX_TMPDIR"];

pub(super) fn make(home: &mut Private) -> Result<()> {
    for (name, below) in ALWAYS {
        let place = if below.is_empty() {
            home.folder.clone()
        } else {
            home.dir(below)?
        };
        home.set(name, place.as_os_str());
    }
    for name in TEMPORARY {
        let tmp = home.tmp.clone();
        home.set(name, tmp.as_os_str());
    }
    // Without one, tools go to /run/user/<uid>, where the person's session listens.
    let run = home.tmp.join("run");
    folder::make(&run)?;
    home.set("XDG_RUNTIME_DIR", run.as_os_str());
    Ok(())
}

pub(super) fn redirect_what_is_set(home: &mut Private, person: Person<'_>) -> Result<()> {
    for (name, below) in WHERE_SET {
        if person.var(name).is_some() {
            let place = home.dir(below)?;
            home.set(name, place.as_os_str());
        }
    }
    // A target folder outside of the worktree is a cache that jobs would share.
    for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"] {
        if person.path(name).is_some() {
            let place = home.dir(".cache/cargo-target")?;
            home.set(name, place.as_os_str());
        }
    }
    // What an agent installs for itself is found, after all that the person has.
    let mut path = person.var("PATH").unwrap_or(OsStr::new("/usr/bin:/bin")).to_owned();
    for below in [".local/bin", ".cargo/bin", "go/bin"] {
        path.push(":");
        path.push(home.folder.join(below));
    }
    home.set("PATH", &path);
    Ok(())
}
