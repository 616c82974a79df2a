//! Imports of a PHP file: `use`, names that need none, and `include`.
//!
//! A name is a reference when the file alone tells what it is: with a leading backslash, resolved
//! through an alias of `use`, or qualified in a file without a namespace. `Predis\Client` in
//! `namespace App` is `App\Predis\Client`, an [`ImportKind::Relative`]. A trait's `use` in a class is a name
//! like others. An unqualified name is none, since `use` has told of it; but a class's name is, of the global
//! namespace or the file's own, see [`globals`].
//!
//! A class's name in a string counts where a function that asks for a class gets it
//! (`class_exists('Predis\Client')`, `new ReflectionClass`), or where `::` follows it, or in a file that
//! makes an object of a variable, see [`made`]. Any other string that is written like a qualified name is an
//! [`ImportKind::Text`].
//!
//! `include` and `require` with a literal path name the package when it leads into
//! `vendor/<organisation>/<package>/`; else, since the server looks through its `include_path`, the
//! first folder of a path that does not begin at a place (`'Predis/Autoloader.php'`). A path from
//! `__DIR__` is the repository's own. Any other is opaque, and each string in it counts.
//!
//! `<?` alone begins PHP or not by the server's settings: a file that has it is read both ways. Not
//! seen: code in strings (`eval`), tags that PHP 7 has dropped (`<%`, `<script language="php">`).

pub(super) mod blade;
mod globals;
mod includes;
mod made;
mod mask;
mod names;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::ImportKind;
use super::literal_cursor::{Cursor, Kind, Token};
use super::source::{Fault, Found};
use mask::ShortTags;

/// Every import, in no particular order.
pub fn scan(source: &[u8]) -> Result<Vec<Found>, Fault> {
    let off = mask::mask(source, ShortTags::Off);
    if let Ok(masked) = &off
        && !masked.has_short_tags
    {
        return scan_mask(source, &masked.mask);
    }
    // A reading that PHP would refuse as well leaves the other one.
    let on = mask::mask(source, ShortTags::On);
    match (off, on) {
        (Ok(off), Ok(on)) => {
            let mut found = scan_mask(source, &off.mask)?;
            found.extend(scan_mask(source, &on.mask)?);
            Ok(found)
        }
        (Ok(masked), Err(_)) => scan_mask(source, &masked.mask),
        (Err(fault), Ok(masked)) if !masked.has_short_tags => Err(fault),
        (Err(_), Ok(masked)) => scan_mask(source, &masked.mask),
        (Err(fault), Err(_)) => Err(fault),
    }
}

fn scan_mask(source: &[u8], mask: &[u8]) -> Result<Vec<Found>, Fault> {
    let mut scanner = Scanner {
        source,
        cursor: Cursor::new(mask),
        found: Vec::new(),
        before: [Token::NONE; 3],
        braces: 0,
        parens: 0,
        class: None,
        classes: Vec::new(),
        has_namespace: false,
        namespace: Rc::default(),
        outer: 0,
        aliases: HashMap::new(),
        globals: Vec::new(),
        declared: HashSet::new(),
        include: None,
        made: made::Made::default(),
        budget: BUDGET,
    };
    scanner.run()?;
    scanner.settle_globals()?;
    scanner.settle_made();
    Ok(scanner.found)
}

/// What all names of a file may take, in bytes: an alias or the prefix of a group stands for more
/// than is written, so a small file could name gigabytes.
const BUDGET: usize = 256 << 20;

