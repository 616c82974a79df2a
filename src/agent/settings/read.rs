//! From a file's keys to settings.

use crate::confine::{Mode, Network};
use crate::gate::yaml::{At, Entry, Node, Source, Value};

use super::super::command::Input;
use super::super::profiles::{self, Origin, Profiles};
use super::super::values;
use super::keys::{self, AGENT, ROLES, elsewhere, not_here, unknown};
use super::{AgentSettings, NamedAgent, Owner, Runs, Settings, checks, copy};
use crate::job::role::Role;

/// The profiles that come with agentgate, changed by `profiles:`.
pub(super) fn profiles(source: &Source, entries: &[Entry]) -> Result<Profiles, String> {
    version(source, entries)?;
    let mut all = Profiles::built_in();
    if let Some(entry) = entries.iter().find(|entry| entry.key == "profiles") {
        profiles::changes(source, entry, &mut all, Origin::Person)?;
    }
    Ok(all)
}

pub(super) fn settings(
    source: &Source,
    entries: &[Entry],
    owner: Owner<'_>,
    profiles: &Profiles,
) -> Result<Settings, String> {
    version(source, entries)?;
    let mut settings = Settings::default();
    for entry in entries {
        keys::top(source, entry, owner)?;
        let (key, value) = (entry.key.as_str(), &entry.value);
        match key {
            "agents" => {
                for role in source.map(value, key)? {
                    let Some(which) = Role::of(&role.key) else {
                        return Err(unknown(source, role, "agents.", ROLES, &[]));
                    };
                    let read = agent(source, role, &format!("agents.{}", which.name()), owner, profiles)?;
                    if which != Role::Implementer && read.agent.is_none() {
                        let message = format!("`agents.{}` has neither a profile nor a command", which.name());
                        return Err(source.fault(
                            role.at,
                            &message,
                            "add `profile: NAME` or `command: my-agent --flags`",
                        ));
                    }
                    match which {
                        Role::Planner => settings.planner = Some(read),
                        Role::Implementer => settings.implementer = Some(read),
                        Role::Reviewer => settings.reviewer = Some(read),
                        Role::Fixer => settings.fixer = Some(read),
                    }
                }
            }
            "confinement" => {
                settings.confinement = Some(match source.choice(value, key, &["on", "strict", "off"])? {
                    "strict" => Mode::Strict,
                    "off" => Mode::Off,
                    _ => Mode::On,
                });
            }
            "network" => settings.network = Some(network(source, value)?),
            "hide" => settings.hide = places(source, value, key)?,
            "home_files" => settings.home_files = values::below_home(source, value, key)?,
            "pass_env" => settings.pass_env = values::names(source, value, key)?,
            "worktree_root" => {
                let text = source.string(value, "`worktree_root`")?;
                settings.worktree_root = Some(values::place(source, text, value.at, key)?);
            }
            "setup" => settings.setup = setup(source, value)?,
            "copy" => settings.copy = copy::copies(source, value, owner)?,
            "checks" => settings.checks = checks::checks(source, value)?,
            "max_review_rounds" => settings.max_review_rounds = Some(count(source, value, key, 1, 20)?),
            "max_attempts" => settings.max_attempts = Some(count(source, value, key, 0, 10)?),
            "max_agent_calls" => settings.max_agent_calls = Some(count(source, value, key, 1, 1000)?),
            "max_job_time" => settings.max_job_time = Some(values::duration(source, value, key)?),
            // `version` and `profiles` were read before.
            _ => {}
        }
    }
    Ok(settings)
}

/// First, since a later version may have any other key.
fn version(source: &Source, entries: &[Entry]) -> Result<(), String> {
    let Some(entry) = entries.iter().find(|entry| entry.key == "version") else {
        return Ok(());
    };
    match source.number(&entry.value, "version")? {
        1 => Ok(()),
        version => {
            let message = format!("version {version} is not known to this version of agentgate");
            Err(source.fault(entry.value.at, &message, "it reads `version: 1`"))
        }
    }
}

