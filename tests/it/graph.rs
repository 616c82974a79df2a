//! `may_depend_on` and `allowed_imports` in `check`, and the verb that draws the graph.

use crate::support::repo::Repo;

const POLICY: &str = "version: 1
payments:
  allowed_roots: [payments/]
  may_depend_on: [shared]
  allowed_imports: [lodash]
shared:
  allowed_roots: [shared/]
  may_depend_on: []
billing:
  allowed_roots: [billing/]
must_not_touch: [LICENSE]
max_new_top_level_dirs: 9
";

/// Three areas and an import that is allowed; branch `f` is at `main`.
fn scene() -> Repo {
    let repo = Repo::empty();
    repo.write("architecture/invariants.yml", POLICY);
    repo.write("shared/log.ts", "export const log = 1;\n");
    repo.write("billing/core.ts", "import '../shared/log';\n");
    repo.write("scripts/run.ts", "import '../billing/core';\n");
    repo.change(
        "payments/a.ts",
        "import { log } from '../shared/log';\nimport 'express';\n",
    );
    repo.branch("f");
    repo
}

#[test]
fn an_edge_that_is_not_allowed_is_5_and_says_what_to_do() {
    let repo = scene();
    repo.change("payments/b.ts", "export {};\nimport { core } from '../billing/core';\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        5,
        &[
            "payments/b.ts:2:22: payments imports `../billing/core`, which is `billing/core.ts` of billing; it may depend on \
             shared\n",
            "  rule: dependency-edge [payments.may_depend_on] (exit 5)\n",
            "  hint: remove the import, or ask an owner of architecture/invariants.yml to add billing to \
             payments.may_depend_on\n",
        ],
    );
}

#[test]
fn what_lies_in_no_area_is_free() {
    let repo = scene();
    repo.change("payments/b.ts", "import '../scripts/run';\n");
    repo.agentgate(["check", "--base", "main"]).expect(0, &[]);
}

#[test]
fn a_link_into_another_area_is_no_way_around() {
    let repo = scene();
    std::os::unix::fs::symlink("../billing", repo.root.join("payments/b")).expect("a link");
    repo.change("payments/c.ts", "import './b/core';\n");
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        5,
        &["payments imports `./b/core`, which is `billing/core.ts` of billing"],
    );
}

#[test]
fn imports_that_lead_nowhere_are_counted_in_one_notice() {
    let repo = scene();
    let lines: String = (0..5).map(|n| format!("import './gone{n}';\n")).collect();
    repo.change("payments/b.ts", &lines);
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        0,
        &[
            "5 imports of this repository's own could not be followed to a path, and no `may_depend_on` looked at them: \
             `./gone0` in `payments/b.ts`:1 (no such file), `./gone1` in `payments/b.ts`:2 (no such file), `./gone2` in \
             `payments/b.ts`:3 (no such file) and 2 more\n",
        ],
    );
}

#[test]
fn a_package_that_is_not_allowed_is_5() {
    let repo = scene();
    repo.change(
        "payments/b.ts",
        "import 'lodash';\nimport fs from 'fs';\nimport 'left-pad/x';\n",
    );
    let outcome = repo.agentgate(["check", "--base", "main"]);
    outcome.expect(
        5,
        &[
            "payments/b.ts:3:8: imports `left-pad/x`, which is not among the packages that payments may use\n",
            "  rule: import-not-allowed [payments.allowed_imports] (exit 5)\n",
        ],
    );
    assert_eq!(
        outcome.last_line(),
        "invariants broken; 1 finding in 1 path (exit 5)",
        "{outcome}"
    );
}

#[test]
fn a_policy_with_an_edge_to_nowhere_is_2() {
    let repo = scene();
    repo.checkout("main");
    repo.change("architecture/invariants.yml", &POLICY.replace("[shared]", "[sharde]"));
    let outcome = repo.agentgate(["graph"]);
    outcome.expect(2, &["there is no area `sharde`", "hint: did you mean `shared`?"]);
}

