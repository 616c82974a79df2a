//! Which tools there are, and whose they are.
//!
//! A role's tools are the same whatever the agent asks for. One that reads cannot submit what another answers, and
//! no role has a tool that lands, drops or approves on a person's behalf.

use serde_json::{Value, json};

use crate::job::role::Role;

/// One tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// JSON Schema of its arguments: an object.
    pub input: Value,
    /// It changes nothing.
    pub reads: bool,
}

impl Tool {
    /// As `tools/list` has it.
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.input,
            "annotations": {"readOnlyHint": self.reads, "destructiveHint": false, "openWorldHint": false},
        })
    }
}

/// The schemas that tools share with the files in which the same is answered.
#[derive(Clone, Copy, Debug)]
pub struct Shapes<'a> {
    /// JSON Schema of `plan.json`.
    pub plan: &'a str,
    /// JSON Schema of `review.json`.
    pub review: &'a str,
}

/// The tools of a role in a job of several.
pub fn of_role(role: Role, shapes: Shapes<'_>) -> Vec<Tool> {
    match role {
        Role::Planner => vec![
            read_task(),
            read_policy(),
            list_tree(),
            submit_plan(shapes),
            needs_human(),
        ],
        Role::Implementer => vec![
            read_task(),
            read_step(),
            explain_path(),
            check(),
            report_progress(),
            needs_human(),
        ],
        Role::Reviewer => vec![
            read_task(),
            read_plan(),
            read_diff(),
            read_findings(),
            submit_review(shapes),
            needs_human(),
        ],
        Role::Fixer => vec![read_findings(), check(), report_progress(), needs_human()],
    }
}

/// The tools of an agent that has the job for itself: nobody plans for it, and nobody waits for its question.
pub fn alone() -> Vec<Tool> {
    vec![read_task(), explain_path(), check(), report_progress()]
}

/// The tools of a person's assistant, outside of any job. All of them only read.
pub fn persons() -> Vec<Tool> {
    vec![
        Tool {
            name: "status",
            description: "List this clone's jobs: id, state, exit code, and what a person can do next.",
            input: nothing(),
            reads: true,
        },
        Tool {
            name: "explain",
            description: "Say which rules of architecture/invariants.yml hold for a path or for an import in a file, or \
                          what an exit code or a rule means. Ask before changing a file.",
            input: object(
                json!({
                    "what": text("A path of the repository, an exit code such as 5, its name, or a rule such as \
                                  forbidden-import. With `import`: the file that would have it."),
                    "import": text("An import as the code would name it."),
                }),
                &["what"],
            ),
            reads: true,
        },
        Tool {
            name: "check",
            description: "Judge what is not committed in this checkout by the policy, or a commit range, as CI does. \
                          The result ends with the exit code: 0 is a pass.",
            input: object(
                json!({
                    "range": text("BASE..HEAD; without it what is not committed is judged against HEAD."),
                }),
                &[],
            ),
            reads: true,
        },
        Tool {
            name: "log",
            description: "Show what a job did, event by event.",
            input: object(
                json!({
                    "id": text("The job's id, as `status` shows it."),
                    "since": {"type": "integer", "minimum": 0, "description": "Only events after this number."},
                }),
                &["id"],
            ),
            reads: true,
        },
    ]
}

fn read_task() -> Tool {
    Tool {
        name: "read_task",
        description: "Read the task as the person gave it, and what a person has added since.",
        input: nothing(),
        reads: true,
    }
}

fn read_policy() -> Tool {
    Tool {
        name: "read_policy",
        description: "Read architecture/invariants.yml as it is in the base commit: the rules that the gate holds the \
                      change to. Nothing in the worktree alters them.",
        input: nothing(),
        reads: true,
    }
}

fn list_tree() -> Tool {
    Tool {
        name: "list_tree",
        description: "List the files of the tree that is planned for, a page at a time.",
        input: object(
            json!({
                "path": text("Only what lies in this folder."),
                "offset": {"type": "integer", "minimum": 0, "description": "Go on from this file of the list."},
            }),
            &[],
        ),
        reads: true,
    }
}

fn submit_plan(shapes: Shapes<'_>) -> Tool {
    Tool {
        name: "submit_plan",
        description: "Submit the plan. The first valid one counts and is in the record when this returns; then stop.",
        input: shape(shapes.plan),
        reads: false,
    }
}

fn read_step() -> Tool {
    Tool {
        name: "read_step",
        description: "Read the one step of the plan that is yours, with the files that it may touch.",
        input: nothing(),
        reads: true,
    }
}

