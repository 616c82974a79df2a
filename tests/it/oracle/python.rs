//! Python beside CPython's own parser: every module that it sees imported in its standard library and in what
//! is installed beside it is found, and no other.

use agentgate::gate::imports::{ImportKind, Language};

use super::Compared;
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
    let mut compared = Compared::default();
    for line in listed.stdout.lines() {
        let (path, roots) = line.split_once('\t').expect("a path and a list");
        let expected = roots.split_whitespace().map(str::to_owned).collect();
        compared.file(path, Language::Python, &expected, |import| {
            let counts = matches!(import.kind, ImportKind::Static | ImportKind::TypeOnly);
            import.first_segment().filter(|_| counts).map(str::to_owned)
        });
    }
    compared.agree(200);
}
