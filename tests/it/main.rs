//! The one integration binary: one link for all tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files by themselves, independently of what they test"
)]

mod check;
mod cli;
mod contract;
mod demo;
mod drop_open;
mod exits;
mod floors;
mod gate;
mod init;
mod land;
mod lock;
mod signals;
mod status_log;
mod support;
mod trailers;
