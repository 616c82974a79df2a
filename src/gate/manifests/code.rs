//! Tokens of manifests that are programs: Gradle's scripts, Gemfiles and gemspecs, setup.py.
//!
//! Invariants: comments give no token; a string gives one, whose text is only trusted where nothing
//! in it is computed. The languages cannot be followed here, so that every doubt is decided for
//! "it is code": a comment mark behind what may be a regular expression hides nothing, and a
//! string ends with its line at the latest (but for triple quotes), so that a stray quote costs a
//! line and not the rest of the file.

/// What differs between the languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Groovy,
    Kotlin,
    Ruby,
    Python,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, a keyword or a number.
    Word(&'a str),
    /// A string; `is_computed`: it has an interpolation or an escape.
    Text { text: &'a str, is_computed: bool },
    /// Any other character.
    Mark(char),
    /// The end of a line.
    Line,
}

/// A token with the byte offset at which it begins.
pub(super) type Placed<'a> = (Token<'a>, usize);

/// All tokens of a program. An error is one line and says what does not end.
pub(super) fn tokens(text: &str, language: Language) -> Result<Vec<Placed<'_>>, String> {
    let mut lexer = Lexer {
        text,
        language,
        at: 0,
        is_doubtful: false,
        stray: [false; 2],
        tokens: Vec::new(),
    };
    while lexer.at < text.len() {
        lexer.step()?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    language: Language,
    at: usize,
    /// On this line stood what may have begun a regular expression or a literal of another kind.
    is_doubtful: bool,
    /// Quotes that begin no string on this line, so that no line is searched again and again.
    stray: [bool; 2],
    tokens: Vec<Placed<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, token: Token<'a>, length: usize) {
        self.tokens.push((token, self.at));
        self.at += length;
    }

    fn step(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(());
        };
        if matches!(first, '\n' | '\r') {
            self.is_doubtful = false;
            self.stray = [false; 2];
            self.push(Token::Line, 1);
            return match self.language {
                Language::Ruby => self.ruby_block(),
                _ => Ok(()),
            };
        }
        if self.at == 0 && self.language == Language::Ruby && rest.starts_with("=begin") {
            return self.ruby_block();
        }
        // A line that goes on.
        if first == '\\' && rest[1..].starts_with(['\n', '\r']) {
            self.at += if rest[1..].starts_with("\r\n") { 3 } else { 2 };
            return Ok(());
        }
        if let Some(length) = self.comment()? {
            self.at += length;
            return Ok(());
        }
        if matches!(first, '"' | '\'') {
            return self.string(first);
        }
        if self.language == Language::Ruby && first == '%' {
            if let Some((text, length)) = percent(rest) {
                let is_computed = text.contains(['\\', '#']);
                self.push(Token::Text { text, is_computed }, length);
                return Ok(());
            }
            self.is_doubtful = true;
        }
        if self.language == Language::Groovy
            && !self.is_operator()
            && let Some((text, length)) = slashy(rest)
        {
            let is_computed = text.contains(['$', '\\']);
            self.push(Token::Text { text, is_computed }, length);
            return Ok(());
        }
        if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            self.push(Token::Word(&rest[..end]), end);
            return Ok(());
        }
        if first == '/' || first == '?' && self.language == Language::Ruby {
            self.is_doubtful = true;
        }
        match first.is_whitespace() {
            true => self.at += first.len_utf8(),
            false => self.push(Token::Mark(first), first.len_utf8()),
        }
        Ok(())
    }

    /// Whether what stands here directly follows a value, so that `/` would divide it.
    fn is_operator(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_some_and(|c| is_word(c) || matches!(c, ')' | ']' | '"' | '\''))
    }

    /// The length of a comment that begins here. The end of its line is not in it.
    fn comment(&self) -> Result<Option<usize>, String> {
        let rest = self.rest();
        let line = || rest.find(['\n', '\r']).unwrap_or(rest.len());
        if self.is_doubtful {
            return Ok(None);
        }
        match self.language {
            Language::Ruby | Language::Python if rest.starts_with('#') => Ok(Some(line())),
            Language::Groovy | Language::Kotlin if rest.starts_with("//") => Ok(Some(line())),
            Language::Groovy if self.at == 0 && rest.starts_with("#!") => Ok(Some(line())),
            Language::Groovy if rest.starts_with("/*") => match rest[2..].find("*/") {
                Some(end) => Ok(Some(end + 4)),
                None => Err("a comment does not end".into()),
            },
            Language::Kotlin if rest.starts_with("/*") => nested(rest).map(Some),
            _ => Ok(None),
        }
    }

    /// A string that begins here.
    fn string(&mut self, quote: char) -> Result<(), String> {
        let rest = self.rest();
        let triple: String = [quote; 3].iter().collect();
        let has_triple = match self.language {
            Language::Ruby => false,
            Language::Kotlin => quote == '"',
            Language::Groovy | Language::Python => true,
        };
        if has_triple && rest.starts_with(&triple) {
            let body = &rest[3..];
            let mut end = 0;
            loop {
                let Some(found) = body[end..].find(&triple) else {
                    return Err("a string does not end".into());
                };
                end += found;
                let escapes = body[..end].bytes().rev().take_while(|&byte| byte == b'\\').count();
                if self.language == Language::Kotlin || escapes % 2 == 0 {
                    break;
                }
                end += 1;
            }
            let text = &body[..end];
            let is_computed = self.computes(text, quote);
            self.push(Token::Text { text, is_computed }, end + 6);
            return Ok(());
        }
        let body = &rest[1..];
        let stray = usize::from(quote == '"');
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next().filter(|_| !self.stray[stray]) {
            match c {
                '\\' => {
                    chars.next();
                }
                // No string, or one that goes on: neither hides the lines below it.
                '\n' | '\r' => break,
                c if c == quote => {
                    let text = &body[..at];
                    let is_computed = self.computes(text, quote);
                    self.push(Token::Text { text, is_computed }, at + 2);
                    return Ok(());
                }
                _ => {}
            }
        }
        self.stray[stray] = true;
        self.is_doubtful = true;
        self.push(Token::Mark(quote), 1);
        Ok(())
    }

    fn computes(&self, text: &str, quote: char) -> bool {
        if text.contains('\\') {
            return true;
        }
        match self.language {
            Language::Groovy | Language::Kotlin => quote == '"' && text.contains('$'),
            Language::Ruby => quote == '"' && text.contains("#{"),
            Language::Python => {
                let before = self.tokens.last();
                before.is_some_and(|(token, at)| {
                    matches!(token, Token::Word(word) if at + word.len() == self.at
                        && word.contains(['f', 'F', 't', 'T']))
                })
            }
        }
    }

    /// `=begin` to `=end`, and everything behind `__END__`, at the start of a line.
    fn ruby_block(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let is_line = |text: &str, word: &str| {
            text.strip_prefix(word)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['\n', '\r', ' ', '\t']))
        };
        let is_end = rest
            .strip_prefix("__END__")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
        if is_end {
            self.at = self.text.len();
        } else if is_line(rest, "=begin") {
            let mut at = 0;
            loop {
                let Some(next) = rest[at..].find('\n') else {
                    return Err("a `=begin` comment does not end".into());
                };
                at += next + 1;
                if is_line(&rest[at..], "=end") {
                    break;
                }
            }
            self.at += at + rest[at..].find('\n').unwrap_or(rest.len() - at);
        }
        Ok(())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `/group:artifact:1/` and `$/group:artifact:1/$`: the text and the length of the whole. Only what
