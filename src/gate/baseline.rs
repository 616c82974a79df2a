//! The baseline: findings that were there before a rule was, so that a rule can be adopted without
//! mending everything first.
//!
//! Invariants: a baseline is read from the base, as the policy is, so a change cannot excuse itself.
//! An entry excuses one occurrence of one rule on one line of text in one file, wherever that line
//! stands; a second one like it is new, and so is one that the base no longer has. Only findings about what stands in a line are excused when a
//! change is judged: a baseline does not allow anybody to change a protected path or to edit a file
//! that no one can review. Credentials are never excused here.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::lines::Source;
use super::policy::{Policy, PolicyError, Stance};
use super::tree::lookup;
use super::{Finding, GateError, Kind, Rule, Tree, Unreadable, Verdict};
use super::{credentials, render};

/// The value of `schema` in the file.
pub const SCHEMA: &str = "agentgate/baseline/1";
/// Larger files are refused.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Stale entries named in words.
const MAX_NAMED: usize = 5;

/// One known finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Hexadecimal; what it is made of is said at [`marks`].
    pub fingerprint: String,
    /// The rule's code.
    pub rule: String,
    /// Escaped as in reports; for people.
    pub path: String,
    /// The line as it was compared, at most 200 characters; for people.
    pub text: String,
}

/// The known findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// In the order of the file.
    pub entries: Vec<Known>,
}

impl Baseline {
    /// The baseline of the tree, where the policy names one. One that is not there yet is empty.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn of(policy: &Policy, tree: &dyn Tree) -> Result<Option<Baseline>, GateError> {
        let Some(path) = &policy.baseline else { return Ok(None) };
        let Some(entry) = lookup(tree, path.as_bytes())? else {
            return Ok(Some(Baseline::default()));
        };
        let invalid = |why: String| GateError::Policy(PolicyError::Invalid(why));
        if !matches!(entry.kind, Kind::File | Kind::Executable) {
            return Err(invalid(format!(
                "{path}: not a regular file in the base\nhint: commit it as one"
            )));
        }
        let size = tree.blob_size(&entry.id)?;
        if size > MAX_BYTES {
            return Err(invalid(format!(
                "{path}: {size} bytes, more than the limit of {MAX_BYTES}"
            )));
        }
        Baseline::parse(path, &tree.blob(&entry.id)?).map(Some).map_err(invalid)
    }

    /// The entries in these bytes.
    ///
    /// # Errors
    /// What is wrong, with the name of the file and a hint.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Baseline, String> {
        let wrong = |why: &str| {
            format!(
                "{path}: {why}\nhint: it is written by `agentgate baseline update`; take the last good version back"
            )
        };
        let value: Value = serde_json::from_slice(bytes).map_err(|error| wrong(&format!("not JSON ({error})")))?;
        if value["schema"] != SCHEMA {
            return Err(wrong(&format!("its `schema` is not {SCHEMA}")));
        }
        let object = value.as_object().filter(|object| object.len() == 2);
        let Some(list) = object
            .and_then(|object| object.get("findings"))
            .and_then(Value::as_array)
        else {
            return Err(wrong("it must hold `schema` and a list `findings`, and nothing else"));
        };
        let mut entries = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let (Some(fingerprint), Some(rule), Some(path), Some(text), Some(4)) = (
                text("fingerprint"),
                text("rule"),
                text("path"),
                text("text"),
                item.as_object().map(serde_json::Map::len),
            ) else {
                return Err(wrong(&format!(
                    "`findings[{index}]` must hold fingerprint, rule, path and text, each of them text"
                )));
            };
            if fingerprint.len() != 32 || !fingerprint.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(wrong(&format!(
                    "`findings[{index}].fingerprint` is not 32 hexadecimal digits"
                )));
            }
            entries.push(Known {
                fingerprint,
                rule,
                path,
                text,
            });
        }
        Ok(Baseline { entries })
    }

    /// The file's text: sorted by path, an entry a line, so that a difference can be reviewed.
    pub fn text(&self) -> String {
        let mut entries: Vec<&Known> = self.entries.iter().collect();
        entries.sort_by(|a, b| {
            (&a.path, &a.rule, &a.text, &a.fingerprint).cmp(&(&b.path, &b.rule, &b.text, &b.fingerprint))
        });
        let lines: Vec<String> = entries
            .iter()
            .map(|known| {
                let entry = json!({
                    "rule": known.rule, "path": known.path, "text": known.text, "fingerprint": known.fingerprint,
                });
                format!("    {entry}")
            })
            .collect();
        match lines.is_empty() {
            true => format!("{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": []\n}}\n"),
            false => format!(
                "{{\n  \"schema\": \"{SCHEMA}\",\n  \"findings\": [\n{}\n  ]\n}}\n",
                lines.join(",\n")
            ),
        }
    }
}

