//! The private home while it is filled.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;

/// A file of the person's that is read to be copied: none of these is larger.
const MAX_FILE: u64 = 1 << 20;

/// A home under construction.
#[derive(Debug)]
pub(super) struct Private {
    /// `<private>/home`
    pub folder: PathBuf,
    /// `<private>/tmp`
    pub tmp: PathBuf,
    pub variables: BTreeMap<OsString, OsString>,
    pub notices: Vec<String>,
}

impl Private {
    pub fn new(folder: PathBuf, tmp: PathBuf) -> Result<Private> {
        for place in [&folder, &tmp] {
            files::make_private_dir(place).with_context(|| format!("cannot make {}", place.display()))?;
        }
        Ok(Private {
            folder,
            tmp,
            variables: BTreeMap::new(),
            notices: Vec::new(),
        })
    }

    pub fn set(&mut self, name: &str, value: &OsStr) {
        self.variables.insert(name.into(), value.to_owned());
    }

    /// A folder of the home, made.
    pub fn dir(&self, below: impl AsRef<Path>) -> Result<PathBuf> {
        let place = self.folder.join(below);
        make(&place)?;
        Ok(place)
    }

    /// Writes a file of the home unless it is there, with the folders above it.
    pub fn write(&self, below: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
        let place = self.folder.join(below);
        if let Some(above) = place.parent() {
            make(above)?;
        }
        write_new(&place, bytes)
    }
}

/// A folder and those above it, for nobody else.
pub(super) fn make(place: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(place)
        .with_context(|| format!("cannot make {}", place.display()))
}

/// A new file, mode 0600; one that is there stays. Not synced: it does not outlive the job.
pub(super) fn write_new(place: &Path, bytes: &[u8]) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place);
    let mut file = match opened {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        opened => opened.with_context(|| format!("cannot make {}", place.display()))?,
    };
    file.set_permissions(Permissions::from_mode(0o600))
        .and_then(|()| file.write_all(bytes))
        .with_context(|| format!("cannot write {}", place.display()))
}

/// A small file of the person's, a link followed (dotfiles often are links): what cannot be read
/// is as if it were not there.
pub(super) fn read(place: &Path) -> Option<Vec<u8>> {
    files::read_small(&place.canonicalize().ok()?, MAX_FILE).ok()
}

/// The same as text.
pub(super) fn read_text(place: &Path) -> Option<String> {
    String::from_utf8(read(place)?).ok()
}