#[test]
fn the_graph_shows_areas_edges_and_what_is_forbidden() {
    let repo = scene();
    repo.change("payments/b.ts", "import '../billing/core';\nimport './gone';\n");
    let outcome = repo.agentgate(["graph"]);
    let expected = format!(
        "areas of {}
  payments (2 files): may depend on shared
  shared (1 file): may depend on no other
  billing (1 file): may depend on any (no may_depend_on)
imports between areas
  billing -> shared (1 import)
    billing/core.ts:1: ../shared/log -> shared/log.ts
  payments -> billing (1 import)  FORBIDDEN
    payments/b.ts:1: ../billing/core -> billing/core.ts
  payments -> shared (1 import)
    payments/a.ts:1: ../shared/log -> shared/log.ts
own imports that lead to no path: 1
    payments/b.ts:2: ./gone -> no such file
files outside every area: 2
    architecture/invariants.yml
    scripts/run.ts
",
        repo.id("HEAD")
    );
    outcome.expect(0, &[]);
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn the_graph_of_another_commit_can_be_asked_for() {
    let repo = scene();
    repo.change("payments/b.ts", "import '../billing/core';\n");
    for option in ["--base", "--head"] {
        let json = repo.agentgate(["graph", "--format", "json", option, "main"]).json();
        assert_eq!(json["schema"], "agentgate/graph/1", "{json}");
        assert_eq!(json["commit"], repo.id("main"), "{json}");
        assert_eq!(json["edges"].as_array().map(Vec::len), Some(2), "{json}");
    }
    let json = repo.agentgate(["graph", "--json"]).json();
    assert_eq!(json["edges"][1]["verdict"], "forbidden", "{json}");
    assert_eq!(json["edges"][1]["examples"][0]["leads_to"], "billing/core.ts", "{json}");
    assert_eq!(
        json["areas"][0]["may_depend_on"],
        serde_json::json!(["shared"]),
        "{json}"
    );
    assert_eq!(json["areas"][2]["may_depend_on"], serde_json::Value::Null, "{json}");
}

#[test]
fn a_graph_without_a_usable_policy_or_commit_is_2() {
    let repo = Repo::empty();
    repo.change("README", "hello\n");
    repo.agentgate(["graph"]).expect(2, &["no architecture/invariants.yml"]);
    let repo = scene();
    repo.agentgate(["graph", "--head", "nowhere"])
        .expect(2, &["\"nowhere\" names no commit of this clone"]);
    repo.agentgate(["graph", "--format", "png"])
        .expect(64, &["write text, json, mermaid or dot"]);
}

#[test]
fn hostile_names_stay_inside_every_format() {
    let repo = scene();
    let name = "payments/x\n\"]; evil -> \"y\u{202e}%%{init}.ts";
    repo.change(name, "import '../billing/core';\n");
    for format in ["text", "mermaid", "dot"] {
        let outcome = repo.agentgate(["graph", "--format", format]);
        outcome.expect(0, &[]);
        let lines: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("evil")).collect();
        assert_eq!(lines.len(), 1, "{format}: {outcome}");
        assert!(!outcome.stdout.contains('\u{202e}'), "{format}: {outcome}");
        match format {
            "mermaid" => assert!(lines[0].starts_with("  %% payments/x"), "{outcome}"),
            "dot" => assert!(lines[0].contains(r#"\"]; evil -> \"y"#), "{outcome}"),
            _ => {}
        }
    }
    let json = repo.agentgate(["graph", "--format", "json"]).json();
    let path = json["edges"][1]["examples"][0]["path"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(path.starts_with("payments/x\\n\"") && !path.contains('\n'), "{path}");
}

#[test]
fn edges_are_drawn_by_number_and_forbidden_ones_in_red() {
    let repo = scene();
    repo.change("payments/b.ts", "import '../billing/core';\n");
    let mermaid = repo.agentgate(["graph", "--format", "mermaid"]).stdout;
    for line in [
        "flowchart LR\n",
        "  a0[\"payments (2 files)\"]\n",
        "  a0 -->|\"1 forbidden\"| a2\n",
        "  linkStyle 1 stroke:#c00,stroke-width:2px\n",
    ] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
    let dot = repo.agentgate(["graph", "--format", "dot"]).stdout;
    assert!(
        dot.contains(
            "  \"payments\" -> \"billing\" [label=\"1\", tooltip=\"payments/b.ts:1: ../billing/core -> billing/core.ts\", \
             color=red, fontcolor=red];\n"
        ),
        "{dot}"
    );
}
