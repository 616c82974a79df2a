use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{children, name, nodes};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| node.is_named() && !node.has_error()) {
        match node.kind() {
            "import" => {}
            // `@file:DependsOn("a:b:1")` in a script.
            "file_annotation" => {
                seen.unread(node);
                continue;
            }
            _ => continue,
        }
        let Some(path) = children(node).find(|child| child.kind() == "qualified_identifier") else {
            continue;
        };
        let all = (0..node.child_count() as u32).filter_map(|index| node.child(index));
        let star = all.into_iter().any(|child| child.kind() == "*");
        seen.add(path, name(path, source).replace('`', "") + if star { ".*" } else { "" });
    }
    seen
}
