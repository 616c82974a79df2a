//! tox.ini: what the environments of tox install.

use super::declared::Dependency;
use super::format::{Format, format};
use super::python::push;
use super::setup_cfg::entries;

/// Requirements of each section's `deps`, and of tox itself. A file that is named instead counts as a name, unless it
/// is read as a manifest by its own.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let mut found = Vec::new();
    for entry in entries(text)? {
        if !matches!(entry.key.as_str(), "deps" | "requires") {
            continue;
        }
        for (line, at) in entry.lines {
            let line = line.split(" #").next().unwrap_or(line);
            let item = without_factors(line.trim()).trim();
            // `{[base]deps}` and `{posargs}` stand for what another line says, `.` is the project itself.
            if item.is_empty() || item.starts_with(['{', '.', '#']) {
                continue;
            }
            match item.strip_prefix('-') {
                Some(option) => found.extend(file(option).map(|name| Dependency::new(name, item).at(Some(at)))),
                None => push(item, Some(at), &mut found),
            }
        }
    }
    Ok(found)
}

/// `py312,lint: pytest` is pytest.
fn without_factors(line: &str) -> &str {
    let is_factor = |c: char| c.is_ascii_alphanumeric() || "_-.,!{}".contains(c) || c.is_whitespace();
    match line.split_once(':') {
        Some((factors, rest)) if factors.chars().all(is_factor) && rest.starts_with(char::is_whitespace) => rest,
        _ => line,
    }
}

/// The file of `-r x.txt` or `--constraint=x.txt`, the sign left out; of an editable one the folder.
fn file(option: &str) -> Option<String> {
    let heads = ["r", "c", "e", "-requirement", "-constraint", "-editable"];
    let path = heads.iter().rev().find_map(|head| {
        let rest = option.strip_prefix(head)?;
        let is_long = head.len() > 1;
        (!is_long || rest.starts_with(['=', ' '])).then(|| rest.trim_start_matches(['=', ' ']).trim())
    })?;
    let is_read = format(path.as_bytes()) == Some(Format::Requirements);
    let is_own = path.starts_with(['.', '{']);
    (!path.is_empty() && !is_read && !is_own).then(|| format!("file {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_install_what_their_lines_say() {
        let text = "[tox]\nenvlist = py312\nrequires =\n    tox-uv>=1\n[testenv]\ndeps =\n    pytest # it\n    \
                    py312,!lint: Redis[hiredis]>=4; python_version < '4'\n    -r requirements.txt\n    -r deps.lst\n    \
                    -e .\n    {[base]deps}\n    # no\n    https://example.com/x.whl#egg=egg\ncommands =\n    pytest: no\n\
                    [testenv:lint]\ndeps = ruff\n";
        let found = dependencies(text).expect("it parses");
        let names: Vec<&str> = found.iter().map(|dependency| dependency.name.as_str()).collect();
        assert_eq!(names[..4], ["tox-uv", "pytest", "redis", "file deps.lst"]);
        assert_eq!(names.last(), Some(&"ruff"));
        assert!(names.contains(&"egg") && !names.contains(&"no"), "{names:?}");
        assert!(dependencies("[testenv]\nno line\n").is_err());
    }
}
