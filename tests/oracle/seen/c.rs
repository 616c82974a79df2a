use tree_sitter::Tree;

use crate::compare::Seen;
use crate::tree::{fields, nodes, text};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree) {
        match node.kind() {
            "preproc_include" => {
                for path in fields(node, "path") {
                    // Else it is a macro's name.
                    if matches!(path.kind(), "string_literal" | "system_lib_string") {
                        seen.add(path, text(path, source).to_owned());
                    }
                }
            }
            // `#import` and `#include_next` are directives that it has no word for.
            "preproc_call" => seen.unread(node),
            _ => {}
        }
    }
    seen
}
