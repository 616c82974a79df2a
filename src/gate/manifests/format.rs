//! Which file is a manifest, of which format, and what is known to be one and not read.

use super::names::Ecosystem;
pub(super) use crate::gate::tree::parent;

/// A family of manifests whose names can be compared with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Format {
    Npm,
    PnpmWorkspace,
    Cargo,
    Pyproject,
    Requirements,
    Pipfile,
    Pixi,
    SetupCfg,
    SetupPy,
    Uv,
    Hatch,
    Tox,
    Deno,
    Golang,
    Maven,
    Gradle,
    GradleKotlin,
    GradleCatalog,
    Dotnet,
    GlobalJson,
    Ruby,
    Composer,
    /// environment.yml.
    Conda,
    /// Inside of source, see `inline`.
    PythonScript,
    CsharpScript,
    Jbang,
}

impl Format {
    pub(super) fn ecosystem(self) -> Ecosystem {
        match self {
            Format::Npm | Format::PnpmWorkspace | Format::Deno => Ecosystem::Npm,
            Format::Cargo => Ecosystem::Cargo,
            Format::Pyproject
            | Format::Requirements
            | Format::Pipfile
            | Format::Pixi
            | Format::SetupCfg
            | Format::SetupPy
            | Format::Uv
            | Format::Hatch
            | Format::Tox
            | Format::Conda
            | Format::PythonScript => Ecosystem::Python,
            Format::Golang => Ecosystem::Go,
            Format::Maven | Format::Gradle | Format::GradleKotlin | Format::GradleCatalog | Format::Jbang => {
                Ecosystem::Maven
            }
            Format::Dotnet | Format::GlobalJson | Format::CsharpScript => Ecosystem::Nuget,
            Format::Ruby => Ecosystem::Ruby,
            Format::Composer => Ecosystem::Composer,
        }
    }

    /// Whether it is a list inside of source.
    pub(super) fn is_inline(self) -> bool {
        matches!(self, Format::PythonScript | Format::CsharpScript | Format::Jbang)
    }

    /// Whether it stands beside a manifest of its ecosystem, and does not take the place of one above.
    pub(super) fn is_beside(self) -> bool {
        matches!(
            self,
            Format::Uv | Format::Hatch | Format::Tox | Format::Deno | Format::GlobalJson
        )
    }

    /// Whether folders below get what it declares although they have a manifest of their own:
    /// parents of Maven and Gradle, and properties of .NET.
    pub(super) fn is_inherited(self) -> bool {
        matches!(
            self,
            Format::Maven
                | Format::Gradle
                | Format::GradleKotlin
                | Format::GradleCatalog
                | Format::Dotnet
                | Format::GlobalJson
        )
    }
}

/// Files that MSBuild loads: projects of each kind, and what these import. `.vdproj`, `.pbxproj` and
/// `.Rproj` belong to other tools.
const MSBUILD: &[&str] = &[
    ".csproj",
    ".fsproj",
    ".vbproj",
    ".proj",
    ".props",
    ".targets",
    ".tasks",
    ".projitems",
    ".msbuildproj",
    ".nativeproj",
    ".vcxproj",
    ".ilproj",
    ".sqlproj",
    ".dbproj",
    ".shproj",
    ".wixproj",
    ".wapproj",
    ".dcproj",
    ".esproj",
    ".njsproj",
    ".pyproj",
    ".sfproj",
    ".ccproj",
    ".csproj.user",
    ".fsproj.user",
    ".vbproj.user",
    ".vcxproj.user",
    ".proj.user",
];
/// Those of them whose endings other tools use, too.
const SHARED: &[&str] = &[".proj", ".props", ".targets", ".tasks"];

/// Whether MSBuild would load a file of this name that it is told to import.
pub(super) fn is_msbuild(path: &[u8]) -> bool {
    let name = file_name(path);
    MSBUILD.iter().any(|ending| name.ends_with(ending.as_bytes()))
}

/// Whether the file is of another tool than its name says: what is no XML, no MSBuild loads.
pub(super) fn is_of_another_tool(path: &[u8], text: &str) -> bool {
    let name = file_name(path);
    let is_shared = SHARED.iter().any(|ending| name.ends_with(ending.as_bytes()));
    is_shared && !text.trim_start().starts_with('<')
}

