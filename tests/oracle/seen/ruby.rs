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
            .filter(|_| is_kernel);
        let path = argument
            .filter(|argument| argument.kind() == "string")
            .and_then(|argument| literal(argument, source, "string_content"));
        match (argument, path) {
            // The scanner says of such a path that it begins beside the file, to tell it from a gem's.
            (Some(argument), Some(path))
                if text(method, source) == "require_relative" && path.starts_with("vendor/") =>
            {
                seen.add(argument, format!("./{path}"));
            }
            (Some(argument), Some(path)) => seen.add(argument, path),
            // What is put together: of `File.expand_path("../x", __FILE__)` the scanner reads the literal.
            (Some(argument), None) => seen.unread(argument),
            (None, _) => {}
        }
    }
    seen
}
