//! Imports whose name is computed: a notice, and with `dynamic_imports: deny` a finding.
//!
//! No rule can tell what such an import loads, so a policy that forbids names can be passed by one.
//! What the same file already had is told by the text of its line, since the import has no name.

use std::collections::HashMap;

use crate::gate::imports::{Import, ImportKind};
use crate::gate::policy::Stance;
use crate::gate::rules::{finding, shown};
use crate::gate::tree::Side;
use crate::gate::{Finding, POLICY_PATH, Policy, Rule, Tree, Unreadable, Verdict};

/// The key that judges.
pub(super) const KEY: &str = "dynamic_imports";

/// A tree, one of its files and the imports in it.
type Version<'a, S> = (&'a dyn Tree, S, &'a [Import]);

/// What the computed imports of one file come to.
pub(super) fn judge<'v>(
    policy: &Policy,
    path: &[u8],
    (candidate, after, found): Version<Side>,
    base: impl FnOnce() -> Result<Version<'v, Option<Side>>, Unreadable>,
    verdict: &mut Verdict,
) -> Result<(), Unreadable> {
    let computed: Vec<&Import> = found
        .iter()
        .filter(|import| import.kind == ImportKind::Opaque)
        .collect();
    if computed.is_empty() {
        return Ok(());
    }
    if policy.dynamic_imports == Stance::Allow {
        let one = computed.len() == 1;
        verdict.notices.push(format!(
            "{}: {} dynamic import{} whose argument is computed; no rule can look at {}",
            shown(path),
            computed.len(),
            if one { "" } else { "s" },
            if one { "it" } else { "them" },
        ));
        return Ok(());
    }
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let (base, before, earlier) = base()?;
    if let Some(before) = before.filter(|_| !earlier.is_empty()) {
        for text in texts(&base.blob(&before.id)?, earlier) {
            *known.entry(text).or_default() += 1;
        }
    }
    let texts = texts(&candidate.blob(&after.id)?, found);
    for (import, text) in computed.into_iter().zip(texts) {
        match known.get_mut(&text) {
            Some(left) if *left > 0 => *left -= 1,
            _ => verdict.findings.push(Finding {
                line: Some(import.line),
                column: Some(import.column),
                ..finding(
                    Rule::DynamicImport,
                    path,
                    KEY,
                    "imports what its code computes, so no rule can look at it".into(),
                    format!("write the name as a literal, or ask an owner of {POLICY_PATH} to take `{KEY}: deny` back"),
                )
            }),
        }
    }
    Ok(())
}

/// The line of each computed import, without the blanks around it.
fn texts(source: &[u8], found: &[Import]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = source.split(|&byte| byte == b'\n').collect();
    found
        .iter()
        .filter(|import| import.kind == ImportKind::Opaque)
        .map(|import| {
            let line = lines.get(import.line as usize - 1).copied().unwrap_or_default();
            line.trim_ascii().to_vec()
        })
        .collect()
}
