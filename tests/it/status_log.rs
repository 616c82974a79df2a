//! `agentgate status` and `agentgate log`: readers that lock nothing and repair nothing; and what
//! the next owner of a torn log does.

use std::fs;

use agentgate::job::log::{decode, sha256_hex};
use serde_json::Value;

use super::support::repo::Repo;
use super::support::scene::{self, AGENT, JOB, agent, at_work, dead, events, kept, record, row, with_kept, worktree};

fn log_file(repo: &Repo, id: &str) -> std::path::PathBuf {
    record(repo, id).join("events.jsonl")
}

fn log_bytes(repo: &Repo) -> Vec<u8> {
    fs::read(log_file(repo, JOB)).expect("the job has a log")
}

fn set_log(repo: &Repo, bytes: &[u8]) {
    fs::write(log_file(repo, JOB), bytes).expect("it can be written");
}

/// One more line that fits the chain, of this version and kind.
fn append_line(repo: &Repo, version: u64, kind: &str) {
    let events = events(repo, JOB);
    let last = events.last().expect("a log has events");
    let body = format!(
        "{{\"v\":{version},\"seq\":{},\"epoch\":1,\"at\":\"2030-01-01T00:00:00Z\",\"job\":\"j1\",\"event\":\"{kind}\",\"what\":\"new\"",
        events.len() + 1
    );
    let prev = last["sum"].as_str().expect("a line has a sum");
    let sum = sha256_hex(&[prev.as_bytes(), body.as_bytes()]);
    let mut bytes = log_bytes(repo);
    bytes.extend(format!("{body},\"sum\":\"{sum}\"}}\n").bytes());
    set_log(repo, &bytes);
}

#[test]
fn status_says_what_each_job_is() {
    let repo = Repo::new();
    agent(&repo, "kept", &[], AGENT).run().success();
    agent(&repo, "refused", &[], "echo x > prot/rules.txt")
        .run()
        .expect(3, &[]);
    agent(&repo, "failed", &[], "exit 9").run().expect(16, &[]);
    agent(&repo, "idle", &[], "true").run().expect(15, &[]);
    let mut interrupted = at_work(&repo, "interrupted", "true");
    interrupted.signal(15);
    interrupted.wait().expect(143, &[]);
    agent(&repo, "dropped", &[], AGENT).run().success();
    repo.agentgate(["drop", "dropped"]).success();
    agent(&repo, "landed", &["--land"], AGENT).run().success();
    dead(&repo, "true");
    fs::create_dir(record(&repo, "empty")).expect("a folder can be made");
    fs::create_dir(record(&repo, "garbage")).expect("a folder can be made");
    fs::write(log_file(&repo, "garbage"), "garbage\nmore\n").expect("it can be written");
    fs::create_dir_all(record(&repo, "odd").join("owner.lock")).expect("folders can be made");
    fs::create_dir_all(record(&repo, "odd").join("events.jsonl")).expect("folders can be made");
    fs::write(record(&repo, ".stray"), "").expect("it can be written");
    let running = at_work(&repo, "running", "true");

    let status = repo.agentgate(["status", "--json"]).success().json();
    assert_eq!(status["schema"], "agentgate/status/1");
    assert_eq!(status["clone"], *repo.root.to_str().expect("it is UTF-8"));
    assert_eq!(status["holder"]["job_id"], "running");
    assert_eq!(status["holder"]["pid"], running.pid());
    let rows = status["jobs"].as_array().expect("a list");
    let seen: Vec<(&str, &str, Option<u64>, bool)> = rows
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().expect("it is text");
            (
                text("job_id"),
                text("state"),
                row["exit"].as_u64(),
                row["holder_alive"].as_bool().expect("it is yes or no"),
            )
        })
        .collect();
    let expected = [
        ("kept", "kept", Some(0), false),
        ("refused", "refused", Some(3), false),
        ("failed", "failed", Some(16), false),
        ("idle", "failed", Some(15), false),
        ("interrupted", "interrupted", Some(143), false),
        ("dropped", "dropped", Some(0), false),
        ("landed", "landed", Some(0), false),
        ("j1", "dead", None, false),
        ("empty", "unreadable", None, false),
        ("garbage", "unreadable", None, false),
        ("odd", "unreadable", None, false),
        ("running", "running", None, true),
    ];
    for one in expected {
        assert!(seen.contains(&one), "{one:?} is not in {seen:#?}");
    }
    for row in rows.iter().filter(|row| row["state"] != "unreadable") {
        let keys: Vec<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(
            keys,
            [
                "job_id",
                "state",
                "exit",
                "base",
                "age_seconds",
                "goal",
                "worktree",
                "holder_alive",
                "detail"
            ]
        );
        assert_eq!(row["base"].as_str().map(str::len), Some(40));
        assert_eq!(row["goal"], "pay twice");
        assert!(
            row["age_seconds"].as_i64().is_some_and(|age| (0..600).contains(&age)),
            "{row}"
        );
        let path = worktree(&repo, row["job_id"].as_str().expect("it is text"));
        let there = path.exists().then(|| path.to_str().expect("it is UTF-8").to_owned());
        assert_eq!(row["worktree"].as_str().map(str::to_owned), there);
    }
    let text = repo.agentgate(["status"]).success();
    for (id, state, ..) in expected {
        let line = text.stdout.lines().find(|line| line.starts_with(&format!("{id} ")));
        assert!(line.is_some_and(|line| line.contains(state)), "{id}: {text}");
    }
    assert!(text.stderr.contains("job running"), "{text}");
}

