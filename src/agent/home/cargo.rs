//! A private CARGO_HOME in which the crates that the person has can be read.
//!
//! cargo locks its home (`.package-cache`), unpacks into `registry/src` and notes each use, so the
//! person's own cannot be used where it cannot be written. In the private one stands a link for each
//! packed crate, in a real folder: what is there is found without the network, what is new goes
//! beside it. The index's cache is one link: cargo goes on where it cannot write there.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml_edit::{Document, Item, TableLike};

use super::Person;
use super::folder::{self, Private};

/// Most files that are linked for one job.
const MAX_LINKS: usize = 10_000;
const HOME: &str = ".cargo";

pub(super) fn share(home: &mut Private, person: Person<'_>, worktree: &Path) -> Result<()> {
    let Some(real) = person.folder("CARGO_HOME", HOME) else {
        return Ok(());
    };
    let private = home.dir(HOME)?;
    let mut links = Links {
        top: private.clone(),
        folders: 0,
        left: MAX_LINKS,
    };
    // Thousands of links take some file systems a second: only where they are of use.
    let crates = has_crate(worktree, LEVELS).then_some("registry/cache");
    for part in ["bin", "registry/index", "git/db"].into_iter().chain(crates) {
        links.tree(&real.join(part), &private.join(part))?;
    }
    if links.left == 0 {
        home.notices.push(format!(
            "{} holds more than {MAX_LINKS} files: not all of its crates can be used without the network",
            real.display()
        ));
    }
    let file = ["config.toml", "config"].map(|name| real.join(name));
    if let Some(file) = file.iter().find(|file| file.is_file()) {
        match folder::read_text(file).and_then(|text| without_secrets(&text)) {
            Some(config) => {
                home.write(format!("{HOME}/config.toml"), config.text.as_bytes())?;
                if config.target_outside && person.var("CARGO_TARGET_DIR").is_none() {
                    // Where the worktree lies below the home, cargo finds that file by itself too.
                    let place = home.dir(".cache/cargo-target")?;
                    home.set("CARGO_TARGET_DIR", place.as_os_str());
                }
            }
            None => home.notices.push(format!(
                "{} cannot be read as TOML, so the agent's cargo runs without it",
                file.display()
            )),
        }
    }
    Ok(())
}

/// How deep a Cargo.toml is looked for.
const LEVELS: usize = 4;

fn has_crate(folder: &Path, levels: usize) -> bool {
    if folder.join("Cargo.toml").is_file() {
        return true;
    }
    let Ok(entries) = folder.read_dir() else { return false };
    levels > 1
        && entries
            .flatten()
            .any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && has_crate(&entry.path(), levels - 1))
}

struct Links {
    /// The private cargo home.
    top: PathBuf,
    /// Links to folders of the person's made so far.
    folders: usize,
    left: usize,
}

/// Folder of the links to folders that links to files lead through.
const VIA: &str = ".via";

impl Links {
    /// A folder like `from`, with a link for each file and for an index's cache of many small ones.
    fn tree(&mut self, from: &Path, to: &Path) -> Result<()> {
        let Ok(entries) = from.read_dir() else { return Ok(()) };
        folder::make(to)?;
        let mut via = None;
        for entry in entries.flatten() {
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if self.left == 0 {
                return Ok(());
            }
            let is_folder = source.is_dir();
            if is_folder && source.join("objects").is_dir() && source.join("HEAD").is_file() {
                self.repository(&source, &target)?;
            } else if is_folder && entry.file_name() != ".cache" {
                self.tree(&source, &target)?;
            } else if matches!(entry.file_name().to_str(), Some("config.json" | ".last-updated")) {
                // What cargo writes again in an index, and must be able to.
                copy(&source, &target)?;
            } else {
                self.left -= 1;
                let via = match &mut via {
                    Some(via) => via,
                    none => none.insert(self.via(from, to)?),
                };
                link(&via.join(entry.file_name()), &target)?;
            }
        }
        Ok(())
    }

    /// A short relative path from `to` to the person's folder `from`. Up to 59 bytes of a link lie in
    /// its inode; a longer one takes a block of its own, which makes thousands of them slow.
    fn via(&mut self, from: &Path, to: &Path) -> Result<PathBuf> {
        let folder = self.top.join(VIA);
        folder::make(&folder)?;
        let name = self.folders.to_string();
        self.folders += 1;
        link(from, &folder.join(&name))?;
        let depth = to.strip_prefix(&self.top)?.components().count();
        Ok(PathBuf::from("../".repeat(depth)).join(VIA).join(name))
    }

