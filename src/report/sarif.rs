//! SARIF 2.1.0 (OASIS standard of 2020), as code scanning services read it.
//!
//! Invariants: columns are UTF-16 code units, as `columnKind` says, or left out where the line is not
//! known; a refusal is a run whose invocation was not successful, with the reason as a notification.

use serde_json::{Value, json};

use super::checked::{Checked, Item, Level, Outcome, reason};
use crate::commands::check;
use crate::exit::Exit;
use crate::gate::{POLICY_PATH, Rule, meaning, render};

/// The root of the repository, for paths.
const ROOT: &str = "%SRCROOT%";
/// The name and version of our fingerprint.
const FINGERPRINT: &str = "agentgate/v1";

/// The log.
pub fn render(checked: &Checked) -> String {
    let exit = checked.exit();
    let mut invocation = json!({
        "executionSuccessful": true,
        "exitCode": exit.code(),
        "exitCodeDescription": exit.meaning(),
    });
    let notices = checked
        .notices
        .iter()
        .map(|notice| notification("note", "notice", notice));
    invocation["toolExecutionNotifications"] = notices.collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "agentgate",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules(),
        } },
        "automationDetails": { "id": "agentgate/" },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": { ROOT: { "description": { "text": "The root of the repository." } } },
    });
    match checked.outcome {
        Outcome::Refused(stop) => {
            invocation["executionSuccessful"] = false.into();
            invocation["toolExecutionNotifications"] = json!([notification("error", stop.exit.name(), &reason(stop))]);
        }
        Outcome::Judged(report) => {
            if let Some(uri) = repository(report.origin.as_deref()) {
                run["versionControlProvenance"] = json!([{
                    "repositoryUri": uri,
                    "revisionId": report.head,
                    "mappedTo": { "uriBaseId": ROOT },
                }]);
            }
            run["properties"] = facts(report);
        }
    }
    run["invocations"] = json!([invocation]);
    run["results"] = checked.items.iter().map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    });
    format!("{log:#}\n")
}

fn notification(level: &str, id: &str, text: &str) -> Value {
    json!({ "level": level, "message": { "text": unlinked(text) }, "descriptor": { "id": id } })
}

/// `[text](address)` in a message is a link, and nothing that we say is one.
fn unlinked(text: &str) -> String {
    text.replace("](", "] (")
}

fn rules() -> Vec<Value> {
    let rule = |id: &str, title: &str, help: &str, level: &str, exit: Option<Exit>| {
        json!({
            "id": id,
            "name": meaning::camel(id),
            "shortDescription": { "text": format!("{title}.") },
            "fullDescription": { "text": help },
            "help": { "text": help },
            "defaultConfiguration": { "level": level },
            "properties": { "tags": ["agentgate"], "exitCode": exit.map(Exit::code) },
        })
    };
    let findings = Rule::ALL
        .iter()
        .map(|known| rule(known.code(), known.title(), known.help(), "error", Some(known.exit())));
    let warning = rule(
        meaning::WARNING,
        meaning::WARNING_TITLE,
        meaning::WARNING_HELP,
        "warning",
        None,
    );
    findings.chain([warning]).collect()
}

fn result(item: &Item) -> Value {
    let index = Rule::ALL.iter().position(|rule| rule.code() == item.code);
    let level = match item.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let mut text = format!("{} [{}]", item.told(), item.key);
    if !item.hint.is_empty() {
        text.push_str(&format!("\nhint: {}", item.hint));
    }
    text.extend(item.output.iter().map(|line| format!("\n| {line}")));
    json!({
        "ruleId": item.code,
        // The rule of warnings is the last one.
        "ruleIndex": index.unwrap_or(Rule::ALL.len()),
        "level": level,
        "message": { "text": unlinked(&text) },
        "locations": [location(item)],
        "partialFingerprints": { FINGERPRINT: item.fingerprint },
        "properties": { "judgedBy": item.key, "commit": item.commit },
    })
}

