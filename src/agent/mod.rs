//! Which agent runs, and with what environment and home.

pub mod command;
pub mod environment;
pub mod home;
pub mod lookup;
pub mod settings;
