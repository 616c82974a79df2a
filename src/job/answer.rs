//! What a role answers: JSON in its outbox, strict, the same shapes whichever way it comes.
//!
//! Invariant: an answer that is not of its documented shape is none; a key that is not known, a missing one, a
//! second object or a value that contradicts another make it invalid, and the error says where.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::log::sha256_hex;
use crate::paths::PathRule;

/// Largest answer in bytes.
pub const MAX: u64 = 256 << 10;
/// Most steps of a plan.
pub const MAX_STEPS: usize = 50;
/// Longest text in characters that goes into a line of the log.
const LONGEST: usize = 300;

/// The file of a plan.
pub const PLAN: &str = "plan.json";
/// The file of a review.
pub const REVIEW: &str = "review.json";
/// The file in which any role asks for a person.
pub const NEEDS_HUMAN: &str = "needs_human.json";

/// A planner's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is to be done, in short.
    pub summary: String,
    /// 1 to 50, in order.
    pub steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// One line.
    pub title: String,
    /// What is to be done.
    pub detail: String,
    /// Paths or globs, as the policy has them, that the step may touch; at least one.
    pub files: Vec<String>,
}

/// A reviewer's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// What it comes to.
    pub decision: Decision,
    /// Why, in short.
    pub summary: String,
    /// What was found.
    pub findings: Vec<ReviewFinding>,
}

/// What a review comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Good as it is.
    Approve,
    /// Not before the blocking findings are mended.
    RequestChanges,
    /// A person must decide.
    NeedsHuman,
}

/// One thing that a reviewer found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewFinding {
    /// Repository-relative.
    pub path: String,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// Whether it keeps the change from passing.
    pub blocking: bool,
}

/// Any role's request for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedsHuman {
    /// Why the role cannot go on.
    pub reason: String,
    /// What the person is to decide.
    pub question: String,
}

/// An answer of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `plan.json`
    Plan(Plan),
    /// `review.json`
    Review(Review),
    /// `needs_human.json`
    NeedsHuman(NeedsHuman),
}

impl Answer {
    /// Reads what stands in the file of this name.
    ///
    /// # Errors
    /// In words: where, and what is wrong.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Answer, String> {
        let bad = |why: String| format!("{name} is no valid answer: {why}");
        if bytes.len() as u64 > MAX {
            return Err(bad(format!("{} bytes, and at most {MAX} are read", bytes.len())));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| bad("not UTF-8".to_owned()))?;
        let json = |error: serde_json::Error| bad(error.to_string());
        // A list of the right length would do for an object.
        must_be_objects(&serde_json::from_str(text).map_err(json)?).map_err(bad)?;
        match name {
            PLAN => {
                let plan: Plan = serde_json::from_str(text).map_err(json)?;
                plan.validate().map_err(bad)?;
                Ok(Answer::Plan(plan))
            }
            REVIEW => {
                let review: Review = serde_json::from_str(text).map_err(json)?;
                review.validate().map_err(bad)?;
                Ok(Answer::Review(review))
            }
            NEEDS_HUMAN => {
                let ask: NeedsHuman = serde_json::from_str(text).map_err(json)?;
                said("reason", &ask.reason).map_err(bad)?;
                said("question", &ask.question).map_err(bad)?;
                Ok(Answer::NeedsHuman(ask))
            }
            _ => Err(format!("{name} is the name of no answer")),
        }
    }
}

impl Plan {
    fn validate(&self) -> Result<(), String> {
        said("summary", &self.summary)?;
        if self.steps.is_empty() || self.steps.len() > MAX_STEPS {
            return Err(format!("{} steps, and 1 to {MAX_STEPS} are taken", self.steps.len()));
        }
        for (index, step) in self.steps.iter().enumerate() {
            let at = |what: &str| format!("steps[{index}].{what}");
            said(&at("title"), &step.title)?;
            said(&at("detail"), &step.detail)?;
            if step.files.is_empty() {
                return Err(format!(
                    "{} is empty: name the files that the step may touch",
                    at("files")
                ));
            }
            for file in &step.files {
                PathRule::parse(file, at("files")).map_err(|wrong| format!("{}: {wrong}", at("files")))?;
            }
        }
        Ok(())
    }
}

