//! The floors of the design: a file imports only lower floors or its own module.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Module to floor. Within floor 2, `process` stands on `files` and applies the layers of `confine`, and
/// `lock` names its holder by `process`'s identity and waits by its signals. `store` asks `git` what else there is of a
/// job whose log is empty.
const FLOORS: &[(&str, u32)] = &[
    ("exit", 0),
    ("paths", 0),
    ("task", 10),
    ("trailer", 10),
    ("gate", 11),
    ("job", 12),
    ("mcp", 13),
    ("files", 20),
    ("confine", 20),
    ("process", 21),
    ("lock", 22),
    ("socket", 22),
    ("git", 30),
    ("agent", 30),
    ("store", 31),
    ("commands", 40),
    ("cli", 50),
    ("report", 51),
    ("lib", 52),
    ("main", 53),
];

/// What floors 0 and 1 must not know: they are pure.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::process",
    "std::env",
    "std::time",
    "git2::",
    "jiff::",
    "rustix::",
    "std::net",
    "tempfile::",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("src can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn each_source(mut visit: impl FnMut(&str, &str, &str)) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 40, "the walk found only {} files", files.len());
    for file in files {
        let relative = file.strip_prefix(&src).expect("below src").display().to_string();
        let module = relative
            .split('/')
            .next()
            .expect("a name")
            .trim_end_matches(".rs")
            .trim_end_matches("_tests")
            .to_owned();
        let text = std::fs::read_to_string(&file).expect("source is UTF-8");
        visit(&relative, &module, &text);
    }
}

/// Lines of code: comments name other floors freely.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number + 1, line))
}

#[test]
fn a_file_imports_only_lower_floors_or_its_own_module() {
    let floors: BTreeMap<&str, u32> = FLOORS.iter().copied().collect();
    let mut wrong = Vec::new();
    each_source(|file, module, text| {
        let own = *floors
            .get(module)
            .unwrap_or_else(|| panic!("{file}: module {module} has no floor: add it to FLOORS"));
        for (number, line) in code(text) {
            for part in line.split("crate::").skip(1) {
                let name: String = part
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                let Some(floor) = floors.get(name.as_str()) else {
                    continue;
                };
                if name != module && *floor >= own {
                    wrong.push(format!(
                        "{file}:{number}: {module} (floor {own}) imports {name} (floor {floor})"
                    ));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn floors_0_and_1_are_pure() {
    let pure = ["exit", "paths", "task", "trailer", "gate", "job"];
    let mut wrong = Vec::new();
    each_source(|file, module, text| {
        if !pure.contains(&module) || file.contains("tests") {
            return;
        }
        for (number, line) in code(text) {
            if let Some(word) = IMPURE.iter().find(|word| line.contains(**word)) {
                wrong.push(format!("{file}:{number}: {word}"));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_door_to_yaml_one_to_stdout_and_one_to_unsafe_code() {
    let doors = [
        ("serde_yaml::", vec!["gate/yaml"]),
        // The stub's probe and the doctor's trials answer their parent, our own process, on a pipe.
        (
            "io::stdout",
            vec!["report/", "process/stub.rs", "commands/doctor/trial.rs"],
        ),
        ("unsafe {", vec!["confine/sys.rs"]),
        ("indicatif::", vec!["report/progress.rs"]),
    ];
    let mut wrong = Vec::new();
    each_source(|file, _, text| {
        for (number, line) in code(text) {
            for (word, doors) in &doors {
                if line.contains(word) && !doors.iter().any(|door| file.starts_with(door)) {
                    wrong.push(format!("{file}:{number}: {word} outside of {}", doors.join(" and ")));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
