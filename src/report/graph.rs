//! The package graph as lines, as JSON, as a mermaid flowchart and as a graphviz graph.
//!
//! Names of areas are letters, digits and `._-`. Paths and imports are untrusted: each format escapes
//! them in its own way, and none of them can end a line, a string or a comment.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::commands::graph::{Format, Report};
use crate::gate::graph::{Edge, Example, Graph, Standing};
use crate::gate::render;

/// The text of the format that was asked for.
pub(super) fn render(report: &Report) -> String {
    match report.format {
        Format::Text => text(report),
        Format::Json => format!("{:#}\n", json(report)),
        Format::Mermaid => mermaid(&report.graph),
        Format::Dot => dot(&report.graph),
    }
}

fn text(report: &Report) -> String {
    let graph = &report.graph;
    let mut text = format!("areas of {}\n", report.commit);
    for area in &graph.areas {
        let list = match area.may_depend_on.as_deref() {
            None => "may depend on any (no may_depend_on)".to_owned(),
            Some([]) => "may depend on no other".to_owned(),
            Some(names) => format!("may depend on {}", names.join(", ")),
        };
        let _ = writeln!(text, "  {} ({}): {list}", area.name, counted(area.files, "file"));
    }
    text.push_str("imports between areas\n");
    if graph.edges.is_empty() {
        text.push_str("  none\n");
    }
    for edge in &graph.edges {
        let mark = match edge.standing {
            Standing::Forbidden => "  FORBIDDEN",
            Standing::Allowed | Standing::Free => "",
        };
        let _ = writeln!(
            text,
            "  {} -> {} ({}){mark}",
            edge.from,
            edge.to,
            counted(edge.imports.total, "import")
        );
        for example in &edge.imports.first {
            let _ = writeln!(text, "    {}", line(example));
        }
    }
    for (from, to) in &graph.unused {
        let _ = writeln!(text, "allowed and unused: {from} -> {to}");
    }
    text.push_str(&rest(graph));
    text
}

