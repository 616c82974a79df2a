//! The one integration binary: one link for all tests.

mod demo;
mod exits;
mod floors;
mod gate;
mod init;
mod support;