impl Review {
    fn validate(&self) -> Result<(), String> {
        said("summary", &self.summary)?;
        for (index, finding) in self.findings.iter().enumerate() {
            let at = |what: &str| format!("findings[{index}].{what}");
            said(&at("path"), &finding.path)?;
            said(&at("message"), &finding.message)?;
            if finding.line == Some(0) {
                return Err(format!("{} is 0, and lines are counted from 1", at("line")));
            }
        }
        let blocking = self.blocking().count();
        match self.decision {
            Decision::RequestChanges if blocking == 0 => {
                Err("`request_changes` without a finding that is `blocking`".to_owned())
            }
            Decision::Approve if blocking > 0 => {
                Err(format!("`approve` with {blocking} finding(s) that are `blocking`"))
            }
            _ => Ok(()),
        }
    }

    /// The findings that keep the change from passing.
    pub fn blocking(&self) -> impl Iterator<Item = &ReviewFinding> {
        self.findings.iter().filter(|finding| finding.blocking)
    }

    /// By which the same blocking findings are known again; lines do not count, since a fix moves them.
    pub fn digest(&self) -> String {
        digest(self.blocking().map(|finding| [finding.path.as_str(), &finding.message]))
    }
}

/// The digest of findings, whatever their order.
pub fn digest<const N: usize>(findings: impl Iterator<Item = [impl AsRef<[u8]>; N]>) -> String {
    let mut sums: Vec<String> = findings
        .map(|finding| {
            let parts: Vec<String> = finding.iter().map(|part| sha256_hex(&[part.as_ref()])).collect();
            sha256_hex(&[parts.concat().as_bytes()])
        })
        .collect();
    sums.sort();
    sums.dedup();
    sha256_hex(&[sums.concat().as_bytes()])
}

/// One line of a role's text for the log: printable, and cut.
pub fn line(text: &str) -> String {
    let letters = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let line: String = letters.take(LONGEST).collect();
    line.trim().to_owned()
}

fn must_be_objects(answer: &Value) -> Result<(), String> {
    let Value::Object(fields) = answer else {
        return Err("it is no object".to_owned());
    };
    for (key, value) in fields {
        let items = value.as_array().into_iter().flatten();
        if let Some(at) = items.map(Value::is_object).position(|is_object| !is_object) {
            return Err(format!("{key}[{at}] is no object"));
        }
    }
    Ok(())
}

