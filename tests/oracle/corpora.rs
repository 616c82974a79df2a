//! The files that are compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentgate::gate::imports::Language;

/// Files of one language: of each package the name, with its version, and its files.
pub type Packages = BTreeMap<String, Vec<PathBuf>>;

/// A longer file is a generated one, and takes a debug build a second.
const MAX_BYTES: u64 = 400_000;

/// Every file with one of the endings, in the order of their paths.
pub fn packages(language: Language, endings: &[&str]) -> Packages {
    let folders = match language {
        Language::Rust => crates(),
        _ => folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpora")),
    };
    let mut packages = Packages::new();
    for folder in folders {
        let files: Vec<_> = walkdir::WalkDir::new(&folder)
            .sort_by_file_name()
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file() && entry.metadata().is_ok_and(|known| known.len() <= MAX_BYTES))
            .map(walkdir::DirEntry::into_path)
            .filter(|path| {
                path.extension()
                    .is_some_and(|ending| endings.iter().any(|known| ending == *known))
            })
            .collect();
        if !files.is_empty() {
            let name = folder.file_name().expect("a package's folder");
            packages.insert(name.to_str().expect("UTF-8").to_owned(), files);
        }
    }
    packages
}

/// So many of the files, from all packages and all of their folders.
pub fn sample(packages: &Packages, most: usize) -> Vec<&Path> {
    let count: usize = packages.values().map(Vec::len).sum();
    let step = count.div_ceil(most).max(1);
    packages
        .values()
        .flatten()
        .step_by(step)
        .map(PathBuf::as_path)
        .collect()
}

/// The folders in a folder, but those with a dot before their name.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable").path())
        .filter(|path| {
            path.is_dir()
                && !path
                    .file_name()
                    .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        })
        .collect();
    found.sort();
    found
}

/// The crates that Cargo.lock names, where cargo unpacked them; what else it holds differs from machine to machine.
fn crates() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").expect("HOME")).join(".cargo"));
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("Cargo.lock");
    let value = |line: Option<&str>, key: &str| Some(line?.strip_prefix(key)?.trim_matches([' ', '=', '"']).to_owned());
    let locked: Vec<String> = lock
        .split("[[package]]")
        .filter_map(|package| {
            let mut lines = package.trim().lines();
            Some(format!(
                "{}-{}",
                value(lines.next(), "name")?,
                value(lines.next(), "version")?
            ))
        })
        .collect();
    let mut found: Vec<_> = folders(&home.join("registry/src"))
        .iter()
        .flat_map(|registry| folders(registry))
        .filter(|folder| locked.iter().any(|name| folder.ends_with(name)))
        .collect();
    found.sort();
    found
}
