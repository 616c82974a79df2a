//! The scanners beside a real parser: every module that CPython's own parser sees imported in its
//! standard library and in what is installed beside it is found, and no other.
//!
//! The figures of all languages, and which parsers they were compared with, stand in
//! architecture/README.md.

use std::collections::BTreeSet;

use agentgate::gate::imports::{self, ImportKind, Language};

use crate::support::python;

/// No more files are compared: a debug build reads a few megabytes a second.
const MAX_FILES: usize = 600;

/// Prints each file and the first segments of what it imports absolutely, in lines.
const ORACLE: &str = r#"
import ast, os, sys, sysconfig, warnings
warnings.simplefilter("ignore")
left = int(sys.stdin.read())
for top in [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]:
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".py") or os.path.getsize(path) > 200_000 or left == 0:
                continue
            try:
                with open(path, "rb") as file:
                    source = file.read()
                source.decode("utf-8")
                tree = ast.parse(source)
            except (OSError, SyntaxError, ValueError, RecursionError):
                continue
            roots = set()
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    roots.update(alias.name.split(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    roots.add(node.module.split(".")[0])
            left -= 1
            print(path + "\t" + " ".join(sorted(roots)))
"#;

#[test]
fn python_agrees_with_its_own_parser() {
    let Some(listed) = python::script(&["ast"], ORACLE, MAX_FILES.to_string()) else {
        return;
    };
    let mut compared = 0;
    let mut different = Vec::new();
    for line in listed.stdout.lines() {
        let (path, roots) = line.split_once('\t').expect("a path and a list");
        let expected: BTreeSet<String> = roots.split_whitespace().map(str::to_owned).collect();
        let source = std::fs::read(path).expect("the parser read it too");
        let found: BTreeSet<String> = match imports::imports_at(path.as_bytes(), Language::Python, &source) {
            Err(opaque) => BTreeSet::from([format!("(refused: {})", opaque.why)]),
            Ok(found) => found
                .iter()
                .filter(|import| matches!(import.kind, ImportKind::Static | ImportKind::TypeOnly))
                .filter_map(|import| import.first_segment().map(str::to_owned))
                .collect(),
        };
        if found != expected {
            different.push(format!("{path}: {found:?} instead of {expected:?}"));
        }
        compared += 1;
    }
    assert!(compared >= 200, "only {compared} files of Python are here");
    assert!(
        different.is_empty(),
        "{} of {compared}: {different:#?}",
        different.len()
    );
}
