//! The answers of `explain` and `baseline`, as text and as JSON. Small enough for an agent to read.

use std::path::Path;

use serde_json::{Value, json};

use crate::commands::baseline;
use crate::commands::explain::{ImportLine, ImportReport, Manifest, PathReport, Report};
use crate::exit::Exit;
use crate::gate::render;
use crate::git::shell;

/// Entries named in the text.
const MAX_NAMED: usize = 20;

/// The answer as text.
pub fn text(report: &Report) -> String {
    match report {
        Report::Code { exit, rules } => {
            let mut text = format!("{} {}: {}\n", exit.code(), exit.name(), exit.meaning());
            for rule in rules {
                text.push_str(&format!(
                    "  rule {}: {}\n    {}\n",
                    rule.code(),
                    rule.title(),
                    rule.help()
                ));
            }
            text
        }
        Report::Path(report) => path(report),
        Report::Import(report) => import(report),
    }
}

fn shown(text: &str) -> String {
    format!("`{}`", render::path(text.as_bytes()))
}

fn path(report: &PathReport) -> String {
    let there = report.there.replace("HEAD", &render::path(report.by.as_bytes()));
    let mut text = format!("{}: {there}", render::path(&report.path));
    if let Some(language) = report.language {
        text.push_str(&format!(", {}", language.name()));
    }
    text.push_str(&match report.areas.as_slice() {
        [] => "\n  areas: none\n".to_owned(),
        areas => format!("\n  areas: {}\n", areas.join(", ")),
    });
    if report.findings.is_empty() {
        text.push_str("  may be changed: yes\n");
    } else {
        text.push_str("  may be changed: no\n");
        for found in &report.findings {
            text.push_str(&format!(
                "    {} [{}] (exit {})\n",
                found.message,
                found.judged_by,
                found.rule.exit().code()
            ));
        }
    }
    for warning in &report.warnings {
        text.push_str(&format!("  warning: {} [{}]\n", warning.message, warning.judged_by));
    }
    if !report.imports.is_empty() {
        text.push_str("  must not import (exit 5):\n");
        text.push_str(&entries(&report.imports));
    }
    if let Some(found) = &report.manifest {
        text.push_str(&manifest(found));
    }
    for (what, lists) in [
        ("other areas that it may import", &report.may_depend_on),
        ("packages from outside that it may import", &report.allowed_imports),
    ] {
        for (area, names) in lists {
            text.push_str(&match names.as_slice() {
                [] => format!("  {what}: none [{area}]\n"),
                names => format!("  {what}: {} [{area}]\n", render::path(names.join(", ").as_bytes())),
            });
        }
    }
    text.push_str(&format!("  by the policy of {}\n", render::path(report.by.as_bytes())));
    text
}

fn entries(lines: &[ImportLine]) -> String {
    let mut text = String::new();
    for line in lines.iter().take(MAX_NAMED) {
        text.push_str(&format!("    {} [{}]{}\n", shown(&line.entry), line.key, words(line)));
    }
    if let Some(more) = lines.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        text.push_str(&format!("    and {more} more\n"));
    }
    text
}

fn manifest(found: &Manifest) -> String {
    let mut text = String::new();
    if found.denials.is_empty() && found.forbidden.is_empty() {
        text.push_str("  dependencies: no rule looks at what it declares\n");
        return text;
    }
    if !found.is_read {
        text.push_str(
            "  dependencies: this version does not read it, so that a change of it is only told; the rules are\n",
        );
    }
    let names: Vec<String> = found.allowed.iter().take(MAX_NAMED).map(|name| shown(name)).collect();
    let more = match found.allowed.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    for key in &found.denials {
        // What the policy lists, a task that rules out new dependencies does not let through.
        let but = match names.is_empty() || key.starts_with("task") {
            true => String::new(),
            false => format!(" but {}{more}", names.join(", ")),
        };
        text.push_str(&format!("  must not declare any new name{but} (exit 8) [{key}]\n"));
    }
    if !found.forbidden.is_empty() {
        text.push_str("  must not declare (exit 8):\n");
        text.push_str(&entries(&found.forbidden));
    }
    text
}

fn words(line: &ImportLine) -> String {
    match line.words.is_empty() {
        true => String::new(),
        false => format!(": {}", render::path(line.words.join("; ").as_bytes())),
    }
}

fn import(report: &ImportReport) -> String {
    let old = format!(
        "not refused, since the file has it in {} already (`existing: deny` would refuse it)",
        render::path(report.by.as_bytes())
    );
    let mut text = format!(
        "{} in {} ({}): {}\n",
        shown(&report.name),
        render::path(&report.path),
        report.language.name(),
        if report.is_forbidden() {
            "forbidden (exit 5)"
        } else if report.is_old {
            &old
        } else if report.areas.is_empty() {
            "no import rule looks at this file"
        } else {
            "no entry forbids it"
        }
    );
    text.push_str(&match report.identity.as_slice() {
        [] => "  compared as: nothing, it is relative or the repository's own\n".to_owned(),
        segments => format!("  compared as: {}\n", render::path(segments.join(" | ").as_bytes())),
    });
    for found in &report.findings {
        text.push_str(&format!(
            "  {} [{}]\n    hint: {}\n",
            found.message, found.judged_by, found.hint
        ));
    }
    for line in &report.entries {
        let Some((_, why)) = line.answer else { continue };
        text.push_str(&format!(
            "  {} [{}] {why}{}\n",
            shown(&line.entry),
            line.key,
            words(line)
        ));
    }
    text
}

