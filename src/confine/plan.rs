//! What one confined process may do, and how that reaches the process that becomes it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::layers::{Layers, Pids};
use super::wish::Network;

/// The limits of one process and all it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The layers to apply. One that cannot be applied is a failure.
    pub layers: Layers,
    /// Folders that may be written, with all below them. They exist, and no link leads to them.
    pub writable: Vec<PathBuf>,
    /// Files and folders that cannot be read. What does not exist is passed over; a folder among
    /// them may hold writable ones, which stay.
    pub hidden: Vec<PathBuf>,
    /// Files that are seen in the place of others: what is seen, and where. Needs the mounts.
    pub over: Vec<(PathBuf, PathBuf)>,
    /// Paths that must stay as they are below a folder that is hidden or made private: what the
    /// process cannot work without.
    pub needed: Vec<PathBuf>,
    /// Folders of the machine that are replaced by private ones (`/run`, `/tmp`). Needs the mounts.
    pub private: Vec<PathBuf>,
    /// TCP.
    pub network: Network,
}

impl Plan {
    /// As arguments: a letter, then the value; `--` ends them. Paths go as they are.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args = vec![word(b'l', self.layers.to_text().as_bytes())];
        let network = match &self.network {
            Network::Allow => String::new(),
            Network::DenyTcp => "deny".to_owned(),
            Network::Ports(ports) => ports.iter().map(u16::to_string).collect::<Vec<_>>().join(","),
        };
        args.push(word(b't', network.as_bytes()));
        let lists = [
            (b'w', &self.writable),
            (b'h', &self.hidden),
            (b'n', &self.needed),
            (b'p', &self.private),
        ];
        for (letter, paths) in lists {
            args.extend(paths.iter().map(|path| word(letter, path.as_os_str().as_bytes())));
        }
        for (seen, at) in &self.over {
            args.push(word(b's', seen.as_os_str().as_bytes()));
            args.push(word(b'a', at.as_os_str().as_bytes()));
        }
        args.push("--".into());
        args
    }

    /// The plan and what follows it.
    pub(crate) fn from_args(args: &[OsString]) -> Option<(Plan, &[OsString])> {
        let mut plan = Plan::default();
        let end = args.iter().position(|arg| arg == "--")?;
        let mut seen: Option<PathBuf> = None;
        for arg in &args[..end] {
            let (letter, value) = arg.as_bytes().split_first()?;
            let value = OsStr::from_bytes(value);
            let path = PathBuf::from(value);
            match letter {
                b'l' => plan.layers = Layers::from_text(value.to_str()?)?,
                b't' => plan.network = network(value.to_str()?)?,
                b'w' => plan.writable.push(path),
                b'h' => plan.hidden.push(path),
                b'n' => plan.needed.push(path),
                b'p' => plan.private.push(path),
                b's' => seen = Some(path),
                b'a' => plan.over.push((seen.take()?, path)),
                _ => return None,
            }
        }
        Some((plan, &args[end + 1..]))
    }

    /// Whether the layers leave `/dev/shm` writable: with mounts a private one; without, only where nothing
    /// that must not be written lies in it.
    pub fn leaves_memory_folder(&self) -> bool {
        let inside = |path: &PathBuf| path.starts_with(super::SHM);
        self.layers.mounts || !self.needed.iter().chain(&self.writable).any(inside)
    }
}

impl Layers {
    fn to_text(self) -> String {
        let pids = match self.pids {
            None => '-',
            Some(Pids::Root) => 'r',
            Some(Pids::User) => 'u',
        };
        let mounts = if self.mounts { 'm' } else { '-' };
        format!("{mounts}{pids}{}", self.landlock.unwrap_or(0))
    }

    fn from_text(text: &str) -> Option<Layers> {
        let mut letters = text.chars();
        let mounts = letters.next()? == 'm';
        let pids = match letters.next()? {
            'r' => Some(Pids::Root),
            'u' => Some(Pids::User),
            _ => None,
        };
        let abi: u32 = letters.as_str().parse().ok()?;
        Some(Layers {
            mounts,
            pids,
            landlock: (abi > 0).then_some(abi),
        })
    }
}

fn network(text: &str) -> Option<Network> {
    Some(match text {
        "" => Network::Allow,
        "deny" => Network::DenyTcp,
        ports => Network::Ports(ports.split(',').map(str::parse).collect::<Result<_, _>>().ok()?),
    })
}

fn word(letter: u8, value: &[u8]) -> OsString {
    OsString::from_vec([&[letter], value].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_survives_the_way_through_arguments() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/a\xff b/--"));
        let plan = Plan {
            layers: Layers {
                mounts: true,
                pids: Some(Pids::User),
                landlock: Some(7),
            },
            writable: vec![odd.clone(), "/w".into()],
            hidden: vec!["/h".into()],
            over: vec![(odd.clone(), "/o".into())],
            needed: vec!["/n".into()],
            private: vec!["/run".into()],
            network: Network::Ports(vec![443, 80]),
        };
        let mut args = plan.to_args();
        args.push("rest".into());
        let (read, rest) = Plan::from_args(&args).expect("it is one");
        assert_eq!(read, plan);
        assert_eq!(rest, ["rest"]);
        for network in [Network::Allow, Network::DenyTcp] {
            let plan = Plan {
                network,
                ..Plan::default()
            };
            assert_eq!(Plan::from_args(&plan.to_args()).map(|(plan, _)| plan), Some(plan));
        }
    }

    #[test]
    fn a_broken_plan_is_none() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for text in ["", "w/a", "x/a --", "lm --", "t70000 --", "a/x --"] {
            assert!(Plan::from_args(&words(text)).is_none(), "{text:?}");
        }
    }
}
