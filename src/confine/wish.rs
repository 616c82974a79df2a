//! What a person can ask of the confinement.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `confinement:` of the settings, or `--confinement`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `on`: what the kernel offers; refused with exit 21 where that is not enough.
    #[default]
    On,
    /// `strict`: also hides `/run` and the host's `/tmp` behind empty private mounts.
    Strict,
    /// `off`: no layer is applied; the clone is compared before and after instead. (`--allow-unconfined` is
    /// another thing: it applies what there is, and goes on where that is nothing.)
    Off,
}

/// `network:` of the settings, or `--network`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// `allow`: as the person's own programs.
    #[default]
    Allow,
    /// `deny-tcp`: neither connecting nor listening over TCP.
    DenyTcp,
    /// `ports: [443]`: TCP to and on these ports alone.
    Ports(Vec<u16>),
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Network::Allow => f.write_str("allow"),
            Network::DenyTcp => f.write_str("deny-tcp"),
            Network::Ports(ports) => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                write!(f, "ports {}", ports.join(", "))
            }
        }
    }
}
