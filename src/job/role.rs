//! Who does what in a job, and how far a job may go.

use serde::{Deserialize, Serialize};

/// The roles of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Task to plan.
    Planner,
    /// One step of the plan at a time, or the whole task where there is none.
    Implementer,
    /// Change, plan and rules to a decision.
    Reviewer,
    /// Findings to a change.
    Fixer,
}

impl Role {
    /// All of them, in the order in which they act.
    pub const ALL: [Role; 4] = [Role::Planner, Role::Implementer, Role::Reviewer, Role::Fixer];

    /// Its name: a key below `agents:`, and the value of AGENTGATE_ROLE.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Planner => "planner",
            Role::Implementer => "implementer",
            Role::Reviewer => "reviewer",
            Role::Fixer => "fixer",
        }
    }

    /// The role of this name.
    pub fn of(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether it may change the worktree. The others answer.
    pub const fn writes(self) -> bool {
        matches!(self, Role::Implementer | Role::Fixer)
    }
}

/// The shape of a job with more than an implementer, fixed when it is created. There is no loop in it without a
/// bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// There is a planner.
    pub planner: bool,
    /// There is a reviewer.
    pub reviewer: bool,
    /// Findings are mended: by a fixer, or by the implementer in its place.
    pub fixer: bool,
    /// Rounds at most: reviews, and refusals by the gate in their place.
    pub max_review_rounds: u64,
    /// How often a call that failed is made again.
    pub max_attempts: u64,
    /// Time that all calls and checks together may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_job_time: Option<u64>,
    /// Calls of all roles together at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_agent_calls: Option<u64>,
}

/// `max_review_rounds` where nothing is said.
pub const REVIEW_ROUNDS: u64 = 3;
/// `max_attempts` where nothing is said.
pub const ATTEMPTS: u64 = 1;
