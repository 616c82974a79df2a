//! The rules: a policy, two trees and a task in, a verdict out.

use super::{GateError, Policy, Tree, Verdict};
use crate::task::Task;

/// Judges everything that differs between the two trees.
pub fn judge(
    policy: &Policy,
    base: &dyn Tree,
    candidate: &dyn Tree,
    task: Option<&Task>,
) -> Result<Verdict, GateError> {
    todo!()
}
