//! Every kind of change ends up in the one frozen tree: the tree is what `git add -A` in a plain
//! clone makes of the same files, and the saved patch makes it of the base.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::support::jobs::{event, events, frozen, jobs_root, nothing_left, patched, recorded, run, run_to};
use super::support::repo::Repo;

/// A repository with files of every kind to begin with.
fn various() -> Repo {
    let repo = Repo::new();
    repo.write("payments/run.sh", "#!/bin/sh\n");
    repo.write("docs/a/b.txt", "b\n");
    repo.write("docs/plain", "plain\n");
    repo.write("docs/blob.bin", [0, 159, 146, 150, 10]);
    repo.write("docs/same.txt", "aaaa\n");
    std::os::unix::fs::symlink("plain", repo.root.join("docs/link")).expect("a link");
    repo.commit("more");
    repo
}

/// The tree that a plain clone's `git add -A` makes of the same edits.
fn plain(repo: &Repo, name: &str, edits: &str) -> String {
    let clone = repo.clone_as(name, &[]);
    clone.program("sh").args(["-c", edits]).run().success();
    clone.git(["add", "-A"]);
    clone.git(["write-tree"])
}

/// Runs the edits with a gate that refuses them (they touch `prot/`), and compares the trees.
#[track_caller]
fn faithful(id: &str, edits: &str) -> Repo {
    let repo = various();
    let edits = format!("{edits}\necho x >> prot/rules.txt");
    run_to(3, &repo, id, &edits);
    let tree = frozen(&repo, id);
    assert_eq!(tree, plain(&repo, "plain", &edits), "git add -A sees another tree");
    assert_eq!(tree, patched(&repo, id, "main"), "the patch makes another tree");
    let record = format!("refs/agentgate/jobs/{id}:candidate");
    assert_eq!(repo.git(["rev-parse", &record]), tree);
    repo.git(["fsck", "--full", "--strict"]);
    nothing_left(&repo);
    repo
}

#[test]
fn kinds_of_files_and_changes_of_kind() {
    let edits = "chmod +x payments/pay.ts; chmod -x payments/run.sh
        ln -s ../docs/plain payments/l; rm docs/link; ln -s nowhere docs/link
        rm -r docs/a; echo file > docs/a
        rm docs/plain; mkdir docs/plain; echo x > docs/plain/inside
        : > docs/empty; printf 'no newline' > docs/tail
        printf '\\000\\001\\377' > docs/blob.bin; head -c 70000 /dev/urandom > docs/random.bin
        mkdir -p deep/er/est; echo x > deep/er/est/x; mkdir nothing
        mv payments/run.sh payments/moved.sh";
    // The random bytes must be the same in both.
    let edits = edits.replace("head -c 70000 /dev/urandom", "seq 1 20000 | gzip -nc");
    faithful("j1", &edits);
}

#[test]
fn names_that_need_quoting() {
    let repo = faithful(
        "j1",
        "for n in 'a b' 'say \"x\"' \"it's\" 'new\nline' \"$(printf 't\\tab')\" '-dash' 'back\\slash' 'é' ':(top)x' '*' \
         \"$(printf 'latin\\351')\" '#x' ' lead' 'trail '; do echo \"$n\" > \"docs/$n\"; echo \"$n\" > \"$n\"; done",
    );
    let bytes = repo
        .program("git")
        .args(["ls-tree", "-z", "--name-only", "refs/agentgate/jobs/j1:candidate"]);
    assert!(bytes.run().success().stdout.contains("new\nline"));
}

#[test]
fn a_name_that_is_not_utf8_is_kept_as_bytes() {
    let repo = various();
    run_to(0, &repo, "j1", "printf x > \"docs/$(printf 'latin\\351')\"");
    let listed = repo.git(["-c", "core.quotePath=true", "diff", "--name-only", "main", "agent/j1"]);
    assert_eq!(listed, "\"docs/latin\\351\"");
    let path = jobs_root(&repo).join("j1/docs").join(OsStr::from_bytes(b"latin\xe9"));
    assert_eq!(std::fs::read(path).expect("it is kept"), b"x");
    run(&repo, "j2", "printf x > \"prot/$(printf 'latin\\351\\033')\"").expect(3, &["prot/latin\\xe9\\u{1b}"]);
}

