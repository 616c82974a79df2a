//! Ruby's keywords by what may follow them.

/// What follows a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// An expression.
    Begin,
    /// It is a value or closes one.
    End,
    /// Arguments, as after a method's name.
    Argument,
    /// A name.
    Name,
    /// Two names.
    TwoNames,
    /// A class's name or `<<`.
    Class,
}

pub(super) fn after_keyword(word: &[u8]) -> Option<After> {
    Some(match word {
        b"and" | b"begin" | b"break" | b"case" | b"do" | b"else" | b"elsif" | b"ensure" | b"for" | b"if" | b"in"
        | b"module" | b"next" | b"not" | b"or" | b"rescue" | b"return" | b"then" | b"unless" | b"until" | b"when"
        | b"while" => After::Begin,
        b"end" | b"false" | b"nil" | b"redo" | b"retry" | b"self" | b"true" | b"BEGIN" | b"END" | b"__FILE__"
        | b"__LINE__" | b"__ENCODING__" => After::End,
        b"defined?" | b"super" | b"yield" => After::Argument,
        b"def" | b"undef" => After::Name,
        b"alias" => After::TwoNames,
        b"class" => After::Class,
        _ => return None,
    })
}

/// Whether a statement ends before this word.
pub(super) fn ends_statement(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"unless"
            | b"while"
            | b"until"
            | b"rescue"
            | b"and"
            | b"or"
            | b"do"
            | b"then"
            | b"end"
            | b"in"
            | b"else"
    )
}
