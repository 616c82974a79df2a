//! The command line: usage errors, help, `-C`, and errors as JSON.

use std::fs;

use agentgate::exit::Exit;
use serde_json::Value;

use super::support::program::Outcome;
use super::support::repo::Repo;
use super::support::scene::{self, AGENT, JOB, agent, with_kept};

/// One JSON object with the documented keys, and nothing else on standard output.
#[track_caller]
fn is_json_error(outcome: &Outcome, code: u8) {
    let json = outcome.json();
    assert_eq!(i32::from(code), outcome.code, "{outcome}");
    assert_eq!(json["schema"], "agentgate/error/1", "{outcome}");
    assert_eq!(json["exit"], code, "{outcome}");
    let exit = Exit::from_code(code).expect("it is documented");
    assert_eq!(json["verdict"], exit.name(), "{outcome}");
    assert!(json["error"].as_str().is_some_and(|text| !text.is_empty()), "{outcome}");
    assert!(json["hints"].is_array(), "{outcome}");
}

#[test]
fn what_cannot_be_understood_is_64_and_makes_nothing() {
    let repo = Repo::new();
    fs::write(repo.top().join("task.md"), "Goal: x\n").expect("it can be written");
    let before = scene::tree(&repo.top());
    let lines: &[&[&str]] = &[
        &[],
        &["fly"],
        &["--fly"],
        &["run"],
        &["run", "../task.md", "--fly"],
        &["run", "../task.md", "true"],
        &["run", "../task.md", "--timeout", "5x", "--", "true"],
        &["run", "../task.md", "--timeout", "1.5h", "--", "true"],
        &["run", "../task.md", "--wait=soon", "--", "true"],
        &["run", "../task.md", "--job-id", "", "--", "true"],
        &["run", "../task.md", "--job-id", "-x", "--", "true"],
        &["run", "../task.md", "--job-id", "a/b", "--", "true"],
        &["run", "../task.md", "--job-id", "..", "--", "true"],
        &["run", "../task.md", "--job-id", "a.lock", "--", "true"],
        &["run", "../task.md"],
        &["log"],
        &["log", "j1", "--since", "x"],
        &["log", "j1", "--since", "-1"],
        &["run", "../task.md", "--detach", "--verbose", "--", "true"],
        &["attach"],
        &["attach", "j1", "j2"],
        &["wait"],
        &["wait", "j1", "--timeout", "5"],
        &["stop"],
        &["land"],
        &["land", "j1", "j2"],
        &["land", "a/../b"],
        &["drop", ".."],
        &["open", ""],
        &["status", "j1"],
        &["check", "--base", "HEAD", "--range", "HEAD..HEAD"],
        &["help", "flying"],
        &["-C", "nowhere", "status"],
        &["-C", "payments/pay.ts", "status"],
    ];
    for line in lines {
        let outcome = repo.agentgate(*line);
        assert_eq!(outcome.code, 64, "{outcome}");
        assert_eq!(outcome.stdout, "", "{outcome}");
        assert!(!outcome.stderr.is_empty(), "{outcome}");
    }
    for line in [
        &["status", "--json", "--fly"][..],
        &["run", "--json"],
        &["run", "../task.md", "--json"],
        &["-C", "nowhere", "status", "--json"],
        &["land", "a/../b", "--json"],
    ] {
        is_json_error(&repo.agentgate(line), 64);
    }
    // What stands after -- is the agent's.
    let outcome = repo.agentgate(["run", "../task.md", "--fly", "--", "true", "--json"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (64, ""), "{outcome}");
    assert_eq!(scene::tree(&repo.top()), before);
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let repo = with_kept();
    let cases: &[(&[&str], u8)] = &[
        (&["land", "nobody", "--json"], 23),
        (&["drop", "nobody", "--json"], 23),
        (&["open", "nobody", "--json"], 23),
        (&["log", "nobody", "--json"], 23),
        (&["run", "nowhere.md", "--json", "--", "true"], 22),
        (&["run", "../task.md", "--json", "--job-id", "j1", "--", "true"], 14),
        (&["check", "--base", "nowhere", "--json"], 2),
    ];
    for (line, code) in cases {
        is_json_error(&repo.agentgate(*line), *code);
    }
    repo.write("untracked", "x");
    is_json_error(&repo.agentgate(["preflight", "--json"]), 12);
    is_json_error(&repo.beside("home").agentgate(["status", "--json"]), 2);
}

#[test]
fn results_are_one_json_object_with_a_schema() {
    let repo = Repo::new();
    let schema = |outcome: Outcome| outcome.json()["schema"].as_str().unwrap_or_default().to_owned();
    assert_eq!(schema(repo.agentgate(["preflight", "--json"])), "agentgate/preflight/1");
    let run = agent(&repo, JOB, &["--json"], AGENT).run().success();
    let json = run.json();
    assert_eq!(json["schema"], "agentgate/run/1");
    assert_eq!(
        (&json["job_id"], &json["verdict"], &json["exit"]),
        (&"j1".into(), &"ok".into(), &0.into())
    );
    assert_eq!(json["commit"], *repo.id("agent/j1"));
    assert_eq!(json["findings"], Value::Array(vec![]));
    let refused = agent(&repo, "j2", &["--json"], "echo x > prot/rules.txt").run();
    let json = refused.json();
    assert_eq!(
        (refused.code, &json["exit"], &json["verdict"]),
        (3, &3.into(), &"protected-path".into())
    );
    assert_eq!(json["findings"][0]["path"], "prot/rules.txt");
    assert_eq!(schema(repo.agentgate(["open", "j2", "--json"])), "agentgate/open/1");
    assert_eq!(schema(repo.agentgate(["drop", "j2", "--json"])), "agentgate/drop/1");
    let landed = repo.agentgate(["land", JOB, "--json"]).success().json();
    assert_eq!(landed["schema"], "agentgate/land/1");
    assert_eq!(landed["target"], "refs/heads/main");
    let landed = agent(&repo, "j3", &["--json", "--land"], "echo 3 > payments/3.ts")
        .run()
        .success();
    assert_eq!(landed.json()["landed"]["commit"], *repo.id("main"));
}

#[test]
fn run_prints_the_documented_lines_and_nothing_else_on_standard_output() {
    let repo = Repo::new();
    let keys = |outcome: &Outcome| -> Vec<String> {
        let lines = outcome.stdout.lines();
        lines
            .map(|line| line.split('=').next().unwrap_or_default().to_owned())
            .collect()
    };
    let documented = [
        "job_id", "base", "worktree", "branch", "commit", "record", "verdict", "exit",
    ];
    let script = format!("echo on stdout; echo on stderr >&2; {AGENT}");
    let outcome = agent(&repo, JOB, &["--verbose"], &script).run().success();
    assert_eq!(keys(&outcome), documented);
    assert!(
        outcome.stderr.contains("on stdout") && outcome.stderr.contains("on stderr"),
        "{outcome}"
    );
    let outcome = agent(&repo, "j2", &[], "echo x > prot/rules.txt").run();
    assert_eq!(keys(&outcome), documented);
    assert!(outcome.stdout.contains("worktree=\nbranch=\ncommit=\n"), "{outcome}");
    assert!(
        outcome.stdout.ends_with("verdict=protected-path\nexit=3\n"),
        "{outcome}"
    );
}

#[test]
fn preflight_decides_and_changes_nothing() {
    let repo = Repo::new();
    let index = repo.root.join(".git/index");
    // A file that was only touched would make git write the index anew.
    let pay = fs::File::options().write(true).open(repo.root.join("payments/pay.ts"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100);
    pay.expect("it can be opened")
        .set_modified(later)
        .expect("a time can be set");
    let before = (
        fs::read(&index).expect("an index"),
        fs::metadata(&index).expect("an index").modified().ok(),
    );
    let outcome = repo.agentgate(["preflight"]).success();
    assert_eq!(outcome.stdout, format!("preflight_ok head={}\n", repo.id("HEAD")));
    let after = (
        fs::read(&index).expect("an index"),
        fs::metadata(&index).expect("an index").modified().ok(),
    );
    assert!(before == after);

    repo.git(["config", "status.showUntrackedFiles", "no"]);
    repo.write("a file.txt", "x");
    repo.agentgate(["preflight"]).expect(12, &["?? a file.txt"]);
    repo.agentgate(["preflight", "--task", "a file.txt"]).success();
    repo.git(["add", "-A"]);
    repo.agentgate(["preflight"]).expect(12, &["A  a file.txt"]);
    repo.agentgate(["preflight", "--task", "a file.txt"])
        .expect(12, &["A  a file.txt"]);
    repo.commit("a file");
    repo.branch("side");
    repo.change("payments/pay.ts", "side\n");
    repo.checkout("main");
    repo.change("payments/pay.ts", "main\n");
    assert_ne!(repo.program("git").args(["merge", "--quiet", "side"]).run().code, 0);
    repo.agentgate(["preflight"]).expect(12, &["merge"]);
    let empty = Repo::empty();
    empty.agentgate(["preflight"]).expect(2, &["no commit yet"]);
}

#[test]
fn every_exit_code_is_explained() {
    let repo = Repo::empty();
    let outcome = repo.agentgate(["help", "exit-codes"]).success();
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), Exit::ALL.len() + 1);
    for (exit, line) in Exit::ALL.iter().zip(&lines[1..]) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..2], [&exit.code().to_string(), exit.name()]);
        assert!(line.ends_with(exit.meaning()), "{line}");
    }
}

