//! String literals of C#, and lines such as `#r "nuget: StackExchange.Redis, 2.0"`.

use super::super::ImportKind;
use super::super::source::Found;

/// The value of a literal with its prefix and quotes; none of one of another kind.
pub fn string(literal: &[u8]) -> Option<String> {
    let prefix = literal.iter().take_while(|b| matches!(b, b'$' | b'@')).count();
    let verbatim = literal[..prefix].contains(&b'@');
    let rest = &literal[prefix..];
    let quotes = rest.iter().take_while(|b| **b == b'"').count();
    if !verbatim && quotes >= 3 && rest.len() >= 2 * quotes {
        let body = &rest[quotes..rest.len() - quotes];
        return String::from_utf8(body.trim_ascii().to_vec()).ok();
    }
    let [b'"', body @ .., b'"'] = rest else { return None };
    let text = std::str::from_utf8(body).ok()?;
    if verbatim {
        return Some(text.replace("\"\"", "\""));
    }
    unescaped(text)
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next()?;
        rest = &rest[at + 1 + escape.len_utf8()..];
        let most = match escape {
            'x' | 'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if most > 0 {
            let digits = rest.bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
            out.push(char::from_u32(u32::from_str_radix(&rest[..digits], 16).ok()?)?);
            rest = &rest[digits..];
        } else {
            out.push(match escape {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                other => other,
            });
        }
    }
    out.push_str(rest);
    Some(out)
}

/// What a line of the preprocessor imports: `r "nuget: X, 1"`, `r "x/Y.dll"`, `r "Y, Version=1"`,
/// `load "x.csx"`, `:package X@1`, `:sdk X@1`, `:project ../x.csproj`. Offsets are those after the
/// `#` and of the line's end.
pub fn directive(source: &[u8], from: usize, to: usize) -> Option<Found> {
    let line = std::str::from_utf8(&source[from..to]).ok()?;
    let words = line.trim_start();
    let at = |part: &str| from + (part.as_ptr() as usize - line.as_ptr() as usize);
    if let Some(words) = words.strip_prefix(':') {
        let words = words.trim_start();
        let (kind, value) = words.split_once(char::is_whitespace)?;
        let value = value.trim();
        return Some(match kind {
            "package" | "sdk" => {
                let name = value.split(['@', ' ', '\t']).next().unwrap_or(value);
                found(value, segments(name), ImportKind::Static, at(value))
            }
            "project" => found(value, Vec::new(), ImportKind::Include, at(value)),
            _ => return None,
        });
    }
    let (is_load, rest) = match words.strip_prefix("load") {
        Some(rest) => (true, rest),
        None => (false, words.strip_prefix('r')?),
    };
    let quoted = rest.trim_start().strip_prefix('"')?;
    let value = &quoted[..quoted.find('"')?];
    let identity = match value.trim_start().get(..6) {
        Some(scheme) if scheme.eq_ignore_ascii_case("nuget:") => {
            let name = value.trim_start()[6..].split([',', '/']).next().unwrap_or_default();
            segments(name.trim())
        }
        _ if is_load => Vec::new(),
        _ => {
            let name = value.split(',').next().unwrap_or(value).trim();
            let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
            let lower = file.to_ascii_lowercase();
            let is_binary = lower.ends_with(".dll") || lower.ends_with(".exe");
            segments(if is_binary { &file[..file.len() - 4] } else { file })
        }
    };
    let kind = if is_load {
        ImportKind::Include
    } else {
        ImportKind::Static
    };
    Some(found(value, identity, kind, at(value)))
}

fn found(raw: &str, identity: Vec<String>, kind: ImportKind, at: usize) -> Found {
    Found {
        raw: raw.to_owned(),
        identity,
        kind,
        at,
    }
}

fn segments(name: &str) -> Vec<String> {
    name.split('.')
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}
