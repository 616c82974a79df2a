//! Which layers this machine offers, and why one is missing.
//!
//! Each is tried with the calls that it needs. A library's "best effort" reports success where
//! nothing is enforced, so nothing is taken for granted here.

use std::io;

use rustix::io::Errno;

use super::layers::{Layers, Pids};
use super::plan::Plan;
use super::wish::{Mode, Network};
use super::{landlock, mounts, namespaces};

/// What a process that tried the namespaces and mounts found; see [`Answer::find`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The PID and mount namespaces, or the errno.
    pub pids: Option<Pids>,
    /// Why there are none.
    pub pids_errno: i32,
    /// Whether the mounts can be made.
    pub mounts: bool,
    /// Why not.
    pub mounts_errno: i32,
}

impl Answer {
    /// Tries to enter. What is started after it can try the mounts.
    pub fn find() -> Answer {
        match namespaces::try_enter() {
            Ok(pids) => Answer {
                pids: Some(pids),
                ..Answer::default()
            },
            Err(error) => Answer {
                pids_errno: errno(&error),
                mounts_errno: errno(&error),
                ..Answer::default()
            },
        }
    }

    /// Tries the mounts, in the namespace that was entered.
    pub fn try_mounts(mut self) -> Answer {
        match mounts::probe() {
            Ok(()) => self.mounts = true,
            Err(error) => self.mounts_errno = errno(&error),
        }
        self
    }

    /// Four numbers in one line.
    pub fn to_text(self) -> String {
        let pids = match self.pids {
            None => 0,
            Some(Pids::Root) => 1,
            Some(Pids::User) => 2,
        };
        format!(
            "{pids} {} {} {}\n",
            self.pids_errno,
            u8::from(self.mounts),
            self.mounts_errno
        )
    }

    /// Reads them back.
    pub fn from_text(text: &str) -> Option<Answer> {
        let numbers: Vec<i32> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [pids, pids_errno, mounts, mounts_errno] = numbers[..] else {
            return None;
        };
        Some(Answer {
            pids: match pids {
                1 => Some(Pids::Root),
                2 => Some(Pids::User),
                _ => None,
            },
            pids_errno,
            mounts: mounts == 1,
            mounts_errno,
        })
    }
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())
}

/// What this machine offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Namespaces and mounts.
    pub answer: Answer,
    /// Landlock's ABI, or the errno.
    pub landlock: Result<u32, i32>,
    /// What the machine's own files say, for the reasons.
    signs: Signs,
}

/// Facts that tell apart why a call was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Signs {
    /// Major and minor version of the kernel.
    kernel: (u32, u32),
    /// A seccomp filter is on this process.
    filtered: bool,
    /// A setting that forbids user namespaces: its name.
    forbidden: Option<&'static str>,
    root: bool,
}

/// Why the confinement that was asked for is not to be had; exit 21.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One line.
    pub what: String,
    /// What to do, one line each.
    pub remedies: Vec<String>,
}

impl Probe {
    /// From the answer of a process that tried, and from a look at this one.
    pub fn new(answer: Answer) -> Probe {
        Probe {
            answer,
            landlock: landlock::abi().map_err(|error| errno(&error)),
            signs: Signs::read(),
        }
    }

    /// All layers that there are.
    pub fn layers(&self) -> Layers {
        Layers {
            mounts: self.answer.mounts && self.answer.pids.is_some(),
            pids: self.answer.pids,
            landlock: self.landlock.ok(),
        }
    }

    /// The layers for a job, or why there are not enough. `waived`: go on all the same.
    pub fn choose(&self, mode: Mode, network: &Network, waived: bool) -> Result<Layers, Refused> {
        if mode == Mode::Off {
            return Ok(Layers::default());
        }
        let layers = self.layers();
        if mode == Mode::Strict && !layers.mounts {
            return Err(Refused {
                what: format!("`confinement: strict` needs read-only mounts, and {}", self.no_mounts()),
                remedies: self.remedies(),
            });
        }
        if *network != Network::Allow && layers.landlock.is_none_or(|abi| abi < landlock::TCP) {
            return Err(Refused {
                what: format!(
                    "`network: {network}` needs Landlock ABI 4 (Linux 6.7), and {}",
                    self.no_landlock(landlock::TCP)
                ),
                remedies: vec!["leave the network open, and say so: --network allow".to_owned()],
            });
        }
        if layers.hold() || waived {
            return Ok(layers);
        }
        Err(Refused {
            what: format!(
                "nothing here would keep the agent's writes inside its worktree: {}; {}",
                self.no_landlock(landlock::TRUNCATE),
                self.no_mounts()
            ),
            remedies: self.remedies(),
        })
    }

    /// One line a layer: in force, or why not.
    pub fn lines(&self) -> Vec<String> {
        let pids = match self.answer.pids {
            Some(Pids::Root) => "pidns: yes".to_owned(),
            Some(Pids::User) => "pidns-user: yes, inside a user namespace".to_owned(),
            None => format!(
                "pidns: no, {}; a warden ends the agent's processes",
                self.no_namespaces()
            ),
        };
        let mounts = match self.layers().mounts {
            true => "mounts: yes".to_owned(),
            false => format!("mounts: no, {}", self.no_mounts()),
        };
        let landlock = match self.landlock {
            Ok(abi) if abi >= landlock::TRUNCATE => format!("landlock-abi{abi}: yes"),
            _ => format!("landlock: no, {}", self.no_landlock(landlock::TRUNCATE)),
        };
        vec![mounts, landlock, pids]
    }

