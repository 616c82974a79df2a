//! environment.yml: `dependencies`, and the requirements in its `pip` list.
//!
//! The strict reader of the policy is asked first. Where it refuses what conda takes (an anchor, an empty key), the
//! entries are read line by line, since each is one item of a list.

use super::declared::{Dependency, guesses};
use super::{names, pip};
use crate::gate::yaml::{self, Entry, Value};

/// What conda itself brings or runs on.
const PLATFORM: &[&str] = &["python", "pip"];

/// The names of both lists.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let mut found = Vec::new();
    match yaml::read("environment.yml", text.as_bytes()) {
        Ok((_, entries)) => {
            let lists = entries.iter().filter(|entry| entry.key == "dependencies");
            lists.for_each(|entry| list(entry, &mut found));
        }
        Err(_) => by_lines(text, &mut found),
    }
    Ok(found)
}

fn list(entry: &Entry, found: &mut Vec<Dependency>) {
    let Value::List(items) = &entry.value.value else {
        return;
    };
    for item in items {
        match &item.value {
            Value::Text(text) | Value::Odd(text) => found.extend(package(text)),
            Value::Map(inner) => {
                for inner in inner.iter().filter(|inner| inner.key == "pip") {
                    let Value::List(lines) = &inner.value.value else {
                        continue;
                    };
                    for line in lines {
                        if let Value::Text(line) = &line.value {
                            found.extend(pip::read(line).found);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

fn by_lines(text: &str, found: &mut Vec<Dependency>) {
    let (mut is_inside, mut of_pip) = (false, None);
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or(line);
        let item = line.trim_start();
        let indent = line.len() - item.len();
        if item.is_empty() || item.starts_with('#') {
            continue;
        }
        let Some(item) = item.strip_prefix("- ") else {
            if indent == 0 {
                is_inside = line.starts_with("dependencies:");
                of_pip = None;
            }
            continue;
        };
        if !is_inside {
            continue;
        }
        let item = item.trim().trim_matches(['"', '\'']);
        if item == "pip:" {
            of_pip = Some(indent);
        } else if of_pip.is_some_and(|pip| indent > pip) {
            found.extend(pip::read(item).found);
        } else {
            of_pip = None;
            found.extend(package(item));
        }
    }
}

/// `name`, `name=1.2`, `name >=1`, `channel::name`, or the address of one package.
fn package(spec: &str) -> Option<Dependency> {
    let written = spec.trim();
    if written.contains("://") {
        return guesses(written).map(|name| Dependency::new(names::python(name), written));
    }
    let name = written.rsplit("::").next().unwrap_or(written).trim();
    let end = name
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(name.len());
    let name = &name[..end];
    (!name.is_empty() && !PLATFORM.contains(&name)).then(|| Dependency::new(names::python(name), name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let found = dependencies(text).expect("it can be read");
        found.into_iter().map(|found| found.name).collect()
    }

    #[test]
    fn both_lists_are_read() {
        let text = "name: x\nchannels: [conda-forge]\ndependencies:\n  - python=3.11\n  - numpy >=1.2 # x\n  - \
                    conda-forge::redis-py=5\n  - pip\n  - pip:\n    - Redis>=4\n    - -r more.txt\n    - \
                    git+https://example.com/a/b.git#egg=egg\n  - scipy\nprefix: /x\n";
        let wanted = ["numpy", "redis-py", "redis", "-r more.txt", "egg", "scipy"];
        let is_all = |found: Vec<String>| wanted.iter().all(|name| found.iter().any(|found| found == name));
        assert!(is_all(of(text)), "{:?}", of(text));
        // An empty key, which the strict reader refuses.
        let odd = text.replace("name: x", "name:");
        assert!(yaml::read("x", odd.as_bytes()).is_err());
        assert!(is_all(of(&odd)), "{:?}", of(&odd));
        assert_eq!(of("dependencies: [a, b=1]\n"), ["a", "b"]);
        assert!(of("").is_empty() && of("- x\n").is_empty() && of("name: x\n").is_empty());
    }
}
