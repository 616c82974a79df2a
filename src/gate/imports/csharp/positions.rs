//! Where in C# a dotted name can only be a type's.

use super::super::dotted::{Cursor, Kind, Token};

/// What stands before a name.
pub struct Context {
    /// The last tokens, the nearest first. Of a dotted name there is one token, a word.
    pub before: [Token; 3],
    /// Offset of the last word that was read.
    pub last_word: usize,
    /// Open round brackets since the head of a declaration began, and whether its `:` was seen.
    header: Option<(usize, bool)>,
    /// Open round brackets in the list of attributes that the scanner is in.
    attributes: Option<usize>,
}

impl Default for Context {
    fn default() -> Self {
        Context {
            before: [Token::NONE; 3],
            last_word: 0,
            header: None,
            attributes: None,
        }
    }
}

impl Context {
    /// The token becomes the last one.
    pub fn push(&mut self, token: Token) {
        self.before = [token, self.before[0], self.before[1]];
    }

    /// After `class` and the like.
    pub fn begin_header(&mut self) {
        self.header = Some((0, false));
    }

    /// Follows a token that is no word, before it becomes the last one.
    pub fn token(&mut self, kind: Kind) {
        match (kind, &mut self.header) {
            (Kind::Punct(b'('), Some((depth, _))) => *depth += 1,
            (Kind::Punct(b')'), Some((depth, _))) => *depth = depth.saturating_sub(1),
            (Kind::Punct(b':'), Some((0, has_bases))) => *has_bases = true,
            (Kind::Punct(b'{' | b'}' | b';' | b'='), header) => *header = None,
            _ => {}
        }
        let may_begin = self.begins_statement(self.before[0]);
        match (kind, &mut self.attributes) {
            (Kind::Punct(b'('), Some(depth)) => *depth += 1,
            (Kind::Punct(b')'), Some(depth)) => *depth = depth.saturating_sub(1),
            (Kind::Punct(b']'), Some(0)) | (Kind::Punct(b'{' | b'}' | b';'), _) => self.attributes = None,
            (Kind::Punct(b'['), None) if may_begin => self.attributes = Some(0),
            _ => {}
        }
    }

    fn begins_statement(&self, token: Token) -> bool {
        matches!(token.kind, Kind::End | Kind::Punct(b';' | b'{' | b'}' | b']'))
    }
}

/// Whether the dotted name that the cursor has just read stands where a type must.
pub fn is_type(cursor: Cursor<'_>, context: &Context) -> bool {
    let [before, second, third] = context.before;
    let word = |token: Token| match token.kind {
        Kind::Word => cursor.bytes(token),
        _ => b"",
    };
    let introduced = match before.kind {
        Kind::Word => {
            let keyword = word(before);
            introduces(keyword) || is_predefined(keyword) || (keyword == b"not" && word(second) == b"is")
        }
        Kind::Punct(b'(') => matches!(
            word(second),
            b"typeof" | b"sizeof" | b"default" | b"catch" | b"__refvalue"
        ),
        Kind::Punct(b':') => {
            matches!(context.header, Some((0, true)))
                || word(third) == b"where"
                || (third.is(b'[') && is_target(word(second)))
        }
        Kind::Punct(b',') => matches!(context.header, Some((0, true))) || context.attributes == Some(0),
        Kind::Punct(b'[') => is_attribute(cursor, context.begins_statement(second)),
        _ => false,
    };
    introduced || declares(cursor, context)
}

