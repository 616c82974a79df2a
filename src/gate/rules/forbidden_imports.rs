//! Imports that an area must not have (exit 5).
//!
//! What counts as the repository's own module is taken from what base and candidate share: an
//! agent that adds an empty `redis/` folder must not turn `import redis` into a local import.

mod computed;
mod entries;
mod followed;
mod loads;
mod remapped;
mod sources;
mod strays;
mod surroundings;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use followed::Followed;
use sources::Loaded;
pub(in crate::gate) use sources::resolve as follow_link;
pub(in crate::gate) use strays::{is_told_elsewhere, may_be_loaded_as_another};
use surroundings::Surroundings;

use super::aliases::{self, Aliases};
use super::crate_names;
use super::{Resolvers, finding, shown};
use crate::gate::imports::{self, Import, ImportKind, Language, Within};
use crate::gate::manifests::CargoRenames;
use crate::gate::policy::{Area, ImportRule, Stance};
use crate::gate::resolve::Target;
use crate::gate::survey::Survey;
use crate::gate::tree::Side;
use crate::gate::{Change, Finding, GateError, Kind, POLICY_PATH, Policy, Rule, Tree, Unreadable, Verdict};

/// Source files above this many bytes are not read: nobody reviews them either.
const MAX_SOURCE: u64 = 10 * 1024 * 1024;

/// As what a template is read for what browsers load.
const PAGE: &[u8] = b".html";

/// A changed source file as it was read: each is read once, for all rules that look at imports.
pub(super) struct Scanned<'a> {
    /// Where it is source.
    pub(super) path: Vec<u8>,
    pub(super) language: Language,
    /// The areas whose import rules cover it.
    pub(super) areas: Vec<&'a Area>,
    found: Vec<Import>,
    known: Known<'a>,
    leads: HashMap<String, Vec<Import>>,
}

impl Scanned<'_> {
    /// What else this import may load, by package.json and tsconfig.
    pub(super) fn leads(&self, import: &Import) -> &[Import] {
        self.leads.get(&import.raw).map_or(&[], Vec::as_slice)
    }

    /// The imports that rules look at: with `existing: allow` not those that the base has there.
    pub(super) fn new_imports(&self) -> Result<Vec<&Import>, Unreadable> {
        let mut new = Vec::new();
        for import in self.found.iter().filter(|import| import.kind != ImportKind::Opaque) {
            if !self.known.has(import)? {
                new.push(import);
            }
        }
        Ok(new)
    }
}

/// The imports that a file had in the base, where they do not count. The base's version is read when the first import
/// would be a finding: most changes bring none.
struct Known<'a> {
    base: &'a dyn Tree,
    /// As what it is read.
    path: Vec<u8>,
    /// `None` where all imports count.
    before: Option<Side>,
    language: Language,
    read: OnceCell<Earlier>,
}

/// The imports of a base version, and what makes each of them known.
struct Earlier {
    found: Vec<Import>,
    spellings: HashSet<Spelling>,
}

type Spelling = (String, Vec<String>, bool, Option<Arc<Within>>);

impl Known<'_> {
    fn has(&self, import: &Import) -> Result<bool, Unreadable> {
        Ok(self.before.is_some() && self.earlier()?.spellings.contains(&spelling(import)))
    }

    fn earlier(&self) -> Result<&Earlier, Unreadable> {
        if let Some(earlier) = self.read.get() {
            return Ok(earlier);
        }
        let found = match &self.before {
            // A base version that cannot be read has no known imports: all of them are new.
            Some(before) => read(self.base, &self.path, before, self.language)?.unwrap_or_default(),
            None => Vec::new(),
        };
        let spellings = found.iter().map(spelling).collect();
        Ok(self.read.get_or_init(|| Earlier { found, spellings }))
    }
}

