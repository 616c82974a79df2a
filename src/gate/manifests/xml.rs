//! A small strict reader of XML events, for manifests only.
//!
//! Invariants: it is iterative, so that nesting costs heap and no stack; whatever two parsers could
//! read differently, or what would have to be fetched or expanded (a document type, an entity of its
//! own, another encoding), is an error and never skipped.
//!
//! Grammar: XML 1.0, sections 2 and 4.1. Namespaces are left to the caller: names keep their prefix.

/// One event. Text of CDATA sections and around comments comes in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// Also of an element without content; its end follows.
    Start {
        name: &'a str,
        /// In the order of the file, references resolved.
        attributes: Vec<(&'a str, String)>,
        /// Byte offset of the `<`.
        at: usize,
    },
    End,
    Text(String),
}

pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Names of the open elements.
    open: Vec<&'a str>,
    /// The last event began an element that has no content.
    is_empty: bool,
    had_root: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader {
            text,
            at: 0,
            open: Vec::new(),
            is_empty: false,
            had_root: false,
        }
    }

    /// The next event; `None` behind the end of the document. Errors are one line with the place.
    pub(super) fn next(&mut self) -> Result<Option<Event<'a>>, String> {
        if self.is_empty {
            self.is_empty = false;
            self.open.pop();
            return Ok(Some(Event::End));
        }
        loop {
            let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) else {
                return match self.open.is_empty() && self.had_root {
                    true => Ok(None),
                    false => Err(self.wrong(self.at, "it ends too early")),
                };
            };
            if !rest.starts_with('<') {
                let end = rest.find('<').unwrap_or(rest.len());
                let text = self.resolved(&rest[..end], self.at)?;
                if self.open.is_empty() {
                    if !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
                        return Err(self.wrong(self.at, "text outside of the root element"));
                    }
                    self.at += end;
                    continue;
                }
                self.at += end;
                return Ok(Some(Event::Text(text)));
            }
            if let Some(comment) = rest.strip_prefix("<!--") {
                let end = self.find(comment, "--", "a comment does not end")?;
                if !comment[end..].starts_with("-->") {
                    return Err(self.wrong(self.at, "`--` inside a comment"));
                }
                self.at += "<!--".len() + end + "-->".len();
            } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
                let end = self.find(data, "]]>", "a CDATA section does not end")?;
                if self.open.is_empty() {
                    return Err(self.wrong(self.at, "text outside of the root element"));
                }
                let text = self.checked(&data[..end], self.at)?.to_owned();
                self.at += "<![CDATA[".len() + end + "]]>".len();
                return Ok(Some(Event::Text(text)));
            } else if let Some(instruction) = rest.strip_prefix("<?") {
                let end = self.find(instruction, "?>", "a processing instruction does not end")?;
                self.instruction(&instruction[..end])?;
                self.at += "<?".len() + end + "?>".len();
            } else if rest.starts_with("<!") {
                return Err(self.wrong(self.at, "a document type or another declaration"));
            } else if let Some(tag) = rest.strip_prefix("</") {
                let end = self.find(tag, ">", "a tag does not end")?;
                let name = tag[..end].trim_end_matches([' ', '\t', '\r', '\n']);
                if self.open.pop() != Some(name) {
                    return Err(self.wrong(self.at, "an end tag without its start tag"));
                }
                self.at += "</".len() + end + 1;
                return Ok(Some(Event::End));
            } else {
                return self.start().map(Some);
            }
        }
    }

    /// The start tag at the current place.
    fn start(&mut self) -> Result<Event<'a>, String> {
        let text = self.text;
        let at = self.at;
        if self.open.is_empty() && self.had_root {
            return Err(self.wrong(at, "a second root element"));
        }
        self.had_root = true;
        let (name, mut here) = self.name(at + 1)?;
        let mut attributes: Vec<(&str, String)> = Vec::new();
        loop {
            let blanks = text[here..].len() - text[here..].trim_start_matches([' ', '\t', '\r', '\n']).len();
            here += blanks;
            let rest = &text[here..];
            if rest.starts_with('>') {
                self.at = here + 1;
                break;
            }
            if rest.starts_with("/>") {
                self.at = here + 2;
                self.is_empty = true;
                break;
            }
            if blanks == 0 {
                return Err(self.wrong(here, "a start tag that is not well formed"));
            }
            let (key, end) = self.name(here)?;
            let value = text[end..].trim_start_matches([' ', '\t', '\r', '\n']);
            let value = value
                .strip_prefix('=')
                .ok_or_else(|| self.wrong(here, "an attribute without a value"))?
                .trim_start_matches([' ', '\t', '\r', '\n']);
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
            let Some(quote) = quote else {
                return Err(self.wrong(here, "an attribute without quotes"));
            };
            let Some(length) = value[1..].find(quote) else {
                return Err(self.wrong(here, "the value of an attribute does not end"));
            };
            let raw = &value[1..=length];
            if raw.contains('<') {
                return Err(self.wrong(here, "`<` in an attribute"));
            }
            if attributes.iter().any(|(known, _)| *known == key) {
                return Err(self.wrong(here, "an attribute stands twice"));
            }
            if attributes.len() >= MAX_ATTRIBUTES {
                return Err(self.wrong(here, "too many attributes"));
            }
            let start = text.len() - value.len();
            attributes.push((key, self.resolved(raw, start)?));
            here = start + length + 2;
        }
        self.open.push(name);
        Ok(Event::Start { name, attributes, at })
    }

    /// The name at this place, and where it ends.
    fn name(&self, at: usize) -> Result<(&'a str, usize), String> {
        let rest = &self.text[at..];
        let end = rest
            .find(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | ':'))
            .unwrap_or(rest.len());
        let name = &rest[..end];
        match name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | ':')) {
            true => Ok((name, at + end)),
            false => Err(self.wrong(at, "a name is missing")),
        }
    }

    /// Only the XML declaration says something: another encoding would make other text of the bytes.
    fn instruction(&self, text: &str) -> Result<(), String> {
        let Some(rest) = text
            .strip_prefix("xml")
            .filter(|rest| rest.starts_with([' ', '\t', '\r', '\n']))
        else {
            return Ok(());
        };
        let Some((_, encoding)) = rest.split_once("encoding") else {
            return Ok(());
        };
        let named = encoding
            .trim_start_matches([' ', '\t', '\r', '\n', '='])
            .trim_start_matches(['"', '\'']);
        let named = named.split(['"', '\'']).next().unwrap_or_default().to_ascii_lowercase();
        let is_superset = |name: &str| {
            matches!(name, "us-ascii" | "ascii") || name.starts_with("iso-8859-") || name.starts_with("windows-125")
        };
        match named.as_str() {
            "utf-8" | "utf8" => Ok(()),
            name if self.text.is_ascii() && is_superset(name) => Ok(()),
            _ => Err(self.wrong(self.at, "an encoding that is not read")),
        }
    }

    /// Text with its references resolved, line breaks as they are.
    fn resolved(&self, raw: &str, at: usize) -> Result<String, String> {
        let mut out = String::with_capacity(raw.len());
        let mut rest = self.checked(raw, at)?;
        while let Some(start) = rest.find('&') {
            out.push_str(&rest[..start]);
            let Some((name, after)) = rest[start + 1..].split_once(';') else {
                return Err(self.wrong(at, "`&` without an entity"));
            };
            out.push(match name {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                _ => character(name).ok_or_else(|| self.wrong(at, "an entity that is not known"))?,
            });
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    fn checked<'t>(&self, text: &'t str, at: usize) -> Result<&'t str, String> {
        match text.contains(|c| !is_character(c)) {
            true => Err(self.wrong(at, "a control character")),
            false => Ok(text),
        }
    }

    fn find(&self, text: &str, end: &str, what: &str) -> Result<usize, String> {
        text.find(end).ok_or_else(|| self.wrong(self.at, what))
    }

    fn wrong(&self, at: usize, what: &str) -> String {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("not XML that is read here (line {line}: {what})")
    }
}

/// An element with more has no use in a manifest, and each is compared with all before it.
const MAX_ATTRIBUTES: usize = 200;

fn character(reference: &str) -> Option<char> {
    let digits = reference.strip_prefix('#')?;
    let (digits, radix) = match digits.strip_prefix('x') {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|&c| is_character(c))
}

/// `Char` of the grammar.
fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// The name without its namespace prefix.
pub(super) fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
