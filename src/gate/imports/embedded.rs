//! Templates with code between `<%` and `%>`: ERB, and EJS.

/// The file with nothing left but its code, each byte where it was. What ends a piece ends a line, so that a comment
/// does not reach into the next.
pub fn code(source: &[u8]) -> Vec<u8> {
    let blank = |byte: &u8| match byte {
        b'\n' | b'\r' => *byte,
        _ => b' ',
    };
    let mut out: Vec<u8> = source.iter().map(blank).collect();
    for (from, end) in pieces(source) {
        out[from..end].copy_from_slice(&source[from..end]);
        if let Some(byte) = out.get_mut(end) {
            *byte = b'\n';
        }
    }
    out
}

/// The file without its code.
pub fn text(source: &[u8]) -> Vec<u8> {
    let mut out = source.to_vec();
    for (from, end) in pieces(source) {
        out[from..end].fill(b' ');
    }
    out
}

/// Where each piece of code begins and ends, comments left out.
fn pieces(source: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memmem::find(&source[at..], b"<%") {
        let mut from = at + open + 2;
        // `<%%` is the text `<%`.
        if source.get(from) == Some(&b'%') {
            at = from + 1;
            continue;
        }
        let end = memchr::memmem::find(&source[from..], b"%>").map_or(source.len(), |length| from + length);
        at = (end + 2).min(source.len());
        if source.get(from) == Some(&b'#') {
            continue;
        }
        let mut last = end;
        while from < last && matches!(source[from], b'=' | b'-' | b'_') {
            from += 1;
        }
        while last > from && matches!(source[last - 1], b'-' | b'_') {
            last -= 1;
        }
        found.push((from, last));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left_and_each_byte_where_it_was() {
        let code = |text: &str| String::from_utf8(code(text.as_bytes())).expect("text");
        assert_eq!(code("a<%= b -%>c"), "     b \n   ");
        assert_eq!(code("a\n<%# b %>\n<%% c %>"), " \n        \n        ");
        assert_eq!(code("<% b # it's %>'<% c"), "   b # it's \n     c");
        assert_eq!(code("<%"), "  ");
        assert_eq!(text(b"a<%= b %>c"), b"a<%=   %>c");
    }
}