struct Scanner<'a> {
    source: &'a [u8],
    cursor: Cursor<'a>,
    found: Vec<Found>,
    /// The last tokens, without line breaks.
    before: [Token; 3],
    braces: usize,
    parens: usize,
    /// After `class`, how many parentheses are open around it.
    class: Option<usize>,
    /// Of each class whose body is open, how many braces are open in it.
    classes: Vec<usize>,
    has_namespace: bool,
    /// Its segments; none for the global one.
    namespace: Rc<[String]>,
    /// Braces that are open where the namespace's own declarations stand.
    outer: usize,
    /// From an alias in lower case to the segments that it stands for.
    aliases: HashMap<Vec<u8>, Vec<String>>,
    /// Names of one word that stand for a class of the namespace.
    globals: Vec<(Token, Rc<[String]>)>,
    /// Classes that the file declares in a namespace, in lower case.
    declared: HashSet<(Rc<[String]>, Vec<u8>)>,
    include: Option<includes::Include>,
    made: made::Made,
    budget: usize,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            let token = self.cursor.next_over_lines();
            self.end_include(token);
            match token.kind {
                Kind::End => return Ok(()),
                Kind::Word => self.word(token)?,
                Kind::Text => self.text(token),
                Kind::Punct(b'\\') => self.rooted(token)?,
                Kind::Punct(b':') => self.member_of_variable(),
                Kind::Punct(b'(') => self.parens += 1,
                Kind::Punct(b')') => {
                    self.parens = self.parens.saturating_sub(1);
                    if self.class.is_some_and(|parens| parens > self.parens) {
                        self.class = None;
                    }
                }
                Kind::Punct(b'{') => {
                    self.braces += 1;
                    if self.class == Some(self.parens) {
                        self.class = None;
                        self.classes.push(self.braces);
                    }
                }
                Kind::Punct(b'}') => {
                    if self.classes.last() == Some(&self.braces) {
                        self.classes.pop();
                    }
                    self.braces = self.braces.saturating_sub(1);
                }
                Kind::Punct(b';') if self.class == Some(self.parens) => self.class = None,
                _ => {}
            }
            self.see_include(token);
            self.before = [token, self.before[0], self.before[1]];
        }
    }

    /// Whether what comes next is a member, a variable or a declared name and no keyword.
    fn is_member(&self, token: Token) -> bool {
        let [one, two, _] = self.before;
        match one.kind {
            Kind::Punct(b'$') => one.end == token.start,
            Kind::Punct(b'>') => two.is(b'-'),
            Kind::Punct(b':') => two.is(b':') && two.end == one.start,
            Kind::Word => [&b"function"[..], b"const"].iter().any(|word| self.is(one, word)),
            _ => false,
        }
    }

    /// Whether the token is this word, letter case ignored.
    fn is(&self, token: Token, word: &[u8]) -> bool {
        token.kind == Kind::Word && self.cursor.bytes(token).eq_ignore_ascii_case(word)
    }

    fn word(&mut self, token: Token) -> Result<(), Fault> {
        let word = self.cursor.bytes(token);
        let next = self.cursor.peek_over_lines();
        let is_qualified = next.is(b'\\') && (next.start == token.end || !names::comes_before_name(word));
        if !is_qualified && !self.is_member(token) {
            self.global_class(token);
        }
        if word.len() < 3 || word.len() > 24 || self.is_member(token) {
            return if is_qualified { self.qualified(token) } else { Ok(()) };
        }
        let lower = word.to_ascii_lowercase();
        match lower.as_slice() {
            b"namespace" => return self.namespace(),
            b"use" if !self.cursor.peek_over_lines().is(b'(') => {
                if self.classes.last() != Some(&self.braces) {
                    return self.use_statement();
                }
            }
            b"class" | b"trait" | b"interface" => {
                self.declared_class();
                self.class = Some(self.parens);
            }
            b"enum" if self.cursor.peek_over_lines().kind == Kind::Word => {
                self.declared_class();
                self.class = Some(self.parens);
            }
            b"include" | b"include_once" | b"require" | b"require_once" => self.begin_include(token),
            _ if is_qualified => return self.qualified(token),
            name => {
                if name == b"new" {
                    self.made_of_variable(token);
                }
                self.asks_for_class(name);
            }
        }
        Ok(())
    }

    fn push(&mut self, raw: String, identity: Vec<String>, kind: ImportKind, at: usize) -> Result<(), Fault> {
        let size = raw.len() + identity.iter().map(|segment| segment.len() + 64).sum::<usize>() + 64;
        self.budget = self.budget.checked_sub(size).ok_or(Fault {
            why: "has names that stand for more than is read",
            at,
        })?;
        self.found.push(Found {
            raw,
            identity,
            kind,
            at,
        });
        Ok(())
    }

    fn opaque(&mut self, at: usize) {
        self.found.push(Found {
            raw: String::new(),
            identity: Vec::new(),
            kind: ImportKind::Opaque,
            at,
        });
    }
}
