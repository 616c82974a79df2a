//! What git's content depends on, taken from the person's configuration before an agent starts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;

use super::repo::Checkout;

/// Size limit of an ignore or attributes file that is taken over, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Where git-lfs keeps objects, in git's spelling of the key.
const LFS_STORAGE: &str = "lfs.storage";

/// The part of the effective configuration (git-lfs writes its filter to the person's global
/// file) that decides what a checked-out file looks like as a blob, and which files count.
#[derive(Clone, Debug, Default)]
pub struct ContentSettings {
    /// Key and value, in git's order; later ones win.
    pub config: Vec<(String, String)>,
    /// The clone's object folder.
    pub objects: PathBuf,
    /// `lfs.storage`: where git-lfs keeps the clone's objects. No private git dir gets it: what is
    /// written there must stay inside.
    pub lfs_storage: Option<String>,
    /// Where that is, if it is not the usual place.
    lfs_elsewhere: Option<PathBuf>,
    /// `core.excludesFile` or its default place.
    pub excludes: Option<Vec<u8>>,
    /// `core.attributesFile` or its default place.
    pub attributes: Option<Vec<u8>>,
    /// The clone's `info/exclude`.
    pub info_exclude: Option<Vec<u8>>,
    /// The clone's `info/attributes`.
    pub info_attributes: Option<Vec<u8>>,
    /// The worktree's `info/sparse-checkout`.
    pub sparse: Option<Vec<u8>>,
    /// The clone's `shallow`.
    pub shallow: Option<Vec<u8>>,
}

/// The person's own configuration, not the clone's: key and value, in git's order.
pub fn persons_config(checkout: &Checkout) -> Result<Vec<(String, String)>> {
    let here = checkout.workdir.as_deref().unwrap_or(&checkout.common);
    let args = ["config", "--global", "--includes", "--list", "-z"];
    let outcome = checkout.git.at(here).args(args).outcome()?;
    // git fails where there is no such file.
    Ok(entries(&outcome.stdout))
}

/// What `git config --list -z` says.
fn entries(listed: &[u8]) -> Vec<(String, String)> {
    listed
        .split(|&b| b == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            match entry.split_once('\n') {
                Some((key, value)) => (key.to_owned(), value.to_owned()),
                // A key without a value means true.
                None => (entry.into_owned(), "true".to_owned()),
            }
        })
        .collect()
}

impl ContentSettings {
    /// Reads them from a checkout. `admin` is the job's worktree's own git dir.
    pub fn read(checkout: &Checkout, admin: &Path, home: Option<&Path>, xdg: Option<&Path>) -> Result<ContentSettings> {
        let here = checkout.workdir.as_deref().unwrap_or(&checkout.common);
        let listed = checkout.git.at(here).args(["config", "--list", "-z"]).bytes()?;
        let all = entries(&listed);
        let named = |key: &str| {
            all.iter()
                .rev()
                .find(|(name, _)| name == key)
                .map(|(_, value)| expand(value, home))
        };
        let config_home = xdg
            .map(Path::to_owned)
            .or_else(|| home.map(|home| home.join(".config")));
        let personal = |key: &str, name: &str| {
            named(key).or_else(|| config_home.as_ref().map(|config| config.join("git").join(name)))
        };
        let optional = |path: PathBuf| read_optional(&path);
        let common = &checkout.common;
        let lfs_storage = all
            .iter()
            .rev()
            .find(|(key, _)| key == LFS_STORAGE)
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty());
        Ok(ContentSettings {
            objects: common.join("objects"),
            lfs_elsewhere: lfs_storage.as_ref().map(|value| common.join(value)),
            lfs_storage,
            excludes: personal("core.excludesfile", "ignore")
                .map(optional)
                .transpose()?
                .flatten(),
            attributes: personal("core.attributesfile", "attributes")
                .map(optional)
                .transpose()?
                .flatten(),
            info_exclude: read_optional(&common.join("info/exclude"))?,
            info_attributes: read_optional(&common.join("info/attributes"))?,
            sparse: read_optional(&admin.join("info/sparse-checkout"))?,
            shallow: read_optional(&common.join("shallow"))?,
            config: all.into_iter().filter(|(key, _)| decides_content(key)).collect(),
        })
    }

    /// Writes a git dir's `config`, `info/`, `shallow` and `objects/info/alternates`.
    pub fn write_into(&self, git_dir: &Path, own: &[(&str, &str)]) -> Result<()> {
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            std::fs::create_dir_all(git_dir.join(folder))
                .with_context(|| format!("cannot make {}", git_dir.join(folder).display()))?;
        }
        // git-crypt's filter looks for its keys in the git dir that git names to it.
        if let Some(keys) = self.objects.parent().map(|common| common.join("git-crypt"))
            && keys.is_dir()
        {
            let link = git_dir.join("git-crypt");
            std::os::unix::fs::symlink(&keys, &link).with_context(|| format!("cannot make {}", link.display()))?;
        }
        let optional = [
            ("info/exclude", &self.info_exclude),
            ("info/attributes", &self.info_attributes),
            ("info/sparse-checkout", &self.sparse),
            ("shallow", &self.shallow),
            ("personal-excludes", &self.excludes),
            ("personal-attributes", &self.attributes),
        ];
        for (name, bytes) in optional {
            if let Some(bytes) = bytes {
                files::replace(&git_dir.join(name), bytes, 0o600)?;
            }
        }
        let mut config = String::new();
        let here = |name: &str| git_dir.join(name).to_string_lossy().into_owned();
        let mut entries: Vec<(String, String)> = self.config.clone();
        entries.extend([
            ("core.repositoryformatversion".to_owned(), "0".to_owned()),
            ("core.bare".to_owned(), "false".to_owned()),
        ]);
        // Named even where the person has none: the default places below HOME are not looked at.
        entries.push(("core.excludesfile".into(), here("personal-excludes")));
        entries.push(("core.attributesfile".into(), here("personal-attributes")));
        entries.extend(own.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        for (key, value) in entries {
            config.push_str(&config_line(&key, &value));
        }
        files::replace(&git_dir.join("config"), config.as_bytes(), 0o600)?;
        let mut alternates = quote_alternate(&self.objects);
        alternates.push(b'\n');
        // git-lfs reads what it does not have from `lfs/` beside each alternate.
        if let Some(store) = &self.lfs_elsewhere {
            let beside = git_dir.join("lfs-elsewhere");
            let objects = beside.join("objects");
            files::remove_tree(&beside)?;
            std::fs::create_dir_all(&objects).with_context(|| format!("cannot make {}", objects.display()))?;
            std::os::unix::fs::symlink(store, beside.join("lfs"))
                .with_context(|| format!("cannot make a link in {}", beside.display()))?;
            alternates.extend(quote_alternate(&objects));
            alternates.push(b'\n');
        }
        files::replace(&git_dir.join("objects/info/alternates"), &alternates, 0o600)?;
        Ok(())
    }
}