/// Every import of every changed source file that an area's `forbidden_imports` names. What was read
/// is given back.
pub(super) fn judge<'p>(
    policy: &'p Policy,
    own_modules: &mut Resolvers<'p>,
    aliases: &mut Aliases,
    changes: &[Change],
    survey: &Survey,
    verdict: &mut Verdict,
) -> Result<Vec<Scanned<'p>>, GateError> {
    let (base, candidate) = (own_modules.base_tree, own_modules.candidate_tree);
    let mut scanned = Vec::new();
    let mut around = Surroundings::of(base, candidate, aliases);
    let (sources, mut bare) = sources::of(policy, candidate, changes, survey, verdict)?;
    let mut sources = VecDeque::from(sources);
    let mut followed = Followed::default();
    for source in strays::of(policy, own_modules, &mut around, (changes, survey), verdict)? {
        if followed.is_new(&source.path, source.language) {
            bare.retain(|other| other.path != source.path);
            sources.push_back(source);
        }
    }
    for source in remapped::of(policy, own_modules, &mut around, changes)? {
        if source.only.is_some() || followed.is_new(&source.path, source.language) {
            sources.push_back(source);
        }
    }
    while let Some(source) = sources.pop_front() {
        let (after, before, language) = (source.after, source.before, source.language);
        let (path, areas, loaded) = (source.path, source.areas, source.loaded);
        if policy.existing == Stance::Allow
            && source.only.is_none()
            && before.is_some_and(|before| before.id == after.id)
        {
            verdict.inspected.skip(&path, "content as in the base");
            continue;
        }
        // What loads a template as source takes all of it for code.
        let is_page = loaded == Loaded::Page;
        let is_whole = loaded != Loaded::No && imports::is_template(&path) && !is_page;
        let seen = match is_whole || is_page {
            true => None,
            false => survey.imports(&path, &after.id, language),
        };
        let read_as = match (is_whole, is_page) {
            (true, _) => &b""[..],
            (_, true) => PAGE,
            _ => &path,
        };
        let found = match seen {
            Some(seen) => seen,
            None => read(candidate, read_as, &after, language)?,
        };
        let found = match found {
            Ok(mut found) if let Some(only) = &source.only => {
                found.retain(|import| only.contains(&import.raw));
                found
            }
            // A stylesheet that a bundler's `require` takes: none of its imports is a module's.
            Ok(mut found) if loaded != Loaded::No && is_style(&path) => {
                found.retain(|import| import.kind != ImportKind::Static);
                found
            }
            Ok(found) => found,
            Err(_) if loaded == Loaded::Perhaps && language == Language::JavaScript => {
                verdict.inspected.skip(&path, "no JavaScript, although it is imported");
                continue;
            }
            // A bundler may be told to take it for an image; node would not get past its first bytes.
            Err(opaque)
                if loaded != Loaded::No
                    && language == Language::JavaScript
                    && followed::is_no_script(candidate, &after.id)? =>
            {
                verdict.inspected.skip(&path, "no JavaScript, although it is required");
                verdict.notices.push(format!(
                    "{}: is required like JavaScript and cannot be read as such ({}); no rule looked at its imports",
                    shown(&path),
                    opaque.why
                ));
                continue;
            }
            Err(opaque) => {
                let judged_by = match areas.first() {
                    Some(area) => area.import_key().unwrap_or_default(),
                    None => computed::KEY.to_owned(),
                };
                verdict.inspected.skip(&path, "unreadable, which is a finding");
                let mut finding = finding(
                    Rule::Uninspectable,
                    &path,
                    &judged_by,
                    format!("its imports cannot be read: {}", opaque.why),
                    "make the file plain source text that a person can review".into(),
                );
                finding.line = opaque.line;
                verdict.findings.push(finding);
                continue;
            }
        };
        if imports::is_package_manifest(&path) && found.is_empty() {
            verdict.inspected.skip(&path, "no source file");
            continue;
        }
        if policy.dynamic_imports == Stance::Deny || areas.iter().any(|area| area.speaks_of(&path, language)) {
            verdict.inspected.read(&path, language, found.len());
        } else {
            verdict
                .inspected
                .skip(&path, "excepted from every entry, or of a language that none names");
        }
        if language == Language::JavaScript && !bare.is_empty() {
            // What node is told to load without an ending, it reads as JavaScript.
            for import in found.iter().filter(|import| import.raw.starts_with('.')) {
                if let Target::Local(places) = own_modules.candidate.resolve(language, import, &path)? {
                    sources.extend(bare.extract_if(.., |source| places.contains(&source.path)));
                }
            }
        }
        let known = Known {
            base,
            path: match is_page {
                true => PAGE.to_vec(),
                false => path.clone(),
            },
            before: before.filter(|_| policy.existing == Stance::Allow),
            language,
            read: OnceCell::new(),
        };
        sources.extend(followed.by(
            policy,
            own_modules,
            (&path, language, &areas),
            (&found, &known),
            verdict,
        )?);
        if language == Language::Ruby {
            loads::judge(own_modules, (&path, &areas), (&found, &known), &mut verdict.findings)?;
        }
        let file = around.file((&path, language), &found, own_modules)?;
        for area in &areas {
            file.judge(area, &found, &known, own_modules, verdict)?;
        }
        let leads = file.leads;
        let earlier = || Ok((base, known.before, known.earlier()?.found.as_slice()));
        computed::judge(policy, &path, (candidate, after, &found), earlier, verdict)?;
        // Only these look at them again.
        if !areas
            .iter()
            .any(|area| area.may_depend_on.is_some() || area.allowed_imports.is_some())
        {
            continue;
        }
        scanned.push(Scanned {
            path,
            language,
            areas,
            found,
            known,
            leads,
        });
    }
    for source in bare {
        verdict.inspected.skip(&source.path, "no source file");
    }
    Ok(scanned)
}

