//! The one integration binary: one link for all tests.

mod demo;
mod exits;
mod gate;
mod init;
mod support;
