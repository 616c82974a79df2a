//! The one integration binary: one link for all tests.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files as they like"
)]

mod demo;
mod exits;
mod floors;
mod gate;
mod init;
mod support;