/// Whether any import rule covers the file.
pub(in crate::gate) fn reads_imports(policy: &Policy, path: &[u8]) -> bool {
    policy.dynamic_imports == Stance::Deny || policy.areas.iter().any(|area| reads(area, path))
}

/// Whether the area's import rules cover the file. Case twins of a root count: on a case-folding
/// disk they are the root.
fn reads(area: &Area, path: &[u8]) -> bool {
    area.reads_imports() && (area.allowed_roots.is_empty() || area.covers(path))
}

fn read(
    tree: &dyn Tree,
    path: &[u8],
    side: &Side,
    language: Language,
) -> Result<Result<Vec<Import>, imports::Opaque>, Unreadable> {
    let size = tree.blob_size(&side.id)?;
    if size > MAX_SOURCE {
        let why = format!("{size} bytes, more than the {MAX_SOURCE} that are read");
        return Ok(Err(imports::Opaque { why, line: None }));
    }
    Ok(imports::imports_at(path, language, &tree.blob(&side.id)?))
}

fn is_style(path: &[u8]) -> bool {
    let name = path.to_ascii_lowercase();
    [&b".css"[..], b".scss", b".sass", b".less", b".styl"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// What makes two imports the same one. A type that becomes a value is another import.
fn spelling(import: &Import) -> Spelling {
    (
        import.raw.clone(),
        import.identity.clone(),
        import.kind == ImportKind::TypeOnly,
        import.within.clone(),
    )
}

struct File<'a> {
    path: &'a [u8],
    language: Language,
    own: Rc<HashSet<String>>,
    aliases: Vec<aliases::Names>,
    leads: HashMap<String, Vec<Import>>,
    crates: CargoRenames,
}

impl File<'_> {
    /// One finding an entry and line.
    fn judge(
        &self,
        area: &Area,
        found: &[Import],
        known: &Known,
        own_modules: &mut Resolvers,
        verdict: &mut Verdict,
    ) -> Result<(), Unreadable> {
        let copies: Vec<bool> = found.iter().map(|import| self.may_be_copy(import)).collect();
        for rule in &area.forbidden_imports {
            if !rule.covers(self.path, self.language) {
                continue;
            }
            let mut lines = HashSet::new();
            for (import, may_be_copy) in found.iter().zip(&copies) {
                if import.kind == ImportKind::Opaque {
                    continue;
                }
                let is_copy = *may_be_copy && self.is_copy(&rule.entry, import);
                let answer = match self.named(&rule.entry, import) {
                    Answer::Other if !is_copy => continue,
                    _ if known.has(import)? => continue,
                    // A copy is not the repository's own, wherever it lies.
                    _ if is_copy => Answer::Forbidden,
                    Answer::Forbidden if self.is_own(&rule.entry, import, own_modules)? => Answer::Own,
                    answer => answer,
                };
                match answer {
                    Answer::Forbidden if lines.insert(import.line) => {
                        verdict.findings.push(self.finding(area, rule, import));
                    }
                    Answer::Own => verdict.notices.push(format!(
                        "{}: {} is taken for this repository's own package, which {} of {} does not name",
                        shown(self.path),
                        shown(import.raw.as_bytes()),
                        shown(rule.entry.as_bytes()),
                        rule.key,
                    )),
                    Answer::Forbidden | Answer::Other => {}
                }
            }
        }
        Ok(())
    }

    /// Whether all that the entry names of an import is the repository's own. In Python an entry with
    /// dots may name an own module on purpose, and an npm alias is another package than it seems.
    fn is_own(&self, entry: &str, import: &Import, own_modules: &mut Resolvers) -> Result<bool, Unreadable> {
        match self.language {
            Language::Python if entry.contains('.') || import.identity.is_empty() => Ok(false),
            Language::JavaScript => {
                let mut is_own = false;
                for import in self.all(import) {
                    if imports::matches(entry, self.language, import) {
                        is_own = own_modules.own(self.language, import, self.path)?;
                    } else if self.is_alias(entry, import) {
                        is_own = false;
                    } else {
                        continue;
                    }
                    if !is_own {
                        break;
                    }
                }
                Ok(is_own)
            }
            Language::CSharp => own_modules.goes_first(
                self.language,
                &imports::as_matched(entry, self.language, import),
                self.path,
            ),
            // A path out of the repository leads to nothing of its own.
            Language::Ruby | Language::Php | Language::C if !imports::matches(entry, self.language, import) => {
                Ok(false)
            }
            _ => own_modules.goes_first(self.language, import, self.path),
        }
    }

    /// The import and what else it may load.
    fn all<'s>(&'s self, import: &'s Import) -> impl Iterator<Item = &'s Import> {
        std::iter::once(import).chain(self.leads.get(&import.raw).into_iter().flatten())
    }

    /// The packages that an import may be, by what manifests and tsconfigs say.
    fn meanings(&self, import: &Import) -> BTreeSet<Vec<String>> {
        (self.leads.get(&import.raw).into_iter().flatten().cloned())
            .chain(aliases::resolved(import, &self.aliases))
            .chain(crate_names::resolved(import, &self.crates))
            .map(|import| import.identity)
            .collect()
    }

    fn is_alias(&self, entry: &str, import: &Import) -> bool {
        (aliases::resolved(import, &self.aliases).iter()).any(|import| imports::matches(entry, self.language, import))
    }

    fn finding(&self, area: &Area, rule: &ImportRule, import: &Import) -> Finding {
        let (raw, entry) = (shown(import.raw.as_bytes()), shown(rule.entry.as_bytes()));
        let verb = match import.kind {
            ImportKind::Declared => "declares itself a part of",
            _ => "imports",
        };
        Finding {
            line: Some(import.line),
            column: Some(import.column),
            ..finding(
                Rule::ForbiddenImport,
                self.path,
                &rule.key,
                format!(
                    "{}{}",
                    match raw == entry {
                        true => format!("{verb} {raw}, which is forbidden in {}", area.name),
                        false => format!("{verb} {raw}, which {entry} forbids in {}", area.name),
                    },
                    match &rule.reason {
                        Some(reason) => format!(": {}", plain(reason)),
                        None => String::new(),
                    },
                ),
                match &rule.use_instead {
                    Some(instead) => format!(
                        "use {} instead, or ask an owner of {POLICY_PATH} to allow {entry} in {}",
                        plain(instead),
                        area.name
                    ),
                    None => format!(
                        "remove the import, or ask an owner of {POLICY_PATH} to allow {entry} in {}",
                        area.name
                    ),
                },
            )
        }
    }

    /// What an entry says about an import by its name or as a path to a copy.
    fn answer(&self, entry: &str, import: &Import) -> Answer {
        match self.may_be_copy(import) && self.is_copy(entry, import) {
            true => Answer::Forbidden,
            false => self.named(entry, import),
        }
    }

    fn may_be_copy(&self, import: &Import) -> bool {
        self.all(import).any(imports::may_be_copy)
    }

    fn is_copy(&self, entry: &str, import: &Import) -> bool {
        self.all(import)
            .any(|import| imports::copied(entry, self.language, import))
    }

    fn named(&self, entry: &str, import: &Import) -> Answer {
        let matched = match (self.language, import.first_segment()) {
            (Language::Python, None) => imports::matches_relative(entry, &String::from_utf8_lossy(self.path), import),
            // A bare entry names a package from outside; one with dots may name an own module.
            (Language::Python, Some(first)) if !entry.contains('.') && self.own.contains(first) => {
                return match imports::matches(entry, self.language, import) {
                    true => Answer::Own,
                    false => Answer::Other,
                };
            }
            (Language::Python, Some(_)) => imports::matches(entry, self.language, import),
            (Language::JavaScript, _) => self
                .all(import)
                .any(|import| imports::matches(entry, self.language, import) || self.is_alias(entry, import)),
            (Language::Rust, _) => {
                imports::matches(entry, self.language, import)
                    || crate_names::resolved(import, &self.crates)
                        .iter()
                        .any(|import| imports::matches(entry, self.language, import))
            }
            (_, _) => self
                .all(import)
                .any(|import| imports::matches(entry, self.language, import)),
        };
        if matched { Answer::Forbidden } else { Answer::Other }
    }
}

