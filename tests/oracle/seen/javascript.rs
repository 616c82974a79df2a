//! JavaScript, TypeScript and JSX: the grammars share their names.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::compare::Seen;
use crate::tree::{children, literal, nodes, text};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| !node.has_error()) {
        if let Some(names) = required(node, source) {
            seen.unread(names);
        }
        let specifier = match node.kind() {
            "import_statement" | "export_statement" | "import_require_clause" => node.child_by_field_name("source"),
            "call_expression" => called(node, source),
            // `/// <reference types="x" />`
            "comment" if text(node, source).starts_with("///") => {
                seen.unread(node);
                None
            }
            "comment" if text(node, source).starts_with("/**") => {
                let lines = node.start_position().row + 1..=node.end_position().row + 1;
                seen.documentation.push(lines);
                None
            }
            _ => None,
        };
        if let Some(specifier) = specifier
            && let Some(name) = literal(specifier, source, "string_fragment")
        {
            seen.add(specifier, name);
        }
    }
    seen
}

/// The literal that `require` or `import` is called with.
fn called<'tree>(call: Node<'tree>, source: &[u8]) -> Option<Node<'tree>> {
    let function = call.child_by_field_name("function")?;
    let loads = function.kind() == "import" || (function.kind() == "identifier" && text(function, source) == "require");
    children(call.child_by_field_name("arguments").filter(|_| loads)?)
        .next()
        .filter(|argument| matches!(argument.kind(), "string" | "template_string"))
}

/// The names that AMD's `define` or `require` is given, which the scanner takes for imports.
fn required<'tree>(call: Node<'tree>, source: &[u8]) -> Option<Node<'tree>> {
    let function = call.child_by_field_name("function")?;
    let is_amd = matches!(text(function, source), "define" | "require");
    children(call.child_by_field_name("arguments").filter(|_| is_amd)?).find(|argument| argument.kind() == "array")
}

/// What stands between `<script ...>` and `</script>`.
pub fn scripts(source: &[u8]) -> Vec<Range<usize>> {
    let text = String::from_utf8_lossy(source);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(tag) = text[from..].find("<script").map(|at| from + at) {
        let Some(start) = text[tag..].find('>').map(|at| tag + at + 1) else {
            break;
        };
        let Some(end) = text[start..].find("</script").map(|at| start + at) else {
            break;
        };
        found.push(start..end);
        from = end;
    }
    found
}
