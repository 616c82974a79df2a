//! SIGINT, SIGTERM and SIGHUP as data: they are counted, never acted upon in a handler.
//!
//! Whoever loops asks [`pending`]; the first signal means "end it in order", a second one "cut
//! it short".

use std::io;
use std::os::fd::BorrowedFd;

/// Starts to catch SIGINT, SIGTERM and SIGHUP. SIGHUP stays ignored where it was when the program
/// started (`nohup`). Calling it again does nothing. Without it [`pending`] is always `None`.
pub fn install() -> io::Result<()> {
    todo!()
}

/// The number of the first signal received since [`install`].
pub fn pending() -> Option<i32> {
    todo!()
}

/// How many signals were received since [`install`].
pub fn count() -> usize {
    todo!()
}

/// Descriptors that become readable when a signal arrives, for poll(2). [`pending`] empties them.
pub fn descriptors() -> Vec<BorrowedFd<'static>> {
    todo!()
}
