//! JSON with comments and trailing commas, as tsconfig.json has it, made plain.

use serde_json::Value;

/// Reads it; `None` where it is no JSON even then. Nesting is limited by serde_json itself.
pub(super) fn read(text: &str) -> Option<Value> {
    serde_json::from_slice(&plain(text.as_bytes())).ok()
}

/// The same text as plain JSON.
pub(in crate::gate) fn plain_text(text: &str) -> String {
    String::from_utf8_lossy(&plain(text.as_bytes())).into_owned()
}

/// Comments become blanks, and so does a comma before a closing bracket. Strings stay as they are.
fn plain(source: &[u8]) -> Vec<u8> {
    let mut out = source.to_vec();
    // Where the last comma stands, if nothing but blanks and comments came after it.
    let mut comma = None;
    let mut at = 0;
    while at < source.len() {
        match (source[at], source.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at += 1;
                while at < source.len() && source[at] != b'"' {
                    at += if source[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            (b'/', Some(b'/')) => {
                while at < source.len() && source[at] != b'\n' {
                    out[at] = b' ';
                    at += 1;
                }
            }
            (b'/', Some(b'*')) => {
                let end = source[at + 2..]
                    .windows(2)
                    .position(|pair| pair == b"*/")
                    .map_or(source.len(), |end| at + 2 + end + 2);
                out[at..end].fill(b' ');
                at = end;
            }
            (byte, _) => {
                match byte {
                    b',' => comma = Some(at),
                    b'}' | b']' => {
                        if let Some(comma) = comma.take() {
                            out[comma] = b' ';
                        }
                    }
                    b' ' | b'\t' | b'\n' | b'\r' => {}
                    _ => comma = None,
                }
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_taken_out() {
        let text = "{ // a \"b\n \"a\": \"http://x/*no*/\", /* \"c\": 1, */ \"d\": [1, 2, /*x*/ ], \"e\\\"//\": {}, }";
        let value = read(text).expect("it is read");
        assert_eq!(
            value,
            serde_json::json!({"a": "http://x/*no*/", "d": [1, 2], "e\"//": {}})
        );
    }

    #[test]
    fn broken_and_hostile_text_is_no_json() {
        for text in ["", "{", "\"", "\"\\", "/*", "//", "{\"a\"", &"[".repeat(200_000)] {
            assert_eq!(read(text), None, "{:.20}", text);
        }
    }
}
