use std::os::unix::fs::{MetadataExt, symlink};
use std::time::Instant;

use rustix::fs::{FileType, Mode, mkdirat, mknodat, openat};

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("there").mode() & 0o7777
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("fifo");
}

#[test]
fn replace_leaves_one_file_with_the_mode() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("file");
    replace(&path, b"one", 0o644).expect("written");
    replace(&path, b"two", 0o600).expect("replaced");
    assert_eq!((fs::read(&path).expect("read"), mode(&path)), (b"two".to_vec(), 0o600));
    assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 1);
}

#[test]
fn replace_does_not_write_through_a_link() {
    let dir = tempfile::tempdir().expect("folder");
    let (victim, link) = (dir.path().join("victim"), dir.path().join("link"));
    create_new(&victim, b"kept", 0o644).expect("victim");
    symlink(&victim, &link).expect("link");
    replace(&link, b"new", 0o644).expect("replaced");
    assert_eq!(fs::read(&victim).expect("read"), b"kept");
    assert!(fs::symlink_metadata(&link).expect("there").is_file());
}

#[test]
fn create_new_refuses_what_exists_and_dangling_links() {
    let dir = tempfile::tempdir().expect("folder");
    let (path, link) = (dir.path().join("file"), dir.path().join("link"));
    create_new(&path, b"one", 0o600).expect("created");
    symlink("nowhere", &link).expect("link");
    for path in [&path, &link] {
        assert_eq!(
            create_new(path, b"two", 0o600).expect_err("exists").kind(),
            io::ErrorKind::AlreadyExists
        );
    }
}

#[test]
fn appended_lines_follow_each_other() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("log");
    append_synced(&open_append(&path, 0o600).expect("open"), b"one\n").expect("append");
    append_synced(&open_append(&path, 0o600).expect("open"), b"two\n").expect("append");
    assert_eq!(fs::read(&path).expect("read"), b"one\ntwo\n");
}

#[test]
fn read_small_refuses_all_but_a_small_regular_file() {
    let dir = tempfile::tempdir().expect("folder");
    let at = |name: &str| dir.path().join(name);
    create_new(&at("file"), b"12345", 0o600).expect("created");
    symlink("file", at("link")).expect("link");
    fifo(&at("fifo"));
    assert_eq!(read_small(&at("file"), 5).expect("read"), b"12345");
    assert_eq!(
        read_small(&at("file"), 4).expect_err("large").kind(),
        io::ErrorKind::FileTooLarge
    );
    let started = Instant::now();
    for path in [
        at("link"),
        at("fifo"),
        dir.path().to_owned(),
        PathBuf::from("/dev/zero"),
    ] {
        assert!(read_small(&path, 1 << 20).is_err(), "{}", path.display());
    }
    assert!(open_append(&at("fifo"), 0o600).is_err());
    assert!(open_append(&at("link"), 0o600).is_err());
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn private_folders_are_private() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("a/b");
    make_private_dir(&path).expect("made");
    assert_eq!(mode(&path), 0o700);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
    make_private_dir(&path).expect("there");
    assert_eq!(mode(&path), 0o700);
    symlink(&path, dir.path().join("link")).expect("link");
    assert!(make_private_dir(&dir.path().join("link")).is_err());
}

#[test]
fn remove_tree_takes_folders_without_permissions_and_follows_no_link() {
    let dir = tempfile::tempdir().expect("folder");
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("tree/locked/inner/deep")).expect("made");
    fs::create_dir_all(at("outside")).expect("made");
    create_new(&at("outside/kept"), b"", 0o600).expect("created");
    create_new(&at("tree/locked/inner/file"), b"", 0o000).expect("created");
    symlink(at("outside"), at("tree/locked/link")).expect("link");
    symlink(at("outside/kept"), at("tree/link")).expect("link");
    fifo(&at("tree/fifo"));
    for folder in ["tree/locked/inner/deep", "tree/locked/inner", "tree/locked", "tree"] {
        fs::set_permissions(at(folder), Permissions::from_mode(0o0)).expect("chmod");
    }
    let moved = rename_to_trash(&at("tree"), &at("trash")).expect("moved");
    assert!(!at("tree").exists());
    remove_tree(&moved).expect("removed");
    assert!(fs::symlink_metadata(&moved).is_err());
    assert!(at("outside/kept").exists());
    remove_tree(&moved).expect("a missing one is fine");
}

#[test]
fn remove_tree_of_a_link_takes_the_link_only() {
    let dir = tempfile::tempdir().expect("folder");
    fs::create_dir(dir.path().join("target")).expect("made");
    symlink("target", dir.path().join("link")).expect("link");
    remove_tree(&dir.path().join("link")).expect("removed");
    assert!(dir.path().join("target").is_dir());
}

#[test]
fn remove_tree_goes_deeper_than_a_path_can_be_long() {
    let dir = tempfile::tempdir().expect("folder");
    let mut open = File::open(dir.path()).map(std::os::fd::OwnedFd::from).expect("open");
    for name in std::iter::once("top").chain(std::iter::repeat_n("nested", 3000)) {
        mkdirat(&open, name, Mode::from_raw_mode(0o700)).expect("made");
        open = openat(&open, name, OFlags::DIRECTORY, Mode::empty()).expect("open");
    }
    remove_tree(&dir.path().join("top")).expect("removed");
    assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 0);
}

#[test]
fn trash_names_do_not_clash() {
    let dir = tempfile::tempdir().expect("folder");
    let (path, trash) = (dir.path().join("job"), dir.path().join(".trash"));
    fs::create_dir(&path).expect("made");
    let first = rename_to_trash(&path, &trash).expect("moved");
    assert_eq!(
        rename_to_trash(&path, &trash).expect_err("gone").kind(),
        io::ErrorKind::NotFound
    );
    fs::create_dir(&path).expect("made");
    let second = rename_to_trash(&path, &trash).expect("moved");
    assert_ne!(first, second);
    assert!(first.is_dir() && second.is_dir());
}
