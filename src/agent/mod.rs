//! Which agent runs, and with what environment.

pub mod command;
pub mod environment;
mod lookup;
pub mod settings;
