//! Files that run by themselves later, and what agents leave behind, with the real binary.

use serde_json::Value;

use super::support::jobs::{event, events, job, recorded, run, run_to};
use super::support::repo::{POLICY, Repo, TRAILERS};

fn denying() -> Repo {
    let repo = Repo::new();
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}autoexec: deny\nmax_new_top_level_dirs: 9\n"),
    );
    repo
}

fn lenient() -> Repo {
    let repo = Repo::new();
    repo.change(
        "architecture/invariants.yml",
        &format!("{POLICY}max_new_top_level_dirs: 9\n"),
    );
    repo
}

#[test]
fn denied_in_run_it_is_3_and_says_why_and_what_to_do() {
    let repo = denying();
    repo.change(".envrc", "true\n");
    for (id, agent, text) in [
        (
            "edit",
            "echo x >> .envrc",
            ".envrc: changed, and it is run by direnv on cd\n  rule: protected-path [autoexec: **/.envrc] (exit 3)\n  \
             hint: put it back as it is in the base",
        ),
        ("delete", "rm .envrc", ".envrc: deleted, and it is run by direnv on cd"),
        ("mode", "chmod +x .envrc", ".envrc: changed (file mode), and it is"),
        ("move", "git mv .envrc payments/envrc", ".envrc: deleted, and it is"),
        (
            "new",
            "mkdir .claude; echo '{}' > .claude/settings.json",
            "run by claude at start\n  rule: protected-path [autoexec: **/.claude/**] (exit 3)\n  hint: delete it, or ask",
        ),
        (
            "deep",
            "mkdir payments/.vscode; echo '{}' > payments/.vscode/tasks.json",
            "run by VS Code on opening",
        ),
        (
            "link",
            "ln -s payments .husky",
            ".husky: added (symlink), and it is run by git at commit",
        ),
        (
            "above",
            "ln -s . payments/.vscode",
            "on the way to `**/.vscode/tasks.json`",
        ),
        (
            "twin",
            "echo x > agents.md",
            "agents.md: added (file): case or Unicode twin of `**/AGENTS.md`",
        ),
        ("attributes", "echo '* text' > .gitattributes", "run by git at checkout"),
    ] {
        run_to(3, &repo, id, agent).expect(3, &["verdict=protected-path", text]);
        assert_eq!(event(&events(&repo, id), "job.refused")["exit"], 3);
    }
    let outcome = run(&repo, "ordinary", "echo '{}' > package.json; echo x > .gitignore");
    outcome.expect(0, &[]);
    assert!(!outcome.stderr.contains("warning:"), "{outcome}");
}

#[test]
fn a_task_that_allows_the_file_does_not_lift_it() {
    let repo = denying();
    let task = super::support::jobs::task(&repo, "Goal: x\nAllowed files: .envrc\n");
    let task = task.to_str().expect("text");
    repo.agentgate(["run", "--job-id", "j1", task, "--", "sh", "-c", "echo x > .envrc"])
        .expect(3, &["autoexec: **/.envrc"]);
}

#[test]
fn warned_of_in_run_before_the_notices_and_in_json() {
    let repo = lenient();
    let agent = "echo x > .envrc; mkdir lib; echo x > lib/AGENTS.md";
    let outcome = run_to(0, &repo, "j1", agent);
    let text = "warning: .envrc: added (file), and it is run by direnv on cd [autoexec: **/.envrc]\n\
                warning: lib/AGENTS.md: added (file), and it is read by agents at start [autoexec: **/AGENTS.md]\n\
                hint: read what runs by itself before you use it; `autoexec: deny` in architecture/invariants.yml";
    outcome.expect(0, &[text]);
    let at = |what: &str| outcome.stderr.find(what).expect("it is said");
    assert!(at("warning: ") < at("note: "), "{outcome}");
    assert!(recorded(&repo, "j1", "gate.log").contains("warning: .envrc: "));
    let json: Value = serde_json::from_str(&recorded(&repo, "j1", "gate.json")).expect("JSON");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(2));

    let outcome = job(&repo, "j2", &["--json"], agent).run();
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(
        (&json["exit"], &json["findings"]),
        (&0.into(), &Value::Array(Vec::new()))
    );
    assert_eq!(json["warnings"][1]["path"], "lib/AGENTS.md");
    assert_eq!(
        json["warnings"][1]["message"],
        "added (file), and it is read by agents at start"
    );
}

