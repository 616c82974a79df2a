//! Profiles from YAML: the embedded file, and the person's `profiles:`.

use crate::gate::yaml::{self, Entry, Source, nearest};

use super::super::command::Input;
use super::super::values;
use super::{Mcp, Origin, Profile, Profiles, SANDBOX};

/// Keys of a profile.
pub const KEYS: &[&str] = &[
    "command",
    "programs",
    "generic",
    "input",
    "sandbox",
    "env",
    "pass_env",
    "home_files",
    "home_folders",
    "needs",
    "mcp",
    "note",
];

/// The embedded file.
pub(super) fn built_in(text: &str) -> Result<Profiles, String> {
    let (source, entries) = yaml::read("profiles.yml", text.as_bytes())?;
    let mut profiles = Profiles(Vec::new());
    for entry in &entries {
        match entry.key.as_str() {
            "version" => {}
            "profiles" => changes(&source, entry, &mut profiles, Origin::BuiltIn)?,
            _ => return Err(source.fault(entry.at, "unknown key", "known here: version, profiles")),
        }
    }
    Ok(profiles)
}

/// Changes and adds what stands under `profiles:`. A key replaces the one that was there; `env` adds or
/// replaces single variables.
pub(in crate::agent) fn changes(
    source: &Source,
    profiles_entry: &Entry,
    profiles: &mut Profiles,
    origin: Origin,
) -> Result<(), String> {
    for entry in source.map(&profiles_entry.value, "profiles")? {
        let name = entry.key.as_str();
        if !valid_name(name) {
            let message = format!("`{}` cannot be the name of a profile", name.escape_debug());
            return Err(source.fault(entry.at, &message, "1 to 32 of a-z 0-9 - _, beginning with a letter"));
        }
        let at = profiles.0.iter().position(|profile| profile.name == name);
        let old = at.map(|at| profiles.0[at].clone());
        let new = profile(source, entry, old, origin)?;
        match at {
            Some(at) => profiles.0[at] = new,
            None => profiles.0.push(new),
        }
    }
    Ok(())
}

fn valid_name(name: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    name.len() <= 32 && name.bytes().all(letter) && name.starts_with(|first: char| first.is_ascii_lowercase())
}

fn profile(source: &Source, entry: &Entry, old: Option<Profile>, origin: Origin) -> Result<Profile, String> {
    let key = format!("profiles.{}", entry.key);
    let mut profile = match old {
        Some(old) => Profile {
            origin: Origin::Changed,
            ..old
        },
        None => new(&entry.key, origin),
    };
    let (mut input, mut programs, mut generic, mut own_sandbox, mut its_mcp) = (None, None, None, None, None);
    let mut place = entry.at;
    for entry in source.map(&entry.value, &key)? {
        let (inner, value) = (format!("{key}.{}", entry.key), &entry.value);
        match entry.key.as_str() {
            "command" => {
                profile.command = values::command(source, value, &inner)?;
                place = value.at;
                // Another program than the one whose names are known.
                profile.programs.clear();
                profile.generic.clear();
                // It may not know the arguments, and not read the settings.
                profile.mcp = Mcp::default();
            }
            "programs" => programs = Some(program_names(source, value, &inner)?),
            "generic" => generic = Some(program_names(source, value, &inner)?),
            "input" => input = Some(Input::parse(source.choice(value, &inner, &Input::WORDS)?)),
            "sandbox" => own_sandbox = Some((entry.at, sandbox(source, entry, &inner)?)),
            "env" => {
                for (name, value) in values::variables(source, value, &inner)? {
                    profile.env.retain(|(known, _)| *known != name);
                    profile.env.push((name, value));
                }
            }
            "pass_env" => profile.pass_env = values::names(source, value, &inner)?,
            "home_files" => profile.home_files = values::below_home(source, value, &inner)?,
            "home_folders" => profile.home_folders = values::below_home(source, value, &inner)?,
            "needs" => profile.needs = values::below_home(source, value, &inner)?,
            "mcp" => its_mcp = Some(mcp(source, entry, &inner)?),
            "note" => profile.note = source.string(value, &format!("`{inner}`"))?.to_owned(),
            other => {
                let message = format!("unknown key `{key}.{}`", other.escape_debug());
                let hint = match nearest(other, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known here: {}", KEYS.join(", ")),
                };
                return Err(source.fault(entry.at, &message, &hint));
            }
        }
    }
    if profile.command.is_empty() {
        let hint = "add `command: my-agent --flags {task_file}`, or name a profile that comes with agentgate";
        return Err(source.fault(entry.at, &format!("`{key}` has no command"), hint));
    }
    profile.mcp = its_mcp.unwrap_or(profile.mcp);
    profile.programs = programs.unwrap_or(profile.programs);
    profile.generic = generic.unwrap_or(profile.generic);
    if profile.programs.is_empty() {
        profile.programs.push(profile.command[0].clone());
    }
    // A changed command may take the task elsewhere.
    profile.input = input.unwrap_or_else(|| Input::of(&profile.command));
    if let Err((what, hint)) = profile.input.agrees_with(&profile.command) {
        return Err(source.fault(place, &format!("`{key}.command` {what}"), hint));
    }
    let has_place = profile.command.iter().any(|word| word == SANDBOX);
    match own_sandbox {
        Some((at, _)) if !has_place => {
            let message = format!("`{key}.sandbox` has no place: the command has no word `{SANDBOX}`");
            return Err(source.fault(at, &message, "put the word {sandbox} where these arguments go"));
        }
        Some((_, (confined, unconfined))) => (profile.confined, profile.unconfined) = (confined, unconfined),
        None if !has_place => (profile.confined, profile.unconfined) = (Vec::new(), Vec::new()),
        None => {}
    }
    Ok(profile)
}

