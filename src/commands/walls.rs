//! From what the person asked for and what the machine offers to what one program may do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Surroundings;
use crate::confine::{Layers, Mode, Network, Plan, Probe};
use crate::exit::{Exit, Stop};
use crate::git::lfs;
use crate::git::places::Places;
use crate::git::repo::Checkout;
use crate::process;

/// What lies below a home and holds keys to other places: hidden from agents.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".oci",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/op",
    ".config/sops",
    ".config/rclone",
    ".config/containers/auth.json",
    ".netrc",
    ".git-credentials",
    ".kube",
    ".docker/config.json",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".fly",
    ".heroku",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".password-store",
    ".copilot",
    ".config/github-copilot",
    ".config/goose/secrets.yaml",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".env",
    ".local/share/keyrings",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".thunderbird",
];

/// The walls of a job: the layers in force, and what the person wants of them.
#[derive(Clone, Debug, Default)]
pub struct Walls {
    /// The layers.
    pub layers: Layers,
    /// `confinement:`
    pub mode: Mode,
    /// `network:`
    pub network: Network,
    /// `hide:`, absolute.
    pub hide: Vec<PathBuf>,
    /// Login files of known agents, absolute: each job gets copies of its own agent's alone.
    pub logins: Vec<PathBuf>,
    /// Paths that would be hidden and that the agent needs, absolute.
    pub show: Vec<PathBuf>,
}

/// What this machine offers, tried for real in a process of its own.
///
/// # Errors
/// That process could not be started.
pub fn probe() -> Result<Probe> {
    process::try_layers().map_err(Into::into)
}

impl Walls {
    /// Chooses the layers for what was asked. `waived`: go on where the machine offers none.
    ///
    /// # Errors
    /// Exit 21 with the reason and the remedies.
    pub fn choose(mode: Mode, network: Network, waived: bool) -> Result<Walls> {
        let layers = if mode == Mode::Off {
            Layers::default()
        } else {
            Walls::layers_of(&probe()?, mode, &network, waived)?
        };
        Ok(Walls {
            layers,
            mode,
            network,
            ..Walls::default()
        })
    }

    /// The layers that a machine with these answers gives for what was asked.
    ///
    /// # Errors
    /// As [`Walls::choose`].
    pub fn layers_of(probe: &Probe, mode: Mode, network: &Network, waived: bool) -> Result<Layers, Stop> {
        probe.choose(mode, network, waived).map_err(|refused| {
            let stop = Stop::new(Exit::Unconfined, refused.what);
            refused.remedies.iter().fold(stop, |stop, remedy| stop.hint(remedy))
        })
    }

    /// What is to be hidden and cannot be: a notice each.
    ///
    /// # Errors
    /// Exit 64 for the root.
    pub fn odd_to_hide(&self) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        for path in &self.hide {
            match std::fs::canonicalize(path) {
                Ok(real) if real == Path::new("/") => {
                    let what = format!("hide: {} is everything, the job's own folder too", path.display());
                    return Err(Stop::new(Exit::Usage, what).hint("name what is to be hidden").into());
                }
                Ok(_) => {}
                Err(error) => notices.push(format!(
                    "hide: {} hides nothing: {error} (paths are literal, no patterns)",
                    path.display()
                )),
            }
        }
        Ok(notices)
    }

    /// What the person has narrowed beyond the layers, in a word or two each.
    pub fn narrowed(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.layers.hold() {
            return words;
        }
        if self.mode == Mode::Strict {
            words.push("strict".to_owned());
        }
        match &self.network {
            Network::Allow => {}
            Network::DenyTcp => words.push("deny-tcp".to_owned()),
            Network::Ports(ports) => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                words.push(format!("tcp ports {}", ports.join(" ")));
            }
        }
        words.extend(self.hide.iter().map(|path| format!("hidden {}", path.display())));
        words
    }

    /// What the agent of a job may do.
    pub fn agent(&self, checkout: &Checkout, places: &Places, program: &Path, surroundings: &Surroundings) -> Plan {
        let mut plan = self.tool(places.writable());
        if !self.layers.hold() {
            return plan;
        }
        plan.network = self.network.clone();
        plan.private = Plan::private_of(self.mode);
        if self.layers.mounts {
            plan.over.push((places.git_pointer(), places.worktree.join(".git")));
        }
        plan.needed = vec![
            checkout.common.clone(),
            checkout.git_dir.clone(),
            places.private.clone(),
        ];
        plan.needed.extend(checkout.workdir.clone());
        plan.needed.push(checkout.clone.clone());
        plan.needed.push(program.to_owned());
        plan.needed.extend(std::fs::canonicalize(program));
        // Where names are looked up, and programs found, on systems that keep these below /run.
        plan.needed.extend(std::fs::canonicalize("/etc/resolv.conf"));
        let path = surroundings.var("PATH").unwrap_or(OsStr::new(""));
        plan.needed
            .extend(std::env::split_paths(path).filter(|folder| folder.is_absolute() && folder.starts_with("/run")));
        let home = surroundings.home().filter(|home| home.is_absolute());
        let secrets = SECRETS.iter().filter_map(|secret| Some(home?.join(secret)));
        let hidden = [places.root.clone(), checkout.common.join("agentgate")]
            .into_iter()
            .chain(secrets)
            .chain(self.logins.iter().cloned())
            .chain(self.hide.iter().cloned());
        // A link is hidden where it leads; what is not there cannot be.
        let mut hidden: Vec<PathBuf> = hidden.filter_map(|path| std::fs::canonicalize(path).ok()).collect();
        hidden.retain(|path| {
            !self
                .show
                .iter()
                .any(|shown| shown.starts_with(path) || path.starts_with(shown))
        });
        hidden.sort();
        hidden.dedup();
        plan.hidden = hidden;
        plan
    }

    /// For a git that runs the person's filters on what an agent wrote, when the job is over: all that this
    /// machine offers. Where that is nothing, they run as for any checkout of it.
    ///
    /// # Errors
    /// The layers could not be tried.
    pub fn for_filters(checkout: &Checkout, worktree: &Path, mut writable: Vec<PathBuf>) -> Result<Plan> {
        let mut walls = Walls::choose(Mode::On, Network::Allow, true)?;
        if !walls.layers.hold() {
            walls.layers = Layers::default();
        }
        // git-lfs keeps what it reads and what it is given there.
        writable.extend(Some(lfs::store_of(checkout)?).filter(|cache| cache.is_dir()));
        Ok(Plan {
            needed: vec![worktree.to_owned(), checkout.common.clone()],
            ..walls.tool(writable)
        })
    }

    /// What a trusted tool may do that works on what an agent left: write there.
    pub fn tool(&self, writable: Vec<PathBuf>) -> Plan {
        Plan {
            layers: self.layers,
            writable,
            ..Plan::default()
        }
    }
}
