//! Reports that go to files: each one whole or not at all.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::checked::Checked;
use super::{check_format, markdown};
use crate::cli::Reports;
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::{credentials, render};

/// GitHub drops a step's whole summary above this many bytes.
const MAX_SUMMARY: u64 = 1024 * 1024;
/// Files that anybody may read, as a shell's `>` makes them.
const MODE: u32 = 0o644;

/// Writes what was asked for; one refusal for each that could not be written.
pub fn save(checked: &Checked, reports: &Reports, cwd: &Path) -> Vec<Stop> {
    let mut failures = Vec::new();
    for output in &reports.files {
        let path = cwd.join(&output.file);
        let text = credentials::masked(&check_format(checked, output.format));
        if let Err(error) = replace(&path, text.as_bytes()) {
            failures.push(cannot_write(output.format.name(), &output.file, &error));
        }
    }
    failures
}

/// Through a rename a device or pipe would be replaced by a file.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .and_then(|folder| folder.canonicalize().ok())
        .unwrap_or_default();
    let is_kernels =
        ["/dev", "/proc", "/sys"].iter().any(|top| folder.starts_with(top)) && !folder.starts_with("/dev/shm");
    match path.symlink_metadata() {
        // `/dev/stdout` is a link there.
        _ if is_kernels => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the folder is the kernel's; `--format` chooses what goes to standard output",
        )),
        Ok(found) if !found.is_file() && !found.is_symlink() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "what is there is no regular file",
        )),
        _ => files::replace(path, bytes, MODE),
    }
}

fn cannot_write(format: &str, file: &Path, error: &io::Error) -> Stop {
    let shown = render::path(file.as_os_str().as_bytes());
    let stop = Stop::new(
        Exit::Internal,
        format!("the {format} report cannot be written to {shown}: {error}"),
    );
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if error.kind() == io::ErrorKind::NotFound => {
            stop.hint(format!("mkdir -p {}", shell_words::quote(&folder.to_string_lossy())))
        }
        _ => stop.hint(format!(
            "give a file in a folder that you can write to: --output {format}=FILE"
        )),
    }
}

/// Appends the Markdown to a job's summary, as far as there is room.
///
/// # Errors
/// It could not be written. Nobody asked for it, so that the exit stays what it is.
pub fn append_summary(checked: &Checked, path: &Path) -> io::Result<()> {
    let file = files::open_append(path, MODE)?;
    let text = format!("{}\n", markdown::render(checked));
    let room = MAX_SUMMARY.saturating_sub(file.metadata()?.len());
    let text = if text.len() as u64 <= room {
        text
    } else {
        format!(
            "### agentgate: exit {}, more than fits into this summary\n",
            checked.exit().code()
        )
    };
    match text.len() as u64 <= room {
        true => files::append_synced(&file, text.as_bytes()),
        false => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "there is no room left in it",
        )),
    }
}
