//! Project files of .NET: *.csproj, *.fsproj, *.vbproj and what else MSBuild loads, *.props, *.targets
//! and *.proj among them, and packages.config.

use super::declared::{Computed, Declared, Dependency, Named};
use super::format::is_msbuild;
use super::json::Json;
use super::xml::{Event, Reader, local};

/// Items whose `Include` (or `Update`) names packages. MSBuild compares all names without case.
const ITEMS: &[&str] = &[
    "packagereference",
    "packageversion",
    "globalpackagereference",
    "packagedownload",
    "dotnetclitoolreference",
    "reference",
    "frameworkreference",
];

/// Package ids, in lower case as the registry compares them.
pub(super) fn dependencies(text: &str) -> Result<Declared, String> {
    let mut reader = Reader::new(text);
    let mut declared = Declared::default();
    while let Some(event) = reader.next()? {
        let Event::Start { name, attributes, at } = event else {
            continue;
        };
        let element = local(name).to_ascii_lowercase();
        for (key, value) in attributes {
            let key = local(key).to_ascii_lowercase();
            let names = match (element.as_str(), key.as_str()) {
                (item, "include" | "update") if ITEMS.contains(&item) => value,
                // packages.config
                ("package", "id") => value,
                ("project" | "import", "sdk") | ("sdk", "name") => value,
                // A file of any other name is read by no rule.
                ("import", "project") => {
                    if !is_msbuild(value.trim().as_bytes()) {
                        declared.computed.push(Computed {
                            text: value.trim().to_owned(),
                            at,
                        });
                    }
                    continue;
                }
                // What every source file of the project imports. It is no package by itself.
                ("using", "include" | "update") => {
                    usings(&value, at, &mut declared);
                    continue;
                }
                _ => continue,
            };
            for name in names.split(';').map(str::trim).filter(|name| !name.is_empty()) {
                package(name, &element, at, &mut declared);
            }
        }
    }
    Ok(declared)
}

/// The names in a packages.lock.json, what packages bring along among them.
pub(super) fn locked(text: &str) -> Vec<String> {
    let Ok(root) = Json::manifest(text) else {
        return Vec::new();
    };
    let frameworks = root.all("dependencies").flat_map(Json::entries);
    let packages = frameworks.flat_map(|(_, packages)| packages.entries());
    packages.map(|(name, _)| name.to_ascii_lowercase()).collect()
}

fn usings(names: &str, at: usize, declared: &mut Declared) {
    for written in names.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        let name = unescaped(written).to_ascii_lowercase();
        declared
            .found
            .push(Dependency::new(name, written).at(Some(at)).of_kind(Named::Guessed));
    }
}

fn package(written: &str, element: &str, at: usize, declared: &mut Declared) {
    if ["$(", "@(", "%("].iter().any(|mark| written.contains(mark)) {
        declared.computed.push(Computed {
            text: written.to_owned(),
            at,
        });
        return;
    }
    let is_sdk = matches!(element, "project" | "import" | "sdk");
    let name = unescaped(written);
    // `Sdk="Name/1.0"`; an assembly reference is `Name, Version=1.0.0.0`.
    let name = match is_sdk {
        true => name.split('/').next(),
        false => name.split(',').next(),
    };
    let name = name.unwrap_or_default().trim().to_ascii_lowercase();
    // What comes with .NET itself.
    let is_platform = match element {
        "reference" => name == "system" || name.starts_with("system.") || name == "mscorlib",
        "frameworkreference" => name.starts_with("microsoft."),
        _ => is_sdk && name.starts_with("microsoft.net.sdk"),
    };
    if name.is_empty() || is_platform {
        return;
    }
    declared.found.push(Dependency::new(name, written).at(Some(at)));
}

/// MSBuild's `%72` for `r`.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
        match (byte, hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}