/// Whether what follows the name makes it the type of a declaration.
fn declares(cursor: Cursor<'_>, context: &Context) -> bool {
    let before = context.before[0];
    let mut ahead = cursor;
    let next = ahead.next();
    match next.kind {
        Kind::Word => is_identifier(cursor, next),
        Kind::Punct(b'[') => matches!(ahead.next().kind, Kind::Punct(b']' | b',')),
        Kind::Punct(b'*') => {
            context.begins_statement(before) && matches!(ahead.next().kind, Kind::Word | Kind::Punct(b'*'))
        }
        Kind::Punct(b'?') => {
            let name = ahead.next();
            if name.is(b'[') {
                return ahead.next().is(b']');
            }
            if name.kind != Kind::Word || !is_identifier(cursor, name) {
                return false;
            }
            match ahead.next().kind {
                Kind::Punct(b';' | b'=' | b'{' | b'(') => context.begins_statement(before),
                Kind::Punct(b')' | b',') => matches!(before.kind, Kind::Punct(b'(' | b',' | b']')),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether the name after `[` is an attribute's: what its list stands before is a declaration.
fn is_attribute(cursor: Cursor<'_>, begins_statement: bool) -> bool {
    let mut ahead = cursor;
    let mut next = ahead.next();
    if next.is(b'(') {
        let mut depth = 1;
        for _ in 0..100 {
            match ahead.next().kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') => depth -= 1,
                Kind::End => return false,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        next = ahead.next();
    }
    match next.kind {
        Kind::Punct(b']') => {
            let after = ahead.next();
            match after.kind {
                Kind::Word => is_identifier(cursor, after) || introduces(cursor.bytes(after)),
                Kind::Punct(b'[' | b'(') => begins_statement,
                _ => false,
            }
        }
        Kind::Punct(b',') => begins_statement,
        _ => false,
    }
}

/// Whether a word can be a name that is declared, and no operator between two expressions.
pub fn is_identifier(cursor: Cursor<'_>, word: Token) -> bool {
    let bytes = cursor.bytes(word);
    !bytes[0].is_ascii_digit() && !is_operator(bytes)
}

/// Words that may stand between two expressions or before one.
pub fn is_operator(word: &[u8]) -> bool {
    matches!(
        word,
        b"is"
            | b"as"
            | b"in"
            | b"switch"
            | b"with"
            | b"and"
            | b"or"
            | b"not"
            | b"when"
            | b"where"
            | b"select"
            | b"from"
            | b"orderby"
            | b"join"
            | b"let"
            | b"group"
            | b"into"
            | b"on"
            | b"equals"
            | b"by"
            | b"ascending"
            | b"descending"
            | b"else"
            | b"return"
            | b"await"
            | b"throw"
            | b"case"
            | b"goto"
    )
}

/// Words behind which only a type can stand.
fn introduces(word: &[u8]) -> bool {
    matches!(
        word,
        b"new"
            | b"is"
            | b"as"
            | b"stackalloc"
            | b"operator"
            | b"public"
            | b"private"
            | b"protected"
            | b"internal"
            | b"static"
            | b"readonly"
            | b"const"
            | b"volatile"
            | b"virtual"
            | b"override"
            | b"abstract"
            | b"sealed"
            | b"extern"
            | b"event"
            | b"required"
            | b"params"
            | b"unsafe"
            | b"async"
            | b"implicit"
            | b"explicit"
            | b"scoped"
            | b"delegate"
    )
}

/// Words before a round bracket that begins a cast, a tuple or an expression, and no arguments.
pub fn precedes_bracket(word: &[u8]) -> bool {
    (is_operator(word) && !matches!(word, b"switch" | b"with"))
        || (introduces(word) && word != b"delegate")
        || matches!(word, b"out" | b"ref" | b"this" | b"do" | b"partial")
}

/// The names of the language's own types.
pub fn is_predefined(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"bool"
            | b"byte"
            | b"sbyte"
            | b"char"
            | b"decimal"
            | b"double"
            | b"float"
            | b"int"
            | b"uint"
            | b"nint"
            | b"nuint"
            | b"long"
            | b"ulong"
            | b"short"
            | b"ushort"
            | b"object"
            | b"string"
            | b"dynamic"
            | b"delegate"
            | b"unmanaged"
    )
}

/// What an attribute may say that it is for.
fn is_target(word: &[u8]) -> bool {
    matches!(
        word,
        b"assembly"
            | b"module"
            | b"return"
            | b"field"
            | b"property"
            | b"method"
            | b"param"
            | b"type"
            | b"event"
            | b"typevar"
    )
}
