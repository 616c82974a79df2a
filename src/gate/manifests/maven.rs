//! pom.xml and Maven's `.mvn/extensions.xml`.
//!
//! Every element with a groupId and an artifactId of its own is read, wherever it stands: plugins
//! may put dependencies below any element of their configuration.

use std::collections::HashMap;

use super::declared::{Computed, Declared, Dependency};
use super::xml::{Event, Reader, local};

/// References followed for one name before they are taken for a loop, and for all of them.
const MAX_STEPS: usize = 20;
const MAX_ALL_STEPS: usize = 20_000;
/// Longest name in bytes: a property that names itself would grow without end.
const MAX_NAME: usize = 1000;

#[derive(Default)]
struct Element<'a> {
    name: &'a str,
    text: String,
    group: Option<String>,
    artifact: Option<String>,
    at: usize,
}

/// A declaration before its references are resolved.
struct Found {
    group: String,
    artifact: String,
    at: usize,
}

/// `group:artifact` of the project itself, its group being its parent's where it has none of its own. None where that
/// cannot be told for certain.
pub(super) fn coordinates(text: &str) -> Option<String> {
    let (_, properties) = read(text).ok()?;
    let own = |key: &str| match properties.get(key)?.as_slice() {
        [value] if !value.is_empty() => Some(value.as_str()),
        _ => None,
    };
    let name = format!("{}:{}", own("project.groupId")?, own("project.artifactId")?);
    (!name.contains("${")).then_some(name)
}

/// `group:artifact` of dependencies (also of `dependencyManagement` and of plugins), plugins,
/// extensions and the parent.
pub(super) fn dependencies(text: &str) -> Result<Declared, String> {
    let (found, properties) = read(text)?;
    let mut declared = Declared::default();
    let mut steps = MAX_ALL_STEPS;
    for Found { group, artifact, at } in found {
        let written = format!("{group}:{artifact}");
        let names = expanded(&written, &properties, &mut steps);
        if names.iter().any(|name| name.contains("${")) || artifact.is_empty() {
            declared.computed.push(Computed { text: written, at });
            continue;
        }
        for name in names {
            declared
                .found
                .push(Dependency::new(name, artifact.as_str()).at(Some(at)));
        }
    }
    Ok(declared)
}

type Properties = HashMap<String, Vec<String>>;

/// The declarations, and what properties stand for.
fn read(text: &str) -> Result<(Vec<Found>, Properties), String> {
    let mut reader = Reader::new(text);
    let mut open: Vec<Element> = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    let mut properties = Properties::new();
    while let Some(event) = reader.next()? {
        match event {
            Event::Start { name, at, .. } => open.push(Element {
                name: local(name),
                at,
                ..Element::default()
            }),
            Event::Text(text) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text);
                }
            }
            Event::End => {
                let Some(element) = open.pop() else { continue };
                let depth = open.len();
                let Some(above) = open.last_mut() else { continue };
                let value = element.text.trim().to_owned();
                match element.name {
                    "groupId" => above.group = Some(value),
                    "artifactId" => above.artifact = Some(value),
                    _ if above.name == "properties" => {
                        properties.entry(element.name.to_owned()).or_default().push(value);
                    }
                    "exclusion" => {}
                    _ => {
                        let group = match (element.group, element.name, &element.artifact) {
                            (Some(group), ..) => group,
                            (None, "plugin", Some(_)) => "org.apache.maven.plugins".into(),
                            // The project's own coordinates name no dependency.
                            _ => continue,
                        };
                        let artifact = element.artifact.unwrap_or_default();
                        if element.name == "parent" && depth == 1 {
                            for key in ["project.groupId", "project.parent.groupId", "pom.groupId", "groupId"] {
                                properties.entry(key.into()).or_default().push(group.clone());
                            }
                        }
                        found.push(Found {
                            group,
                            artifact,
                            at: element.at,
                        });
                    }
                }
                if depth == 1 && matches!(element.name, "groupId" | "artifactId") {
                    for prefix in ["project.", "pom.", ""] {
                        let own = if element.name == "groupId" {
                            &above.group
                        } else {
                            &above.artifact
                        };
                        // The project's own goes before the parent's.
                        let value = own.clone().unwrap_or_default();
                        properties.insert(format!("{prefix}{}", element.name), vec![value]);
                    }
                }
            }
        }
    }
    Ok((found, properties))
}

/// All that a text with `${...}` may stand for (profiles set properties, too); what cannot be
/// resolved keeps its reference.
fn expanded(text: &str, properties: &Properties, left: &mut usize) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![(text.to_owned(), 0)];
    while let Some((text, steps)) = open.pop() {
        let reference = text.split_once("${").and_then(|(before, rest)| {
            let (name, after) = rest.split_once('}')?;
            Some((before, properties.get(name)?, after))
        });
        match reference {
            Some((before, values, after)) if steps < MAX_STEPS && *left >= values.len() => {
                *left -= values.len();
                for value in values {
                    match before.len() + value.len() + after.len() > MAX_NAME {
                        true => done.push("${".into()),
                        false => open.push((format!("{before}{value}{after}"), steps + 1)),
                    }
                }
            }
            _ => done.push(text),
        }
    }
    done.sort();
    done.dedup();
    done
}
