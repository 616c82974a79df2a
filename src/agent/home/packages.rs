//! Where package managers other than cargo get their packages: the person's mirrors without the
//! person's credentials, and what can be read of the person's stores.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Person;
use super::folder::{self, Private};

pub(super) fn share(home: &mut Private, person: Person<'_>) -> Result<()> {
    npm(home, person)?;
    pip(home, person)?;
    go(home, person)?;
    java(home, person);
    Ok(())
}

/// Keys of `.npmrc` that say where npm looks, and nothing about who the person is.
const NPM_KEYS: &[&str] = &[
    "registry",
    "proxy",
    "https-proxy",
    "noproxy",
    "cafile",
    "ca",
    "strict-ssl",
    "fund",
    "audit",
    "update-notifier",
    "legacy-peer-deps",
    "omit-lockfile-registry-resolved",
    "engine-strict",
    "save-exact",
    "ignore-scripts",
];

fn npm(home: &mut Private, person: Person<'_>) -> Result<()> {
    let named = ["npm_config_userconfig", "NPM_CONFIG_USERCONFIG"];
    let named = named.iter().find_map(|name| person.path(name)).map(Path::to_owned);
    let Some(file) = named.or_else(|| Some(person.home()?.join(".npmrc"))) else {
        return Ok(());
    };
    let Some(text) = folder::read_text(&file) else {
        return Ok(());
    };
    let kept = text.lines().filter(|line| {
        let Some((key, value)) = line.split_once('=') else {
            return false;
        };
        let key = key.trim();
        let scope = key.starts_with('@') && key.ends_with(":registry");
        (scope || NPM_KEYS.contains(&key)) && !has_password(value)
    });
    write_lines(home, ".npmrc", kept)
}

fn pip(home: &mut Private, person: Person<'_>) -> Result<()> {
    let named = person.path("PIP_CONFIG_FILE").map(Path::to_owned);
    let config = person
        .folder("XDG_CONFIG_HOME", ".config")
        .map(|place| place.join("pip/pip.conf"));
    let old = person.home().map(|place| place.join(".pip/pip.conf"));
    let found = [named, config, old]
        .into_iter()
        .flatten()
        .find_map(|file| folder::read_text(&file));
    let Some(text) = found else { return Ok(()) };
    // `cache-dir`, `target`, `user` and the like lead back to the person's folders.
    const KEYS: &[&str] = &[
        "index-url",
        "extra-index-url",
        "trusted-host",
        "cert",
        "proxy",
        "timeout",
        "retries",
    ];
    let kept = text.lines().filter(|line| {
        let line = line.trim();
        let key = line.split(['=', ':']).next().unwrap_or_default().trim();
        (line.starts_with('[') || KEYS.contains(&key)) && !has_password(line)
    });
    write_lines(home, ".config/pip/pip.conf", kept)
}

fn write_lines<'a>(home: &Private, name: &str, lines: impl Iterator<Item = &'a str>) -> Result<()> {
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    if text.is_empty() {
        return Ok(());
    }
    home.write(name, text.as_bytes())
}

/// `https://name:password@host/`
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        rest.split(['/', ' ', '"'])
            .next()
            .is_some_and(|host| host.contains('@'))
    })
}

/// Settings of `go env -w` that say where modules come from.
const GO_KEYS: &[&str] = &[
    "GOPRIVATE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOSUMDB",
    "GOTOOLCHAIN",
    "GOINSECURE",
];
const GO_PROXY: &str = "https://proxy.golang.org,direct";