#[test]
fn check_refuses_or_warns_also_of_what_was_put_back() {
    let repo = denying();
    repo.branch("f");
    repo.change(".envrc", "true\n");
    repo.agentgate(["check", "--base", "main"]).expect(
        3,
        &[".envrc: added (file), and it is run by direnv on cd\n  rule: protected-path [autoexec: **/.envrc]"],
    );
    repo.remove(".envrc");
    repo.commit("put back");
    repo.agentgate(["check", "--base", "main"]).expect(3, &["(in commit "]);

    let repo = lenient();
    repo.branch("f");
    repo.change("payments/a.ts", "export {};\n");
    repo.change(".envrc", "true\n");
    repo.change(".envrc", "false\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(0, &["invariants ok; 2 paths checked"]);
    assert!(
        outcome
            .stdout
            .starts_with("warning: .envrc: added (file), and it is run by direnv on cd ["),
        "{outcome}"
    );
    assert_eq!(
        outcome.stdout.matches("warning: ").count(),
        1,
        "one for a path\n{outcome}"
    );
    repo.remove(".envrc");
    repo.commit("put back");
    repo.agentgate(["check", "--base", "main"])
        .expect(0, &["warning: .envrc: ", "(in commit "]);
    let json: Value =
        serde_json::from_str(&repo.agentgate(["check", "--base", "main", "--json"]).stdout).expect("JSON");
    assert_eq!(json["warnings"][0]["path"], ".envrc");
    assert!(json["warnings"][0]["commit"].is_string());
}

#[test]
fn what_autoexec_protects_is_a_persons_to_change() {
    let check = ["check", "--base", "main", "--allow-policy-change"];
    let repo = denying();
    repo.branch("f");
    repo.change(".github/workflows/ci.yml", "on: push\n");
    repo.agentgate(check)
        .expect(0, &["--allow-policy-change accepts 1 finding"]);
    repo.change("payments/a.ts", "export {};\n");
    repo.agentgate(check)
        .expect(3, &["is void: the range also changes payments/a.ts"]);

    let repo = denying();
    repo.branch("f");
    repo.change(".Envrc", "true\n");
    repo.agentgate(check)
        .expect(3, &["is void: the range also changes .Envrc"]);

    let repo = denying();
    repo.branch("f");
    repo.write(".envrc", "true\n");
    repo.commit(&format!("agent job j1: an environment\n\n{TRAILERS}"));
    repo.agentgate(check).expect(3, &["is an agent commit"]);

    // With `warn` such a file is nobody's in particular.
    let repo = lenient();
    repo.branch("f");
    repo.change(".envrc", "true\n");
    repo.agentgate(check)
        .expect(0, &["is void: the range also changes .envrc", "warning: .envrc: "]);
}

#[test]
fn leftovers_are_named_whatever_the_end_is() {
    let repo = lenient();
    repo.change("opencode.json", "{}\n");
    let agent = "echo x > .aider.chat.history.md; echo x > payments/a.ts.swp; echo '{\"$schema\": 1}' > opencode.json; \
                 mkdir .crush; echo x > .crush/crush.db; echo x > core.4711";
    let left = "the candidate holds what looks like leftovers of the agent: .aider.chat.history.md (history or cache of \
                aider), .crush/crush.db (crush's own data), core.4711 (core dump), payments/a.ts.swp (swap file of an \
                editor); look before you use it";
    let settings = "note: the candidate changes settings that tools may rewrite by themselves: opencode.json (of \
                    opencode); look before you use it";
    run_to(0, &repo, "kept", agent).expect(0, &[left, settings]);
    run_to(16, &repo, "failed", &format!("{agent}; exit 3")).expect(16, &[left, settings]);
    let quiet = run(&repo, "quiet", "echo x > payments/core.ts; mkdir core; echo x > core/a");
    assert!(!quiet.stderr.contains("leftovers"), "{quiet}");
    let gone = run(&repo, "gone", "rm opencode.json");
    assert!(!gone.stderr.contains("rewrite by themselves"), "{gone}");
}

#[test]
fn leftovers_that_the_agent_had_ignored_are_named() {
    let repo = lenient();
    let agent = "echo '.aider*' > .gitignore; echo x > .aider.input.history; echo x > payments/a.ts";
    run_to(0, &repo, "j1", agent).expect(
        0,
        &["note: leftovers of the agent among the files in ignored.tar: .aider.input.history (history or cache of aider)"],
    );
}
