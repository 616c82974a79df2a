//! The private `.gitconfig`: an identity that everybody recognises.

use anyhow::Result;

use super::Wishes;
use super::folder::Private;

/// Keys of the person's that are taken over: how git behaves, not who the person is or which
/// programs it starts.
const TAKEN: &[&str] = &[
    "init.defaultbranch",
    "pull.rebase",
    "pull.ff",
    "merge.conflictstyle",
    "diff.algorithm",
    "core.quotepath",
    "rerere.enabled",
    "safe.directory",
    "http.sslcainfo",
    "http.sslcapath",
    "http.sslverify",
];

/// The same as in the job's git dir: here it is for repositories that the agent makes itself.
const ADDRESS: &str = "agent-job@agentgate.invalid";

pub(super) fn configure(home: &mut Private, wishes: &Wishes<'_>) -> Result<()> {
    let mut text = String::new();
    let mut add = |section: &str, key: &str, value: &str| {
        text.push_str(&format!("[{section}]\n\t{key} = {}\n", quoted(value)));
    };
    for (key, value) in wishes.git {
        let protocol = key
            .strip_prefix("protocol.")
            .and_then(|rest| rest.strip_suffix(".allow"))
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if let Some(name) = protocol {
            add(&format!("protocol \"{name}\""), "allow", value);
        } else if TAKEN.contains(&key.as_str())
            && let Some((section, name)) = key.split_once('.')
        {
            add(section, name, value);
        }
    }
    add("user", "name", &format!("agent job {}", wishes.job));
    add("user", "email", ADDRESS);
    // There is no key of the person's to sign with, and nobody to type its password.
    add("commit", "gpgsign", "false");
    add("tag", "gpgsign", "false");
    add("safe", "directory", &wishes.worktree.to_string_lossy());
    home.write(".gitconfig", text.as_bytes())?;
    Ok(())
}

/// A value as git's configuration has it.
fn quoted(value: &str) -> String {
    let escaped = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    format!("\"{escaped}\"")
}
