//! An object as a difference from another (gitformat-pack, "Deltified representation").

/// The object that a delta makes of its base; `None` for a delta that is malformed, of another base, or of more than
/// `limit` bytes.
pub(super) fn apply(base: &[u8], delta: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut delta = delta;
    if size(&mut delta)? != base.len() {
        return None;
    }
    let length = size(&mut delta).filter(|length| *length <= limit)?;
    let mut made = Vec::with_capacity(length);
    while let Some(op) = next(&mut delta) {
        let part = match op {
            0 => return None,
            1..0x80 => {
                let (part, rest) = delta.split_at_checked(usize::from(op))?;
                delta = rest;
                part
            }
            _ => {
                let mut number = |bits: std::ops::Range<u8>| -> Option<usize> {
                    let mut number = 0;
                    for (shift, bit) in bits.enumerate() {
                        if op & 1 << bit != 0 {
                            number |= usize::from(next(&mut delta)?) << (8 * shift);
                        }
                    }
                    Some(number)
                };
                let start = number(0..4)?;
                let length = match number(4..7)? {
                    0 => 0x10000,
                    length => length,
                };
                base.get(start..start.checked_add(length)?)?
            }
        };
        if part.len() > length - made.len() {
            return None;
        }
        made.extend_from_slice(part);
    }
    (made.len() == length).then_some(made)
}

fn next(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

/// A size of seven bits a byte, the lowest first.
fn size(bytes: &mut &[u8]) -> Option<usize> {
    let mut size = 0usize;
    for shift in (0..63).step_by(7) {
        let byte = next(bytes)?;
        size |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}
