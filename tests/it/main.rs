//! The one integration binary: one link for all tests.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start programs and write files as they like"
)]

mod floors;
mod gate;
mod support;
