//! The agent's output: into its log with the middle cut out, onto our standard error where asked,
//! and its last line for a progress display. Memory is bounded whatever the agent writes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::files;

/// How much of the beginning of a run's output is kept, and how much of its end: 8 MiB each.
const KEPT: usize = 8 << 20;
/// How much of the end is handed back in memory.
const LAST: usize = 2 << 10;
/// Longest line for a progress display, in characters.
const LINE: usize = 200;

/// Where the output goes. The first part is written as it comes, so that a reader can follow; the
/// last part is known only at the end and waits in memory.
pub(super) struct Output {
    file: File,
    head_left: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    dropped: u64,
    total: u64,
    last: VecDeque<u8>,
    error: Option<String>,
}

impl Output {
    pub fn open(path: &Path) -> io::Result<Output> {
        Ok(Output::new(files::open_append(path, 0o600)?, KEPT))
    }

    fn new(file: File, kept: usize) -> Output {
        let (tail, last) = (VecDeque::new(), VecDeque::new());
        Output {
            file,
            head_left: kept,
            tail,
            tail_limit: kept,
            dropped: 0,
            total: 0,
            last,
            error: None,
        }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        push_bounded(&mut self.last, bytes, LAST);
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_left));
        self.head_left -= head.len();
        self.write(head);
        self.dropped += push_bounded(&mut self.tail, rest, self.tail_limit);
    }

    /// Writes what waited in memory and makes the log durable.
    pub fn finish(&mut self) {
        if self.dropped > 0 {
            let marker = format!("\n[agentgate: {} bytes of output dropped here]\n", self.dropped);
            self.write(marker.as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        let (first, second) = tail.as_slices();
        self.write(first);
        self.write(second);
        if let Err(error) = self.file.sync_all() {
            self.failed(&error);
        }
    }

    /// A full disk must not end an agent's hour of work: the first failure is kept and told.
    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none()
            && let Err(error) = self.file.write_all(bytes)
        {
            self.failed(&error);
        }
    }

    fn failed(&mut self, error: &io::Error) {
        self.error
            .get_or_insert_with(|| format!("the agent's log is not complete: {error}"));
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn error(&self) -> Option<String> {
        self.error.clone()
    }

    /// The last 2 KiB, as written.
    pub fn last(&self) -> Vec<u8> {
        self.last.iter().copied().collect()
    }

    /// The last line that has something to see, cleaned for a terminal.
    pub fn last_line(&self) -> String {
        let last = self.last();
        last.rsplit(|&b| b == b'\n' || b == b'\r')
            .map(clean)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    }
}

/// Appends and drops from the front what is over the limit; returns how much was dropped.
fn push_bounded(buffer: &mut VecDeque<u8>, bytes: &[u8], limit: usize) -> u64 {
    let kept = &bytes[bytes.len().saturating_sub(limit)..];
    let excess = (buffer.len() + kept.len()).saturating_sub(limit);
    buffer.drain(..excess);
    buffer.extend(kept);
    (bytes.len() - kept.len() + excess) as u64
}

/// One line without escape sequences and control characters: the agent must not be able to move
/// the cursor, set the title or write to the clipboard through our progress line.
fn clean(line: &[u8]) -> String {
    printable(line).trim().chars().take(LINE).collect()
}

/// The same with its blanks and all of its length.
pub fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\t' => out.push(' '),
            // Bidirectional controls and zero-width characters could make the line read otherwise.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Skips what follows an escape character: `[ ... final` (CSI), `] ... BEL or ESC \` (OSC and its
/// kin), or one character. See ECMA-48.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            chars.by_ref().find(|c| ('\x40'..='\x7e').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// A copy of the output on our standard error that never blocks the supervisor: a terminal that
/// was stopped (Ctrl-S) or a pager that nobody scrolls would otherwise hold up the time limit.
pub(super) struct Echo {
    waiting: VecDeque<u8>,
    open: bool,
}

impl Echo {
    /// Above this, the agent's output is no longer read: the agent waits for the reader.
    const FULL: usize = 1 << 20;
    /// poll(2) promises room for one page in a pipe and no more.
    const CHUNK: usize = 4096;

    pub fn new(verbose: bool) -> Echo {
        Echo {
            waiting: VecDeque::new(),
            open: verbose,
        }
    }

    /// Drops what does not fit; the supervisor does not read on while it is full, but for the end.
    pub fn add(&mut self, bytes: &[u8]) {
        if self.open && !self.is_full() {
            self.waiting.extend(bytes);
        }
    }

    pub fn is_full(&self) -> bool {
        self.waiting.len() >= Echo::FULL
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Nobody reads it any more: that is no reason for the agent to wait.
    pub fn close(&mut self) {
        self.open = false;
        self.waiting.clear();
    }

    /// Writes a piece; to be called when standard error was found writable.
    pub fn write_some(&mut self) {
        let (first, _) = self.waiting.as_slices();
        let piece = &first[..first.len().min(Echo::CHUNK)];
        match rustix::io::write(rustix::stdio::stderr(), piece) {
            Ok(written) => drop(self.waiting.drain(..written)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // Whoever read it is gone: that is no reason to end the agent.
            Err(_) => self.close(),
        }
    }

    /// Writes what waits, for at most this long.
    pub fn flush(&mut self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.is_waiting() {
            let left = until.saturating_duration_since(Instant::now());
            let stderr = rustix::stdio::stderr();
            let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
            match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) => return,
                Ok(_) => self.write_some(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
