use tree_sitter::{Node, Tree};

use crate::compare::Seen;
use crate::tree::{children, fields, literal, name, nodes};

pub fn seen(tree: &Tree, source: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for node in nodes(tree).filter(|node| !node.has_error()) {
        match node.kind() {
            "import_statement" => {
                for module in fields(node, "name") {
                    seen.add(module, imported(module, source));
                }
            }
            "import_from_statement" | "future_import_statement" => {
                let (at, module) = match node.child_by_field_name("module_name") {
                    Some(module) => (module, name(module, source)),
                    None => (node.child(1).expect("__future__"), "__future__".to_owned()),
                };
                if children(node).any(|child| child.kind() == "wildcard_import") {
                    seen.add(at, module.clone());
                }
                for leaf in fields(node, "name") {
                    let leaf = imported(leaf, source);
                    let dot = if module.ends_with('.') { "" } else { "." };
                    seen.add(at, format!("{module}{dot}{leaf}"));
                }
            }
            "call" => {
                let function = node.child_by_field_name("function");
                let function = function.map(|function| name(function, source)).unwrap_or_default();
                if !matches!(
                    function.as_str(),
                    "__import__" | "importlib.import_module" | "import_module"
                ) {
                    continue;
                }
                let argument = node
                    .child_by_field_name("arguments")
                    .and_then(|arguments| children(arguments).next())
                    .filter(|argument| argument.kind() == "string");
                if let Some((argument, module)) =
                    argument.and_then(|argument| Some((argument, string(argument, source)?)))
                {
                    seen.add(argument, module);
                }
            }
            _ => {}
        }
    }
    seen
}

/// `a.b` of `a.b as c`.
fn imported(node: Node<'_>, source: &[u8]) -> String {
    name(node.child_by_field_name("name").unwrap_or(node), source)
}

/// The text of a string without escapes and interpolation.
fn string(node: Node<'_>, source: &[u8]) -> Option<String> {
    let parts: Vec<_> = children(node).collect();
    match parts[..] {
        [start, text, end] if start.kind() == "string_start" && end.kind() == "string_end" => {
            literal(text, source, "").map(|_| name(text, source))
        }
        _ => None,
    }
}
