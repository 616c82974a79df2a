//! SIGINT, SIGTERM and SIGHUP as data: they are counted, never acted upon in a handler.
//!
//! Whoever loops asks [`pending`]; the first signal means "end it in order", a second one "cut
//! it short". For a job a hang-up is neither ([`outlive_hangup`]): only [`hung_up`] tells of it, so that
//! nothing more is written to a terminal that is gone.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A signal and the end of its pipe that its handler's bytes come out of. One pipe for each, so
/// that a byte says which signal it was.
struct Pipe {
    signal: i32,
    reader: UnixStream,
}

static PIPES: OnceLock<Vec<Pipe>> = OnceLock::new();
/// Every signal received, in the order in which it was noticed.
static SEEN: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// Whether SIGHUP counts as the others do.
static HANGUP_ENDS: AtomicBool = AtomicBool::new(true);
/// A SIGHUP came that ends nothing.
static HUNG_UP: AtomicBool = AtomicBool::new(false);

/// Starts to catch SIGINT, SIGTERM and SIGHUP. SIGHUP stays ignored where it was when the program
/// started (`nohup`). Calling it again does nothing. Without it [`pending`] is always `None`.
///
/// SIGINT is caught even where it was ignored: a script's `agentgate run ... &` starts so, and a
/// `kill -INT` to it is meant.
pub fn install() -> io::Result<()> {
    // Held for the whole call: two callers must not both register.
    let _seen = seen();
    if PIPES.get().is_some() {
        return Ok(());
    }
    let mut pipes = Vec::new();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && ignored(signal)? {
            continue;
        }
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal, writer)?;
        pipes.push(Pipe { signal, reader });
    }
    let _ = PIPES.set(pipes);
    Ok(())
}

/// The number of the first signal received since [`install`].
pub fn pending() -> Option<i32> {
    collect().first().copied()
}

/// How many signals were received since [`install`].
pub fn count() -> usize {
    collect().len()
}

/// From here on SIGHUP ends nothing, and neither does one that has come already: there is a job now, which goes
/// on when its terminal hangs up. It stays caught and is not ignored, so that what is started here has it as usual.
pub fn outlive_hangup() {
    let mut seen = collect();
    HANGUP_ENDS.store(false, Ordering::Relaxed);
    if seen.contains(&SIGHUP) {
        seen.retain(|signal| *signal != SIGHUP);
        HUNG_UP.store(true, Ordering::Relaxed);
    }
}

/// Whether a SIGHUP came that ends nothing.
pub fn hung_up() -> bool {
    drop(collect());
    HUNG_UP.load(Ordering::Relaxed)
}

/// Descriptors that become readable when a signal arrives, for poll(2). [`pending`] empties them.
pub fn descriptors() -> Vec<BorrowedFd<'static>> {
    PIPES
        .get()
        .into_iter()
        .flatten()
        .filter(|pipe| counts(pipe.signal))
        .map(|pipe| pipe.reader.as_fd())
        .collect()
}

fn seen() -> MutexGuard<'static, Vec<i32>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn counts(signal: i32) -> bool {
    signal != SIGHUP || HANGUP_ENDS.load(Ordering::Relaxed)
}

fn collect() -> MutexGuard<'static, Vec<i32>> {
    let mut seen = seen();
    for pipe in PIPES.get().into_iter().flatten() {
        let mut bytes = [0; 64];
        while let Ok(n @ 1..) = (&pipe.reader).read(&mut bytes) {
            if counts(pipe.signal) {
                seen.extend(std::iter::repeat_n(pipe.signal, n));
            } else {
                HUNG_UP.store(true, Ordering::Relaxed);
            }
        }
    }
    seen
}

/// Whether a signal's disposition is "ignore", from the mask in /proc/self/status.
fn ignored(signal: i32) -> io::Result<bool> {
    let status = fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    Ok(mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0))
}