/// Whether a finding of this rule may be listed at all.
pub fn may_be_known(rule: Rule) -> bool {
    is_about_a_line(rule)
        || matches!(
            rule,
            Rule::ForbiddenDirectory | Rule::OutOfScope | Rule::ForbiddenDependency | Rule::Uninspectable
        )
}

/// Whether the finding is about what stands in a line, not about the change of a path.
fn is_about_a_line(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::ForbiddenImport | Rule::DynamicImport | Rule::DependencyEdge | Rule::ImportNotAllowed
    )
}

/// What identifies each finding from one version of a file to the next: SHA-256 over the rule's
/// code, the path, the line's text with runs of blanks as one (of a dependency the message, which names
/// it; what judged, where the finding has no line) and how many findings before it have all of that in common, cut to 32 hexadecimal
/// digits. No line number is in it.
///
/// # Errors
/// A file of a finding that cannot be read.
pub fn marks(findings: &[Finding], tree: &dyn Tree) -> Result<Vec<Known>, Unreadable> {
    let mut sources: HashMap<&[u8], Option<Source>> = HashMap::new();
    let mut seen: HashMap<(Rule, &[u8], Vec<u8>), usize> = HashMap::new();
    let mut marks = Vec::with_capacity(findings.len());
    for finding in findings {
        let text = match finding.line {
            // The line of a dependency changes with every version; the name is what was found.
            Some(_) if finding.rule == Rule::ForbiddenDependency => finding.message.clone().into_bytes(),
            None => finding.judged_by.clone().into_bytes(),
            Some(line) => {
                if !sources.contains_key(finding.path.as_slice()) {
                    sources.insert(&finding.path, Source::of(tree, &finding.path)?);
                }
                let line = sources[finding.path.as_slice()]
                    .as_ref()
                    .and_then(|source| source.line(line))
                    .unwrap_or_default();
                normalised(line)
            }
        };
        let count = seen.entry((finding.rule, &finding.path, text.clone())).or_default();
        let mut hash = Sha256::new();
        for part in [
            finding.rule.code().as_bytes(),
            &finding.path,
            &text,
            count.to_string().as_bytes(),
        ] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        *count += 1;
        let fingerprint: String = hash
            .finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let shown: String = credentials::masked(&render::path(&text)).chars().take(200).collect();
        marks.push(Known {
            fingerprint,
            rule: finding.rule.code().to_owned(),
            path: render::path(&finding.path),
            text: shown,
        });
    }
    Ok(marks)
}

fn normalised(line: &[u8]) -> Vec<u8> {
    let words: Vec<&[u8]> = line
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(&b' ')
}

/// Takes out of a change's verdict what the base's baseline knows. With `existing: allow` there is
/// nothing to take out: what a file had before is no finding then, and the first of two equal lines
/// could not be told from the second.
///
/// # Errors
/// A baseline that cannot be read.
pub(super) fn apply(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    verdict: &mut Verdict,
) -> Result<(), GateError> {
    let Some(baseline) = Baseline::of(policy, base)? else {
        return Ok(());
    };
    if policy.existing == Stance::Allow {
        return Ok(());
    }
    if baseline.entries.is_empty() {
        return Ok(());
    }
    let old = still_there(&verdict.findings, base, candidate)?;
    excuse(&baseline, candidate, verdict, |at, rule| {
        old[at] && is_about_a_line(rule)
    })?;
    Ok(())
}

