//! `agentgate check` in each format: the same verdict and the same code, also where there is no verdict.

mod ci;
mod fingerprints;
mod hostile;
mod inspected;
mod output;
mod places;
mod shapes;

use serde_json::Value;

use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// Those for machines.
pub const MACHINE: [&str; 5] = ["json", "sarif", "github", "junit", "gitlab"];
/// All of them.
pub const ALL: [&str; 7] = ["text", "json", "sarif", "github", "junit", "markdown", "gitlab"];

/// A branch `f` with a finding of three kinds, at known places.
pub fn broken() -> Repo {
    let repo = Repo::new();
    repo.branch("f");
    repo.write("prot/rules.txt", "none\n");
    repo.write("infra/async/worker.ts", "export {};\n");
    repo.write("payments/q.ts", "// é\nimport { x } from 'redis';\n");
    repo.commit("break it");
    repo
}

/// A branch `f` that passes.
pub fn sound() -> Repo {
    let repo = Repo::new();
    repo.branch("f");
    repo.change("payments/retry.ts", "import fs from 'fs';\nexport const retry = 3;\n");
    repo
}

/// `check` against main in this format.
pub fn check(repo: &Repo, format: &str) -> Outcome {
    repo.agentgate(["check", "--base", "main", "--format", format])
}

/// How many findings a document of this format holds.
fn findings(format: &str, text: &str) -> usize {
    let json = || -> Value { serde_json::from_str(text).expect("it is JSON") };
    match format {
        "text" => text.matches("  rule: ").count(),
        "json" => json()["findings"].as_array().map_or(0, Vec::len),
        "sarif" => json()["runs"][0]["results"].as_array().map_or(0, Vec::len),
        "github" => text.matches("::error ").count(),
        "junit" => text.matches("<failure ").count(),
        "markdown" => text.lines().filter(|line| line.contains("<br>hint: ")).count(),
        _ => json().as_array().map_or(0, Vec::len),
    }
}

#[test]
fn every_format_has_the_findings_and_the_code_of_the_text() {
    let repo = broken();
    for format in ALL {
        let outcome = check(&repo, format);
        assert_eq!(outcome.code, 3, "{outcome}");
        // The folder `infra` is new, too.
        assert_eq!(findings(format, &outcome.stdout), 4, "{format}: {outcome}");
    }
    let repo = sound();
    for format in ALL {
        let outcome = check(&repo, format);
        assert_eq!(outcome.code, 0, "{outcome}");
        assert_eq!(findings(format, &outcome.stdout), 0, "{format}: {outcome}");
        assert!(!outcome.stdout.trim().is_empty(), "{format}: {outcome}");
    }
}

#[test]
fn json_is_short_for_format_json_and_nothing_else_is_on_standard_output() {
    let repo = broken();
    let short = repo.agentgate(["check", "--base", "main", "--json"]);
    assert_eq!((short.code, &short.stdout), (3, &check(&repo, "json").stdout));
    for format in MACHINE {
        assert_eq!(check(&repo, format).stderr, "", "{format}");
    }
}

/// Whether the document says that something failed, and what.
fn says_failure(format: &str, outcome: &Outcome) -> bool {
    let text = &outcome.stdout;
    let json = || outcome.json();
    let code = i64::from(outcome.code);
    match format {
        "json" => json()["exit"] == code && json()["schema"] == "agentgate/error/1",
        "sarif" => {
            let run = &json()["runs"][0];
            let invocation = &run["invocations"][0];
            let told = &invocation["toolExecutionNotifications"][0];
            run["results"] == Value::Array(Vec::new())
                && invocation["executionSuccessful"] == false
                && invocation["exitCode"] == code
                && told["level"] == "error"
                && told["message"]["text"].as_str().is_some_and(|text| text.len() > 10)
        }
        "github" => text.starts_with("::error title=agentgate%3A ") && text.lines().count() == 1,
        "junit" => text.contains("errors=\"1\"") && text.contains("<error type="),
        "gitlab" => json().as_array().is_some_and(|all| {
            all.len() == 1 && all[0]["severity"] == "blocker" && all[0]["description"].as_str().is_some()
        }),
        "markdown" => text.starts_with("### agentgate: not judged; ") && text.contains(&format!("(exit {code})")),
        _ => text.is_empty() && outcome.stderr.contains("agentgate: error: "),
    }
}