/// Words of the policy's owner as part of a line, escaped without quotes.
pub(in crate::gate) fn plain(words: &str) -> String {
    let shown = shown(words.as_bytes());
    shown.trim_matches('`').to_owned()
}

/// What an entry says about an import.
enum Answer {
    Forbidden,
    /// It would match, but the repository has such a package itself: said aloud, since a person
    /// may have meant that one.
    Own,
    Other,
}

/// First segments of Python imports that are the repository's own: modules and packages in the
/// root and in `src/`, in both trees. A folder without `__init__.py` is none: an installed package of
/// its name goes first.
fn own_packages(base: &dyn Tree, candidate: &dyn Tree) -> Result<HashSet<String>, Unreadable> {
    let after = packages(candidate)?;
    Ok(packages(base)?
        .into_iter()
        .filter(|name| after.contains(name))
        .collect())
}

fn packages(tree: &dyn Tree) -> Result<HashSet<String>, Unreadable> {
    let mut names = HashSet::new();
    let root = tree.folder(&tree.root())?;
    let src = root
        .items()
        .find(|entry| entry.name == b"src" && entry.kind == Kind::Tree)
        .map(|entry| entry.id());
    let below = src.map_or(Ok(Rc::default()), |id| tree.folder(&id))?;
    for entry in root.items().chain(below.items()) {
        let Ok(name) = String::from_utf8(entry.name.to_vec()) else {
            continue;
        };
        match entry.kind {
            Kind::Tree
                if tree.folder(&entry.id())?.items().any(|inner| {
                    inner.name == b"__init__.py" && matches!(inner.kind, Kind::File | Kind::Executable)
                }) =>
            {
                names.insert(name);
            }
            Kind::File | Kind::Executable => names.extend(module_stem(name.as_bytes())),
            _ => {}
        }
    }
    Ok(names)
}

/// `x` of `x.py`; a stub alone is no module.
fn module_stem(name: &[u8]) -> Option<String> {
    let stem = name.strip_suffix(b".py")?;
    String::from_utf8(stem.to_vec()).ok()
}
