//! Objects that lie in files of their own.
//!
//! Invariants: what is given out has the id that was asked for, by SHA-1; no more memory is taken than the object's
//! header says, and no more than the caller allows; nothing but a regular file is opened, so that a pipe in an object's
//! place holds up nobody. libgit2 would wait for the pipe, and inflate whatever comes.
//!
//! Format: gitrepository-layout, "objects/[0-9a-f][0-9a-f]", and in `git hash-object` the header that stands before
//! each content: type, a blank, the size in decimal digits, NUL.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use git2::ObjectType;
use rustix::fs::{Mode, OFlags};

use crate::gate::Oid;

use super::packs::is_hash;

/// Longest header (bytes): the longest type, a blank, 20 digits, NUL.
const MAX_HEADER: usize = "commit ".len() + 20 + 1;

/// Why an object cannot be read in whose place something else is.
pub(super) const OBSTRUCTED: &str = "what stands in place of its file is no file";

/// The files of one folder of objects.
pub(super) struct Loose {
    objects: PathBuf,
}

/// What an object's file says before its content.
struct Opened {
    kind: ObjectType,
    /// Bytes of the content.
    size: u64,
    rest: ZlibDecoder<File>,
}

impl Loose {
    /// The files below this folder.
    pub(super) fn of(objects: &Path) -> Loose {
        Loose {
            objects: objects.to_owned(),
        }
    }

    /// Type and size in bytes of the object, as its file says; `None` where it has no file.
    ///
    /// # Errors
    /// Why the file is none of an object.
    pub(super) fn head(&self, id: &Oid) -> Result<Option<(ObjectType, u64)>, String> {
        Ok(self.open(id)?.map(|opened| (opened.kind, opened.size)))
    }

    /// The object; `None` where it has no file.
    ///
    /// # Errors
    /// Why the file is none of this object, or that the object has more bytes than `limit`.
    pub(super) fn read(&self, id: &Oid, limit: u64) -> Result<Option<(ObjectType, Vec<u8>)>, String> {
        let Some(opened) = self.open(id)? else {
            return Ok(None);
        };
        let Opened { kind, size, rest } = opened;
        if size > limit {
            return Err(too_large(size, limit));
        }
        let mut data = Vec::new();
        // One more, to see that it ends. Memory grows with what comes and not with what was promised.
        (rest.take(size + 1).read_to_end(&mut data)).map_err(|error| format!("its file is damaged: {error}"))?;
        if data.len() as u64 != size {
            return Err("its file is damaged: the size that it names is not the one that it has".to_owned());
        }
        match is_hash(id, kind, &data) {
            true => Ok(Some((kind, data))),
            false => Err("its file is damaged: the content has another id".to_owned()),
        }
    }

    /// The files of a repository.
    pub(super) fn of_repo(repo: &git2::Repository) -> Loose {
        Loose::of(&repo.commondir().join("objects"))
    }

    /// Whether something stands in place of the object's file that is none, as a pipe, on which git would wait.
    pub(super) fn is_obstructed(&self, id: &Oid) -> bool {
        self.path(id).metadata().is_ok_and(|meta| !meta.is_file())
    }

    fn path(&self, id: &Oid) -> PathBuf {
        let name = id.to_string();
        self.objects.join(&name[..2]).join(&name[2..])
    }

    fn open(&self, id: &Oid) -> Result<Option<Opened>, String> {
        // Without waiting: a pipe is opened at once, and is seen to be none of ours below.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = match rustix::fs::open(self.path(id), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(format!("its file cannot be opened: {error}")),
        };
        match file.metadata() {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return Err(OBSTRUCTED.to_owned()),
            Err(error) => return Err(format!("its file cannot be read: {error}")),
        }
        let damaged = |why: &str| format!("its file is damaged: {why}");
        let mut rest = ZlibDecoder::new(file);
        let mut header = Vec::with_capacity(MAX_HEADER);
        loop {
            let mut byte = [0];
            let count = rest.read(&mut byte).map_err(|error| damaged(&error.to_string()))?;
            match byte[0] {
                0 if count == 1 => break,
                _ if count == 0 || header.len() == MAX_HEADER => return Err(damaged("it has no header")),
                byte => header.push(byte),
            }
        }
        let (kind, size) = parse(&header).ok_or_else(|| damaged("its header is none of an object"))?;
        Ok(Some(Opened { kind, size, rest }))
    }
}

/// Why an object is not read that has so many bytes.
pub(super) fn too_large(size: u64, limit: u64) -> String {
    format!("it has {size} bytes, more than the {limit} that are read")
}

fn parse(header: &[u8]) -> Option<(ObjectType, u64)> {
    let (kind, size) = std::str::from_utf8(header).ok()?.split_once(' ')?;
    let kind = match kind {
        "commit" => ObjectType::Commit,
        "tree" => ObjectType::Tree,
        "blob" => ObjectType::Blob,
        "tag" => ObjectType::Tag,
        _ => return None,
    };
    let is_number = size.bytes().all(|byte| byte.is_ascii_digit()) && (size == "0" || !size.starts_with('0'));
    Some((kind, size.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
#[path = "loose_tests.rs"]
mod tests;