/// The answer as JSON.
pub fn json(report: &Report) -> Value {
    match report {
        Report::Code { exit, rules } => json!({
            "schema": "agentgate/explain/1",
            "subject": "code",
            "code": exit.code(),
            "name": exit.name(),
            "meaning": exit.meaning(),
            "rules": rules.iter().map(|rule| rule.code()).collect::<Vec<_>>(),
            "exit": Exit::Ok.code(),
        }),
        Report::Path(report) => with_path(
            &report.path,
            json!({
                "schema": "agentgate/explain/1",
                "subject": "path",
                "there": report.there,
                "language": report.language.map(|language| language.name()),
                "areas": report.areas,
                "may_be_changed": report.findings.is_empty(),
                "findings": report.findings.iter().map(render::finding_json).collect::<Vec<_>>(),
                "warnings": report.warnings.iter().map(render::warning_json).collect::<Vec<_>>(),
                "forbidden_imports": report.imports.iter().map(line).collect::<Vec<_>>(),
                "dependencies": report.manifest.as_ref().map(|found| json!({
                    "read": found.is_read,
                    "new_denied_by": found.denials,
                    "allowed": found.allowed,
                    "forbidden": found.forbidden.iter().map(line).collect::<Vec<_>>(),
                })),
                "may_depend_on": lists(&report.may_depend_on),
                "allowed_imports": lists(&report.allowed_imports),
                "exit": Exit::Ok.code(),
            }),
        ),
        Report::Import(report) => with_path(
            &report.path,
            json!({
                "schema": "agentgate/explain/1",
                "subject": "import",
                "import": report.name,
                "language": report.language.name(),
                "identity": report.identity,
                "areas": report.areas,
                "forbidden": report.is_forbidden(),
                "findings": report.findings.iter().map(render::finding_json).collect::<Vec<_>>(),
                "entries": report.entries.iter().map(line).collect::<Vec<_>>(),
                "exit": Exit::Ok.code(),
            }),
        ),
    }
}

/// The object with the path it is about.
fn with_path(path: &[u8], mut object: Value) -> Value {
    render::put_path(&mut object, path);
    object
}

fn lists(lists: &[(String, Vec<String>)]) -> Value {
    lists.iter().map(|(area, names)| (area.clone(), json!(names))).collect()
}

fn line(line: &ImportLine) -> Value {
    json!({
        "key": line.key,
        "entry": line.entry,
        "words": line.words,
        "forbids": line.answer.map(|(forbids, _)| forbids),
        "why": line.answer.map(|(_, why)| why),
    })
}

/// What became of the baseline, as text.
pub fn baseline_text(report: &baseline::Report) -> String {
    let plural = |count: usize| format!("{count} {}", if count == 1 { "entry" } else { "entries" });
    let mut text = format!(
        "{}: {} kept, {} removed, {} added{}\n",
        report.path,
        plural(report.kept),
        report.removed.len(),
        report.added.len(),
        if report.written {
            ""
        } else {
            "; not written, since nothing changes"
        },
    );
    for (sign, list) in [("-", &report.removed), ("+", &report.added)] {
        for known in list.iter().take(MAX_NAMED) {
            text.push_str(&format!("  {sign} {} {}: {}\n", known.rule, known.path, known.text));
        }
        if let Some(more) = list.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            text.push_str(&format!("  {sign} and {more} more\n"));
        }
    }
    if report.open > 0 {
        text.push_str(&format!(
            "{} of HEAD {} not in it; mend them, or list them with `agentgate baseline update --grow`\n",
            if report.open == 1 {
                "1 finding".to_owned()
            } else {
                format!("{} findings", report.open)
            },
            if report.open == 1 { "is" } else { "are" },
        ));
    }
    if report.written {
        text.push_str(&format!(
            "next: git add {0} && git commit -m 'Update the baseline' {0}   # on a branch of its own: the file is \
             human-owned\nnext: agentgate check --allow-policy-change   # an owner's check of that branch\n",
            shell(Path::new(&report.path))
        ));
    }
    text
}

/// What became of the baseline, as JSON.
pub fn baseline_json(report: &baseline::Report) -> Value {
    let list = |known: &[crate::gate::baseline::Known]| -> Vec<Value> {
        known
            .iter()
            .map(|known| {
                json!({
                    "rule": known.rule, "path": known.path, "text": known.text, "fingerprint": known.fingerprint,
                })
            })
            .collect()
    };
    json!({
        "schema": "agentgate/baseline-update/1",
        "path": report.path,
        "kept": report.kept,
        "removed": list(&report.removed),
        "added": list(&report.added),
        "open": report.open,
        "written": report.written,
        "exit": Exit::Ok.code(),
    })
}
