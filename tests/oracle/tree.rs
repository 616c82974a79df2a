//! Looking at a tree of tree-sitter without recursion.

use tree_sitter::{Node, Tree};

/// Every node, parents before what is in them.
pub fn nodes(tree: &Tree) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = tree.walk();
    let mut is_done = false;
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let node = cursor.node();
        if !cursor.goto_first_child() {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    is_done = true;
                    break;
                }
            }
        }
        Some(node)
    })
}

/// The named children of a node that are no comments.
pub fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (0..node.named_child_count() as u32)
        .filter_map(move |index| node.named_child(index))
        .filter(|child| !child.is_extra())
}

/// The children that a field names.
pub fn fields<'tree>(node: Node<'tree>, field: &str) -> Vec<Node<'tree>> {
    node.children_by_field_name(field, &mut node.walk()).collect()
}

/// As written.
pub fn text<'source>(node: Node<'_>, source: &'source [u8]) -> &'source str {
    node.utf8_text(source).unwrap_or_default()
}

/// A name as written, less the space and the comments between its words.
pub fn name(node: Node<'_>, source: &[u8]) -> String {
    let mut words = String::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.is_extra() {
            continue;
        }
        match node.child_count() {
            0 => words.push_str(text(node, source).trim()),
            count => open.extend((0..count as u32).rev().filter_map(|index| node.child(index))),
        }
    }
    words
}

/// What a string is that has nothing in it but text: no escape and no other code.
pub fn literal(node: Node<'_>, source: &[u8], text_kind: &str) -> Option<String> {
    let mut written = String::new();
    for child in children(node) {
        if child.kind() != text_kind {
            return None;
        }
        written.push_str(text(child, source));
    }
    Some(written)
}
