//! The one integration binary: one link for all tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files by themselves, independently of what they test"
)]

mod check;
mod demo;
mod exits;
mod floors;
mod gate;
mod init;
mod support;
mod trailers;
