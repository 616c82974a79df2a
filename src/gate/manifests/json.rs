//! JSON with all its keys: of a key that stands twice npm takes the last, other tools the first, so
//! that a reader which kept one would let the other hide.
//!
//! It is built by serde_json, which stops at 128 levels.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    /// A number or a boolean; no manifest names anything with one.
    Plain,
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    /// The object that a manifest consists of.
    pub(super) fn manifest(text: &str) -> Result<Json, String> {
        let root: Json = serde_json::from_str(text)
            .map_err(|error| format!("not valid JSON (line {}, column {})", error.line(), error.column()))?;
        match root {
            Json::Map(_) => Ok(root),
            _ => Err("not a JSON object".into()),
        }
    }

    /// Every value under this key.
    pub(super) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Json> {
        self.entries()
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The entries of an object; of anything else none.
    pub(super) fn entries(&self) -> &[(String, Json)] {
        match self {
            Json::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; of anything else none.
    pub(super) fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Plain)
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Map(entries))
    }
}
