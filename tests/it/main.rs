//! The one integration binary: one link for all tests.

mod floors;
mod gate;
mod support;