/// The format by file name. Case does not count: on a case-folding disk the tools read it.
pub(super) fn format(path: &[u8]) -> Option<Format> {
    let path = path.to_ascii_lowercase();
    let mut parts = path.rsplit(|&byte| byte == b'/');
    let name = parts.next()?;
    let folder = parts.next();
    let by_name = match name {
        b"package.json" => Some(Format::Npm),
        b"pnpm-workspace.yaml" => Some(Format::PnpmWorkspace),
        b"cargo.toml" => Some(Format::Cargo),
        b"pyproject.toml" => Some(Format::Pyproject),
        b"pipfile" => Some(Format::Pipfile),
        b"pixi.toml" => Some(Format::Pixi),
        b"setup.cfg" => Some(Format::SetupCfg),
        b"setup.py" => Some(Format::SetupPy),
        b"uv.toml" => Some(Format::Uv),
        b"hatch.toml" => Some(Format::Hatch),
        b"tox.ini" => Some(Format::Tox),
        b"deno.json" | b"deno.jsonc" | b"import_map.json" | b"importmap.json" => Some(Format::Deno),
        b"global.json" => Some(Format::GlobalJson),
        b"go.mod" | b"go.work" => Some(Format::Golang),
        b"pom.xml" => Some(Format::Maven),
        b"extensions.xml" if folder == Some(b".mvn") => Some(Format::Maven),
        b"packages.config" => Some(Format::Dotnet),
        b"gemfile" | b"gems.rb" | b"appraisals" => Some(Format::Ruby),
        b"composer.json" => Some(Format::Composer),
        b"environment.yml" | b"environment.yaml" | b"conda.yml" | b"conda.yaml" => Some(Format::Conda),
        _ => None,
    };
    if by_name.is_some() {
        return by_name;
    }
    let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
    if ends(".versions.toml") {
        return Some(Format::GradleCatalog);
    }
    if ends(".gradle") {
        return Some(Format::Gradle);
    }
    if ends(".gradle.kts") {
        return Some(Format::GradleKotlin);
    }
    if ends(".gemspec") || ends(".gemfile") {
        return Some(Format::Ruby);
    }
    if MSBUILD.iter().any(|ending| ends(ending)) {
        return Some(Format::Dotnet);
    }
    // `.in` is what pip-compile makes the `.txt` of.
    let stem = name.strip_suffix(b".txt").or_else(|| name.strip_suffix(b".in"))?;
    let listed = stem.starts_with(b"requirements") || stem.ends_with(b"requirements");
    (listed || folder == Some(b"requirements")).then_some(Format::Requirements)
}

/// The folder that a manifest speaks for: some lie in a folder of their own.
pub(super) fn home(path: &[u8]) -> &[u8] {
    let folder = parent(path);
    let name = folder.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    match name {
        b"gradle" | b"requirements" | b".mvn" => parent(folder),
        _ => folder,
    }
}

/// The last part of a path in lower case.
pub(super) fn file_name(path: &[u8]) -> Vec<u8> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.to_ascii_lowercase()
}

/// Manifests that this version does not read: said, since no rule holds there.
const UNREAD: &[&str] = &[
    "bower.json",
    "brewfile",
    "bunfig.toml",
    "build.sbt",
    "build.sc",
    "build.zig.zon",
    "cabal.project",
    "cartfile",
    "containerfile",
    "conanfile.py",
    "conanfile.txt",
    "cpanfile",
    "deps.edn",
    "dockerfile",
    "dotnet-tools.json",
    "elm.json",
    "flake.nix",
    "ivy.xml",
    "mix.exs",
    "module.bazel",
    "noxfile.py",
    "package.swift",
    "package.yaml",
    "package.json5",
    "paket.dependencies",
    "podfile",
    "project.clj",
    "project.toml",
    "pubspec.yaml",
    "rebar.config",
    "shard.yml",
    "shell.nix",
    "stack.yaml",
    "tox.toml",
    "vcpkg.json",
    "workspace.bazel",
    ".pnpmfile.cjs",
    ".yarnrc.yml",
];
/// The same by their endings; `Dockerfile.test` and `Package@swift-5.9.swift` by their beginnings.
const UNREAD_ENDINGS: &[&str] = &[".podspec", ".cabal", ".dockerfile", ".wrap", ".opam", ".rockspec"];
const UNREAD_BEGINNINGS: &[&str] = &["dockerfile.", "containerfile.", "package@swift"];

/// Whether the file is a list of constraints for pip, by its usual names.
pub(super) fn bounds_versions(path: &[u8]) -> bool {
    let name = file_name(path);
    let stem = name.strip_suffix(b".txt");
    stem.is_some_and(|stem| stem.starts_with(b"constraints") || stem.ends_with(b"constraints"))
}

/// Whether the file says what an image is made of, which no code of the folders below need be in.
pub(super) fn is_of_an_image(path: &[u8]) -> bool {
    let name = file_name(path);
    [b"dockerfile".as_slice(), b"containerfile"]
        .iter()
        .any(|kind| name.starts_with(kind))
        || name.ends_with(b".dockerfile")
}

/// Whether the file is a manifest that is not read.
pub(super) fn is_unread(path: &[u8]) -> bool {
    let name = file_name(path);
    UNREAD.iter().any(|known| known.as_bytes() == name)
        || UNREAD_ENDINGS.iter().any(|known| name.ends_with(known.as_bytes()))
        || UNREAD_BEGINNINGS.iter().any(|known| name.starts_with(known.as_bytes()))
}