    fn no_landlock(&self, wanted: u32) -> String {
        let (major, minor) = self.signs.kernel;
        match self.landlock {
            Ok(abi) if abi < wanted => format!("the kernel's Landlock is too old (ABI {abi}; {wanted} is needed)"),
            Ok(abi) => format!("Landlock is there (ABI {abi})"),
            Err(code) if code == Errno::OPNOTSUPP.raw_os_error() => {
                "Landlock is built into the kernel but not in its boot list".to_owned()
            }
            Err(code) if code == Errno::NOSYS.raw_os_error() && self.signs.kernel < (5, 13) => {
                format!("the kernel is too old for Landlock ({major}.{minor}; 5.13 has it)")
            }
            Err(code) if code == Errno::NOSYS.raw_os_error() && !self.signs.filtered => {
                "the kernel was built without Landlock".to_owned()
            }
            Err(code) => format!(
                "Landlock is blocked, it seems by the container's system call filter ({})",
                name(code)
            ),
        }
    }

    fn no_mounts(&self) -> String {
        let (major, minor) = self.signs.kernel;
        let code = self.answer.mounts_errno;
        if self.answer.pids.is_none() {
            return self.no_namespaces();
        }
        if self.answer.mounts {
            return "read-only mounts are there".to_owned();
        }
        if code == Errno::NOSYS.raw_os_error() && self.signs.kernel < (5, 12) {
            return format!(
                "the kernel is too old for read-only mounts of a whole tree ({major}.{minor}; 5.12 has them)"
            );
        }
        if self.signs.filtered {
            return format!(
                "mounts are blocked by the container's system call filter ({})",
                name(code)
            );
        }
        match self.signs.forbidden {
            Some(setting) => format!("user namespaces have no rights here ({setting})"),
            None => format!("mounts are refused ({})", name(code)),
        }
    }

    fn no_namespaces(&self) -> String {
        let code = self.answer.pids_errno;
        match (self.signs.forbidden, self.signs.filtered) {
            (Some(setting), _) => format!("user namespaces are forbidden ({setting})"),
            (None, true) => format!(
                "namespaces are blocked by the container's system call filter ({})",
                name(code)
            ),
            (None, false) if code == Errno::NOSPC.raw_os_error() => {
                "user namespaces are forbidden (user.max_user_namespaces)".to_owned()
            }
            (None, false) => format!("namespaces are refused ({})", name(code)),
        }
    }

    fn remedies(&self) -> Vec<String> {
        let mut remedies = Vec::new();
        if self.landlock == Err(Errno::OPNOTSUPP.raw_os_error()) {
            remedies.push("add landlock to the kernel's boot list: lsm=landlock,... on its command line".to_owned());
        }
        if self.signs.filtered {
            remedies.push(
                "let the container's filter pass landlock_*, unshare and mount_setattr (docker: --security-opt \
                 seccomp=FILE)"
                    .to_owned(),
            );
        }
        if let Some(setting) = self.signs.forbidden
            && !self.signs.root
        {
            remedies.push(match setting {
                "kernel.apparmor_restrict_unprivileged_userns" => {
                    "allow user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0".to_owned()
                }
                "kernel.unprivileged_userns_clone" => {
                    "allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1".to_owned()
                }
                _ => "allow user namespaces: sudo sysctl user.max_user_namespaces=10000".to_owned(),
            });
        }
        if self.signs.kernel < (6, 2) {
            remedies.push("use a kernel of 6.2 or newer".to_owned());
        }
        remedies.push(
            "or take the risk: --allow-unconfined (recorded in the commit; the clone is then compared before and after)"
                .to_owned(),
        );
        remedies
    }
}

/// What a plan of this mode hides beside the paths that were asked for.
impl Plan {
    /// The folders of the machine that `strict` replaces.
    pub fn private_of(mode: Mode) -> Vec<std::path::PathBuf> {
        match mode {
            Mode::Strict => vec!["/run".into(), "/tmp".into()],
            Mode::On | Mode::Off => Vec::new(),
        }
    }
}

fn name(code: i32) -> String {
    let names = [
        (Errno::NOSYS, "ENOSYS"),
        (Errno::PERM, "EPERM"),
        (Errno::ACCESS, "EACCES"),
        (Errno::OPNOTSUPP, "EOPNOTSUPP"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::USERS, "EUSERS"),
    ];
    let known = names.iter().find(|(errno, _)| errno.raw_os_error() == code);
    known.map_or_else(|| format!("errno {code}"), |(_, name)| (*name).to_owned())
}

impl Signs {
    fn read() -> Signs {
        let uname = rustix::system::uname();
        let release = uname.release().to_string_lossy().into_owned();
        let mut numbers = release
            .split(|c: char| !c.is_ascii_digit())
            .map(|part| part.parse().unwrap_or(0));
        let kernel = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let filtered = status
            .lines()
            .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
        let setting = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
        let forbidden = if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
            Some("user.max_user_namespaces")
        } else if setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0") {
            Some("kernel.unprivileged_userns_clone")
        } else if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
            Some("kernel.apparmor_restrict_unprivileged_userns")
        } else {
            None
        };
        Signs {
            kernel,
            filtered,
            forbidden,
            root: rustix::process::geteuid().is_root(),
        }
    }
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