#[test]
fn every_command_has_help() {
    let repo = Repo::empty();
    let outcome = repo.agentgate(["help"]).success();
    assert_eq!(repo.agentgate(["--help"]).success().stdout, outcome.stdout);
    let listed = outcome.stdout.split_once("Commands:\n").expect("commands are listed").1;
    let commands: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().next().expect("a line has a name"))
        .collect();
    let documented = [
        "run",
        "check",
        "preflight",
        "trailers",
        "status",
        "log",
        "attach",
        "wait",
        "stop",
        "land",
        "drop",
        "open",
        "agents",
        "init",
        "demo",
        "help",
    ];
    for command in documented {
        assert!(commands.contains(&command), "{command} is not listed");
    }
    for command in commands {
        let help = repo.agentgate(["help", command]).success();
        assert!(
            help.stdout.contains("Usage:") && help.stdout.contains(command),
            "{help}"
        );
        let flag = repo.agentgate([command, "--help"]).success();
        assert!(flag.stdout.contains(&format!("Usage: agentgate {command}")), "{flag}");
    }
    assert!(repo.agentgate(["--version"]).success().stdout.starts_with("agentgate "));
}

#[test]
fn c_acts_as_if_started_there() {
    let repo = with_kept();
    let elsewhere = repo.beside("home");
    let root = repo.root.to_str().expect("it is UTF-8");
    for line in [
        &["-C", root, "log", JOB][..],
        &["-C", "../repo/payments", "log", JOB],
        &["log", JOB, "-C", "../repo"],
        &["-C", "../repo-jobs/j1", "log", JOB],
    ] {
        elsewhere.agentgate(line).expect(0, &["job.kept"]);
    }
    elsewhere
        .agentgate(["log", JOB])
        .expect(2, &["not in a git repository"]);
    // Relative paths are seen from there.
    repo.write("payments/TASK.md", "Goal: from there\n");
    elsewhere
        .agentgate([
            "-C",
            "../repo/payments",
            "run",
            "TASK.md",
            "--job-id",
            "j2",
            "--",
            "sh",
            "-c",
            "echo 2 > payments/2.ts",
        ])
        .success();
    assert_eq!(scene::row(&repo, "j2")["goal"], "from there");
    // What run says is next can be typed anywhere.
    let outcome = agent(&repo, "j3", &["--allow-dirty"], "echo 3 > payments/3.ts")
        .run()
        .success();
    assert!(
        outcome.stderr.contains(&format!("next: agentgate -C {root} land j3")),
        "{outcome}"
    );
}

