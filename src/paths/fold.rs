//! Case and Unicode folding of paths.

use unicode_normalization::UnicodeNormalization;

/// The form in which two spellings of one path are equal: NFKC, full case mapping, and without
/// characters that are not drawn. File systems and reviewers take such paths for one another.
/// Bytes that are not UTF-8 stay as they are. `/` in the result may stem from a look-alike
/// (U+FF0F): for a deny rule that is the careful reading.
pub fn fold(path: &[u8]) -> Vec<u8> {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let mut folded = Vec::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        // Twice, since one pass can make characters that a further pass would still change.
        folded.extend_from_slice(pass(&pass(chunk.valid())).as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

/// Upper case first: only so do `ß` and `ss`, `ſ` and `s`, and the two small sigmas meet. Each
/// character by itself, since `str::to_lowercase` looks at the neighbours of a sigma.
fn pass(text: &str) -> String {
    text.chars()
        .filter(|&c| !is_ignorable(c))
        .nfkc()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .filter(|&c| !is_ignorable(c))
        .nfkc()
        .collect()
}

/// `Default_Ignorable_Code_Point` of Unicode 16 (DerivedCoreProperties.txt): soft hyphen, joiners,
/// zero-width space, bidirectional controls, variation selectors, byte order mark, tags.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}
