//! Paths of JavaScript that begin at the file's own folder: `__dirname + "/../x.js"`, `` `${__dirname}/../x` ``,
//! `path.join(__dirname, "..", "x.js")` and `path.resolve`, also with `import.meta.dirname` or
//! `path.dirname(__filename)` in its place.
//!
//! Only literals may follow: then the path is known, as `../x.js` is.

use super::arguments::Reader;
use super::token::{Cursor, Kind, Token};

/// Literals of one path.
const MOST: usize = 64;

/// Such an argument.
pub(super) struct Beside {
    /// `./x` or `../x`.
    pub(super) path: String,
    /// Offset of the argument.
    pub(super) at: usize,
    /// A function makes it of its parts; which one, its name alone tells.
    pub(super) is_call: bool,
}

/// The argument after `(`, where it is one.
pub(super) fn beside(reader: Reader, mut ahead: Cursor) -> Option<Beside> {
    let first = ahead.peek();
    let whole = |path, is_call| Beside {
        path,
        at: first.start,
        is_call,
    };
    if first.kind == Kind::Template {
        return template(reader, first).map(|path| whole(path, false));
    }
    let mut sum = ahead.clone();
    if is_folder(&mut sum) && sum.peek().is(b'+') {
        let mut text = String::new();
        for _ in 0..MOST {
            let sign = sum.next();
            if matches!(sign.kind, Kind::Punct(b')' | b',')) {
                // Without a slash it is another folder's name.
                return text.starts_with(['/', '\\']).then(|| whole(written(&text), false));
            }
            let part = sum.next();
            if !sign.is(b'+') || part.kind != Kind::Text {
                return None;
            }
            text.push_str(&reader.text(part)?);
        }
        return None;
    }
    let name = last_name(&mut ahead)?;
    let is_resolve = ahead.is_word(name, b"resolve");
    if !(is_resolve || ahead.is_word(name, b"join")) || !ahead.next().is(b'(') || !is_folder(&mut ahead) {
        return None;
    }
    let mut parts = Vec::new();
    for _ in 0..MOST {
        let sign = ahead.next();
        let is_end = sign.is(b')') || sign.is(b',') && ahead.peek().is(b')') && ahead.next().is(b')');
        if is_end {
            let is_whole = matches!(ahead.peek().kind, Kind::Punct(b')' | b','));
            return (is_whole && !parts.is_empty()).then(|| whole(written(&parts.join("/")), true));
        }
        let part = ahead.next();
        if !sign.is(b',') || part.kind != Kind::Text {
            return None;
        }
        let text = reader.text(part)?;
        // From there on it is no more below the folder.
        if is_resolve && text.starts_with('/') {
            return None;
        }
        parts.push(text);
    }
    None
}

/// `` `${__dirname}/x` `` and nothing else.
fn template(reader: Reader, token: Token) -> Option<String> {
    let text = std::str::from_utf8(
        reader
            .source
            .get(token.start..)?
            .get(..MAX_TEMPLATE.min(reader.source.len() - token.start))?,
    );
    let text = match text {
        Ok(text) => text,
        // Cut within a letter.
        Err(error) => std::str::from_utf8(&reader.source[token.start..token.start + error.valid_up_to()]).ok()?,
    };
    let (folder, rest) = text.strip_prefix("`${")?.split_once('}')?;
    if !["__dirname", "import.meta.dirname"].contains(&folder.trim()) {
        return None;
    }
    let (path, after) = rest.split_once('`')?;
    let is_plain = path.starts_with('/') && !path.contains(['\\', '\n', '\r']) && !path.contains("${");
    (is_plain && after.trim_start().starts_with([')', ','])).then(|| written(path))
}

/// Bytes of such a template.
const MAX_TEMPLATE: usize = 4096;

/// Past an expression that is the file's own folder.
fn is_folder(ahead: &mut Cursor) -> bool {
    let Some(name) = last_name(ahead) else { return false };
    if ahead.is_word(name, b"__dirname") || ahead.is_word(name, b"dirname") && !ahead.peek().is(b'(') {
        return true;
    }
    if !ahead.is_word(name, b"dirname") {
        return false;
    }
    ahead.next();
    let file = ahead.next();
    ahead.is_word(file, b"__filename") && ahead.next().is(b')')
}

/// Past `a.b.c`: `c`.
fn last_name(ahead: &mut Cursor) -> Option<Token> {
    for _ in 0..4 {
        let name = ahead.next();
        if name.kind != Kind::Word {
            return None;
        }
        if !ahead.peek().is(b'.') {
            return Some(name);
        }
        ahead.next();
    }
    None
}

/// The path as an import would have it.
fn written(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches('/');
    match path.split('/').next() {
        Some("." | "..") => path.to_owned(),
        _ => format!("./{path}"),
    }
}