#[test]
fn an_edit_of_the_same_size_in_the_second_of_the_checkout_is_seen() {
    let repo = various();
    // git compares whole seconds, change time included: only an edit in the second of the checkout,
    // frozen in a later one, could be taken for none. Attempts that miss that second do not count.
    let agent = "before=$(stat -c %Z docs/same.txt); touch -r docs/same.txt $TMPDIR/ref; echo bbbb > docs/same.txt; \
                 touch -r $TMPDIR/ref docs/same.txt; rm $TMPDIR/ref; [ $before = $(stat -c %Z docs/same.txt) ] && echo in-time; \
                 sleep 1.1; true";
    let mut counted = 0;
    for round in 0..10 {
        let id = format!("j{round}");
        run_to(0, &repo, &id, agent);
        assert_eq!(repo.git(["show", &format!("agent/{id}:docs/same.txt")]), "bbbb");
        counted += u32::from(recorded(&repo, &id, "agent.log").contains("in-time"));
        if counted == 2 {
            return;
        }
    }
    panic!("no attempt of ten was within one second");
}

#[test]
fn only_a_mode() {
    let repo = various();
    run_to(0, &repo, "j1", "chmod +x docs/plain");
    assert_eq!(
        repo.git(["diff", "--summary", "main", "agent/j1"]).trim(),
        "mode change 100644 => 100755 docs/plain"
    );
    assert_eq!(event(&events(&repo, "j1"), "candidate.frozen")["changed"], 1);
}

#[test]
fn what_is_no_file_is_passed_over() {
    let repo = various();
    run_to(15, &repo, "j1", "mkfifo docs/fifo; mkdir docs/hollow");
    run_to(
        0,
        &repo,
        "j2",
        "mkfifo docs/fifo; rm docs/same.txt; mkfifo docs/same.txt; echo 1 > payments/a.ts",
    );
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j2"]),
        "D\tdocs/same.txt\nA\tpayments/a.ts"
    );
}

#[test]
fn pipes_in_place_of_files_that_git_reads_hold_nothing_up() {
    let repo = various();
    let agent = "mkfifo docs/.gitignore docs/.gitattributes .gitmodules .gitignore; mkdir -p docs/n/.git docs/m; \
                 mkfifo docs/n/.git/HEAD docs/n/.git/config docs/m/.git; ln -s /dev/zero payments/.gitignore; \
                 echo 1 > docs/n/x; echo 1 > docs/m/x; echo 1 > payments/a.ts";
    let start = std::time::Instant::now();
    run_to(9, &repo, "j1", agent).expect(9, &["docs/n", "docs/m"]);
    assert!(start.elapsed().as_secs() < 10);
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    let listed = repo.git(["diff", "--name-only", "main", &frozen(&repo, "j1")]);
    assert_eq!(listed, "docs/m/x\ndocs/n/x\npayments/.gitignore\npayments/a.ts");
    nothing_left(&repo);
}

#[test]
fn what_lies_under_another_case_of_dot_git_is_in_the_record() {
    let repo = various();
    for (id, agent, inside) in [
        (
            "j1",
            "mkdir docs/.GIT; echo PRECIOUS > docs/.GIT/config",
            "docs/.GIT/config",
        ),
        (
            "j2",
            "mkdir -p .Git/a; echo PRECIOUS > .Git/a/b; chmod 0 .Git/a",
            ".Git/a/b",
        ),
        ("j3", "echo PRECIOUS > docs/.giT", "docs/.giT"),
    ] {
        let outcome = run_to(9, &repo, id, agent);
        outcome.expect(9, &["uninspectable", inside, "they are in ignored.tar"]);
        assert!(!outcome.stderr.contains("taken as files"), "{outcome}");
        let tar = super::support::jobs::record(&repo, id).join("ignored.tar");
        let unpacked = repo.program("tar").args(["-xOf", &tar.to_string_lossy(), inside]).run();
        assert_eq!(unpacked.success().stdout, "PRECIOUS\n");
    }
    // A failing agent's as well.
    run_to(
        16,
        &repo,
        "j4",
        "mkdir docs/.GIT; echo PRECIOUS > docs/.GIT/config; exit 3",
    );
    assert!(recorded(&repo, "j4", "ignored.tar").contains("PRECIOUS"));
    nothing_left(&repo);
}

#[test]
fn names_that_another_system_takes_for_a_git_dir_are_refused() {
    let repo = various();
    for (at, name) in [
        ".GIT",
        "docs/.Git",
        "git~1",
        "docs/.git ",
        "docs/.git.",
        "docs/.g\u{200c}it",
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("j{at}");
        let agent = format!(
            "mkdir -p '{name}/hooks'; echo x > '{name}/hooks/post-checkout'; echo x > '{name}/config'; echo 1 > payments/a.ts"
        );
        let outcome = run(&repo, &id, &agent);
        assert!(outcome.code == 9 || outcome.code == 6, "{name}: {outcome}");
        outcome.expect(outcome.code, &["uninspectable"]);
        let outcome = run(
            &repo,
            &format!("{id}-file"),
            &format!("echo 'gitdir: /nowhere' > '{name}'; echo 1 > payments/a.ts"),
        );
        assert_eq!(outcome.code, 9, "{name}: {outcome}");
    }
    nothing_left(&repo);
}

