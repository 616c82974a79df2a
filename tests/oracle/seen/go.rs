use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{nodes, text};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| node.kind() == "import_spec" && !node.has_error()) {
        if let Some(path) = node.child_by_field_name("path") {
            match text(path, source) {
                // An escape: nobody writes one but the tests of Go's compiler.
                written if written.contains('\\') => seen.unread(path),
                written => seen.add(path, written.trim_matches(['"', '`']).to_owned()),
            }
        }
    }
    seen
}
