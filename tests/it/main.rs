//! The one integration binary: one link for all tests.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files by themselves, independently of what they test"
)]

mod check;
mod floors;
mod gate;
mod support;
mod trailers;
