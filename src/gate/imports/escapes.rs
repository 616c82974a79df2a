//! String literals as the language reads them.

/// A JavaScript string or template body. Octal escapes are decoded as well: a script may use them.
/// None where it is no valid text.
pub fn javascript(body: &[u8]) -> Option<String> {
    decode(body, |rest, out| {
        let unit = |digits: &[u8]| number(digits, 16);
        match rest {
            [b'x', a, b, ..] => push(out, unit(&[*a, *b])?, 3),
            [b'u', b'{', tail @ ..] => {
                let close = tail.iter().take(64).position(|b| *b == b'}')?;
                push(out, unit(&tail[..close])?, close + 3)
            }
            [b'u', a, b, c, d, tail @ ..] => {
                let high = unit(&[*a, *b, *c, *d])?;
                if let ([b'\\', b'u', e, f, g, h, ..], 0xD800..=0xDBFF) = (tail, high) {
                    let low = unit(&[*e, *f, *g, *h])?;
                    return push(out, 0x10000 + ((high - 0xD800) << 10) + low.checked_sub(0xDC00)?, 11);
                }
                push(out, high, 5)
            }
            [b'0'..=b'7', ..] => octal(rest, out),
            [b'n', ..] => push(out, 10, 1),
            [b't', ..] => push(out, 9, 1),
            [b'r', ..] => push(out, 13, 1),
            [b'b', ..] => push(out, 8, 1),
            [b'v', ..] => push(out, 11, 1),
            [b'f', ..] => push(out, 12, 1),
            [b'\r', b'\n', ..] => Some(2),
            [b'\r' | b'\n', ..] => Some(1),
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => Some(3),
            // Any other character stands for itself; its bytes are copied by the caller.
            _ => Some(0),
        }
    })
}

/// A Python string body; a raw one is taken as it is. `\N{...}` has no answer here.
pub fn python(body: &[u8], raw: bool) -> Option<String> {
    if raw {
        return String::from_utf8(body.to_vec()).ok();
    }
    decode(body, |rest, out| {
        let long = |length: usize| number(rest.get(1..=length)?, 16);
        match rest {
            [b'x', ..] => push(out, long(2)?, 3),
            [b'u', ..] => push(out, long(4)?, 5),
            [b'U', ..] => push(out, long(8)?, 9),
            [b'N', ..] => None,
            [b'0'..=b'7', ..] => octal(rest, out),
            [b'n', ..] => push(out, 10, 1),
            [b't', ..] => push(out, 9, 1),
            [b'r', ..] => push(out, 13, 1),
            [b'a', ..] => push(out, 7, 1),
            [b'b', ..] => push(out, 8, 1),
            [b'v', ..] => push(out, 11, 1),
            [b'f', ..] => push(out, 12, 1),
            [b'\r', b'\n', ..] => Some(2),
            [b'\r' | b'\n', ..] => Some(1),
            [b'\\' | b'"' | b'\'', ..] => Some(0),
            // An unknown escape keeps its backslash.
            _ => push(out, u32::from(b'\\'), 0),
        }
    })
}

/// The body of an interpreted string of Go; None where the compiler refuses it.
pub fn go(body: &[u8]) -> Option<String> {
    decode(body, |rest, out| {
        let long = |length: usize| number(rest.get(1..=length)?, 16);
        let byte = |code: u32, used: usize, out: &mut Vec<u8>| {
            out.push(u8::try_from(code).ok()?);
            Some(used)
        };
        match rest {
            // A byte, not a character.
            [b'x', ..] => byte(long(2)?, 3, out),
            [b'0'..=b'7', ..] => byte(number(rest.get(..3)?, 8)?, 3, out),
            [b'u', ..] => push(out, long(4)?, 5),
            [b'U', ..] => push(out, long(8)?, 9),
            [b'n', ..] => push(out, 10, 1),
            [b't', ..] => push(out, 9, 1),
            [b'r', ..] => push(out, 13, 1),
            [b'a', ..] => push(out, 7, 1),
            [b'b', ..] => push(out, 8, 1),
            [b'v', ..] => push(out, 11, 1),
            [b'f', ..] => push(out, 12, 1),
            [b'\\' | b'"' | b'\'', ..] => Some(0),
            _ => None,
        }
    })
}

/// Copies `body`, handing what follows each backslash to `escape`, which writes what it stands for
/// and answers how many bytes it used; with 0 the next character is copied as it is.
fn decode(body: &[u8], escape: impl Fn(&[u8], &mut Vec<u8>) -> Option<usize>) -> Option<String> {
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while let Some(&byte) = body.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let used = escape(&body[at..], &mut out)?;
        if used == 0 {
            out.extend(body.get(at));
            at += 1;
        } else {
            at += used;
        }
    }
    String::from_utf8(out).ok()
}

fn octal(rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let most = if matches!(rest.first(), Some(b'0'..=b'3')) {
        3
    } else {
        2
    };
    let length = rest.iter().take(most).take_while(|b| matches!(b, b'0'..=b'7')).count();
    push(out, number(&rest[..length], 8)?, length)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.starts_with('+') {
        None
    } else {
        u32::from_str_radix(digits, radix).ok()
    }
}

fn push(out: &mut Vec<u8>, code: u32, used: usize) -> Option<usize> {
    let mut buffer = [0; 4];
    out.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
    Some(used)
}