/// The commands that an outcome says are next, and the hints that are commands.
fn printed(outcome: &Outcome) -> Vec<String> {
    let lines = outcome.stderr.lines();
    lines
        .filter_map(|line| line.strip_prefix("next: ").or_else(|| line.strip_prefix("hint: ")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_is_printed_to_be_typed_can_be_pasted() {
    let odd = Repo::new();
    let repo = odd.beside("my \"repo\" $x \u{e9}'");
    fs::rename(&odd.root, &repo.root).expect("it can be moved");
    let elsewhere = repo.beside("home");
    let paste = |line: &str| {
        let script = format!(
            "agentgate() {{ '{}' \"$@\"; }}\n{line}\n",
            env!("CARGO_BIN_EXE_agentgate")
        );
        elsewhere.program("sh").args(["-e", "-u", "-c", &script]).run()
    };
    let kept = agent(&repo, "k1", &[], AGENT).run().success();
    let lines = printed(&kept);
    assert_eq!(lines.len(), 3, "{kept}");
    for line in &lines {
        // Landing and then dropping: the second has nothing to do any more.
        let code = if line.contains(" drop ") { 23 } else { 0 };
        paste(line).expect(code, &[]);
    }
    let refused = agent(&repo, "r1", &[], "echo x > prot/rules.txt").run();
    let lines = printed(&refused);
    assert_eq!(lines.len(), 3, "{refused}");
    for line in &lines {
        paste(line).success();
    }
    repo.agentgate(["open", "r1"]).expect(14, &["is it open already? cd "]);
    repo.agentgate(["drop", "r1"]).success();
    let opened = repo.agentgate(["open", "r1"]).success();
    let lines = printed(&opened);
    let here = format!(
        "cd {} && {}",
        shell_words::quote(repo.root.to_str().expect("it is UTF-8")),
        lines[0]
    );
    paste(&here).success();
    assert_eq!(repo.git(["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let repo = Repo::new();
    let binary = env!("CARGO_BIN_EXE_agentgate");
    let outcome = repo
        .program("sh")
        .args(["-c", &format!("'{binary}' status --json > /dev/full")])
        .run();
    outcome.expect(1, &["standard output could not be written"]);
}

#[test]
fn preflight_reads_the_task_too() {
    let repo = Repo::new();
    repo.write("TASK.md", "Goal: x\nAllowed file: a\n");
    repo.agentgate(["preflight", "--task", "TASK.md"])
        .expect(22, &["Allowed files"]);
}

#[test]
fn nothing_that_was_typed_reaches_the_terminal_raw() {
    let repo = Repo::new();
    for line in [
        &["x\nfoo"][..],
        &["x\u{1b}[31mfoo"],
        &["check", "x\nfoo"],
        &["check", "--x\nfoo"],
        &["check", "--format", "x\nfoo"],
        &["check", "--output", "json\nx=foo"],
        &["run", "t", "--pass-env", "x\nfoo=1"],
        &["run", "t", "--wait=\nfoo"],
        &["explain", "--in", "\nfoo"],
        &["help", "x\nfoo"],
        &["schema", "x\nfoo"],
        &["status", "x\u{202e}foo\u{85}"],
    ] {
        for json in [&[][..], &["--json"]] {
            let outcome = repo.agentgate([line, json].concat());
            assert_eq!(outcome.code, 64, "{outcome}");
            for text in [&outcome.stderr, &outcome.stdout] {
                assert!(!text.contains("\nfoo"), "{line:?}: {outcome}");
                assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{85}']), "{line:?}: {outcome}");
            }
        }
    }
    repo.agentgate(["x\nfoo"])
        .expect(64, &["error: unrecognized subcommand 'x\\nfoo'\n"]);
}

#[test]
fn what_must_be_text_is_named_where_it_is_none() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let repo = Repo::new();
    let bytes = OsStr::from_bytes;
    for (line, culprit) in [
        (&[&b"check"[..], b"--base", b"\xfe"][..], "\\xfe"),
        (&[b"check", b"--paths", b"\xff", b"--base", b"\xfe"], "\\xfe"),
        (&[b"check", b"--head=\xfe"], "--head=\\xfe"),
        (&[b"explain", b"--in", b"\xff", b"--import", b"\xfe"], "\\xfe"),
    ] {
        let outcome = repo.agentgate(line.iter().map(|arg| bytes(arg)));
        let text = format!("an argument is not UTF-8: {culprit}\n");
        outcome.expect(64, &[&text, "hint: paths may be of any bytes", "git rev-parse NAME"]);
        assert!(!outcome.stderr.contains("was detected"), "{outcome}");
    }
    let outcome = repo.agentgate([bytes(b"status"), bytes(b"--json"), bytes(b"\xfe")]);
    is_json_error(&outcome, 64);
}
