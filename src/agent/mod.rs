//! Which agent runs, and with what environment.

pub mod command;
pub mod environment;
pub mod lookup;
pub mod settings;
