//! Whether somebody may still look at a terminal.

use std::os::fd::AsFd;

use rustix::fs::{FileType, fstat};

use super::signals;

/// Whether a descriptor is a terminal, or what is left of one, from which we were hung up. A write to it
/// would fail or, where nobody reads what it shows, wait for ever. Files and pipes outlive a terminal.
pub fn terminal_is_gone(output: impl AsFd) -> bool {
    signals::hung_up() && is_device(output)
}

/// A terminal that was closed says of itself that it is none (isatty(3) fails on it); it stays a device.
pub fn is_device(output: impl AsFd) -> bool {
    fstat(output).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice)
}
