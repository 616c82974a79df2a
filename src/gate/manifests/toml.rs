//! TOML with places, by toml_edit, which stops at 80 levels.

use toml_edit::{Document, Item, TableLike};

/// Reads a document. The error is one line, without the snippet of untrusted text.
pub(super) fn document(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| format!("not valid TOML ({})", error.message().escape_debug()))
}

/// The item at dotted keys.
pub(super) fn at<'a>(item: &'a Item, keys: &str) -> Option<&'a Item> {
    keys.split('.')
        .try_fold(item, |item, key| item.as_table_like()?.get(key))
}

/// The entries of a table; of anything else none.
pub(super) fn entries(item: Option<&Item>) -> impl Iterator<Item = (&str, &Item)> {
    item.and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter)
}

/// Where a key of the table at dotted keys stands.
pub(super) fn place(root: &Item, table: &str, key: &str) -> Option<usize> {
    key_place(at(root, table)?.as_table_like()?, key)
}

/// Where a key of a table stands.
pub(super) fn key_place(table: &dyn TableLike, key: &str) -> Option<usize> {
    Some(table.key(key)?.span()?.start)
}
