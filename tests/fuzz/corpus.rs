//! Where a run begins: the repository's own fixtures, and what failed before.

use std::path::Path;

use crate::targets::Target;

/// Inputs above this many bytes are left out.
const MAX_BYTES: u64 = 32 * 1024;

/// What failed before comes first.
pub fn of(target: &Target, failed: &Path) -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    read(failed, &|_| true, &mut inputs);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["fixtures", "architecture", "src/gate/imports", "tests/fuzz"] {
        read(&root.join(folder), &|path| (target.takes)(path), &mut inputs);
    }
    inputs.extend(target.words.iter().map(|word| word.to_vec()));
    inputs
}

fn read(folder: &Path, takes: &dyn Fn(&str) -> bool, inputs: &mut Vec<Vec<u8>>) {
    let mut open = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() && takes(&path.to_string_lossy()) => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    for file in files {
        if std::fs::metadata(&file).is_ok_and(|about| about.len() <= MAX_BYTES) {
            inputs.extend(std::fs::read(&file).ok());
        }
    }
}
