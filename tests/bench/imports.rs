//! How fast imports are found: `cargo bench --bench imports -- FOLDER...`
//!
//! Reads every source file below the folders into memory, then scans each language's files several
//! times on one core and prints the best round, in time of the processor: what else the machine does takes
//! hardly any of it. Files that cannot be read as source are counted. With
//! no folder the project's own sources are scanned.

#![expect(clippy::disallowed_macros, reason = "a measurement reads files and prints by itself")]

use std::path::PathBuf;
use std::time::Duration;

use agentgate::gate::imports::{self, Language};

const ROUNDS: usize = 5;
/// No more of one language is read.
const MAX_BYTES: usize = 256 * 1024 * 1024;

struct File {
    path: PathBuf,
    bytes: Vec<u8>,
}

fn main() {
    let mut folders: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .map(PathBuf::from)
        .filter(|path| path.is_dir())
        .collect();
    if folders.is_empty() {
        folders.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
    }
    let mut files: Vec<Vec<File>> = Language::ALL.iter().map(|_| Vec::new()).collect();
    for folder in &folders {
        for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
            let path = entry.path();
            let Some(language) = imports::language(path.as_os_str().as_encoded_bytes()) else {
                continue;
            };
            let index = Language::ALL.iter().position(|known| *known == language).unwrap_or(0);
            let held: usize = files[index].iter().map(|file| file.bytes.len()).sum();
            if let (true, Ok(bytes)) = (entry.file_type().is_file() && held < MAX_BYTES, std::fs::read(path)) {
                files[index].push(File {
                    path: path.to_owned(),
                    bytes,
                });
            }
        }
    }
    println!("| language | files | MB | imports | refused | MB/s |\n|---|---|---|---|---|---|");
    for (language, files) in Language::ALL.iter().zip(&files) {
        let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
        if bytes == 0 {
            continue;
        }
        let mut best = Duration::MAX;
        let (mut found, mut refused) = (0, 0);
        for _ in 0..ROUNDS {
            let start = used();
            (found, refused) = (0, 0);
            for file in files {
                match imports::imports_at(file.path.as_os_str().as_encoded_bytes(), *language, &file.bytes) {
                    Ok(imports) => found += imports.len(),
                    Err(_) => refused += 1,
                }
            }
            best = best.min(used().saturating_sub(start));
        }
        let megabytes = bytes as f64 / 1e6;
        println!(
            "| {} | {} | {megabytes:.1} | {found} | {refused} | {:.0} |",
            language.name(),
            files.len(),
            megabytes / best.as_secs_f64()
        );
    }
}

/// Time that this thread has had a processor.
fn used() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    let used = told.split_whitespace().next().and_then(|used| used.parse().ok());
    Duration::from_nanos(used.expect("nanoseconds"))
}
