//! Keys without a form of their own, told by the name that they are given to.

use super::Found;

/// A name, in parts that may be joined by `_`, `-`, `.` or nothing, in any case; and the value's form.
struct Form {
    rule: &'static str,
    what: &'static str,
    name: &'static [&'static str],
    /// Characters of base64, then `=`.
    length: (usize, usize),
}

const AWS: &str = "AWS secret access key";
const AZURE: &str = "Azure storage key";

const FORMS: &[Form] = &[
    Form {
        rule: "aws-secret-access-key",
        what: AWS,
        name: &["secret", "access", "key"],
        length: (40, 0),
    },
    Form {
        rule: "aws-secret-access-key",
        what: AWS,
        name: &["aws", "secret", "key"],
        length: (40, 0),
    },
    Form {
        rule: "azure-storage-key",
        what: AZURE,
        name: &["account", "key"],
        length: (86, 2),
    },
    Form {
        rule: "azure-storage-key",
        what: AZURE,
        name: &["storage", "key"],
        length: (86, 2),
    },
    Form {
        rule: "azure-shared-access-key",
        what: "Azure shared access key",
        name: &["shared", "access", "key"],
        length: (43, 1),
    },
];

/// Most characters between the name and the value: quotes, blanks, the sign that assigns.
const BETWEEN: usize = 16;

/// Whether any name begins with these letters: most places of a text are decided by that.
#[inline]
pub(super) fn begins(rest: &[u8]) -> bool {
    let [a, b, c, ..] = rest else { return false };
    matches!(
        [a | 0x20, b | 0x20, c | 0x20],
        [b'a', b'c', b'c'] | [b'a', b'w', b's'] | [b's', b'e', b'c'] | [b's', b't', b'o'] | [b's', b'h', b'a']
    )
}

/// The name with its value that begins here; the span is the value's.
pub(super) fn at(text: &[u8], at: usize) -> Option<Found> {
    if !begins(&text[at..]) {
        return None;
    }
    FORMS.iter().find_map(|form| {
        let name = named(&text[at..], form.name)?;
        let start = at + name + assigns(&text[at + name..])?;
        let rest = &text[start..];
        let (letters, padding) = form.length;
        let end = letters + padding;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let value = rest.get(..end)?;
        let whole = value[..letters].iter().all(is_letter) && value[letters..].iter().all(|&byte| byte == b'=');
        let ends = rest.get(end).is_none_or(|byte| !is_letter(byte) && *byte != b'=');
        // A hash in hexadecimal has one case.
        let mixed = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
        (whole && ends && mixed).then(|| Found {
            rule: form.rule,
            what: form.what,
            span: start..start + end,
            value: value.to_vec(),
        })
    })
}

/// The length of the name, if the text begins with it.
fn named(text: &[u8], parts: &[&str]) -> Option<usize> {
    let mut length = 0;
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && matches!(text.get(length), Some(b'_' | b'-' | b'.')) {
            length += 1;
        }
        let here = text.get(length..length + part.len())?;
        if !here.eq_ignore_ascii_case(part.as_bytes()) {
            return None;
        }
        length += part.len();
    }
    Some(length)
}

/// How far it is from the name to the value, if something assigns it: `=`, `:`, `>` of a tag, `,` of a call.
fn assigns(text: &[u8]) -> Option<usize> {
    let between = text
        .iter()
        .take(BETWEEN)
        .take_while(|byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b')' | b']' | b'=' | b':' | b'>' | b','
            )
        })
        .count();
    let signs = &text[..between];
    signs
        .iter()
        .any(|byte| matches!(byte, b'=' | b':' | b'>' | b','))
        .then_some(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_is_passed_over_by_its_first_letters() {
        for form in FORMS {
            let name = form.name.concat();
            for name in [name.clone(), name.to_uppercase()] {
                assert!(begins(name.as_bytes()), "{name}");
                assert_eq!(super::super::skip(name.as_bytes()), 0, "{name}");
            }
        }
    }
}
