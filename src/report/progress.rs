//! Progress on standard error: one line a step, and on a terminal a moving line while the agent
//! is at work.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::commands::Watch;
use crate::process::terminal_is_gone;

use super::stderr;

/// A [`Watch`] on standard error.
pub struct Terminal {
    moving: bool,
    bar: RefCell<Option<ProgressBar>>,
}

impl Terminal {
    /// With `verbose` the agent's own output is there instead of the moving line.
    pub fn new(verbose: bool) -> Terminal {
        Terminal {
            moving: std::io::stderr().is_terminal() && !verbose,
            bar: RefCell::new(None),
        }
    }
}

impl Watch for Terminal {
    fn step(&self, text: &str) {
        stderr(&format!("agentgate: {text}\n"));
    }

    fn agent(&self, elapsed: Duration, last_line: &str) {
        if !self.moving {
            return;
        }
        let mut bar = self.bar.borrow_mut();
        if terminal_is_gone(std::io::stderr()) {
            // Dropped as it is, it would be drawn once more.
            if let Some(bar) = bar.take() {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
            return;
        }
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_prefix(format!("agent {}s", elapsed.as_secs()));
        bar.set_message(last_line.to_owned());
        bar.tick();
    }

    fn settled(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            if terminal_is_gone(std::io::stderr()) {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
            bar.finish_and_clear();
        }
    }
}
