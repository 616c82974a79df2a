//! What the integration tests have too.
#![allow(dead_code, missing_docs, reason = "each test binary uses a part of it")]

#[path = "../it/support/jobs.rs"]
pub mod jobs;
#[path = "../it/support/person.rs"]
pub mod person;
#[path = "../it/support/program.rs"]
pub mod program;
#[path = "../it/support/proof.rs"]
pub mod proof;
#[path = "../it/support/repo.rs"]
pub mod repo;
#[path = "../it/support/scene.rs"]
pub mod scene;
