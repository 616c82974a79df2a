//! Which agent runs, and with what environment.

pub mod command;
pub mod effective;
pub mod environment;
mod input;
mod lookup;
pub mod profiles;
pub mod settings;
pub mod values;