    /// A git repository that borrows the objects of another: it can be fetched into, and cloned
    /// from with hard links, which do not work from one mount to another.
    fn repository(&mut self, from: &Path, to: &Path) -> Result<()> {
        let objects = from.join("objects");
        let Some(text) = objects.to_str().filter(|text| !text.contains('\n')) else {
            return Ok(());
        };
        self.left -= 1;
        for place in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            folder::make(&to.join(place))?;
        }
        folder::write_new(&to.join("objects/info/alternates"), format!("{text}\n").as_bytes())?;
        for name in ["HEAD", "config", "packed-refs", "shallow", "FETCH_HEAD"] {
            copy(&from.join(name), &to.join(name))?;
        }
        self.refs(&from.join("refs"), &to.join("refs"))
    }

    fn refs(&mut self, from: &Path, to: &Path) -> Result<()> {
        let Ok(entries) = from.read_dir() else { return Ok(()) };
        folder::make(to)?;
        for entry in entries.flatten() {
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if self.left == 0 {
                return Ok(());
            }
            if source.is_dir() {
                self.refs(&source, &target)?;
            } else {
                self.left -= 1;
                copy(&source, &target)?;
            }
        }
        Ok(())
    }
}

fn link(to: &Path, place: &Path) -> Result<()> {
    symlink(to, place).with_context(|| format!("cannot make {}", place.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    match folder::read(from) {
        Some(bytes) => folder::write_new(to, &bytes),
        None => Ok(()),
    }
}

/// cargo's configuration without its tokens.
struct Config {
    text: String,
    /// It names a target folder, which jobs would share.
    target_outside: bool,
}

/// `None` for what is no TOML.
fn without_secrets(text: &str) -> Option<Config> {
    let document = Document::parse(text).ok()?;
    let mut cuts = Vec::new();
    let mut target_outside = false;
    find(document.as_table(), &mut |key, item| match key.get() {
        "token" | "secret-key" | "password" => cut(key, item, &mut cuts),
        "target-dir" | "build-dir" => {
            target_outside = true;
            cut(key, item, &mut cuts);
        }
        _ => {}
    });
    cuts.sort_by_key(|cut| cut.start);
    let mut kept = text.to_owned();
    // From the end, so that what comes before stays where it is. A key of another name stands in:
    // taking the words out could leave a comma behind in an inline table.
    for (number, cut) in cuts.into_iter().enumerate().rev() {
        kept.replace_range(cut, &format!("left-out-{number} = \"\""));
    }
    Some(Config {
        text: kept,
        target_outside,
    })
}

fn cut(key: &toml_edit::Key, item: &Item, cuts: &mut Vec<std::ops::Range<usize>>) {
    if let (Some(key), Some(value)) = (key.span(), item.span()) {
        cuts.push(key.start..value.end);
    }
}

/// Visits every key that has a plain value.
fn find(table: &dyn TableLike, visit: &mut impl FnMut(&toml_edit::Key, &Item)) {
    for (name, item) in table.iter() {
        if let Some(inner) = item.as_table_like() {
            find(inner, visit);
        } else if let Some(key) = table.key(name) {
            visit(key, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_left_out_wherever_they_stand() {
        let text = "[registry]\ntoken = \"cio-1\"\nglobal-credential-providers = [\"cargo:token\"]\n\
                    [registries]\nours = { index = \"sparse+https://x/\", token = \"cio-2\" }\n\
                    [registries.theirs]\nindex = \"https://y/\"\nsecret-key = \"cio-3\"\n\
                    [target.x86_64-unknown-linux-gnu]\nlinker = \"clang\"\n[build]\njobs = 2\ntarget-dir = \"/t\"\n";
        let config = without_secrets(text).expect("it is TOML");
        assert!(!config.text.contains("cio-"), "{}", config.text);
        assert!(config.target_outside && !config.text.contains("\"/t\""));
        let again = Document::parse(&config.text).expect("still TOML");
        let registries = again["registries"].as_table_like().expect("a table");
        assert_eq!(
            registries
                .get("ours")
                .and_then(|it| it.get("index"))
                .and_then(Item::as_str),
            Some("sparse+https://x/")
        );
        for kept in ["linker = \"clang\"", "jobs = 2", "https://y/", "cargo:token"] {
            assert!(config.text.contains(kept), "{kept}");
        }
        assert!(without_secrets("[registry\ntoken = 1").is_none());
    }

    #[test]
    fn a_key_with_dots_is_still_one() {
        let config = without_secrets("registries.a.token = \"cio-1\"\nnet.offline = true\n").expect("TOML");
        assert!(!config.text.contains("cio-"), "{}", config.text);
        Document::parse(&config.text).expect("still TOML");
    }
}
