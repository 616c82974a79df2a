//! The small text that stands in a commit for a large file.
//!
//! Format: `docs/spec.md` of git-lfs. Lines `key value`, `version` first, all ended by a newline, at
//! most 1024 bytes in all.

use std::path::PathBuf;

/// git-lfs takes nothing larger for a pointer.
pub const MAX_BYTES: u64 = 1024;

/// What `version` may say: the current address and those that git-lfs still reads.
const VERSIONS: &[&str] = &[
    "https://git-lfs.github.com/spec/v1",
    "https://hawser.github.com/spec/v1",
    "http://git-media.io/v/2",
];

/// A pointer to content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    /// SHA-256 of the content: 64 lower-case hex digits.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Pointer {
    /// Reads one; `None` for any other file.
    pub fn parse(bytes: &[u8]) -> Option<Pointer> {
        if bytes.len() as u64 > MAX_BYTES {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        let version = lines.next()?.strip_prefix("version ")?;
        if !VERSIONS.contains(&version.trim()) {
            return None;
        }
        let (mut oid, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", value) => oid = Some(value.strip_prefix("sha256:")?.to_owned()),
                ("size", value) => size = Some(value.parse().ok()?),
                _ => {}
            }
        }
        let oid = oid.filter(|oid| oid.len() == 64 && oid.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))?;
        Some(Pointer { oid, size: size? })
    }

    /// Where the object lies below a store.
    pub fn place(&self) -> PathBuf {
        ["objects", &self.oid[..2], &self.oid[2..4], &self.oid].iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OID: &str = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";

    #[test]
    fn a_pointer_is_read_and_names_its_place() {
        for extra in ["", "ext-0-case sha256:00\n"] {
            let text = format!("version https://git-lfs.github.com/spec/v1\n{extra}oid sha256:{OID}\nsize 12345\n");
            let pointer = Pointer::parse(text.as_bytes()).expect("it is one");
            assert_eq!((pointer.oid.as_str(), pointer.size), (OID, 12345));
            assert_eq!(pointer.place(), PathBuf::from(format!("objects/4d/7a/{OID}")));
        }
    }

    #[test]
    fn what_is_no_pointer_is_none() {
        let version = "version https://git-lfs.github.com/spec/v1\n";
        let long = format!("{version}oid sha256:{OID}\nsize 1\n{}", "x y\n".repeat(300));
        let cases = [
            String::new(),
            version.to_owned(),
            format!("{version}oid sha256:{OID}\n"),
            format!("{version}oid sha256:{OID}\nsize -1\n"),
            format!("{version}oid sha256:../../../../etc/passwd\nsize 1\n"),
            format!("{version}oid sha256:{}\nsize 1\n", OID.to_uppercase()),
            format!("{version}oid md5:{OID}\nsize 1\n"),
            format!("version https://example.com/spec/v1\noid sha256:{OID}\nsize 1\n"),
            long,
        ];
        for text in cases {
            assert_eq!(Pointer::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
