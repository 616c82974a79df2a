//! The only module with unsafe code.
#![allow(unsafe_code)]

/// Lets libgit2 open repositories that belong to another user.
pub fn leave_ownership_to_git() {
    todo!()
}
