//! JUnit XML, in the shape that the common schemas share (the one known as windyroad's, and Jenkins'
//! `junit-10.xsd`): one suite, one case for each rule that held, one for each finding, at most one
//! failure or error in a case.
//!
//! Invariants: a refusal is an error in a case of its own; a verdict's time is that of the judged commit, so
//! that two runs give the same bytes. A refusal has judged no commit, and its time is that of the run.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::checked::{Checked, Item, Level, Outcome, reason};
use crate::exit::Exit;
use crate::gate::inspected::Reach;
use crate::gate::{Rule, Verdict, render};

struct Case {
    class: String,
    name: String,
    /// Element, type, message and text.
    bad: Option<(&'static str, String, String, String)>,
}

/// The document.
pub fn render(checked: &Checked) -> String {
    let mut cases = Vec::new();
    let mut properties = vec![("exit", checked.exit().code().to_string())];
    let mut at = Timestamp::now();
    match checked.outcome {
        Outcome::Refused(stop) => cases.push(Case {
            class: "agentgate".to_owned(),
            name: "check".to_owned(),
            bad: Some((
                "error",
                stop.exit.name().to_owned(),
                render::lines(&stop.message),
                reason(stop),
            )),
        }),
        Outcome::Judged(report) => {
            at = Timestamp::from_second(report.head_time).unwrap_or(Timestamp::UNIX_EPOCH);
            properties.extend([
                ("base", report.base.clone()),
                ("merge_base", report.merge_base.clone()),
                ("head", report.head.clone()),
                ("policies", report.verdict.policies.join(" ")),
                ("paths_checked", report.verdict.paths_checked.to_string()),
                ("files_inspected", report.verdict.inspected.files.len().to_string()),
            ]);
            cases.extend(held(&report.verdict));
            cases.extend(checked.of(Level::Error).map(broken));
            number(&mut cases);
        }
    }
    let count = |element: &str| {
        let is_one = |case: &&Case| case.bad.as_ref().is_some_and(|(kind, ..)| *kind == element);
        cases.iter().filter(is_one).count()
    };
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite id=\"0\" package=\"agentgate\" \
         name=\"agentgate check\" timestamp=\"{}\" hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
         time=\"0\">\n    <properties>\n",
        at.strftime("%Y-%m-%dT%H:%M:%S"),
        cases.len(),
        count("failure"),
        count("error"),
    );
    for (name, value) in properties {
        text.push_str(&format!(
            "      <property name=\"{name}\" value=\"{}\"/>\n",
            xml(&value)
        ));
    }
    text.push_str("    </properties>\n");
    for case in &cases {
        let head = format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"",
            xml(&case.class),
            xml(&case.name)
        );
        match &case.bad {
            None => text.push_str(&format!("{head}/>\n")),
            Some((element, kind, message, body)) => text.push_str(&format!(
                "{head}>\n      <{element} type=\"{}\" message=\"{}\">{}</{element}>\n    </testcase>\n",
                xml(kind),
                xml(message),
                xml(body)
            )),
        }
    }
    let mut out: Vec<String> = checked
        .of(Level::Warning)
        .map(|item| format!("warning: {}: {} [{}]", item.place(), item.message, item.key))
        .collect();
    out.extend(checked.notices.iter().map(|notice| format!("note: {notice}")));
    out.push(checked.summary());
    text.push_str(&format!(
        "    <system-out>{}</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n",
        xml(&out.join("\n"))
    ));
    text
}

/// Every rule that nothing broke: the policy's own by their keys, the rest by their kind.
fn held(verdict: &Verdict) -> Vec<Case> {
    let keys: HashSet<&str> = verdict.findings.iter().map(|found| found.judged_by.as_str()).collect();
    let kinds: HashSet<Rule> = verdict.findings.iter().map(|found| found.rule).collect();
    let own = verdict
        .inspected
        .rules
        .iter()
        .filter(|active| !keys.contains(active.key.as_str()));
    let mut cases: Vec<Case> = own
        .map(|active| Case {
            class: class(active.rule.code()),
            name: format!(
                "{}: {}{}",
                active.key,
                render::path(active.entry.as_bytes()),
                if active.reach == Reach::Dead {
                    " (matches nothing in the tree)"
                } else {
                    ""
                }
            ),
            bad: None,
        })
        .collect();
    // What holds whatever the policy says.
    for rule in Rule::ALL
        .iter()
        .filter(|rule| is_built_in(**rule) && !kinds.contains(rule))
    {
        cases.push(Case {
            class: class(rule.code()),
            name: "built in".to_owned(),
            bad: None,
        });
    }
    cases
}

fn is_built_in(rule: Rule) -> bool {
    matches!(rule.exit(), Exit::ProtectedPath | Exit::Uninspectable | Exit::Trailers)
}

fn broken(item: &Item) -> Case {
    let mut body = format!("{}: {}\nrule: {} [{}]", item.place(), item.message, item.code, item.key);
    if !item.hint.is_empty() {
        body.push_str(&format!("\nhint: {}", item.hint));
    }
    body.extend(item.output.iter().map(|line| format!("\n| {line}")));
    Case {
        class: class(item.code),
        name: format!("{}: {}", item.key, item.place()),
        bad: Some(("failure", item.code.to_owned(), item.message.clone(), body)),
    }
}

/// Readers take cases of one name for one case.
fn number(cases: &mut [Case]) {
    let mut seen: HashMap<(String, String), u32> = HashMap::new();
    for case in cases {
        let count = seen.entry((case.class.clone(), case.name.clone())).or_default();
        *count += 1;
        if *count > 1 {
            case.name.push_str(&format!(" ({count})"));
        }
    }
}

fn class(code: &str) -> String {
    format!("agentgate.{code}")
}

/// Escaped for text and attributes; characters that XML 1.0 cannot have, not even as references, are
/// left out.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // As they are, a reader would turn them into blanks in an attribute.
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::xml;

    #[test]
    fn what_xml_cannot_have_is_left_out_and_the_rest_escaped() {
        let text = "a\u{0}\u{1b}[2J\u{fffe}<b c=\"d\" e='f'>&\n\u{7f}]]>";
        assert_eq!(
            xml(text),
            "a[2J&lt;b c=&quot;d&quot; e=&apos;f&apos;&gt;&amp;&#10;]]&gt;"
        );
    }
}
