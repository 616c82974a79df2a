//! What a person says to a job that waits for one, and whether the job can hear it.

use std::path::Path;

use anyhow::Result;

use crate::commands::remains::{Edits, Verb};
use crate::commands::{Surroundings, drop, remains, typed};
use crate::exit::{Exit, Stop};
use crate::files;
use crate::gate::credentials::search;
use crate::git::repo::Checkout;
use crate::job::answer::MAX;
use crate::job::{Created, PersonsVerdict};
use crate::store::Owner;

/// What a person says.
#[derive(Clone, Debug)]
pub struct Persons {
    /// What it comes to.
    pub verdict: PersonsVerdict,
    /// The words, which every role that is called from now on gets.
    pub words: Vec<u8>,
}

impl Persons {
    /// Of `answer`'s options: a file with words, or the approval.
    ///
    /// # Errors
    /// Exit 64 for a file that cannot be read, is empty or holds a credential.
    pub fn of(here: &Surroundings, file: Option<&Path>) -> Result<Persons> {
        let Some(given) = file else {
            return Ok(Persons {
                verdict: PersonsVerdict::Approve,
                words: b"approved as it is\n".to_vec(),
            });
        };
        let bad = |what: String| Stop::new(Exit::Usage, format!("--file {}: {what}", given.display()));
        // Through links, as any editor goes; but a pipe would be waited for, and a device never ends.
        let real = std::fs::canonicalize(here.cwd.join(given));
        let words = real.and_then(|real| files::read_small(&real, MAX)).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::FileTooLarge => "shorten it",
                _ => "write what is to be done into a text file",
            };
            bad(error.to_string()).hint(hint)
        })?;
        if std::str::from_utf8(&words).map_or(true, |text| text.trim().is_empty()) {
            return Err(bad("no text".to_owned())
                .hint("write what is to be done into it")
                .into());
        }
        if let Some(hit) = search(&words).first() {
            return Err(bad(format!("line {} holds a credential ({})", hit.line, hit.rule))
                .hint("agents read it, and it goes into the record: name where the secret is instead")
                .into());
        }
        Ok(Persons {
            verdict: PersonsVerdict::GoOn,
            words,
        })
    }
}

/// Refuses an answer to a job that did not ask, that has nothing to approve, or whose worktree holds edits that
/// going on would lose.
pub(super) fn must_wait(checkout: &Checkout, owner: &Owner, created: &Created, answer: &Persons) -> Result<()> {
    let (id, state) = (&owner.folder.id, &owner.state);
    let agentgate = typed(checkout);
    let quoted = shell_words::quote(id);
    if state.ended != Some(Exit::NeedsHuman) || state.dropped {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} asks nothing: {}", drop::words(state)),
        )
        .hint(format!("{agentgate} log {quoted} shows what it did"))
        .into());
    }
    if answer.verdict == PersonsVerdict::Approve && (state.gate != Some(0) || state.frozen.is_none()) {
        return Err(Stop::new(
            Exit::WrongState,
            format!("job {id} has no candidate that passed the gate, so there is nothing to approve"),
        )
        .hint(format!(
            "{agentgate} answer {quoted} --file ANSWER.md says what is to be done"
        ))
        .into());
    }
    let edits = Edits::Refuse(Verb::Answer);
    remains::of(checkout, state, created, id).must_be_removable(checkout, state, created, id, edits)?;
    Ok(())
}