/// What is in no edge.
fn rest(graph: &Graph) -> String {
    let mut text = String::new();
    let mut say = |total: usize, what: &str, first: Vec<String>| {
        if total > 0 {
            let _ = writeln!(text, "{what}: {total}");
            for line in first {
                let _ = writeln!(text, "    {line}");
            }
        }
    };
    if graph.too_large {
        say(1, "the tree has too many entries; nothing was followed", Vec::new());
    }
    let unresolved = graph.unresolved.first.iter().map(line).collect();
    say(graph.unresolved.total, "own imports that lead to no path", unresolved);
    say(graph.computed, "imports with a computed argument", Vec::new());
    let unreadable = graph.unreadable.first.iter();
    say(
        graph.unreadable.total,
        "source files whose imports cannot be read",
        unreadable
            .map(|(path, why)| format!("{}: {}", render::path(path), render::path(why.as_bytes())))
            .collect(),
    );
    let paths = |paths: &[Vec<u8>]| paths.iter().map(|path| render::path(path)).collect();
    say(
        graph.unread.total,
        "source files of kinds whose imports are not read",
        paths(&graph.unread.first),
    );
    say(
        graph.outside.total,
        "files outside every area",
        paths(&graph.outside.first),
    );
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `path:line: import -> path`, on one line.
fn line(example: &Example) -> String {
    format!(
        "{}:{}: {} -> {}",
        render::path(&example.path),
        example.line,
        render::path(example.import.as_bytes()),
        render::path(&example.leads_to)
    )
}

fn json(report: &Report) -> Value {
    let graph = &report.graph;
    let path = |bytes: &[u8]| render::path(bytes);
    let example = |example: &Example| {
        json!({
            "path": path(&example.path), "line": example.line, "import": example.import,
            "leads_to": path(&example.leads_to),
        })
    };
    let examples = |edge: &Edge| edge.imports.first.iter().map(example).collect::<Vec<_>>();
    let paths = |paths: &[Vec<u8>]| paths.iter().map(|bytes| path(bytes)).collect::<Vec<_>>();
    json!({
        "schema": "agentgate/graph/1",
        "commit": report.commit,
        "areas": graph.areas.iter().map(|area| json!({
            "name": area.name, "files": area.files, "may_depend_on": area.may_depend_on,
        })).collect::<Vec<_>>(),
        "edges": graph.edges.iter().map(|edge| json!({
            "from": edge.from, "to": edge.to, "verdict": edge.standing.word(), "imports": edge.imports.total,
            "examples": examples(edge),
        })).collect::<Vec<_>>(),
        "unused": graph.unused.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect::<Vec<_>>(),
        "unresolved": {
            "count": graph.unresolved.total,
            "examples": graph.unresolved.first.iter().map(|found| json!({
                "path": path(&found.path), "line": found.line, "import": found.import, "why": path(&found.leads_to),
            })).collect::<Vec<_>>(),
        },
        "computed": graph.computed,
        "unreadable": {
            "count": graph.unreadable.total,
            "examples": graph.unreadable.first.iter().map(|(bytes, why)| json!({
                "path": path(bytes), "why": why,
            })).collect::<Vec<_>>(),
        },
        "unread": { "count": graph.unread.total, "examples": paths(&graph.unread.first) },
        "outside": { "count": graph.outside.total, "examples": paths(&graph.outside.first) },
        "sources": graph.sources,
        "too_large": graph.too_large,
        "exit": 0,
    })
}

/// Nodes by number, since a name such as `end` is a word of the language.
fn mermaid(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    let number = |name: &str| graph.areas.iter().position(|area| area.name == name).unwrap_or(0);
    for (index, area) in graph.areas.iter().enumerate() {
        let _ = writeln!(text, "  a{index}[\"{} ({})\"]", area.name, counted(area.files, "file"));
    }
    let mut forbidden = Vec::new();
    for (link, edge) in graph.edges.iter().enumerate() {
        let (from, to) = (number(&edge.from), number(&edge.to));
        let total = edge.imports.total;
        if edge.standing == Standing::Forbidden {
            forbidden.push(link.to_string());
            for example in &edge.imports.first {
                let _ = writeln!(text, "  %% {}", mermaid_comment(&line(example)));
            }
            let _ = writeln!(text, "  a{from} -->|\"{total} forbidden\"| a{to}");
        } else {
            let _ = writeln!(text, "  a{from} -->|\"{total}\"| a{to}");
        }
    }
    for (from, to) in &graph.unused {
        let _ = writeln!(text, "  a{} -.-> a{}", number(from), number(to));
    }
    if !forbidden.is_empty() {
        let _ = writeln!(text, "  linkStyle {} stroke:#c00,stroke-width:2px", forbidden.join(","));
    }
    text
}

/// A comment that begins with a brace would be a directive.
fn mermaid_comment(line: &str) -> String {
    line.replace(['{', '}', '%'], "_")
}

fn dot(graph: &Graph) -> String {
    let mut text = "digraph areas {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for area in &graph.areas {
        let label = format!("{} ({})", area.name, counted(area.files, "file"));
        let _ = writeln!(text, "  {} [label={}];", quoted(&area.name), quoted(&label));
    }
    for edge in &graph.edges {
        let marks = match edge.standing {
            Standing::Forbidden => ", color=red, fontcolor=red",
            Standing::Allowed | Standing::Free => "",
        };
        let examples: Vec<String> = edge.imports.first.iter().map(line).collect();
        let _ = writeln!(
            text,
            "  {} -> {} [label={}, tooltip={}{marks}];",
            quoted(&edge.from),
            quoted(&edge.to),
            quoted(&edge.imports.total.to_string()),
            quoted(&examples.join("; "))
        );
    }
    for (from, to) in &graph.unused {
        let _ = writeln!(text, "  {} -> {} [style=dashed];", quoted(from), quoted(to));
    }
    text.push_str("}\n");
    text
}

/// A quoted string of graphviz: only the quote ends it, and a backslash begins an escape.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
