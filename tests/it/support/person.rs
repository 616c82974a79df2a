//! Who runs the programs under test: whoever tests and, where that is root, an ordinary user too.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use tempfile::TempDir;

/// A number that stands in no table of users.
const NUMBER: u32 = 64_123;

/// A user of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    /// Whoever runs the tests.
    Tester,
    /// Somebody without rights, made by a tester who is root.
    Ordinary,
}

impl Person {
    /// Everybody whom a case is to be run as.
    pub fn all() -> Vec<Person> {
        static TOLD: Once = Once::new();
        if rustix::process::geteuid().is_root() {
            return vec![Person::Tester, Person::Ordinary];
        }
        TOLD.call_once(|| eprintln!("skipped: 1 of 2 persons; only root can run the cases as somebody else too"));
        vec![Person::Tester]
    }

    /// The user's number.
    pub fn number(self) -> u32 {
        match self {
            Person::Tester => rustix::process::geteuid().as_raw(),
            Person::Ordinary => NUMBER,
        }
    }

    pub fn is_root(self) -> bool {
        self.number() == 0
    }

    /// The program will be theirs. (Without more, the standard library also drops root's groups.)
    pub fn runs(self, command: &mut Command) {
        if self == Person::Ordinary {
            command.uid(NUMBER).gid(NUMBER);
        }
    }

    /// Gives them one path, but not what a link leads to.
    pub fn own(self, path: &Path) {
        if self == Person::Ordinary {
            std::os::unix::fs::lchown(path, Some(NUMBER), Some(NUMBER)).expect("root can give files away");
        }
    }

    /// Gives them a folder and all below it.
    pub fn own_all(self, top: &Path) {
        for entry in walkdir::WalkDir::new(top) {
            self.own(entry.expect("it can be listed").path());
        }
    }

    /// A temporary folder of theirs in a place that everybody reaches. Not in the project's own target folder, which
    /// lies in a work tree, and not in memory, which the confinement treats as a special place.
    pub fn folder(self, place: &str) -> TempDir {
        let folder = TempDir::with_prefix_in("agentgate-it-", place).expect("a temporary folder can be made");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        self.own(folder.path());
        folder
    }

    /// A program that they can run: the built one, or a copy in their folder.
    pub fn reachable(self, built: &Path, top: &Path) -> PathBuf {
        let open = |folder: &Path| folder.metadata().is_ok_and(|meta| meta.mode() & 0o1 != 0);
        if self == Person::Tester || built.ancestors().all(open) {
            return built.to_owned();
        }
        let copy = top.join(built.file_name().expect("a program has a name"));
        if !copy.exists() {
            std::fs::copy(built, &copy).expect("it can be copied");
            std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        copy
    }
}
