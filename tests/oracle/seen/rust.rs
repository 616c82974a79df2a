use tree_sitter::{Node, Tree};

use crate::compare::Seen;
use crate::tree::{children, name, nodes, text};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    // A module or a type of the file itself, or the name that it gives a crate, is no other crate.
    let whole = String::from_utf8_lossy(source);
    let is_made = |path: &str| {
        let root = path.split("::").next().unwrap_or_default();
        !root.is_empty()
            && ["mod", "enum", "trait", "as"]
                .iter()
                .any(|word| whole.contains(&format!("{word} {root}")))
    };
    for node in nodes(tree) {
        match node.kind() {
            "use_declaration" if !node.has_error() => {
                if let Some(argument) = node.child_by_field_name("argument") {
                    for (at, path) in leaves(argument, source) {
                        match is_made(&path) {
                            true => seen.unread(at),
                            false => seen.add(at, path),
                        }
                    }
                }
            }
            "extern_crate_declaration" if !node.has_error() => {
                // `extern crate self as x` names the crate itself.
                let named = node.child_by_field_name("name");
                if let Some(named) = named.filter(|named| text(*named, source) != "self") {
                    seen.add(named, name(named, source));
                }
            }
            // What is in the brackets of a macro or an attribute it does not read.
            "token_tree" | "macro_definition" => seen.unread(node),
            _ => {}
        }
    }
    seen
}

/// Each path that a tree of `use` names, as the scanner writes them.
fn leaves<'tree>(tree: Node<'tree>, source: &[u8]) -> Vec<(Node<'tree>, String)> {
    let mut found = Vec::new();
    let mut open = vec![(tree, String::new())];
    while let Some((node, before)) = open.pop() {
        match node.kind() {
            "use_as_clause" => {
                let path = node.child_by_field_name("path").expect("a path");
                open.push((path, before));
            }
            "scoped_use_list" => {
                let path = node.child_by_field_name("path");
                let path = path.map(|path| name(path, source)).unwrap_or_default();
                let list = node.child_by_field_name("list").expect("a list");
                open.push((list, format!("{before}{path}::")));
            }
            "use_list" => open.extend(children(node).map(|leaf| (leaf, before.clone()))),
            "use_wildcard" => {
                let path = children(node).next();
                let path = path.map(|path| name(path, source) + "::").unwrap_or_default();
                found.push((node, format!("{before}{path}*")));
            }
            "self" if !before.is_empty() => found.push((node, before.trim_end_matches("::").to_owned())),
            "scoped_identifier" | "identifier" | "crate" | "super" | "self" | "metavariable" => {
                found.push((node, before + &name(node, source)));
            }
            other => panic!("{other} in a `use`: {}", text(tree, source)),
        }
    }
    found
}
