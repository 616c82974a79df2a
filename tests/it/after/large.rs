//! Files too large to be staged: a hole of a terabyte keeps no job waiting, and what git need not read is
//! nobody's business.

use std::fs::File;
use std::time::{Duration, Instant};

use super::inviting;
use crate::support::jobs::{frozen, job, nothing_left, patched};
use crate::support::program::Outcome;
use crate::support::repo::Repo;

/// A repository where the file system takes such a hole.
fn roomy() -> Option<Repo> {
    let repo = inviting();
    let probe = repo.top().join("probe");
    let made = File::create_new(&probe).and_then(|file| file.set_len(1 << 40));
    std::fs::remove_file(&probe).expect("it was made");
    made.ok().map(|()| repo)
}

/// A run that ends soon.
#[track_caller]
fn soon(repo: &Repo, id: &str, code: i32, agent: &str) -> Outcome {
    let start = Instant::now();
    let outcome = job(repo, id, &[], agent).deadline(Duration::from_secs(120)).run();
    assert_eq!(outcome.code, code, "{outcome}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    outcome
}

#[test]
fn a_hole_of_a_terabyte_is_uninspectable_and_goes() {
    let Some(repo) = roomy() else { return };
    let agent = "truncate -s 1T payments/big.ts; echo 1 > payments/a.ts";
    let outcome = soon(&repo, "j1", 9, agent);
    outcome.expect(
        9,
        &[
            "uninspectable",
            "2 GiB",
            "payments/big.ts (1099511627776 bytes)",
            "nor in the record",
        ],
    );
    assert_eq!(
        repo.git(["diff", "--name-status", "main", &frozen(&repo, "j1")]),
        "A\tpayments/a.ts"
    );
    assert_eq!(patched(&repo, "j1", "main"), frozen(&repo, "j1"));
    // Alone, in a file's place, where nobody may look, hidden by a rule of the agent's, and under attributes
    // whose filter nobody has.
    for (id, agent) in [
        ("alone", "truncate -s 1T payments/big.ts"),
        ("placed", "truncate -s 1T payments/pay.ts"),
        (
            "shut",
            "mkdir payments/d; truncate -s 1T payments/d/b; chmod 0 payments/d/b payments/d",
        ),
        (
            "hidden",
            "echo big.bin > payments/.gitignore; truncate -s 1T payments/big.bin",
        ),
        ("driver", "truncate -s 1T payments/big.f"),
        (
            "mine",
            "echo '*.x filter=mine' > .gitattributes; git config filter.mine.clean cat; truncate -s 1T payments/b.x",
        ),
    ] {
        soon(&repo, id, 9, agent).expect(9, &["1099511627776 bytes"]);
    }
    // What the base has there stays: nobody deleted it.
    assert_eq!(repo.git(["diff", "main", &frozen(&repo, "placed")]), "");
    soon(&repo, "failed", 16, "truncate -s 1T payments/big.ts; exit 3");
    nothing_left(&repo);
}

#[test]
fn what_the_base_ignores_may_have_any_size_unless_the_agent_adds_it() {
    let Some(repo) = roomy() else { return };
    repo.change(".gitignore", "cache/\n*.bin\n");
    let large = "mkdir cache; truncate -s 1T cache/x payments/y.bin; echo 1 > payments/a.ts";
    soon(&repo, "j1", 0, large);
    repo.agentgate(["drop", "j1"]).success();
    let added = format!(
        "{large}; git update-index --add --cacheinfo 100644,$(echo | git hash-object -w --stdin),payments/y.bin"
    );
    soon(&repo, "j2", 9, &added).expect(9, &["payments/y.bin (1099511627776 bytes)"]);
    nothing_left(&repo);
}

#[test]
fn what_a_filter_of_the_base_takes_in_may_have_any_size() {
    let Some(repo) = roomy() else { return };
    repo.change(".gitattributes", "*.big filter=big\n");
    repo.git(["config", "filter.big.clean", "echo pointer"]);
    soon(&repo, "j1", 0, "truncate -s 1T payments/a.big");
    assert_eq!(repo.git(["show", "agent/j1:payments/a.big"]), "pointer");
}

#[test]
fn a_large_file_of_the_base_that_nobody_changed_is_no_finding() {
    let Some(repo) = roomy() else { return };
    // A hole is written and read as quickly as git can.
    repo.git(["config", "core.compression", "1"]);
    let file = File::create_new(repo.root.join("payments/old.dat")).expect("it is new");
    file.set_len((2 << 30) + 1).expect("there is room for a hole");
    repo.commit("large");
    let outcome = job(&repo, "j1", &[], "echo 1 > payments/a.ts").deadline(Duration::from_secs(600));
    outcome.run().expect(0, &[]);
    assert_eq!(
        repo.git(["diff", "--name-status", "main", "agent/j1"]),
        "A\tpayments/a.ts"
    );
}