fn agent(
    source: &Source,
    role: &Entry,
    key: &str,
    owner: Owner<'_>,
    profiles: &Profiles,
) -> Result<AgentSettings, String> {
    let mut settings = AgentSettings::default();
    let (mut runs, mut input, mut env) = (None, None, None);
    for entry in source.map(&role.value, key)? {
        let (inner, value) = (format!("{key}.{}", entry.key), &entry.value);
        match entry.key.as_str() {
            "command" | "profile" if runs.is_some() => {
                let message = format!("`{key}` has both a profile and a command");
                return Err(source.fault(entry.at, &message, "keep one of the two"));
            }
            "command" => runs = Some((Runs::Command(values::command(source, value, &inner)?), value.at)),
            "profile" => {
                let name = source.string(value, &format!("`{inner}`"))?;
                if profiles.find(name).is_none() {
                    let message = format!("there is no profile `{}`", name.escape_debug());
                    return Err(source.fault(value.at, &message, &profiles.hint(name)));
                }
                runs = Some((Runs::Profile(name.to_owned()), value.at));
            }
            "input" => input = Some((Input::parse(source.choice(value, &inner, &Input::WORDS)?), entry.at)),
            "env" => env = Some((values::variables(source, value, &inner)?, entry)),
            "model_label" => settings.model_label = Some(values::label(source, value, &inner)?),
            "timeout" => settings.timeout = Some(values::duration(source, value, &inner)?),
            "idle_timeout" => settings.idle_timeout = Some(values::duration(source, value, &inner)?),
            _ => return Err(unknown(source, entry, &format!("{key}."), AGENT, &[])),
        }
    }
    let alone = |at: At, name: &str, needed: &str| {
        let message = format!("`{key}.{name}` without {needed}");
        Err(source.fault(at, &message, "add `command: my-agent --flags`, or remove it"))
    };
    match (&runs, input) {
        (Some((Runs::Command(words), place)), Some((input, _))) => {
            if let Err((what, hint)) = input.agrees_with(words) {
                return Err(source.fault(*place, &format!("`{key}.command` {what}"), hint));
            }
        }
        (_, Some((_, at))) => return alone(at, "input", "a command"),
        _ => {}
    }
    // A proxy, a certificate or an option of its interpreter: any of them can send the person's key to where the
    // repository says.
    if let (Owner::Repository(person), Some((Runs::Profile(_), _)), Some((_, entry))) = (owner, &runs, &env) {
        return Err(source.fault(entry.at, &not_here("`env` beside a profile"), &elsewhere(person, None)));
    }
    settings.agent = match (runs, env) {
        (None, Some((_, entry))) => return alone(entry.at, "env", "a command or a profile"),
        (None, None) => None,
        (Some((runs, _)), env) => Some(NamedAgent {
            runs,
            env: env.map(|(env, _)| env).unwrap_or_default(),
        }),
    };
    Ok(settings)
}

/// A whole number between two bounds.
fn count(source: &Source, node: &Node, key: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = u64::from(source.number(node, key)?);
    match Some(number).filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(number),
        None => {
            let message = format!("`{key}` is {number}");
            Err(source.fault(node.at, &message, &format!("a number from {least} to {most}")))
        }
    }
}

fn network(source: &Source, node: &Node) -> Result<Network, String> {
    let Value::Map(_) = &node.value else {
        return match source.choice(node, "network", &["allow", "deny-tcp"]) {
            Ok("deny-tcp") => Ok(Network::DenyTcp),
            Ok(_) => Ok(Network::Allow),
            Err(_) => {
                let message = "`network` must be `allow`, `deny-tcp` or `{ports: [443]}`";
                Err(source.fault(node.at, message, "ports are those that can be connected to over TCP"))
            }
        };
    };
    let mut ports = Vec::new();
    for entry in source.map(node, "network")? {
        if entry.key != "ports" {
            return Err(unknown(source, entry, "network.", &["ports"], &[]));
        }
        if !matches!(entry.value.value, Value::List(_)) {
            let message = format!("`network.ports` must be a list, not {}", entry.value.value.kind());
            return Err(source.fault(entry.value.at, &message, "write `network: {ports: [443]}`"));
        }
        for (index, item) in source.list(&entry.value, "network.ports")?.iter().enumerate() {
            let port = match &item.value {
                Value::Int(number) => u16::try_from(*number).ok().filter(|port| *port != 0),
                _ => None,
            };
            match port {
                Some(port) if ports.contains(&port) => {
                    let message = format!("port {port} stands twice in `network.ports`");
                    return Err(source.fault(item.at, &message, "remove one of the two"));
                }
                Some(port) => ports.push(port),
                None => {
                    let message = format!("`network.ports[{index}]` is no port");
                    return Err(source.fault(item.at, &message, "a port is a number from 1 to 65535, without quotes"));
                }
            }
        }
    }
    Ok(Network::Ports(ports))
}

fn places(source: &Source, node: &Node, key: &str) -> Result<Vec<String>, String> {
    let texts = source.strings(node, key)?.into_iter();
    texts.map(|(text, at)| values::place(source, text, at, key)).collect()
}

fn setup(source: &Source, node: &Node) -> Result<Vec<Vec<String>>, String> {
    if !matches!(node.value, Value::List(_)) {
        let message = format!("`setup` must be a list of commands, not {}", node.value.kind());
        return Err(source.fault(
            node.at,
            &message,
            "write `setup: [\"npm ci\"]`, or one command a line behind `-`",
        ));
    }
    let items = source.list(node, "setup")?.iter().enumerate();
    items
        .map(|(index, item)| values::command(source, item, &format!("setup[{index}]")))
        .collect()
}
