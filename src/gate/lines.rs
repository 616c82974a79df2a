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

/// A file and where its lines begin, so that many findings in it cost one pass.
pub(super) struct Source {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Source {
    /// The file at a path; `None` where there is none that is read here.
    pub(super) fn of(tree: &dyn Tree, path: &[u8]) -> Result<Option<Source>, Unreadable> {
        match lookup(tree, path)? {
            Some(entry)
                if matches!(entry.kind, Kind::File | Kind::Executable) && tree.blob_size(&entry.id)? <= MAX_BYTES =>
            {
                Ok(Some(Source::from(tree.blob(&entry.id)?)))
            }
            _ => Ok(None),
        }
    }

    fn from(bytes: Vec<u8>) -> Source {
        let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(mark).chain(breaks.map(|(at, _)| at + 1)).collect();
        Source { bytes, starts }
    }

    /// Every line, as [`Source::line`] gives it.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        (1..).map_while(|number| self.line(number))
    }

    /// A line by its number, from 1, without its line break and without a byte order mark.
    pub(super) fn line(&self, number: u32) -> Option<&[u8]> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.bytes.len(), |next| next - 1);
        self.bytes.get(start..end)
    }
}

/// Gives each finding that names a line of a file of this tree the line.
pub(super) fn attach(tree: &dyn Tree, verdict: &mut Verdict) -> Result<(), Unreadable> {
    let mut files: HashMap<Vec<u8>, Option<Source>> = HashMap::new();
    for finding in &mut verdict.findings {
        let Some(number) = finding.line else { continue };
        if !files.contains_key(&finding.path) {
            files.insert(finding.path.clone(), Source::of(tree, &finding.path)?);
        }
        let source = files[&finding.path].as_ref();
        finding.at = source.and_then(|source| line(source, number, finding.column));
    }
    Ok(())
}

/// Lines end with `\n`, columns are bytes and a byte order mark is not counted, as in findings.
fn line(source: &Source, number: u32, column: Option<u32>) -> Option<Line> {
    let found = source.line(number)?;
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
    use super::{Line, Source};

    fn line(bytes: &[u8], number: u32, column: Option<u32>) -> Option<Line> {
        super::line(&Source::from(bytes.to_vec()), number, column)
    }

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