#[test]
fn a_repository_in_an_ignored_folder_is_nobodys_business_and_is_kept() {
    let repo = various();
    repo.change(".gitignore", "node_modules/\n");
    let agent = "mkdir -p node_modules/p && cd node_modules/p && git init -q && git commit -q --allow-empty -m x && cd ../.. && echo 1 > payments/a.ts";
    run_to(0, &repo, "j1", agent);
    let kept = jobs_root(&repo).join("j1/node_modules/p");
    assert_eq!(repo.beside(&kept.to_string_lossy()).git(["log", "--format=%s"]), "x");
    assert_eq!(repo.git(["diff", "--name-only", "main", "agent/j1"]), "payments/a.ts");
}

#[test]
fn files_that_the_agent_made_unreadable_are_read_and_removed() {
    let repo = various();
    let edits = "mkdir shut; echo x > shut/x; chmod 000 shut/x; chmod 000 shut; echo y > docs/y; chmod 000 docs/y docs/plain; rm prot/rules.txt";
    run_to(3, &repo, "j1", edits);
    let tree = frozen(&repo, "j1");
    assert_eq!(repo.git(["show", &format!("{tree}:shut/x")]), "x");
    assert_eq!(repo.git(["show", &format!("{tree}:docs/y")]), "y");
    nothing_left(&repo);
}

#[test]
fn attributes_that_the_agent_wrote_are_content_and_no_configuration() {
    let repo = various();
    let edits = "printf '* text eol=crlf working-tree-encoding=UTF-16 ident filter=x\\n' > .gitattributes; printf 'a\\r\\nb\\r\\n' > docs/crlf.txt";
    run_to(0, &repo, "j1", edits);
    assert_eq!(repo.git(["show", "agent/j1:docs/crlf.txt"]), "a\r\nb\r");
}

#[test]
fn a_link_in_place_of_an_ignore_file_hides_nothing_and_is_content() {
    let repo = various();
    run_to(
        0,
        &repo,
        "j1",
        "ln -s docs/plain .gitignore; mkdir -p docs/a/.gitignore; echo 1 > docs/a/.gitignore/x; echo 1 > docs/plain2",
    );
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j1"]),
        "A\t.gitignore\nA\tdocs/a/.gitignore/x\nA\tdocs/plain2"
    );
}

#[test]
fn a_thousand_files_are_all_there() {
    let repo = various();
    run_to(
        0,
        &repo,
        "j1",
        "mkdir docs/many; for d in 0 1 2 3 4 5 6 7 8 9; do mkdir docs/many/$d; for f in $(seq 100); do : > docs/many/$d/$f; done; done",
    );
    assert_eq!(event(&events(&repo, "j1"), "candidate.frozen")["changed"], 1000);
    assert_eq!(
        repo.git(["ls-tree", "-r", "--name-only", "agent/j1", "docs/many/"])
            .lines()
            .count(),
        1000
    );
}

#[test]
fn a_filter_that_chatters_or_needs_the_home_works() {
    let repo = various();
    let bin = repo.home().join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::write(bin.join("up"), "#!/bin/sh\necho working >&2\ntr a-z A-Z\n").expect("a script");
    repo.program("chmod")
        .args(["+x", &bin.join("up").display().to_string()])
        .run()
        .success();
    repo.git(["config", "filter.up.clean", "~/bin/up"]);
    repo.write(".gitattributes", "*.up filter=up\n!*.png binary\n");
    repo.write("docs/x.up", "a\n");
    repo.commit("a filter");
    run_to(0, &repo, "j1", "echo bc >> docs/x.up");
    assert_eq!(repo.git(["show", "agent/j1:docs/x.up"]), "A\nBC");
}

#[test]
fn a_filter_that_fails_fails_the_job() {
    let repo = various();
    repo.git(["config", "filter.no.clean", "cat; exit 1"]);
    repo.write(".gitattributes", "*.no filter=no\n");
    repo.commit("a filter");
    // Not required, so git takes the unfiltered content and says so.
    run(&repo, "j1", "echo b > docs/x.no").expect(1, &["git add --all failed", "external filter"]);
}

#[test]
fn a_folder_in_the_place_of_an_ignore_file_hides_nothing() {
    let repo = various();
    repo.change("docs/.gitignore", "*.log\n");
    let agent =
        "rm docs/.gitignore; mkdir docs/.gitignore; echo h > docs/.gitignore/x; echo docs/.gitignore/ > .gitignore";
    run(&repo, "j1", agent).expect(0, &["ignored.tar", "docs/.gitignore/x"]);
}