fn decides_content(key: &str) -> bool {
    const EXACT: &[&str] = &[
        "core.autocrlf",
        "core.eol",
        "core.ignorecase",
        "core.filemode",
        "core.symlinks",
        "core.precomposeunicode",
        "core.bigfilethreshold",
        "core.sparsecheckout",
        "core.sparsecheckoutcone",
        "core.checkroundtripencoding",
    ];
    let submodule = key.starts_with("submodule.") && (key.ends_with(".url") || key.ends_with(".active"));
    let lfs = key.starts_with("lfs.") && key != LFS_STORAGE;
    EXACT.contains(&key) || key.starts_with("filter.") || lfs || submodule
}

fn expand(value: &str, home: Option<&Path>) -> PathBuf {
    match (value.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(value),
    }
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>> {
    if !path.exists() {
        return Ok(None);
    }
    // The person's own files may be links; what counts is that it is a regular file in the end.
    let real = std::fs::canonicalize(path).with_context(|| format!("cannot resolve {}", path.display()))?;
    if !real.is_file() {
        return Ok(None);
    }
    Ok(Some(files::read_small(&real, MAX_FILE)?))
}

/// One entry of a git config file: `[section "sub"] name = "value"`.
fn config_line(key: &str, value: &str) -> String {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let (sub, name) = rest
        .rsplit_once('.')
        .map_or((None, rest), |(sub, name)| (Some(sub), name));
    let head = sub.map_or_else(
        || format!("[{section}]"),
        |sub| format!("[{section} \"{}\"]", quote(sub)),
    );
    let value = quote(value).replace('\n', "\\n").replace('\t', "\\t");
    format!("{head}\n\t{name} = \"{value}\"\n")
}

/// A line of `objects/info/alternates`; git reads a C-quoted path where the line begins with `"`.
pub(super) fn quote_alternate(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let raw = path.as_os_str().as_bytes();
    if !raw.iter().any(|&b| b == b'\n' || b == b'"' || b == b'#') {
        return raw.to_vec();
    }
    let mut quoted = vec![b'"'];
    for &byte in raw {
        match byte {
            b'\n' => quoted.extend(b"\\n"),
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_line_keeps_a_subsection_with_dots_and_quotes() {
        assert_eq!(
            config_line("filter.a.b\"c.clean", "x \\ \"y\""),
            "[filter \"a.b\\\"c\"]\n\tclean = \"x \\\\ \\\"y\\\"\"\n"
        );
        assert_eq!(config_line("core.eol", "lf"), "[core]\n\teol = \"lf\"\n");
    }

    #[test]
    fn an_alternate_with_a_newline_is_quoted() {
        assert_eq!(quote_alternate(Path::new("/a b/c")), b"/a b/c");
        assert_eq!(quote_alternate(Path::new("/a\nb")), b"\"/a\\nb\"");
    }
}