fn read_plan() -> Tool {
    Tool {
        name: "read_plan",
        description: "Read the whole plan that the change was to follow.",
        input: nothing(),
        reads: true,
    }
}

fn read_diff() -> Tool {
    Tool {
        name: "read_diff",
        description: "Read the change that is to be judged, as a patch against the base commit, a page at a time.",
        input: object(
            json!({"offset": {"type": "integer", "minimum": 0, "description": "Go on from this byte of the patch."}}),
            &[],
        ),
        reads: true,
    }
}

fn read_findings() -> Tool {
    Tool {
        name: "read_findings",
        description: "Read what the gate, the checks or the last review found. What is blocking must be mended.",
        input: nothing(),
        reads: true,
    }
}

fn submit_review(shapes: Shapes<'_>) -> Tool {
    Tool {
        name: "submit_review",
        description: "Submit the review. The first valid one counts and is in the record when this returns; then stop. \
                      `request_changes` needs a blocking finding, `approve` has none.",
        input: shape(shapes.review),
        reads: false,
    }
}

fn explain_path() -> Tool {
    Tool {
        name: "explain_path",
        description: "Say which rules hold for a path, before it is changed; with `import`, whether the file may have it.",
        input: object(
            json!({
                "path": text("Repository-relative."),
                "import": text("An import as the code of that file would name it."),
            }),
            &["path"],
        ),
        reads: true,
    }
}

fn check() -> Tool {
    Tool {
        name: "check",
        description: "Judge the worktree as it is now by the policy of the base commit. The result ends with the exit \
                      code: 0 is a pass. Worth calling before you stop: what it refuses is refused at the end too.",
        input: nothing(),
        reads: true,
    }
}

fn report_progress() -> Tool {
    Tool {
        name: "report_progress",
        description: "Tell whoever looks on what you are at, in one line.",
        input: object(json!({"text": text("One line, at most 300 characters.")}), &["text"]),
        reads: false,
    }
}

fn needs_human() -> Tool {
    Tool {
        name: "needs_human",
        description: "Ask a person to decide, where nobody else can. The job waits with all that there is; then stop.",
        input: object(
            json!({
                "reason": text("Why you cannot go on."),
                "question": text("What the person is to decide."),
            }),
            &["reason", "question"],
        ),
        reads: false,
    }
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn nothing() -> Value {
    object(json!({}), &[])
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// A published schema as that of a tool's arguments: what only names the document is left out.
fn shape(schema: &str) -> Value {
    let mut schema: Value = serde_json::from_str(schema).unwrap_or_else(|_| json!({"type": "object"}));
    if let Some(object) = schema.as_object_mut() {
        for key in ["$schema", "$id", "title", "description"] {
            object.shift_remove(key);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[Tool]) -> Vec<&'static str> {
        tools.iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn each_role_has_its_own_tools_and_no_other() {
        let shapes = Shapes {
            plan: "{}",
            review: "{}",
        };
        let of = |role| names(&of_role(role, shapes));
        assert_eq!(
            of(Role::Planner),
            ["read_task", "read_policy", "list_tree", "submit_plan", "needs_human"]
        );
        assert_eq!(
            of(Role::Implementer),
            [
                "read_task",
                "read_step",
                "explain_path",
                "check",
                "report_progress",
                "needs_human"
            ]
        );
        assert_eq!(
            of(Role::Reviewer),
            [
                "read_task",
                "read_plan",
                "read_diff",
                "read_findings",
                "submit_review",
                "needs_human"
            ]
        );
        assert_eq!(
            of(Role::Fixer),
            ["read_findings", "check", "report_progress", "needs_human"]
        );
        assert_eq!(
            names(&alone()),
            ["read_task", "explain_path", "check", "report_progress"]
        );
        assert!(persons().iter().all(|tool| tool.reads));
    }

    #[test]
    fn every_tool_says_what_its_arguments_are() {
        let shapes = Shapes {
            plan: "{\"type\":\"object\"}",
            review: "{\"type\":\"object\"}",
        };
        let roles = [Role::Planner, Role::Implementer, Role::Reviewer, Role::Fixer];
        let all = roles.into_iter().flat_map(|role| of_role(role, shapes));
        for tool in all.chain(alone()).chain(persons()) {
            assert_eq!(tool.json()["inputSchema"]["type"], "object", "{}", tool.name);
            assert!(tool.description.len() > 20, "{}", tool.name);
        }
    }
}
