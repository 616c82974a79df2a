//! Attacks on what runs after the agent: programs planted where a git, a filter or agentgate itself would
//! start them outside the walls. A canary file shows whether any ever ran.

mod clone;
mod content;
mod filters;
mod large;
mod later;
mod planted;

use std::fs;
use std::path::PathBuf;

use super::support::jobs::script;
use super::support::repo::Repo;

/// A program that nothing outside the walls may start, and the file that shows it.
struct Trap {
    evil: PathBuf,
    canary: PathBuf,
}

impl Trap {
    fn new(repo: &Repo) -> Trap {
        let canary = repo.top().join("canary");
        let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display());
        Trap {
            evil: script(repo, "evil", &text),
            canary,
        }
    }

    /// Shell functions: `arm DIR` plants the program in a git dir wherever git takes one from, `calm` ends
    /// the agent's script, since what its own git ran is its affair.
    fn words(&self) -> String {
        let evil = self.evil.display();
        format!(
            r#"arm() {{
                mkdir -p "$1/hooks" "$1/info"
                for h in pre-commit commit-msg post-commit post-checkout post-merge post-rewrite pre-auto-gc \
                    reference-transaction post-index-change fsmonitor-watchman; do cp {evil} "$1/hooks/$h"; done
                printf '* filter=evil diff=evil merge=evil\n' > "$1/info/attributes"
                settings "$1/hooks" >> "$1/config"; settings "$1/hooks" >> "$1/config.worktree"
            }}
            settings() {{ cat << END
[core]
	fsmonitor = {evil}
	hooksPath = $1
	pager = {evil}
	editor = {evil}
	askPass = {evil}
	sshCommand = {evil}
	alternateRefsCommand = {evil}
[filter "evil"]
	clean = {evil}
	smudge = {evil}
	required = true
[diff]
	external = {evil}
[diff "evil"]
	textconv = {evil}
	command = {evil}
[merge "evil"]
	driver = {evil}
[gpg]
	program = {evil}
[commit]
	gpgsign = true
[credential]
	helper = {evil}
[uploadpack]
	packObjectsHook = {evil}
END
            }}
            calm() {{ rm -f '{canary}'; }}
            "#,
            canary = self.canary.display()
        )
    }

    /// Nothing ran.
    #[track_caller]
    fn quiet(&self, when: &str) {
        let ran = fs::read_to_string(&self.canary).unwrap_or_default();
        assert!(!self.canary.exists(), "ran {when}: {ran}");
    }

    /// It works: what the tests prove by its silence would otherwise be nothing.
    fn sprung(&self, repo: &Repo) {
        repo.program("sh").args([&self.evil]).run().success();
        assert!(self.canary.exists());
        fs::remove_file(&self.canary).expect("it is there");
    }
}

/// A repository in which git has every occasion to run something: hooks and attributes are tracked, and
/// the person's own settings name the folder of the hooks.
fn inviting() -> Repo {
    let repo = Repo::new();
    repo.write(".gitattributes", "*.f filter=evil diff=evil merge=evil\n");
    repo.write("tool/hooks/README", "hooks\n");
    repo.write("payments/a.f", "a\n");
    repo.commit("attributes");
    repo
}

/// Everything that a person may do with a job that ended, short of running its code.
fn look_at(repo: &Repo, id: &str) {
    repo.agentgate(["status"]).success();
    repo.agentgate(["log", id]);
    let kept = repo.beside(&format!("repo-jobs/{id}"));
    if kept.root.exists() {
        kept.git(["status", "--porcelain"]);
        kept.git(["diff", "HEAD"]);
        kept.git(["show", "--stat", "HEAD"]);
    }
    repo.program("git")
        .args(["--no-optional-locks", "status"])
        .run()
        .success();
    repo.agentgate(["check", "--base", "main", "--head", &format!("agent/{id}")]);
}

#[test]
fn the_trap_works() {
    let repo = Repo::new();
    let trap = Trap::new(&repo);
    trap.sprung(&repo);
    // As git finds it in a git dir that is armed.
    let agent = format!("{}arm .git; touch payments/pay.ts; git status", trap.words());
    repo.program("sh").args(["-c", &agent]).run();
    let ran = fs::read_to_string(&trap.canary).unwrap_or_default();
    assert!(ran.contains("evil") && ran.contains("hooks/post-index-change"), "{ran}");
}
