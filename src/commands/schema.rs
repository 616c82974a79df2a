//! The published JSON Schemas (draft 2020-12), as `agentgate schema` prints them.

/// A published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// What `check --format json` prints.
    Report,
    /// `architecture/invariants.yml`
    Policy,
    /// `architecture/agentgate.yml`
    Settings,
    /// The person's `config.yml`.
    Config,
    /// A planner's `plan.json`.
    Plan,
    /// A reviewer's `review.json`.
    Review,
}

impl Schema {
    /// By its word on the command line.
    pub fn find(word: &str) -> Option<Schema> {
        match word {
            "report" => Some(Schema::Report),
            "policy" => Some(Schema::Policy),
            "settings" => Some(Schema::Settings),
            "config" => Some(Schema::Config),
            "plan" => Some(Schema::Plan),
            "review" => Some(Schema::Review),
            _ => None,
        }
    }

    /// The schema.
    pub const fn text(self) -> &'static str {
        match self {
            Schema::Report => include_str!("../report/schema/report.json"),
            Schema::Policy => include_str!("../report/schema/policy.json"),
            Schema::Settings => include_str!("../report/schema/settings.json"),
            Schema::Config => include_str!("../report/schema/config.json"),
            Schema::Plan => include_str!("../report/schema/plan.json"),
            Schema::Review => include_str!("../report/schema/review.json"),
        }
    }
}
