//! The encoding that a Python file declares in one of its first two lines.

use super::source::Fault;

/// Refuses an encoding in which ASCII bytes may mean something else: in UTF-7 or `unicode_escape`
/// a comment can hold a line break and code. Only encodings known to be harmless pass.
pub fn check(source: &[u8]) -> Result<(), Fault> {
    let mut at = 0;
    // Python does not look at the second line after one of code; this does, and skips blank lines
    // as well, which can only refuse more.
    for line in source
        .split(|b| matches!(b, b'\n' | b'\r'))
        .filter(|line| !line.is_empty())
        .take(2)
    {
        if declared(line).is_some_and(|name| !is_plain(&normal(name))) {
            return Err(Fault {
                why: "declares an encoding other than UTF-8",
                at,
            });
        }
        at += line.len() + 1;
    }
    Ok(())
}

/// `^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)`, as PEP 263 has it.
fn declared(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let blank = |b: &&u8| matches!(b, b' ' | b'\t' | 0x0C);
    let line = &line[line.iter().take_while(blank).count()..];
    if line.first() != Some(&b'#') {
        return None;
    }
    let word: &[u8] = b"coding";
    (0..line.len()).find_map(|at| {
        let rest = line[at..].strip_prefix(word)?;
        let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"="))?;
        let rest = &rest[rest.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()..];
        let in_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        match rest.iter().take_while(in_name).count() {
            0 => None,
            length => Some(&rest[..length]),
        }
    })
}

/// As Python looks a codec up: lower case, each run of other characters one `_`, none in front.
fn normal(name: &[u8]) -> String {
    let mut normal = String::new();
    let mut gap = false;
    for byte in name {
        if byte.is_ascii_alphanumeric() || *byte == b'.' {
            if gap && !normal.is_empty() {
                normal.push('_');
            }
            normal.push(byte.to_ascii_lowercase() as char);
            gap = false;
        } else {
            gap = true;
        }
    }
    normal
}

/// Whether ASCII bytes are ASCII in this encoding and nothing else can stand for them.
fn is_plain(name: &str) -> bool {
    const PLAIN: &str = "utf_8 utf8 u8 utf utf_8_sig cp65001 utf_8_unix utf_8_dos utf_8_mac ascii us_ascii 646 latin \
                         latin_1 latin1 l1 latin2 latin_2 latin9 latin_9 iso_latin_1 iso_latin_1_unix latin_1_unix cp819 \
                         koi8_r koi8_u koi8_t";
    let numbered = |heads: &[&str], most: u32| {
        heads.iter().any(|head| {
            name.strip_prefix(head)
                .and_then(|digits| digits.parse().ok())
                .is_some_and(|number: u32| number <= most)
        })
    };
    PLAIN.split_whitespace().any(|plain| plain == name)
        || numbered(&["iso8859_", "iso_8859_", "iso8859", "8859_"], 16)
        || numbered(&["cp125", "windows_125", "windows125"], 8)
}
