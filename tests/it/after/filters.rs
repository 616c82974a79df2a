//! Filters that the person configured: they run on what an agent wrote, and only behind walls.

use std::fs;
use std::time::Instant;

use crate::support::jobs::{event, events, free, job, jobs_root, nothing_left, run, run_to, same, until, untouched};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// A filter that does what its input says, as a careless one may.
fn careless() -> Repo {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.run filter=run\n");
    repo.write("payments/a.run", "true\n");
    repo.git(["config", "--global", "filter.run.clean", "cat"]);
    repo.git(["config", "--global", "filter.run.smudge", "cat"]);
    repo.commit("a filter");
    repo
}

/// Tries to write everywhere outside; each success leaves a line in a file that is looked for.
fn reach(repo: &Repo) -> String {
    let places = [
        repo.top().join("out"),
        repo.home().join("out"),
        repo.root.join("out"),
        repo.root.join(".git/hooks/post-checkout"),
        repo.root.join(".git/out"),
        repo.root.join("payments/pay.ts"),
        jobs_root(repo).join("out"),
    ];
    let lines: Vec<String> = places
        .iter()
        .map(|place| format!("(echo x >> '{}') 2> /dev/null", place.display()))
        .collect();
    let git = repo.root.join(".git");
    format!(
        "{}\ngit -C '{1}' config alias.x y 2> /dev/null\nchmod 777 '{0}/config' 2> /dev/null\ntrue",
        lines.join("\n"),
        repo.root.display()
    )
    .replace("{0}", &git.display().to_string())
    .replace("chmod 777 '/config'", &format!("chmod 777 '{}/config'", git.display()))
}

#[test]
fn staging_an_agents_content_cannot_write_outside() {
    let repo = careless();
    // What the filter is made to do is told by the content that the agent left.
    repo.git([
        "config",
        "--global",
        "filter.run.clean",
        "t=${TMPDIR:-$HOME}/in; cat > $t; sh $t && cat $t",
    ]);
    let before = untouched(&repo);
    let agent = format!("cat > payments/a.run << 'END'\n{}\nEND", reach(&repo));
    run(&repo, "j1", &agent).expect(0, &["verdict=ok"]);
    untouched_outside(&repo);
    same(&before, &untouched(&repo));
    // A filter that fails for it fails the job, which says so and loses nothing.
    let failing = format!("cat > payments/a.run << 'END'\n{}\nexit 3\nEND", reach(&repo));
    run(&repo, "j2", &failing).expect(1, &["external filter", "nothing was deleted", "drop --force j2"]);
    untouched_outside(&repo);
    repo.agentgate(["drop", "--force", "j2"]).success();
    free(&repo);
}

#[test]
fn opening_an_agents_content_cannot_write_outside() {
    let repo = careless();
    let before = untouched(&repo);
    let canary = repo.top().join("canary");
    // Written where the filter may write for its own work: what git reads of a worktree.
    let inside = format!(
        "a=$(git rev-parse --absolute-git-dir); for f in commondir gitdir HEAD config.worktree; do echo /nowhere > $a/$f; done
         printf '[core]\\n\\tfsmonitor = touch {0}\\n' > $a/config.worktree; echo gitdir: /nowhere > .git; true",
        canary.display()
    );
    let agent = format!(
        "cat > payments/a.run << 'END'\n{}\n{inside}\nEND\nrm prot/rules.txt",
        reach(&repo)
    );
    run_to(3, &repo, "j1", &agent);
    repo.git([
        "config",
        "--global",
        "filter.run.smudge",
        "tee in > /dev/null; sh in; cat in; rm in",
    ]);
    repo.agentgate(["open", "j1"]).success();
    untouched_outside(&repo);
    let opened = repo.beside("repo-jobs/j1");
    assert_eq!(opened.id("HEAD"), repo.id("main"));
    assert_eq!(
        opened.git(["rev-parse", "--path-format=absolute", "--git-common-dir"]),
        repo.root.join(".git").display().to_string()
    );
    opened.git(["status", "--porcelain"]);
    assert!(!canary.exists());
    let admin = repo.root.join(".git/worktrees/j1");
    assert!(!admin.join("config.worktree").exists());
    // `drop` asks what is edited: a touched file goes through the filter once more.
    repo.git([
        "config",
        "--global",
        "filter.run.clean",
        "x=$(cat; echo .); sh -c \"${x%.}\"; printf %s \"${x%.}\"",
    ]);
    fs::File::options()
        .append(true)
        .open(opened.root.join("payments/a.run"))
        .and_then(|file| file.set_modified(std::time::SystemTime::now()))
        .expect("it can be touched");
    repo.agentgate(["drop", "j1"]).success();
    untouched_outside(&repo);
    same(&before, &untouched(&repo));
    nothing_left(&repo);
}

#[track_caller]
fn untouched_outside(repo: &Repo) {
    for place in [
        repo.top().join("out"),
        repo.home().join("out"),
        repo.root.join("out"),
        repo.root.join(".git/out"),
    ] {
        assert!(!place.exists(), "{} was written", place.display());
    }
    assert_eq!(repo.git(["--no-optional-locks", "status", "--porcelain"]), "");
}

/// Processes of this machine whose command line has this word.
fn alive(word: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("it can be listed").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(word))
        .collect()
}

fn ended_by(signals: &[i32]) -> Outcome {
    let repo = careless();
    // A number of seconds that nobody else sleeps tells its processes from others.
    let seconds = 100_000 + std::process::id() * 10 + u32::try_from(signals.len()).expect("few");
    let word = format!("sleep {seconds}");
    let clean = format!(
        "trap '' TERM INT; x=$(cat; echo .); case $x in *hang*) setsid {word} & touch $TMPDIR/hangs; {word};; esac; \
         printf %s \"${{x%.}}\""
    );
    repo.git(["config", "--global", "filter.run.clean", &clean]);
    let mut running = job(&repo, "j1", &[], "echo let it hang > payments/a.run").spawn();
    let sign = jobs_root(&repo).join(".jobs/j1/stage.tmp/hangs");
    until("the filter hangs", || sign.exists());
    assert!(!alive(&word).is_empty());
    let start = Instant::now();
    for signal in signals {
        running.signal(*signal);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let outcome = running.wait();
    assert!(start.elapsed().as_secs() < 12, "{outcome}");
    until("its processes are gone", || alive(&word).is_empty());
    assert_eq!(event(&events(&repo, "j1"), "job.interrupted")["signal"], signals[0]);
    free(&repo);
    repo.agentgate(["drop", "--force", "j1"]).success();
    nothing_left(&repo);
    outcome
}

#[test]
fn a_signal_ends_a_filter_that_hangs_and_all_that_it_started() {
    assert_eq!(ended_by(&[15]).code, 143);
    assert_eq!(ended_by(&[2, 2]).code, 130);
}