/// For each finding, whether the base's version of the file has its line as often: an entry that is stale in the base
/// excuses nothing that comes back.
fn still_there(findings: &[Finding], base: &dyn Tree, candidate: &dyn Tree) -> Result<Vec<bool>, Unreadable> {
    struct File {
        now: Option<Source>,
        before: HashMap<Vec<u8>, usize>,
    }
    let mut files: HashMap<&[u8], File> = HashMap::new();
    /// How many different lines of one text had findings so far, and the last of them.
    type Lines<'a> = HashMap<(Rule, &'a [u8], Vec<u8>), (usize, u32)>;
    let mut seen = Lines::new();
    let mut answers = Vec::with_capacity(findings.len());
    for finding in findings {
        let (true, Some(number)) = (is_about_a_line(finding.rule), finding.line) else {
            answers.push(false);
            continue;
        };
        let path = finding.path.as_slice();
        if !files.contains_key(path) {
            let mut before: HashMap<Vec<u8>, usize> = HashMap::new();
            for line in Source::of(base, path)?.iter().flat_map(Source::lines) {
                *before.entry(normalised(line)).or_default() += 1;
            }
            let now = Source::of(candidate, path)?;
            files.insert(path, File { now, before });
        }
        let file = &files[path];
        let text = normalised(file.now.as_ref().and_then(|now| now.line(number)).unwrap_or_default());
        let had = file.before.get(&text).copied().unwrap_or_default();
        // Several findings in one line are one line of the base.
        let (count, last) = seen.entry((finding.rule, path, text)).or_default();
        if *last != number {
            (*count, *last) = (*count + 1, number);
        }
        answers.push(*count <= had);
    }
    Ok(answers)
}

/// Takes out of the verdict over a whole tree what the baseline knows, and returns the entries for
/// which there is no finding any more.
///
/// # Errors
/// A file that cannot be read.
pub fn settle(baseline: &Baseline, tree: &dyn Tree, verdict: &mut Verdict) -> Result<Vec<Known>, Unreadable> {
    let used = excuse(baseline, tree, verdict, |_, rule| may_be_known(rule))?;
    let stale: Vec<Known> = baseline
        .entries
        .iter()
        .filter(|known| !used.contains(&known.fingerprint))
        .cloned()
        .collect();
    Ok(stale)
}

/// A stale entry in words.
pub fn stale(known: &Known) -> String {
    format!(
        "{} in {}, which is no longer there: {}",
        render::path(known.rule.as_bytes()),
        render::path(known.path.as_bytes()),
        render::path(known.text.as_bytes())
    )
}

/// Notices about stale entries.
pub fn told_of(entries: &[Known]) -> Vec<String> {
    let mut notices: Vec<String> = entries
        .iter()
        .take(MAX_NAMED)
        .map(|known| format!("the baseline lists {}", stale(known)))
        .collect();
    if let Some(more) = entries.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        notices.push(format!("and {more} more entries of the baseline are stale"));
    }
    if !entries.is_empty() {
        notices.push("`agentgate baseline update` takes stale entries out".to_owned());
    }
    notices
}

fn excuse(
    baseline: &Baseline,
    tree: &dyn Tree,
    verdict: &mut Verdict,
    may: impl Fn(usize, Rule) -> bool,
) -> Result<HashSet<String>, Unreadable> {
    let known: HashSet<&str> = baseline
        .entries
        .iter()
        .map(|known| known.fingerprint.as_str())
        .collect();
    let mut used = HashSet::new();
    if known.is_empty() {
        return Ok(used);
    }
    let marks = marks(&verdict.findings, tree)?;
    let mut at = 0;
    verdict.findings.retain(|finding| {
        let mark = &marks[at].fingerprint;
        let excused = may(at, finding.rule) && known.contains(mark.as_str());
        at += 1;
        if excused {
            used.insert(mark.clone());
        }
        !excused
    });
    if !used.is_empty() {
        verdict.notices.push(format!(
            "{} finding{} known to the baseline {} not counted",
            used.len(),
            if used.len() == 1 { "" } else { "s" },
            if used.len() == 1 { "is" } else { "are" },
        ));
    }
    Ok(used)
}