#[test]
fn status_of_a_clone_without_jobs_says_so() {
    let repo = Repo::new();
    let outcome = repo.agentgate(["status"]).success();
    assert!(
        outcome.stdout.starts_with("no jobs in this clone\nworktree  main at "),
        "{outcome}"
    );
    assert_eq!(
        repo.agentgate(["status", "--json"]).json()["jobs"],
        Value::Array(vec![])
    );
    assert!(!repo.root.join(".git/agentgate").exists());
}

#[test]
fn log_shows_events_from_where_it_is_asked() {
    let repo = with_kept();
    let all = events(&repo, JOB);
    let lines = |args: &[&str]| -> Vec<Value> {
        let outcome = repo.agentgate([&["log", JOB, "--json"], args].concat()).success();
        let lines = outcome.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a line is JSON"))
            .collect()
    };
    assert_eq!(lines(&[]), all);
    assert_eq!(lines(&["--since", "0"]), all);
    assert_eq!(lines(&["--since", "5"]), all[5..]);
    assert_eq!(lines(&["--since", "999"]), Vec::<Value>::new());
    repo.agentgate(["log", JOB])
        .expect(0, &["job.created", "job.kept", "goal: pay twice", "change.patch"]);
    repo.agentgate(["log", JOB, "--since", "999"]).success();
    repo.agentgate(["log", "nobody"]).expect(23, &["no job nobody"]);
    // What --json prints of the file, byte for byte, can be verified by anybody.
    let outcome = repo.agentgate(["log", JOB, "--json"]);
    assert_eq!(outcome.stdout.into_bytes(), log_bytes(&repo));
}

#[test]
fn log_reads_while_the_job_runs() {
    let repo = Repo::new();
    let _running = at_work(&repo, JOB, "echo 'I am here'");
    let outcome = repo.agentgate(["log", JOB]).success();
    outcome.expect(0, &["step.started", "it has not finished"]);
    assert!(!outcome.stdout.contains("step.finished"), "{outcome}");
    assert_eq!(row(&repo, JOB)["detail"], "the agent is at work");
    // It is this job's, and nobody else may touch it.
    for verb in ["drop", "land", "open"] {
        repo.agentgate([verb, JOB]).expect(13, &["another process"]);
    }
    repo.agentgate(["drop", "--force", JOB]).expect(13, &[]);
    assert!(worktree(&repo, JOB).join("at-work").exists());
}

#[test]
fn a_torn_tail_is_passed_over_and_set_aside_by_the_next_owner() {
    let tails: [&[u8]; 4] = [b"{\"v\":1,\"seq\":", b"{", b"\0\0\0\0", b"{\"v\":1\0\0\0"];
    for tail in tails {
        for verb in ["drop", "land"] {
            let repo = with_kept();
            let whole = log_bytes(&repo);
            set_log(&repo, &[&whole, tail].concat());
            let said = format!("a torn last line of {} bytes", tail.len());
            repo.agentgate(["log", JOB]).expect(0, &[&said]);
            assert_eq!(row(&repo, JOB)["state"], "kept");
            assert_eq!(log_bytes(&repo), [&whole, tail].concat(), "a reader repairs nothing");

            let next = decode(&whole).expect("it is whole").lines.len() + 1;
            repo.agentgate([verb, JOB]).success();
            let aside = record(&repo, JOB).join(format!("torn-{next}"));
            assert_eq!(fs::read(aside).expect("it was set aside"), tail);
            let now = log_bytes(&repo);
            assert!(now.starts_with(&whole));
            let log = decode(&now).expect("it is whole again");
            // Whoever found it says so, as a new owner, before what it came for.
            assert_eq!((log.torn_bytes, log.lines.len()), (0, next + 1));
            let owned = &log.lines[next - 1];
            assert_eq!((owned.kind.as_str(), owned.epoch), ("job.owned", 2));
            assert_eq!(owned.json["torn"]["name"], format!("torn-{next}"));
            repo.agentgate(["log", JOB]).expect(0, &["torn-"]);
        }
    }
}

#[test]
fn a_last_line_without_its_newline_counts() {
    for verb in ["drop", "land"] {
        let repo = with_kept();
        let whole = log_bytes(&repo);
        set_log(&repo, &whole[..whole.len() - 1]);
        assert_eq!(row(&repo, JOB)["state"], "kept");
        let outcome = repo.agentgate(["log", JOB]).success();
        assert!(outcome.stdout.contains("job.kept"), "{outcome}");
        assert!(!outcome.stderr.contains("torn"), "{outcome}");
        assert_eq!(log_bytes(&repo).len(), whole.len() - 1);
        repo.agentgate([verb, JOB]).success();
        let now = log_bytes(&repo);
        assert!(now.starts_with(&whole));
        let lines = decode(&now).expect("it is whole").lines.len();
        assert_eq!(lines, decode(&whole).expect("it is whole").lines.len() + 1);
    }
}

