use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{children, literal, name, nodes, text};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| node.kind() == "call" && !node.has_error()) {
        let Some(method) = node.child_by_field_name("method") else {
            continue;
        };
        let receiver = node
            .child_by_field_name("receiver")
            .map(|receiver| name(receiver, source));
        let place = match text(method, source) {
            "require" | "require_relative" | "load" | "gem" => 0,
            "autoload" => 1,
            _ => continue,
        };
        let is_kernel = receiver.is_none_or(|receiver| receiver == "Kernel");
        let argument = node
            .child_by_field_name("arguments")
            .and_then(|arguments| children(arguments).nth(place))
            .filter(|argument| is_kernel && argument.kind() == "string");
        if let Some(argument) = argument
            && let Some(path) = literal(argument, source, "string_content")
        {
            seen.add(argument, path);
        }
    }
    seen
}
