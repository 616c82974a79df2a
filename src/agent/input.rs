//! Where an agent takes its task from.

/// Where the task goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file, which `{task_file}` in the command names.
    File,
    /// The command line, where `{task}` stands.
    Argument,
}

impl Input {
    /// The words for it in a file.
    pub const WORDS: [&'static str; 3] = ["stdin", "file", "arg"];

    /// The meaning of one of [`Input::WORDS`].
    pub(super) fn parse(word: &str) -> Input {
        match word {
            "file" => Input::File,
            "arg" => Input::Argument,
            _ => Input::Stdin,
        }
    }

    /// What a command's placeholders say.
    pub fn of(words: &[String]) -> Input {
        let has = |name: &str| words.iter().skip(1).any(|word| word.contains(name));
        match (has("{task}"), has("{task_file}")) {
            (true, _) => Input::Argument,
            (false, true) => Input::File,
            (false, false) => Input::Stdin,
        }
    }

    /// Whether a command takes the task there; else what is wrong with it, and what to do.
    pub(super) fn agrees_with(self, words: &[String]) -> Result<(), (&'static str, &'static str)> {
        match (self, Input::of(words)) {
            (wanted, found) if wanted == found => Ok(()),
            (Input::File, Input::Stdin) => Err((
                "does not say where the task's path goes",
                "write {task_file} there, or leave `input: file` out",
            )),
            (Input::Argument, Input::Stdin) => Err((
                "does not say where the task's text goes",
                "write {task} there, or leave `input: arg` out",
            )),
            _ => Err((
                "takes the task elsewhere than `input` says",
                "stdin: neither placeholder; file: {task_file}; arg: {task}",
            )),
        }
    }
}
