//! What is the repository's own, and what asking that costs.

use agentgate::gate::{self, Entry, Oid, Rule, Tree, Unreadable};

use super::{file, lines, notices, tree, tree_with};
use crate::support::memtree::{Item, MemTree};

/// A tree of which one folder cannot be opened.
struct Shut {
    tree: MemTree,
    folder: Oid,
}

impl Shut {
    fn new(items: &[Item], name: &str) -> Shut {
        let tree = tree(items);
        let root = tree.entries(&tree.root()).expect("it is there");
        let folder = root
            .iter()
            .find(|entry| entry.name == name.as_bytes())
            .expect("it is listed")
            .id;
        Shut { tree, folder }
    }
}

impl Tree for Shut {
    fn root(&self) -> Oid {
        self.tree.root()
    }

    fn entries(&self, folder: &Oid) -> Result<Vec<Entry>, Unreadable> {
        match *folder == self.folder {
            true => Err(Unreadable {
                what: "a shut folder".to_owned(),
            }),
            false => self.tree.entries(folder),
        }
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, Unreadable> {
        self.tree.blob(id)
    }

    fn blob_size(&self, id: &Oid) -> Result<u64, Unreadable> {
        self.tree.blob_size(id)
    }
}

#[test]
fn a_check_whose_imports_match_nothing_opens_no_other_folder() {
    let base = [file("big/x.ts", "")];
    let head = |import: &str| [base[0].clone(), file("payments/a.ts", import)];
    let judged = |import: &str| gate::check(&Shut::new(&base, "big"), &Shut::new(&head(import), "big"), None);
    let verdict = judged("import './b'; import 'express';").expect("nothing asks for the folder");
    assert_eq!(verdict.findings, []);
    // One that matches asks whether it is an own module.
    assert!(judged("import 'redis';").is_err());
}

#[test]
fn an_own_module_is_said_aloud() {
    let workspace = [
        file("package.json", r#"{"workspaces": ["libs/*"]}"#),
        file("libs/redis/package.json", r#"{"name": "redis"}"#),
        file("libs/redis/index.js", ""),
    ];
    let head: Vec<Item> = workspace
        .iter()
        .cloned()
        .chain([file("payments/a.ts", "import 'redis/x';\nimport 'bullmq';\n")])
        .collect();
    let verdict = gate::check(&tree(&workspace), &tree(&head), None).expect("the gate can judge");
    assert_eq!(verdict.findings, []);
    assert_eq!(
        notices(&verdict),
        [
            "`payments/a.ts`: `redis/x` is taken for this repository's own package, which `redis` of \
             payments.forbidden_imports[0] does not name"
        ]
    );
}

#[test]
fn each_area_of_a_file_is_judged_by_itself() {
    let policy = "version: 1
all: {allowed_roots: [src/], may_depend_on: [shared]}
gate: {allowed_roots: [src/gate/], may_depend_on: []}
shared: {allowed_roots: [shared/]}
";
    let base = [file("shared/x.ts", ""), file("src/y.ts", "")];
    let head: Vec<Item> = base
        .iter()
        .cloned()
        .chain([file("src/gate/a.ts", "import '../../shared/x';\nimport '../y';\n")])
        .collect();
    let verdict = gate::check(&tree_with(policy, &base), &tree_with(policy, &head), None).expect("the gate can judge");
    assert_eq!(
        lines(&verdict),
        [
            "dependency-edge src/gate/a.ts:1:8 gate.may_depend_on",
            "dependency-edge src/gate/a.ts:2:8 gate.may_depend_on",
        ]
    );
    assert_eq!(verdict.findings[0].rule, Rule::DependencyEdge);
    assert_eq!(
        verdict.findings[1].message,
        "gate imports `../y`, which is `src/y.ts` of all; it may depend on no other area"
    );
}

#[test]
fn a_file_that_claims_another_areas_package_opens_nothing() {
    let policy = "version: 1
payments: {allowed_roots: [payments/], may_depend_on: []}
billing: {allowed_roots: [billing/]}
";
    let base = [file("billing/core.py", ""), file("payments/setup.py", "")];
    let head: Vec<Item> = base
        .iter()
        .cloned()
        .chain([
            file("payments/a.py", "import billing.core\n"),
            file("payments/billing/core.py", ""),
        ])
        .collect();
    let verdict = gate::check(&tree_with(policy, &base), &tree_with(policy, &head), None).expect("the gate can judge");
    assert_eq!(
        lines(&verdict),
        ["dependency-edge payments/a.py:1:8 payments.may_depend_on"]
    );
}
