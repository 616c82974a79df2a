//! The lines that findings point at: reports need their text to know a finding again after lines
//! above it moved, and their letters to say a column in other units than bytes.

use std::collections::HashMap;

use super::tree::lookup;
use super::{Kind, Tree, Unreadable, Verdict};

/// Files above this many bytes are not read again for it.
const MAX_BYTES: u64 = 10 * 1024 * 1024;
/// Longest text that is kept of a line, in characters.
const MAX_TEXT: usize = 400;

/// The line that a finding points at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Its text with each run of blanks as one, cut after 400 characters. Untrusted.
    pub text: String,
    /// The finding's 1-based column in UTF-16 code units, where the finding has a column.
    pub column_utf16: Option<u32>,
}

/// Gives each finding that names a line of a file of this tree the line.
pub(super) fn attach(tree: &dyn Tree, verdict: &mut Verdict) -> Result<(), Unreadable> {
    let mut files: HashMap<Vec<u8>, Option<Vec<u8>>> = HashMap::new();
    for finding in &mut verdict.findings {
        let Some(number) = finding.line else { continue };
        let bytes = match files.get(&finding.path) {
            Some(known) => known,
            None => {
                let bytes = content(tree, &finding.path)?;
                files.entry(finding.path.clone()).or_insert(bytes)
            }
        };
        finding.at = bytes.as_deref().and_then(|bytes| line(bytes, number, finding.column));
    }
    Ok(())
}

fn content(tree: &dyn Tree, path: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
    match lookup(tree, path)? {
        Some(entry)
            if matches!(entry.kind, Kind::File | Kind::Executable) && tree.blob_size(&entry.id)? <= MAX_BYTES =>
        {
            tree.blob(&entry.id).map(Some)
        }
        _ => Ok(None),
    }
}

/// Lines end with `\n`, columns are bytes and a byte order mark is not counted, as in findings.
fn line(bytes: &[u8], number: u32, column: Option<u32>) -> Option<Line> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    let found = bytes.split(|byte| *byte == b'\n').nth(index)?;
    let before = column
        .and_then(|column| usize::try_from(column).ok()?.checked_sub(1))
        .and_then(|bytes| std::str::from_utf8(found.get(..bytes)?).ok());
    let text = String::from_utf8_lossy(&found[..found.len().min(MAX_TEXT * 4)]).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(Line {
        text: words.join(" ").chars().take(MAX_TEXT).collect(),
        column_utf16: before.and_then(|before| u32::try_from(before.encode_utf16().count() + 1).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_column_in_bytes_becomes_one_in_utf16_code_units() {
        let source = "a\n/* é𝒳 */ import 'redis';\n".as_bytes();
        let found = line(source, 2, Some(18)).expect("there is a second line");
        // é is two bytes and one unit, 𝒳 four bytes and two units.
        assert_eq!(found.column_utf16, Some(15));
        assert_eq!(found.text, "/* é𝒳 */ import 'redis';");
    }

    #[test]
    fn the_text_does_not_depend_on_indentation() {
        let text = |source: &str| line(source.as_bytes(), 1, None).expect("there is a line").text;
        assert_eq!(text("\timport   x\r\n"), text("import x"));
    }

    #[test]
    fn a_column_inside_a_letter_or_past_the_line_is_unknown() {
        let column = |at| line("é\n".as_bytes(), 1, Some(at)).expect("a line").column_utf16;
        assert_eq!((column(2), column(9), column(1)), (None, None, Some(1)));
        assert_eq!(line(b"a", 2, None), None);
        assert_eq!(line(b"a", 0, None), None);
    }
}