/// Services refuse a result without a file and a line: what is about a whole file is shown at its
/// first line, and what is about a commit at the rules.
fn location(item: &Item) -> Value {
    let path = match item.path.as_slice() {
        b"" => POLICY_PATH.as_bytes(),
        path => path,
    };
    let mut region = json!({ "startLine": item.line.unwrap_or(1) });
    if let Some(column) = item.column_utf16 {
        region["startColumn"] = column.into();
    }
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": { "uri": percent_encoded(path), "uriBaseId": ROOT },
        "region": region,
    } });
    if let Some(commit) = &item.commit {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": format!("commit {commit}"), "kind": "commit" }]);
    }
    location
}

/// A path as a relative URI reference (RFC 3986): every byte but letters, digits, `-._~` and the
/// slashes is encoded, so that no first component looks like a scheme.
fn percent_encoded(path: &[u8]) -> String {
    let mut uri = String::new();
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Where the repository comes from as an absolute URI (RFC 3986), without a user or password; a name of our own
/// without a remote. `None` for an address that has no such form, such as a path from the checkout (`../shop.git`):
/// the standard wants an address beside the revision, and a wrong one would be believed.
fn repository(origin: Option<&str>) -> Option<String> {
    let Some(origin) = origin.filter(|origin| !origin.is_empty()) else {
        return Some("urn:agentgate:repository-without-origin".to_owned());
    };
    if origin.starts_with('/') {
        return Some(format!("file://{}", percent_encoded(origin.as_bytes())));
    }
    if let Some((scheme, rest)) = origin.split_once("://") {
        let is_scheme = scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && scheme.starts_with(|first: char| first.is_ascii_alphabetic());
        return is_scheme.then(|| address(scheme, rest)).flatten();
    }
    // git@host:path; `ext::command` is no address but a program.
    match origin.split_once(':') {
        Some((host, path)) if !host.contains('/') && !path.starts_with(':') => {
            address("ssh", &format!("{host}/{}", path.trim_start_matches('/')))
        }
        _ => None,
    }
}

/// `scheme://host:port/path` without a user, a query or what a URI cannot have.
fn address(scheme: &str, rest: &str) -> Option<String> {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host, ""),
    };
    let inside = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_host = match inside {
        Some(numbers) => numbers.contains(':') && numbers.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b)),
        None => name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
    };
    if !is_host || name.is_empty() && scheme != "file" {
        return None;
    }
    // A query could hold a token.
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let port = if port.is_empty() {
        String::new()
    } else {
        format!(":{port}")
    };
    Some(format!("{scheme}://{name}{port}{}", percent_encoded(path.as_bytes())))
}

fn facts(report: &check::Report) -> Value {
    json!({
        "base": report.base,
        "baseFrom": render::lines(&report.base_from),
        "mergeBase": report.merge_base,
        "head": report.head,
        "commits": report.commits,
        "policies": report.verdict.policies,
        "pathsChecked": report.verdict.paths_checked,
        "inspected": render::inspected_json(&report.verdict.inspected),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_relative_uri() {
        assert_eq!(
            percent_encoded(b"a:b/c d/%\xff\n#?.ts"),
            "a%3Ab/c%20d/%25%FF%0A%23%3F.ts"
        );
        assert_eq!(percent_encoded("é".as_bytes()), "%C3%A9");
    }

    #[test]
    fn an_address_never_shows_a_password() {
        for (origin, uri) in [
            (
                "https://me:secret@example.com:8443/a/b.git",
                "https://example.com:8443/a/b.git",
            ),
            ("https://example.com/a?token=secret", "https://example.com/a"),
            (
                "https://a/b@secret@example.com/x",
                "https://a/b%40secret%40example.com/x",
            ),
            ("git@example.com:a/b.git", "ssh://example.com/a/b.git"),
            ("/srv/git/a b", "file:///srv/git/a%20b"),
            ("file:///srv/git/a", "file:///srv/git/a"),
            ("ssh://git@[::1]:22/a", "ssh://[::1]:22/a"),
            ("", "urn:agentgate:repository-without-origin"),
        ] {
            assert_eq!(repository(Some(origin)).as_deref(), Some(uri));
        }
    }

    #[test]
    fn an_address_that_is_no_absolute_uri_is_left_out() {
        for origin in [
            "../origin.git",
            "origin.git",
            "./a:b",
            "ext::sh -c x",
            "https:///x",
            "https://a b/x",
            "1x://a/b",
            "[::1:a",
        ] {
            assert_eq!(repository(Some(origin)), None, "{origin}");
        }
    }
}