#[test]
fn what_was_not_judged_is_a_failure_in_every_format_and_never_an_empty_document() {
    let repo = Repo::new();
    repo.write("../bad.md", "Goal: x\nAllowed file: y\n");
    let none = Repo::empty();
    none.change("a", "a\n");
    none.branch("f");
    none.change("b", "b\n");
    let invalid = Repo::empty();
    invalid.change("architecture/invariants.yml", "version: 1\nmust_not_tuch: [a]\n");
    let cases: [(&Repo, &[&str], i32); 6] = [
        (&repo, &["--base", "nowhere"], 2),
        (&none, &["--base", "main"], 2),
        (&invalid, &["--base", "main"], 2),
        (&repo, &["--base", "main", "--task", "../bad.md"], 22),
        (&repo, &["--range", "main"], 64),
        (&repo, &["--base", "main", "--fly"], 64),
    ];
    for (repo, options, code) in cases {
        for format in ALL {
            for spelt in [vec!["--format", format], vec![&*format!("--format={format}")]] {
                let outcome = repo.command(["check"]).args(spelt).args(options).run();
                assert_eq!(outcome.code, code, "{format}: {outcome}");
                assert!(
                    says_failure(format, &outcome) || code == 64 && format == "text",
                    "{format}: {outcome}"
                );
            }
        }
    }
    // Before there is a folder to work in.
    for format in MACHINE {
        let outcome = repo.agentgate(["-C", "nowhere", "check", "--format", format]);
        assert_eq!(outcome.code, 64, "{outcome}");
        assert!(says_failure(format, &outcome), "{format}: {outcome}");
    }
}

#[test]
fn three_hundred_violations_keep_the_code_and_are_all_there_in_every_format() {
    let repo = Repo::new();
    repo.branch("f");
    for number in 0..300 {
        repo.write(format!("prot/{number:03}"), "x\n");
    }
    repo.commit("break it often");
    for format in ALL {
        let outcome = check(&repo, format);
        assert_eq!(outcome.code, 3, "{format}");
        let expected = match format {
            "github" => 10,
            _ => 300,
        };
        let found = findings(format, &outcome.stdout);
        match format {
            "markdown" => {
                assert!(outcome.stdout.len() < 65_536, "{}", outcome.stdout.len());
                assert!(outcome.stdout.contains(&format!("and {} more", 300 - found)) || found == 300);
            }
            _ => assert_eq!(found, expected, "{format}"),
        }
        if format == "github" {
            assert!(
                outcome.stdout.contains("and 291 more: GitHub shows 10 of a kind"),
                "{outcome}"
            );
        }
    }
}

#[test]
fn two_runs_give_the_same_bytes() {
    let repo = broken();
    repo.change("payments/.envrc", "x\n");
    for format in ALL {
        let (first, second) = (check(&repo, format), check(&repo, format));
        assert_eq!((first.code, first.stdout), (second.code, second.stdout), "{format}");
    }
}

#[test]
fn a_format_that_does_not_exist_is_64_and_the_others_are_named() {
    let repo = sound();
    for line in [
        &["check", "--format", "xml"][..],
        &["check", "--output", "xml=a"],
        &["check", "--output", "sarif"],
        &["check", "--output", "sarif="],
        &["check", "--json", "--format", "sarif"],
    ] {
        repo.agentgate(line).expect(64, &["--"]);
    }
    repo.agentgate(["check", "--format", "xml"])
        .expect(64, &["one of: text, json, sarif, github, junit, markdown, gitlab"]);
}

/// The first words in the rows of the README's table with this header, without their backticks.
fn readme_rows(header: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(path).expect("README.md can be read");
    let rows = text.lines().skip_while(|line| *line != header).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').nth(1).expect("a first column").to_owned())
        .collect()
}

#[test]
fn the_readme_names_every_format_and_every_option() {
    let formats = readme_rows("| format | for | with a refusal (2, 22, 64 ...) it has |");
    let formats: Vec<&str> = formats.iter().map(|row| row.trim().trim_matches('`')).collect();
    assert_eq!(formats, ALL);
    let options = readme_rows("| option of `check` | what it does |").join(",");
    let help = Repo::empty().agentgate(["help", "check"]).success().stdout;
    let mut listed = 0;
    for word in help.split_whitespace().filter(|word| word.starts_with("--")) {
        let name = word.trim_end_matches([',', '.', ';', ':']);
        let is_told = options.contains(&format!("`{name}")) || ["--json", "--help"].contains(&name);
        assert!(is_told, "{name} is not in the README");
        listed += 1;
    }
    assert!(listed >= 10, "{help}");
}
