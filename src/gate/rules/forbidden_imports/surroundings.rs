//! What the files around one say about the names in it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{File, own_packages};
use crate::gate::imports::{Import, Language};
use crate::gate::manifests::CargoRenames;
use crate::gate::rules::Resolvers;
use crate::gate::rules::aliases::{self, Aliases};
use crate::gate::rules::composer_prefixes::ComposerPrefixes;
use crate::gate::rules::copies::Copies;
use crate::gate::rules::crate_names::CrateNames;
use crate::gate::rules::go_modules::GoModules;
use crate::gate::rules::outside::Outside;
use crate::gate::{Tree, Unreadable};

/// Of two trees; each part is read when a file of its language asks.
pub(super) struct Surroundings<'r, 'n, 't> {
    base: &'t dyn Tree,
    candidate: &'t dyn Tree,
    aliases: &'r mut Aliases<'n>,
    crates: CrateNames<'t>,
    modules: GoModules<'t>,
    prefixes: ComposerPrefixes<'t>,
    outside: Outside<'t>,
    copies: Copies,
    /// Python packages of the repository's own.
    own: Option<Rc<HashSet<String>>>,
}

impl<'r, 'n, 't> Surroundings<'r, 'n, 't> {
    pub(super) fn of(base: &'t dyn Tree, candidate: &'t dyn Tree, aliases: &'r mut Aliases<'n>) -> Self {
        Surroundings {
            base,
            candidate,
            aliases,
            crates: CrateNames::of(candidate),
            modules: GoModules::of(candidate),
            prefixes: ComposerPrefixes::of(candidate),
            outside: Outside::of(candidate),
            copies: Copies::default(),
            own: None,
        }
    }

    /// A file with what its imports may be besides what they say.
    pub(super) fn file<'f>(
        &mut self,
        (path, language): (&'f [u8], Language),
        found: &[Import],
        own_modules: &mut Resolvers,
    ) -> Result<File<'f>, Unreadable> {
        let own = match &self.own {
            Some(own) => own.clone(),
            // Other languages do not ask, and need not pay.
            None if language != Language::Python => Rc::default(),
            None => {
                let own = Rc::new(own_packages(self.base, self.candidate)?);
                self.own.insert(own).clone()
            }
        };
        let aliases = match language {
            Language::JavaScript => self.aliases.around(path)?,
            _ => Vec::new(),
        };
        let mut leads = match aliases.as_slice() {
            [] => HashMap::new(),
            around => aliases::leads(found, around, own_modules, path)?,
        };
        match language {
            Language::JavaScript => self.outside.leads(found, path, own_modules, &mut leads)?,
            Language::Go => self.modules.leads(found, path, &mut leads)?,
            Language::Ruby | Language::Php | Language::C => self.outside.paths(language, found, path, &mut leads)?,
            _ => {}
        }
        if language == Language::Php {
            self.prefixes.leads(found, path, &mut leads)?;
        }
        self.copies.leads(language, found, own_modules, &mut leads)?;
        Ok(File {
            path,
            language,
            own,
            aliases,
            leads,
            crates: match language {
                Language::Rust => self.crates.around(path)?,
                _ => CargoRenames::new(),
            },
        })
    }
}