/// looks like that is taken for a string, since anything else may be an operator.
fn slashy(rest: &str) -> Option<(&str, usize)> {
    let (start, end) = match rest.strip_prefix("$/") {
        Some(_) => ("$/", "/$"),
        None => ("/", "/"),
    };
    let body = rest.strip_prefix(start)?;
    let is_part = |c: char| is_word(c) || matches!(c, '.' | '-' | ':' | '@' | '+' | '$' | '{' | '}' | '[' | ',' | ']');
    let length = body.find(|c| !is_part(c)).filter(|&at| at <= MAX_PERCENT)?;
    // The `$` of the end is a character of the text, too, but stands behind the slash.
    (body[length..].starts_with(end) && body[..length].contains(':')).then_some(())?;
    Some((&body[..length], start.len() + length + end.len()))
}

/// Longest `%q(...)` in characters; no name is longer.
const MAX_PERCENT: usize = 200;

/// `%q(x)`, `%Q[x]`, `%(x)`: the text and the length of the whole.
fn percent(rest: &str) -> Option<(&str, usize)> {
    let opened = rest[1..].strip_prefix(['q', 'Q']).unwrap_or(&rest[1..]);
    let open = opened.chars().next()?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        c if c.is_ascii_punctuation() && opened.len() < rest.len() - 1 => c,
        _ => return None,
    };
    let body = &opened[1..];
    let (end, found) = body
        .char_indices()
        .take(MAX_PERCENT)
        .find(|(_, c)| *c == close || matches!(c, '\n' | '\r'))?;
    (found == close).then_some(())?;
    Some((&body[..end], rest.len() - body.len() + end + 1))
}

/// The length of a Kotlin comment, in which others may stand.
fn nested(rest: &str) -> Result<usize, String> {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => at += 1,
        }
    }
    Err("a comment does not end".into())
}

/// The declaration at an offset as one line of at most 200 characters, to compare it with the
/// base's.
pub(super) fn statement(text: &str, at: usize) -> String {
    let line: String = text[at..]
        .chars()
        .take(200)
        .take_while(|c| !matches!(c, '\n' | '\r'))
        .collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
