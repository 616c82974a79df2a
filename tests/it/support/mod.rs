//! What several test files share.

pub mod hints;
pub mod jobs;
pub mod memtree;
pub mod model;
pub mod person;
pub mod print;
pub mod program;
pub mod proof;
pub mod python;
pub mod repo;
pub mod scene;
pub mod tokens;
