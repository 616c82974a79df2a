use tree_sitter::{Node, Tree};

use crate::compare::Seen;
use crate::tree::{children, literal, name, nodes};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| !node.has_error()) {
        match node.kind() {
            "namespace_use_declaration" => {
                let prefix = children(node).find(|child| child.kind() == "namespace_name");
                let prefix = prefix.map(|prefix| name(prefix, source) + "\\").unwrap_or_default();
                let group = children(node).find(|child| child.kind() == "namespace_use_group");
                for clause in children(group.unwrap_or(node)).filter(|child| child.kind() == "namespace_use_clause") {
                    if let Some(path) = children(clause).find(|child| matches!(child.kind(), "qualified_name" | "name"))
                    {
                        let whole = prefix.clone() + &name(path, source);
                        seen.add(path, whole.trim_start_matches('\\').to_owned());
                    }
                }
            }
            "include_expression" | "include_once_expression" | "require_expression" | "require_once_expression" => {
                included(node, source, &mut seen);
            }
            _ => {}
        }
    }
    seen
}

/// A literal that is included; of what is put together the scanner finds the beginnings, too.
fn included(node: Node<'_>, source: &[u8], seen: &mut Seen) {
    let mut argument = children(node).next();
    while let Some(within) = argument.filter(|within| within.kind() == "parenthesized_expression") {
        argument = children(within).next();
    }
    match argument {
        Some(argument) if matches!(argument.kind(), "string" | "encapsed_string") => {
            match literal(argument, source, "string_content") {
                Some(path) => seen.add(argument, path),
                None => seen.unread(argument),
            }
        }
        _ => seen.unread(node),
    }
}
