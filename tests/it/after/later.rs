//! What a person types when the job is over runs nothing that the candidate brought.

use super::{Trap, inviting};
use crate::support::jobs::{nothing_left, run_to, same, untouched};

/// The candidate brings hooks, attributes and settings of a submodule.
const BRINGS: &str = "arm tracked; cp -r tracked/hooks tool/hooks/more; cp tracked/hooks/* tool/hooks/
    printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes; cp .gitattributes payments/.gitattributes
    printf '[submodule \"s\"]\\n\\tpath = payments/s\\n\\turl = ext::sh -c evil\\n\\tupdate = !evil\\n' > .gitmodules
    settings /nowhere > .gitconfig; settings /nowhere > .lfsconfig; mkdir -p payments/.githooks
    echo y > payments/b.f";
/// And a folder that git takes for a repository, which is never kept.
const BARE: &str = "mkdir -p payments/bare/objects payments/bare/refs; cp .gitconfig payments/bare/config
    echo 'ref: refs/heads/main' > payments/bare/HEAD; touch payments/bare/objects/x payments/bare/refs/x";

#[test]
fn every_command_on_a_kept_job() {
    let repo = inviting();
    repo.change("tracked/README", "x\n");
    let trap = Trap::new(&repo);
    let before = untouched(&repo);
    run_to(0, &repo, "j1", &format!("{}{BRINGS}; calm", trap.words()));
    trap.quiet("while it was kept");
    same(&before, &untouched(&repo));
    let kept = repo.beside("repo-jobs/j1");
    for args in [
        &["status", "--porcelain"][..],
        &["diff", "HEAD~1"],
        &["log", "-p", "-1"],
        &["show", "--ext-diff", "--textconv"],
        &["stash", "list"],
        &["submodule", "status"],
    ] {
        kept.program("git").args(args).run();
        trap.quiet(&format!("in git {args:?}"));
    }
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["log", "j1"],
        &["check", "--base", "main", "--head", "agent/j1"],
        &["open", "j1"],
        &["preflight"],
    ] {
        repo.agentgate(args);
        trap.quiet(&format!("in agentgate {args:?}"));
        kept.agentgate(args);
        trap.quiet(&format!("in agentgate {args:?}, in its worktree"));
    }
    kept.write("payments/mine.ts", "mine\n");
    repo.agentgate(["drop", "j1"]).expect(12, &["payments/mine.ts"]);
    kept.remove("payments/mine.ts");
    trap.quiet("in drop");
    repo.agentgate(["land", "j1"]).success();
    trap.quiet("in land");
    assert_eq!(repo.git(["status", "--porcelain"]), "");
    assert_eq!(repo.git(["show", "HEAD:payments/b.f"]), "y");
    trap.quiet("in git status after landing");
    nothing_left(&repo);
}

#[test]
fn every_command_on_a_refused_job() {
    let repo = inviting();
    repo.change("tracked/README", "x\n");
    let trap = Trap::new(&repo);
    let before = untouched(&repo);
    run_to(
        3,
        &repo,
        "j1",
        &format!("{}{BRINGS}; {BARE}; rm prot/rules.txt; calm", trap.words()),
    );
    for args in [
        &["status"][..],
        &["log", "j1"],
        &["open", "j1"],
        &["land", "j1"],
        &["drop", "j1"],
        &["open", "j1"],
    ] {
        repo.agentgate(args);
        trap.quiet(&format!("in agentgate {args:?}"));
    }
    let opened = repo.beside("repo-jobs/j1");
    assert!(opened.root.join("tool/hooks/post-checkout").exists());
    for args in [&["status", "--porcelain"][..], &["diff", "--cached"], &["diff", "HEAD"]] {
        opened.git(args);
        trap.quiet(&format!("in git {args:?}"));
    }
    repo.agentgate(["drop", "j1"]).success();
    same(&before, &untouched(&repo));
    nothing_left(&repo);
}
