//! The one integration binary: one link for all tests.

mod gate;
mod support;
