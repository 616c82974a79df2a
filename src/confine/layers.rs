//! The layers, their names, and what they leave open, in words.

use super::landlock;
use super::plan::Plan;
use super::wish::Network;

/// The PID namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pids {
    /// Made with the capability.
    Root,
    /// Made inside a user namespace with the identity map.
    User,
}

/// What is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// The whole tree of files read-only but for what is granted, in a mount namespace.
    pub mounts: bool,
    /// A PID namespace.
    pub pids: Option<Pids>,
    /// Landlock, with its ABI.
    pub landlock: Option<u32>,
}

impl Layers {
    /// Whether writes outside are refused: read-only mounts, or a Landlock that knows `truncate`.
    pub fn hold(self) -> bool {
        self.mounts || self.landlock.is_some_and(|abi| abi >= landlock::TRUNCATE)
    }

    /// The tier's name: the layers joined by `+`, or `unconfined`.
    pub fn tier(self) -> String {
        if !self.hold() {
            return "unconfined".to_owned();
        }
        let mut names = Vec::new();
        if self.mounts {
            names.push("mounts".to_owned());
        }
        if let Some(abi) = self.landlock {
            names.push(format!("landlock-abi{abi}"));
        }
        names.push(
            match self.pids {
                Some(Pids::Root) => "pidns",
                Some(Pids::User) => "pidns-user",
                None => "warden",
            }
            .to_owned(),
        );
        names.join("+")
    }

    /// What a process under this plan is not held back from, one phrase each, for people.
    pub fn not_covered(self, plan: &Plan) -> Vec<String> {
        let mut open: Vec<String> = Vec::new();
        let mut say = |words: &str| open.push(words.to_owned());
        let abi = self.landlock.unwrap_or(0);
        if !self.hold() {
            say("writing wherever you can: its worktree is where it starts, not a wall");
            say("reading your files");
            say("the network");
        } else {
            say("reading your files, but for the hidden ones");
            if !self.mounts {
                say("modes, owners, times and extended attributes of your files outside");
                say("the names in hidden folders");
                say("your terminals, and what your programs share in /dev/shm");
            }
            match &plan.network {
                Network::Allow => say("the network"),
                network => {
                    say(&format!("UDP and other protocols than TCP (network: {network})"));
                    say("listening on a port that the kernel picks");
                }
            }
            say(if plan.private.is_empty() {
                "Unix sockets by path, such as docker's or tmux's (`confinement: strict` hides /run and /tmp)"
            } else {
                "Unix sockets by path outside of /run and /tmp"
            });
            if abi < landlock::SCOPES {
                say("abstract Unix sockets");
            }
        }
        if self.pids.is_none() {
            say("priority and processors of your other processes, and System V IPC");
            if abi < landlock::SCOPES {
                say("signals to your other processes");
            }
            say("its daemons, if agentgate and its warden are killed together with SIGKILL");
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_names_its_layers() {
        let all = Layers {
            mounts: true,
            pids: Some(Pids::Root),
            landlock: Some(7),
        };
        assert_eq!(all.tier(), "mounts+landlock-abi7+pidns");
        let user = Layers {
            pids: Some(Pids::User),
            ..all
        };
        assert_eq!(user.tier(), "mounts+landlock-abi7+pidns-user");
        let landlock = Layers {
            mounts: false,
            pids: None,
            ..all
        };
        assert_eq!(landlock.tier(), "landlock-abi7+warden");
        assert_eq!(Layers::default().tier(), "unconfined");
    }

    #[test]
    fn an_old_landlock_alone_does_not_hold() {
        let old = Layers {
            landlock: Some(2),
            ..Layers::default()
        };
        assert!(!old.hold());
        assert_eq!(old.tier(), "unconfined");
        assert!(Layers { mounts: true, ..old }.hold());
    }
}
