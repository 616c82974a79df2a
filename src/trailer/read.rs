//! What a commit says about itself.

use crate::paths::is_invisible;

use super::{KEYS, REQUIRED, Trailers, check, shown};

/// What a commit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Not an agent commit.
    Human,
    /// An agent commit with valid trailers.
    Agent(Trailers),
    /// An agent commit whose trailers are wrong; each fault one line.
    Faulty(Vec<String>),
}

/// A line that claims to be a trailer of an agent.
struct Claim {
    /// As written, without blanks before the colon.
    key: String,
    value: String,
    /// Whether it is written as `Key: value`, with one blank.
    is_plain: bool,
    /// Whether the line ends in a carriage return. git cuts it off where it prints the value, and
    /// other readers of the commit take it for a part of it.
    has_return: bool,
}

/// Reads a commit. `message` is the raw message, `block` what git itself takes for its trailers
/// (`%(trailers:only,unfold)`), so that git's own idea of the last paragraph counts.
///
/// A commit is an agent's if its subject begins with `agent job ` or if any line of it begins with
/// `Agent-`, in any case, more letters, digits or `-`, and a colon. Prose such as
/// `agent-based design is ...` has no colon there and is none; `Agent-based: yes` is one.
/// git prints the block in its own form, so the spelling is judged by the raw lines.
pub fn read(message: &[u8], block: &[u8]) -> Reading {
    let raw = claims(message);
    let block = claims(block);
    if raw.is_empty() && block.is_empty() && !has_agent_subject(message) {
        return Reading::Human;
    }

    let mut faults = Vec::new();
    let mut fault = |text: String| {
        if !faults.contains(&text) {
            faults.push(text);
        }
    };
    for claim in raw.iter().chain(&block) {
        match KEYS.iter().find(|key| key.eq_ignore_ascii_case(&claim.key)) {
            None => fault(format!("`{}` is no trailer that agentgate knows", shown(&claim.key))),
            Some(key) if **key != claim.key => fault(format!("`{}` must be spelled `{key}`", shown(&claim.key))),
            Some(key) if claim.has_return => fault(format!("`{key}` ends in a carriage return")),
            Some(key) if !claim.is_plain => fault(format!("`{key}` must be written as `{key}: value`")),
            Some(_) => {}
        }
    }
    let mut values: [Option<String>; 7] = Default::default();
    for (index, key) in KEYS.iter().enumerate() {
        let same: Vec<&Claim> = block
            .iter()
            .filter(|claim| claim.key.eq_ignore_ascii_case(key))
            .collect();
        match same.as_slice() {
            [] if index < REQUIRED => fault(format!("{key} is missing from the last paragraph")),
            [] => {}
            [claim] => match check(key, &claim.value) {
                Ok(()) => values[index] = Some(claim.value.clone()),
                Err(wrong) => fault(wrong),
            },
            more => fault(format!("{key} stands {} times in the last paragraph", more.len())),
        }
    }
    outside(&raw, &block).into_iter().for_each(fault);

    let [job_id, host, model_label, task_sha256, policy_oid, confinement, log_sum] = values;
    match (faults.is_empty(), job_id, host, model_label) {
        (true, Some(job_id), Some(host), Some(model_label)) => Reading::Agent(Trailers {
            job_id,
            host,
            model_label,
            task_sha256,
            policy_oid,
            confinement,
            log_sum,
        }),
        _ => Reading::Faulty(faults),
    }
}

/// Claims above git's last paragraph. That paragraph is last, so of each key the first lines are
/// the ones outside of it.
fn outside(raw: &[Claim], block: &[Claim]) -> Vec<String> {
    let (mut jobs, mut others) = (Vec::new(), Vec::new());
    for (index, claim) in raw.iter().enumerate() {
        let is_same = |other: &&Claim| other.key.eq_ignore_ascii_case(&claim.key);
        let later = raw[index + 1..].iter().filter(is_same).count();
        if later < block.iter().filter(is_same).count() {
            continue;
        }
        match claim.key.eq_ignore_ascii_case(KEYS[0]) {
            true => jobs.push(shown(&claim.value)),
            false => others.push(shown(&claim.key)),
        }
    }
    let where_ = "named outside the last paragraph (a squash merge?)";
    match (jobs.len(), others.is_empty()) {
        (0, true) => Vec::new(),
        (0, false) => {
            others.dedup();
            vec![format!("{} outside the last paragraph", others.join(", "))]
        }
        (1, _) => vec![format!("job {} is {where_}", jobs[0])],
        _ => vec![format!("jobs {} are {where_}", jobs.join(", "))],
    }
}

fn claims(text: &[u8]) -> Vec<Claim> {
    text.split(|&b| b == b'\n').filter_map(claim).collect()
}

fn claim(line: &[u8]) -> Option<Claim> {
    let shown = visible(line);
    let is_hidden = shown.len() != line.len();
    let line = shown;
    let colon = line.iter().position(|&b| b == b':')?;
    let key = line[..colon].trim_ascii_end();
    let rest = key
        .get(..6)
        .filter(|start| start.eq_ignore_ascii_case(b"agent-"))
        .map(|_| &key[6..])?;
    if rest.is_empty() || !rest.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'-') {
        return None;
    }
    let value = &line[colon + 1..];
    let is_plain = !is_hidden && key.len() == colon && value.starts_with(b" ") && !value[1..].starts_with(b" ");
    Some(Claim {
        key: String::from_utf8_lossy(key).into_owned(),
        value: String::from_utf8_lossy(value.trim_ascii()).into_owned(),
        is_plain,
        has_return: line.ends_with(b"\r"),
    })
}

/// Whether the subject says so, whatever invisible stands before it: blanks, or characters without
/// a shape, are no way to land an agent's commit as a person's.
fn has_agent_subject(message: &[u8]) -> bool {
    let has_shape = |c: char| !(c.is_whitespace() || c.is_control() || is_invisible(c));
    let text = message.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    text.find(has_shape)
        .is_some_and(|at| text[at..].starts_with("agent job "))
}

/// The text from its first character that has a shape.
fn visible(text: &[u8]) -> &[u8] {
    let Some(chunk) = text.utf8_chunks().next() else {
        return text;
    };
    &text[chunk.valid().len() - chunk.valid().trim_start_matches(is_invisible).len()..]
}
