//! Content that is hard to take: pipes, sockets, very large files, paths that no program can name, text
//! that is none. Each ends with its verdict, and nothing of the job is left in the way.

use std::time::{Duration, Instant};

use super::{Trap, inviting};
use crate::support::jobs::{frozen, job, jobs_root, nothing_left, patched, run, run_to};
use crate::support::repo::Repo;

/// Makes folders of 200 letters below each other, one step at a time, and a file in the innermost.
fn deep(top: &str, levels: usize) -> String {
    format!(
        "mkdir -p {top}; (cd {top}; n=$(printf '%0200d' 0); i=0; while [ $i -lt {levels} ]; do \
         mkdir $n && cd -P ./$n || exit 1; i=$((i + 1)); done; echo deep > bottom) || exit 1; "
    )
}

#[test]
fn a_path_longer_than_any_program_can_name_is_uninspectable_and_goes() {
    let repo = inviting();
    for (id, options) in [("held", &[][..]), ("unheld", &["--confinement", "off"])] {
        let agent = format!("{}echo 1 > payments/a.ts", deep("payments/d", 40));
        let outcome = job(&repo, id, options, &agent).run();
        outcome.expect(9, &["uninspectable", "payments/d", "too long"]);
        assert_eq!(patched(&repo, id, "main"), frozen(&repo, id));
        let kept = repo.git(["show", &format!("{}:payments/a.ts", frozen(&repo, id))]);
        assert_eq!(kept, "1");
        nothing_left(&repo);
    }
    // Also where nobody may enter the way there, and with a repository at its end.
    let shut = format!("{}chmod 000 payments/d; echo 1 > payments/a.ts", deep("payments/d", 40));
    run_to(9, &repo, "shut", &shut);
    let failed = format!("{}exit 3", deep("payments/d", 40));
    run_to(16, &repo, "failed", &failed);
    nothing_left(&repo);
}

#[test]
fn a_long_path_that_can_be_named_is_judged_as_any_other() {
    let repo = inviting();
    run_to(0, &repo, "j1", &deep("payments/d", 15));
    repo.agentgate(["land", "j1"]).success();
    assert!(repo.git(["ls-files"]).contains("/bottom"));
}

#[test]
fn a_long_path_in_an_ignored_folder_is_nobodys_business() {
    let repo = inviting();
    repo.change(".gitignore", "cache/\n");
    run_to(0, &repo, "j1", &format!("{}echo 1 > payments/a.ts", deep("cache", 40)));
    repo.agentgate(["drop", "j1"]).success();
    nothing_left(&repo);
}

#[test]
fn pipes_and_sockets_hold_nothing_up() {
    let repo = inviting();
    let socket = "python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])'";
    let agent = format!(
        "mkfifo payments/p; {socket} payments/s; rm prot/rules.txt; {socket} prot/rules.txt; {socket} .gitmodules"
    );
    let start = Instant::now();
    for (id, options) in [("held", &[][..]), ("unheld", &["--confinement", "off"])] {
        let outcome = job(&repo, id, options, &agent).run();
        outcome.expect(3, &["prot/rules.txt"]);
        assert_eq!(
            repo.git(["diff", "--name-status", "main", &frozen(&repo, id)]),
            "D\tprot/rules.txt"
        );
    }
    assert!(start.elapsed().as_secs() < 20);
    nothing_left(&repo);
}

#[test]
fn six_hundred_megabytes_have_a_verdict() {
    let repo = inviting();
    // Beyond core.bigFileThreshold git streams a file into a pack. A hole takes no room and little time.
    let agent = "truncate -s 600M payments/big.ts";
    let outcome = job(&repo, "j1", &[], agent).deadline(Duration::from_secs(180)).run();
    outcome.expect(9, &["payments/big.ts"]);
    let blob = format!("{}:payments/big.ts", frozen(&repo, "j1"));
    assert_eq!(repo.git(["cat-file", "-s", &blob]), "629145600");
    nothing_left(&repo);
}

#[test]
fn a_file_that_git_streams_is_kept_landed_and_dropped_as_any_other() {
    let repo = inviting();
    repo.git(["config", "core.bigFileThreshold", "100k"]);
    run_to(0, &repo, "j1", "seq 1 100000 > payments/big.bin");
    repo.agentgate(["land", "j1"]).success();
    assert_eq!(repo.git(["show", "main:payments/big.bin"]).lines().count(), 100_000);
    run_to(3, &repo, "j2", "seq 1 200000 > payments/big.bin; rm prot/rules.txt");
    assert_eq!(patched(&repo, "j2", "main"), frozen(&repo, "j2"));
    nothing_left(&repo);
}

#[test]
fn text_in_another_encoding_is_no_source() {
    let repo = inviting();
    // UTF-16 in which no byte is NUL: every letter is beyond the first 256.
    let text = r"printf '\377\376\050\377\117\140\175\131' > payments/";
    run_to(9, &repo, "j1", &format!("{text}u.ts")).expect(9, &["payments/u.ts"]);
    run_to(0, &repo, "j2", &format!("{text}u.txt"));
    nothing_but_kept(&repo, "j2");
}

fn nothing_but_kept(repo: &Repo, id: &str) {
    assert!(jobs_root(repo).join(id).exists());
    repo.agentgate(["drop", id]).success();
    nothing_left(repo);
}

#[test]
fn text_that_is_not_in_the_encoding_that_the_base_demands_is_uninspectable() {
    let repo = inviting();
    repo.change(".gitattributes", "*.u16 text working-tree-encoding=UTF-16\n");
    // No byte order mark, which git refuses; and one that is whole.
    let outcome = run(
        &repo,
        "j1",
        "printf 'a\\000b\\000' > 'payments/x y.u16'; echo 1 > payments/a.ts",
    );
    outcome.expect(9, &["payments/x y.u16", "encoding"]);
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    nothing_left(&repo);
    repo.agentgate(["open", "j1"]);
    repo.agentgate(["drop", "j1"]);
    run_to(0, &repo, "j2", "printf '\\377\\376a\\000\\n\\000' > payments/y.u16");
    assert_eq!(repo.git(["show", "agent/j2:payments/y.u16"]), "a");
}

#[test]
fn a_repository_in_a_folder_that_cannot_be_written_is_refused_for_an_ordinary_user_too() {
    let repo = inviting();
    repo.tampered("it becomes another user's");
    let trap = Trap::new(&repo);
    let agent = format!(
        "{}mkdir payments/n; git init -q payments/n; arm payments/n/.git; echo x > payments/n/x; chmod 500 payments/n/.git payments/n; calm",
        trap.words()
    );
    let outcome = run(&repo, "j1", &agent);
    outcome.expect(9, &["payments/n"]);
    trap.quiet("as this user");
    nothing_left(&repo);
    if !rustix::process::geteuid().is_root() {
        return;
    }
    repo.program("chown")
        .args(["-R", "4321:4321", &repo.top().to_string_lossy()])
        .run()
        .success();
    let task = repo.top().join("TASK.md");
    let outcome = repo
        .program("setpriv")
        .args(["--reuid=4321", "--regid=4321", "--clear-groups"])
        .args([env!("CARGO_BIN_EXE_agentgate"), "run", "--job-id", "j2"])
        .args([
            task.as_os_str(),
            "--".as_ref(),
            "sh".as_ref(),
            "-c".as_ref(),
            agent.as_ref(),
        ])
        .run();
    outcome.expect(9, &["payments/n"]);
    trap.quiet("as an ordinary user");
    assert!(!repo.top().join("repo-jobs").exists());
}
