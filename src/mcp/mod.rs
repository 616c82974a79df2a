//! The Model Context Protocol, as far as a server of tools over a stream of lines speaks it.
//!
//! Invariant: nothing that a client sends ends the server. What is no message, names no method or no tool is
//! answered with an error, and a tool that is not this client's is absent from the list and unknown when called.
//! This floor only decodes, decides and encodes; lines come and go through `socket` and standard input.
//!
//! Both forms of the protocol are spoken: the handshake of the revisions up to 2025-11-25, and the requests that
//! carry their version with them of 2026-07-28 (<https://modelcontextprotocol.io/specification>). The official SDK
//! (`rmcp`) would be the choice of a project that can have an async runtime in its dependencies; the part that is
//! needed here is small, and the process that speaks it is the one that holds the job.

pub mod lines;
mod message;
pub mod session;
pub mod tools;

/// The revisions that begin with a handshake, the newest last.
pub const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision in which each request carries its version.
pub const STATELESS: &str = "2026-07-28";
/// The longest line in bytes that is read: the largest answer, each of its bytes as a `\u` escape.
pub const LONGEST: usize = 2 << 20;

/// The method by which the owner asks the connector to run a command of agentgate's at the agent's side, inside
/// the walls.
pub const RUN: &str = "agentgate/run";
