//! Which programs a check starts: each start costs more than the judgement of a small change.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::on_branch;
use crate::support::program::Outcome;
use crate::support::repo::{Repo, TRAILERS};

/// Runs a check with a git on PATH that notes its calls; gives the outcome and how many there were.
pub(super) fn counted(repo: &Repo, arguments: &[&str]) -> (Outcome, usize) {
    counted_in(repo, &repo.root, arguments, &[])
}

/// The same from another folder and with more variables, which the noting git does not get in its own way.
pub(super) fn counted_in(repo: &Repo, from: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (Outcome, usize) {
    let (folder, log) = (repo.top().join("shim"), repo.top().join("calls"));
    let real = std::env::var("PATH").expect("it is UTF-8");
    let (shim, text) = (
        folder.join("git"),
        format!(
            "#!/bin/sh\necho call >> '{}'\nPATH='{real}' exec git \"$@\"\n",
            log.display()
        ),
    );
    fs::create_dir_all(&folder).expect("folders can be made");
    fs::write(&shim, text).expect("it can be written");
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let _ = fs::remove_file(&log);
    let path = format!("{}:{real}", folder.display());
    let mut command = repo.command(["check"]).args(arguments).cwd(from);
    for (key, value) in variables {
        command = command.env(key, value);
    }
    let outcome = command.env("PATH", path).run();
    (outcome, fs::read_to_string(&log).unwrap_or_default().lines().count())
}

#[test]
fn a_persons_commit_in_a_plain_clone_needs_no_git() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    let (outcome, calls) = counted(&repo, &["--base", "main"]);
    outcome.expect(0, &[]);
    assert_eq!(calls, 0, "{outcome}");
}

#[test]
fn git_reads_the_trailers_of_a_commit_that_may_be_an_agents() {
    let repo = on_branch();
    repo.write("payments/retry.ts", "export const retry = 3;\n");
    repo.commit(&format!("agent job j1\n\n{TRAILERS}"));
    let (outcome, calls) = counted(&repo, &["--base", "main"]);
    outcome.expect(0, &[]);
    assert_eq!(calls, 2, "its version and the trailers: {outcome}");
    // A message in another encoding may say so in other bytes.
    let repo = on_branch();
    repo.write("payments/retry.ts", "export const retry = 4;\n");
    repo.git(["add", "-A"]);
    repo.git([
        "-c",
        "i18n.commitEncoding=ISO-8859-1",
        "commit",
        "--quiet",
        "-m",
        "retry",
    ]);
    let (outcome, calls) = counted(&repo, &["--base", "main"]);
    outcome.expect(0, &[]);
    assert_eq!(calls, 2, "{outcome}");
}

#[test]
fn git_is_asked_about_a_clone_that_is_not_plain() {
    let repo = on_branch();
    repo.change("payments/retry.ts", "export const retry = 3;\n");
    for (key, value) in [
        ("extensions.worktreeConfig", "true"),
        ("core.worktree", ".."),
        ("include.path", "/dev/null"),
    ] {
        repo.git(["config", key, value]);
        let (outcome, calls) = counted(&repo, &["--base", "main"]);
        outcome.expect(0, &[]);
        assert_eq!(calls, 2, "its version and the git dir, for {key}: {outcome}");
        repo.git(["config", "--unset", key]);
    }
    repo.git(["worktree", "add", "--quiet", "--detach", "../linked"]);
    let linked = Repo::beside(&repo, "linked");
    let (outcome, calls) = counted(&linked, &["--base", "main"]);
    outcome.expect(0, &[]);
    assert_eq!(calls, 2, "{outcome}");
}
