//! Messages in a stream of bytes: one a line.

use super::LONGEST;

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line of more than [`LONGEST`] bytes, which was passed over.
    TooLong,
}

/// Bytes that are not a whole line yet.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
    /// The line that comes is too long, and is passed over.
    skipping: bool,
}

impl Lines {
    /// Takes bytes and gives the lines that they complete. Blank ones are none.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.take(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if std::mem::take(&mut self.skipping) {
                lines.push(Line::TooLong);
                continue;
            }
            let line = std::mem::take(&mut self.rest);
            if !line.trim_ascii().is_empty() {
                lines.push(Line::Whole(line));
            }
        }
        self.take(bytes);
        lines
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.rest.len() + bytes.len() > LONGEST {
            self.skipping = true;
            self.rest = Vec::new();
        } else {
            self.rest.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_are_cut() {
        let text = b"{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"c\"";
        let whole = Lines::default().feed(text);
        for step in 1..text.len() {
            let mut lines = Lines::default();
            let cut: Vec<Line> = text.chunks(step).flat_map(|bytes| lines.feed(bytes)).collect();
            assert_eq!(cut, whole, "{step}");
        }
        assert_eq!(
            whole,
            [Line::Whole(b"{\"a\":1}".to_vec()), Line::Whole(b"{\"b\":2}\r".to_vec())]
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for _ in 0..40 {
            found.extend(lines.feed(&[b'x'; 64 << 10]));
            assert!(lines.rest.len() <= LONGEST);
        }
        found.extend(lines.feed(b"\n{}\n"));
        assert_eq!(found, [Line::TooLong, Line::Whole(b"{}".to_vec())]);
    }
}