fn said(what: &str, text: &str) -> Result<(), String> {
    match text.trim().is_empty() {
        true => Err(format!("{what} is empty")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(name: &str, text: &str) -> String {
        Answer::parse(name, text.as_bytes()).expect_err(text)
    }

    #[test]
    fn answers_of_their_documented_shapes_are_read() {
        let plan = r#"{"summary": "s", "steps": [{"title": "t", "detail": "d", "files": ["a/", "*.rs"]}]}"#;
        assert!(matches!(Answer::parse(PLAN, plan.as_bytes()), Ok(Answer::Plan(plan)) if plan.steps.len() == 1));
        let review = r#"{"decision": "request_changes", "summary": "s",
            "findings": [{"path": "a", "line": 3, "message": "m", "blocking": true}, {"path": "b", "message": "m", "blocking": false}]}"#;
        let Ok(Answer::Review(review)) = Answer::parse(REVIEW, review.as_bytes()) else {
            panic!("it is one")
        };
        assert_eq!(review.blocking().count(), 1);
        let ask = r#"{"reason": "r", "question": "q"}"#;
        assert!(matches!(
            Answer::parse(NEEDS_HUMAN, ask.as_bytes()),
            Ok(Answer::NeedsHuman(_))
        ));
    }

    #[test]
    fn whatever_else_is_none_and_says_where() {
        for (name, text, part) in [
            (PLAN, "", "EOF"),
            (PLAN, r#"["s", [["t", "d", ["a"]]]]"#, "no object"),
            (
                PLAN,
                r#"{"summary": "s", "steps": [["t", "d", ["a"]]]}"#,
                "steps[0] is no object",
            ),
            (REVIEW, r#"["approve", "ok", []]"#, "no object"),
            (PLAN, "{}", "missing field `summary`"),
            (PLAN, r#"{"summary": "s", "steps": []}"#, "0 steps"),
            (
                PLAN,
                r#"{"summary": "s", "steps": [], "more": 1}"#,
                "unknown field `more`",
            ),
            (
                PLAN,
                r#"{"summary": "s", "summary": "s", "steps": []}"#,
                "duplicate field",
            ),
            (
                PLAN,
                r#"{"summary": "s", "steps": [{"title": "t", "detail": "d", "files": []}]}"#,
                "steps[0].files is empty",
            ),
            (
                PLAN,
                r#"{"summary": "s", "steps": [{"title": "t", "detail": "d", "files": ["/etc"]}]}"#,
                "steps[0].files",
            ),
            (
                PLAN,
                r#"{"summary": "s", "steps": [{"title": " ", "detail": "d", "files": ["a"]}]}"#,
                "steps[0].title is empty",
            ),
            (
                REVIEW,
                r#"{"decision": "ok", "summary": "s", "findings": []}"#,
                "unknown variant `ok`",
            ),
            (
                REVIEW,
                r#"{"decision": "request_changes", "summary": "s", "findings": []}"#,
                "without a finding",
            ),
            (
                REVIEW,
                r#"{"decision": "approve", "summary": "s", "findings": [{"path": "a", "message": "m", "blocking": true}]}"#,
                "`approve` with 1 finding",
            ),
            (
                REVIEW,
                r#"{"decision": "approve", "summary": "s", "findings": [{"path": "a", "line": 0, "message": "m", "blocking": false}]}"#,
                "findings[0].line is 0",
            ),
            (
                REVIEW,
                r#"{"decision": "approve", "summary": "s", "findings": []} {}"#,
                "trailing characters",
            ),
            (REVIEW, "approve", "expected value at line 1"),
            (NEEDS_HUMAN, r#"{"reason": "r"}"#, "missing field `question`"),
        ] {
            let error = why(name, text);
            assert!(error.contains(part) && error.starts_with(name), "{text}: {error}");
        }
        let long = format!(r#"{{"reason": "{}", "question": "q"}}"#, "x".repeat(300_000));
        assert!(why(NEEDS_HUMAN, &long).contains("at most 262144"));
        assert!(Answer::parse(PLAN, b"\xff").is_err());
    }

    #[test]
    fn the_same_blocking_findings_have_one_digest() {
        let review = |findings: &str| {
            let text = format!(r#"{{"decision": "needs_human", "summary": "s", "findings": [{findings}]}}"#);
            match Answer::parse(REVIEW, text.as_bytes()) {
                Ok(Answer::Review(review)) => review.digest(),
                other => panic!("{other:?}"),
            }
        };
        let (a, b) = (
            r#"{"path": "a", "line": 1, "message": "m", "blocking": true}"#,
            r#"{"path": "b", "message": "m", "blocking": true}"#,
        );
        let moved = r#"{"path": "a", "line": 9, "message": "m", "blocking": true}"#;
        let mild = r#"{"path": "c", "message": "m", "blocking": false}"#;
        assert_eq!(review(&format!("{a},{b}")), review(&format!("{b},{mild},{moved}")));
        assert_ne!(review(a), review(b));
        assert_ne!(review(a), review(mild));
    }
}