#[test]
fn what_another_version_wrote_is_shown_and_not_touched() {
    for (version, kind) in [(1, "job.sung"), (2, "job.dropped")] {
        let repo = with_kept();
        append_line(&repo, version, kind);
        repo.tampered("an event of another version is appended");
        let before = scene::tree(&repo.top());
        repo.agentgate(["log", JOB])
            .expect(0, &[kind, "not known to this version", "what: new"]);
        assert_eq!(row(&repo, JOB)["state"], "kept");
        for args in [
            &["drop", JOB][..],
            &["drop", "--force", JOB],
            &["land", JOB],
            &["open", JOB],
        ] {
            repo.agentgate(args).expect(23, &["another version", kind]);
        }
        assert_eq!(scene::tree(&repo.top()), before);
        // An unknown field of a known kind is no obstacle.
    }
    let repo = with_kept();
    append_line(&repo, 1, "job.dropped");
    assert_eq!(row(&repo, JOB)["state"], "dropped");
    repo.agentgate(["log", JOB]).expect(0, &["job.dropped", "what: new"]);
}

#[test]
fn a_changed_byte_anywhere_is_damage() {
    let repo = Repo::new();
    agent(&repo, "other", &[], "true").run().expect(15, &[]);
    kept(&repo, AGENT);
    let whole = log_bytes(&repo);
    repo.tampered("the log is changed");
    for at in 0..whole.len() - 1 {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert!(decode(&bytes).is_err(), "byte {at} of {}", whole.len());
    }
    let mut at = 0;
    for line in whole.split_inclusive(|&b| b == b'\n') {
        let mut bytes = whole.clone();
        bytes[at + line.len() / 2] ^= 1;
        at += line.len();
        set_log(&repo, &bytes);
        repo.agentgate(["log", JOB]).expect(23, &["damaged at line"]);
    }
    // The last of them: nobody repairs it, and it hides no other job.
    let before = scene::tree(&repo.top());
    for args in [&["drop", JOB][..], &["land", JOB], &["open", JOB]] {
        repo.agentgate(args).expect(23, &["damaged at line"]);
    }
    assert_eq!(scene::tree(&repo.top()), before);
    assert_eq!(row(&repo, JOB)["state"], "unreadable");
    assert_eq!(row(&repo, "other")["state"], "failed");
    // A line that is missing, or there twice.
    let lines: Vec<&[u8]> = whole.split_inclusive(|&b| b == b'\n').collect();
    for lines in [
        [&lines[..3], &lines[4..]].concat(),
        [&lines[..4], &lines[3..]].concat(),
        lines[1..].to_vec(),
    ] {
        set_log(&repo, &lines.concat());
        repo.agentgate(["log", JOB]).expect(23, &["damaged at line"]);
    }
}

#[test]
fn status_lists_worktrees_that_people_made() {
    let repo = with_kept();
    let other = repo.top().join("by-hand");
    repo.git([
        "worktree",
        "add",
        "--quiet",
        "--lock",
        "--reason",
        "mine",
        "-b",
        "hand",
        &other.display().to_string(),
    ]);
    let json = repo.agentgate(["status", "--json"]).success().json();
    let trees = json["worktrees"].as_array().expect("worktrees");
    assert_eq!(
        trees.len(),
        3,
        "the main checkout, the job's and the person's: {trees:?}"
    );
    let hand = trees
        .iter()
        .find(|tree| tree["branch"] == "refs/heads/hand")
        .expect("the person's");
    assert_eq!(hand["locked"], "mine");
    assert_eq!(hand["missing"], false);
    std::fs::remove_dir_all(&other).expect("deleted by hand");
    repo.agentgate(["status"])
        .expect(0, &["worktree  hand at", "locked mine", "missing"]);
}

#[test]
fn what_no_terminal_shows_is_an_escape_in_json_as_in_text() {
    let repo = with_kept();
    repo.tampered("an event of a kind that nobody writes");
    append_line(&repo, 1, "odd\u{202e}\u{9b}\u{7f}\u{e0041}kind");
    for line in [
        &["log", JOB, "--json"][..],
        &["log", JOB],
        &["log", JOB, "--follow", "--json"],
    ] {
        let shown = repo.agentgate(line).stdout;
        let hidden = ['\u{202e}', '\u{9b}', '\u{7f}', '\u{e0041}'];
        assert!(!shown.contains(hidden), "{line:?}: {}", shown.escape_debug());
        assert!(shown.contains("odd"), "{line:?}: {shown}");
    }
    let json = repo.agentgate(["log", JOB, "--json"]).stdout;
    assert!(json.contains("odd\\u202e\\u009b\\u007f\\udb40\\udc41kind"), "{json}");
    let last: Value = serde_json::from_str(json.lines().last().expect("a line")).expect("it is JSON");
    assert_eq!(last["event"], "odd\u{202e}\u{9b}\u{7f}\u{e0041}kind");
}
