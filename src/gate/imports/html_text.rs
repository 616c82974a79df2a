//! Character references in the values of HTML's attributes.
//!
//! Which there are: HTML standard, "Named character references" and "Numeric character reference end state". Of the names
//! only those are known here that an address or a type can be written with.

const NAMED: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("apos", '\''),
    ("bsol", '\\'),
    ("colon", ':'),
    ("comma", ','),
    ("commat", '@'),
    ("dash", '\u{2010}'),
    ("equals", '='),
    ("gt", '>'),
    ("lowbar", '_'),
    ("lt", '<'),
    ("nbsp", '\u{a0}'),
    ("NewLine", '\n'),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quest", '?'),
    ("quot", '"'),
    ("semi", ';'),
    ("sol", '/'),
    ("Tab", '\t'),
    ("UnderBar", '_'),
];

/// The text with what its references stand for; one that is not known here stays.
pub(super) fn decoded(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        match reference(&rest[1..]) {
            Some((letter, length)) => {
                found.push(letter);
                rest = &rest[1 + length..];
            }
            None => {
                found.push('&');
                rest = &rest[1..];
            }
        }
    }
    found.push_str(rest);
    found
}

/// What the reference behind `&` stands for, and how many bytes it has.
fn reference(behind: &str) -> Option<(char, usize)> {
    let Some(number) = behind.strip_prefix('#') else {
        let end = behind.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (_, letter) = NAMED.iter().find(|(name, _)| *name == &behind[..end])?;
        return behind[end..].starts_with(';').then_some((*letter, end + 1));
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let count = digits.chars().take_while(|digit| digit.is_digit(radix)).count();
    let letter = u32::from_str_radix(&digits[..count], radix)
        .ok()
        .and_then(char::from_u32)?;
    // The last `;` may be left out.
    let end = behind.len() - digits.len() + count;
    Some((letter, end + usize::from(behind[end..].starts_with(';'))))
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn references_stand_for_their_letters() {
        for (written, meant) in [
            ("https:&#47;&#x2F;a&period;b", "https://a.b"),
            ("&#x68;ttps&colon;&sol;&sol;x", "https://x"),
            ("red&#105;s &#105s", "redis is"),
            ("a&b=c&amp;d&unknown;&#;&#x;&", "a&b=c&d&unknown;&#;&#x;&"),
            (
                "&#1114112;&#99999999999;&#xd800;é&#233;",
                "&#1114112;&#99999999999;&#xd800;éé",
            ),
        ] {
            assert_eq!(decoded(written), meant);
        }
    }
}
