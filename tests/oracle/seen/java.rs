use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{children, name, nodes};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| !node.has_error()) {
        if node.kind() == "requires_module_directive"
            && let Some(module) = node.child_by_field_name("module")
        {
            seen.add(module, name(module, source));
        }
        if node.kind() != "import_declaration" {
            continue;
        }
        let mut path = String::new();
        for child in children(node) {
            match child.kind() {
                "asterisk" => path.push_str(".*"),
                _ => path.push_str(&name(child, source)),
            }
        }
        if let Some(first) = children(node).next() {
            seen.add(first, path);
        }
    }
    seen
}