/// Go's downloads are laid out as a proxy serves them: the person's are read as one, before the
/// network, and unpacked into the private cache.
fn go(home: &mut Private, person: Person<'_>) -> Result<()> {
    let settings = person
        .path("GOENV")
        .map(Path::to_owned)
        .or_else(|| Some(person.folder("XDG_CONFIG_HOME", ".config")?.join("go/env")));
    let settings = settings.and_then(|file| folder::read_text(&file)).unwrap_or_default();
    let set = |name: &str| {
        settings
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .map(str::to_owned)
    };
    let kept = settings.lines().filter(|line| {
        GO_KEYS
            .iter()
            .any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with('=')))
    });
    write_lines(home, ".config/go/env", kept)?;
    // Else what it unpacks is read-only, and an agent's own `rm -rf` of it fails.
    let mut flags = person
        .var("GOFLAGS")
        .map(OsStr::to_owned)
        .or_else(|| set("GOFLAGS").map(OsString::from));
    let flags = flags.get_or_insert_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push("-modcacherw");
    home.set("GOFLAGS", flags);
    let first = |list: &OsStr| std::env::split_paths(list).find(|path| path.is_absolute());
    let modules = person
        .path("GOMODCACHE")
        .map(Path::to_owned)
        .or_else(|| Some(first(person.var("GOPATH")?)?.join("pkg/mod")))
        .or_else(|| Some(person.home()?.join("go/pkg/mod")))
        .map(|modules| modules.join("cache/download"))
        .filter(|modules| modules.is_dir());
    let proxy = person
        .var("GOPROXY")
        .map(OsStr::to_owned)
        .or_else(|| set("GOPROXY").map(OsString::from));
    if let Some(modules) = modules {
        let mut all = OsString::from_vec(file_url(&modules));
        all.push(",");
        all.push(proxy.unwrap_or_else(|| GO_PROXY.into()));
        home.set("GOPROXY", &all);
    } else if let Some(proxy) = proxy {
        home.set("GOPROXY", &proxy);
    }
    Ok(())
}

fn file_url(path: &Path) -> Vec<u8> {
    let mut url = b"file://".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(byte);
        } else {
            url.extend(format!("%{byte:02X}").bytes());
        }
    }
    url
}

/// Java takes the home from the system's table of users, not from HOME.
fn java(home: &mut Private, person: Person<'_>) {
    let property = |name: &str, value: &Path| {
        let text = value
            .to_str()
            .filter(|text| !text.contains(|letter: char| letter.is_whitespace()))?;
        Some(format!("-D{name}={text}"))
    };
    let mut add = |variable: &str, words: Vec<String>| {
        if words.is_empty() {
            return;
        }
        let mut value = person.var(variable).map(OsStr::to_owned).unwrap_or_default();
        for word in words {
            if !value.is_empty() {
                value.push(" ");
            }
            value.push(word);
        }
        home.variables.insert(variable.into(), value);
    };
    add("MAVEN_OPTS", property("user.home", &home.folder).into_iter().collect());
    // Maven 3.9 and newer read a second repository, and gradle a cache, that they never write.
    let real = |below: &str| -> Option<PathBuf> { Some(person.home()?.join(below)).filter(|place| place.is_dir()) };
    if let Some(repository) = real(".m2/repository") {
        add(
            "MAVEN_ARGS",
            property("maven.repo.local.tail", &repository).into_iter().collect(),
        );
    }
    let caches = person
        .folder("GRADLE_USER_HOME", ".gradle")
        .map(|place| place.join("caches"));
    if let Some(caches) = caches.filter(|caches| caches.join("modules-2").is_dir())
        && person.var("GRADLE_RO_DEP_CACHE").is_none()
    {
        home.set("GRADLE_RO_DEP_CACHE", caches.as_os_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_seen() {
        for with in [
            "https://me:pw@host/simple",
            "index-url = https://token@host",
            "a https://x/ https://u@y",
        ] {
            assert!(has_password(with), "{with}");
        }
        for without in ["https://host/@scope/x", "registry", "https://host"] {
            assert!(!has_password(without), "{without}");
        }
    }

    #[test]
    fn a_path_as_an_address() {
        assert_eq!(file_url(Path::new("/a b/ü%")), b"file:///a%20b/%C3%BC%25");
    }
}
