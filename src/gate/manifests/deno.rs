//! deno.json and import maps: what names in code load.

use super::declared::Dependency;
use super::json::Json;
use crate::gate::imports::javascript_identity;
use crate::gate::resolve::plain_json;

/// The packages and addresses that the `imports` and `scopes` of a map lead to; what leads to a file is no dependency.
pub(super) fn dependencies(text: &str) -> Result<Vec<Dependency>, String> {
    let root = Json::manifest(&plain_json(text))?;
    let scopes = root.all("scopes").flat_map(Json::entries).map(|(_, table)| table);
    let mut found = Vec::new();
    for (_, target) in root.all("imports").chain(scopes).flat_map(Json::entries) {
        if let Some(address) = target.text() {
            found.extend(package(address).map(|name| Dependency::new(name, address)));
        }
    }
    Ok(found)
}

/// The package at an address, or the address itself where its server is not known for packages.
fn package(address: &str) -> Option<String> {
    let lower = address.to_ascii_lowercase();
    let schemes = ["npm:", "jsr:", "http://", "https://"];
    let scheme = schemes.iter().find(|scheme| lower.starts_with(**scheme))?;
    let identity = javascript_identity(address);
    let first = identity.first()?;
    if first.contains('.') && scheme.ends_with("//") {
        return Some(identity.join("/"));
    }
    let parts = 1 + usize::from(first.starts_with('@'));
    Some(identity[..parts.min(identity.len())].join("/"))
}

/// The projects' kits that a global.json names.
pub(super) fn global_json(text: &str) -> Result<Vec<Dependency>, String> {
    let root = Json::manifest(&plain_json(text))?;
    let kits = root.all("msbuild-sdks").flat_map(Json::entries);
    Ok(kits
        .map(|(name, _)| Dependency::new(name.to_ascii_lowercase(), name))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let found = dependencies(text).expect("it parses");
        found.into_iter().map(|dependency| dependency.name).collect()
    }

    #[test]
    fn a_map_leads_to_packages() {
        let text = r#"{ // a comment
            "imports": {"a": "npm:redis@^4/client", "b": "jsr:@std/path@1", "c": "https://esm.sh/x@1",
                "d": "https://example.com/lib/y.js", "e": "./own.ts", "f/": "/own/", "g": "node:fs",},
            "scopes": {"https://example.com/": {"h": "npm:@s/z"}}, "tasks": {"i": "npm:no"}
        }"#;
        assert_eq!(names(text), ["redis", "@std/path", "x", "example.com/lib/y.js", "@s/z"]);
        assert!(names("{}").is_empty());
        assert!(dependencies("[]").is_err());
    }

    #[test]
    fn kits_of_msbuild_are_packages() {
        let found =
            global_json(r#"{"sdk": {"version": "8"}, "msbuild-sdks": {"Acme.Sdk": "1.0"}}"#).expect("it parses");
        assert_eq!(found[0].name, "acme.sdk");
        assert_eq!(found.len(), 1);
    }
}
