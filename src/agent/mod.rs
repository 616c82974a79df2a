//! Which agent runs, and with what environment and home.

pub mod command;
pub mod effective;
pub mod environment;
pub mod home;
mod input;
pub mod lookup;
pub mod profiles;
pub mod settings;
pub mod values;