fn new(name: &str, origin: Origin) -> Profile {
    Profile {
        name: name.to_owned(),
        origin,
        command: Vec::new(),
        programs: Vec::new(),
        generic: Vec::new(),
        input: Input::Stdin,
        confined: Vec::new(),
        unconfined: Vec::new(),
        env: Vec::new(),
        pass_env: Vec::new(),
        home_files: Vec::new(),
        home_folders: Vec::new(),
        needs: Vec::new(),
        mcp: Mcp::default(),
        note: String::new(),
    }
}

fn program_names(source: &Source, node: &yaml::Node, key: &str) -> Result<Vec<String>, String> {
    let names = source.strings(node, key)?;
    Ok(names.into_iter().map(|(name, _)| name.to_owned()).collect())
}

/// Arguments and settings that give it an MCP server. They replace those that were there; `none` takes them away.
fn mcp(source: &Source, entry: &Entry, key: &str) -> Result<Mcp, String> {
    let mut found = Mcp::default();
    if matches!(&entry.value.value, yaml::Value::Text(text) if text == "none") {
        return Ok(found);
    }
    for entry in source.map(&entry.value, key)? {
        let inner = format!("{key}.{}", entry.key);
        match entry.key.as_str() {
            "args" => found.args = values::words(source, &entry.value, &inner)?,
            "files" => {
                for file in source.map(&entry.value, &inner)? {
                    let name = file.key.as_str();
                    if !values::is_below_home(name) {
                        let message = format!("`{inner}` names no file below the home: {}", name.escape_debug());
                        return Err(source.fault(file.at, &message, "a relative path such as .agent/settings.json"));
                    }
                    let text = source.string(&file.value, &format!("`{inner}.{name}`"))?;
                    found.files.push((name.to_owned(), text.to_owned()));
                }
            }
            other => {
                let message = format!("unknown key `{key}.{}`", other.escape_debug());
                return Err(source.fault(entry.at, &message, "known here: args, files"));
            }
        }
    }
    Ok(found)
}

/// Arguments where agentgate confines it, and where it does not.
fn sandbox(source: &Source, entry: &Entry, key: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut confined, mut unconfined) = (Vec::new(), Vec::new());
    for entry in source.map(&entry.value, key)? {
        let words = values::words(source, &entry.value, &format!("{key}.{}", entry.key))?;
        match entry.key.as_str() {
            "confined" => confined = words,
            "unconfined" => unconfined = words,
            other => {
                let message = format!("unknown key `{key}.{}`", other.escape_debug());
                return Err(source.fault(entry.at, &message, "known here: confined, unconfined"));
            }
        }
    }
    Ok((confined, unconfined))
}
