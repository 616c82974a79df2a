use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{children, name, nodes};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| !node.has_error()) {
        match node.kind() {
            "using_directive" => {
                let alias = node.child_by_field_name("name");
                for target in children(node).filter(|child| Some(*child) != alias) {
                    // Of a generic type the name; what its arguments name are imports beside it.
                    let written = name(target, source);
                    let end = written.find(['<', '[', '?', '*']).unwrap_or(written.len());
                    if matches!(target.kind(), "tuple_type" | "predefined_type") {
                        seen.unread(target);
                    } else {
                        seen.add(target, written[..end].to_owned());
                    }
                    if end < written.len() {
                        seen.unread(target);
                    }
                }
            }
            "extern_alias_directive" => {
                for alias in children(node) {
                    seen.add(alias, name(alias, source));
                }
            }
            _ => {}
        }
    }
    seen
}
