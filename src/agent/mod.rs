//! Which agent runs, and with what environment and home.

pub mod command;
pub mod environment;
pub mod home;
mod lookup;
pub mod settings;
