//! What enters the store and what does not.

use std::path::PathBuf;

use rustix::fs::{CWD, Mode};

use super::*;
use crate::job::log::sha256_hex;

struct Scene {
    _top: tempfile::TempDir,
    git_dir: PathBuf,
    store: PathBuf,
    pointer: Pointer,
}

fn scene() -> Scene {
    let top = tempfile::tempdir().expect("a temporary folder");
    let pointer = Pointer {
        oid: sha256_hex(&[b"large"]),
        size: 5,
    };
    let git_dir = top.path().join("git");
    std::fs::create_dir_all(git_dir.join("lfs").join(pointer.place()).parent().expect("a folder")).expect("made");
    Scene {
        store: top.path().join("store"),
        git_dir,
        pointer,
        _top: top,
    }
}

impl Scene {
    fn object(&self) -> PathBuf {
        self.git_dir.join("lfs").join(self.pointer.place())
    }

    fn put(&self, bytes: &[u8]) {
        files::replace(&self.object(), bytes, 0o644).expect("it can be written");
    }

    fn take(&self) -> Taken {
        let object = Path::new("lfs").join(self.pointer.place());
        take(&self.git_dir, &object, &self.pointer, &self.store).expect("the store can be written")
    }

    fn stored(&self) -> Option<Vec<u8>> {
        std::fs::read(self.store.join(self.pointer.place())).ok()
    }
}

#[test]
fn content_that_is_what_its_name_says_is_copied() {
    let scene = scene();
    assert_eq!(scene.take(), Taken::NotThere);
    scene.put(b"large");
    assert_eq!(scene.take(), Taken::Copied);
    assert_eq!(scene.stored().as_deref(), Some(&b"large"[..]));
    assert_eq!(scene.take(), Taken::Copied);
}

#[test]
fn another_content_or_size_stays_out() {
    let scene = scene();
    for bytes in [&b"LARGE"[..], b"larger", b"", b"larg"] {
        scene.put(bytes);
        assert_eq!(scene.take(), Taken::Wrong, "{bytes:?}");
    }
    assert_eq!(scene.stored(), None);
}

#[test]
fn no_link_is_followed_and_a_pipe_is_not_waited_for() {
    let scene = scene();
    scene.put(b"large");
    let object = scene.object();
    let elsewhere = scene.git_dir.join("elsewhere");
    std::fs::rename(&object, &elsewhere).expect("moved");
    std::os::unix::fs::symlink(&elsewhere, &object).expect("linked");
    assert_eq!(scene.take(), Taken::Wrong);
    std::fs::remove_file(&object).expect("removed");
    rustix::fs::mknodat(CWD, &object, rustix::fs::FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    assert_eq!(scene.take(), Taken::Wrong);
    std::fs::remove_file(&object).expect("removed");
    std::fs::create_dir(&object).expect("a folder");
    assert_eq!(scene.take(), Taken::Wrong);
    std::fs::remove_dir(&object).expect("removed");
    // A link further up.
    std::fs::rename(&elsewhere, &object).expect("back");
    let folder = scene.git_dir.join("lfs");
    std::fs::rename(&folder, scene.git_dir.join("other")).expect("moved");
    std::os::unix::fs::symlink("other", &folder).expect("linked");
    assert_eq!(scene.take(), Taken::Wrong);
    assert_eq!(scene.stored(), None);
}
