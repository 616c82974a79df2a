//! What counts as an import in the trees of each grammar.

pub mod c;
pub mod csharp;
pub mod go;
pub mod java;
pub mod javascript;
pub mod kotlin;
pub mod php;
pub mod python;
pub mod ruby;
pub mod rust;

use tree_sitter::Node;

use crate::compare::Seen;

impl Seen {
    /// An import whose name begins where a node does.
    fn add(&mut self, at: Node<'_>, name: String) {
        self.imports.insert((at.start_position().row + 1, name));
    }

    /// A node in which tree-sitter sees words only.
    fn unread(&mut self, node: Node<'_>) {
        self.unread
            .push(node.start_position().row + 1..=node.end_position().row + 1);
    }
}
