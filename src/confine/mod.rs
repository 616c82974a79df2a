//! What keeps the agent's writes inside its own folders: the kernel, in layers.
//!
//! `layers` names them, `probe` finds out which this machine offers and why one is missing, `plan`
//! says what one process may do. The layers are applied by the stub (`process::stub`) in the process that
//! becomes the agent: first the namespaces, then the mounts, then Landlock, and last the capabilities go.

mod filter;
mod landlock;
mod layers;
mod mounts;
mod namespaces;
mod plan;
mod probe;
pub mod sys;
mod wish;

pub use layers::{Layers, Pids};
pub use namespaces::give_up_capabilities;
pub use plan::Plan;
pub use probe::{Answer, Probe, Refused};
pub use wish::{Mode, Network};

use std::io;
use std::path::Path;

/// Devices that stay usable.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];
/// Where pseudo-terminals appear.
const TERMINALS: &[&str] = &["/dev/pts"];
/// POSIX shared memory and semaphores.
const SHM: &str = "/dev/shm";

/// Enters the namespaces that a plan asks for. What this process starts next is the first process of
/// the new PID namespace.
pub fn enter_namespaces(plan: &Plan) -> io::Result<()> {
    plan.layers.pids.map_or(Ok(()), namespaces::enter)
}

/// Applies the mounts, or where the plan has none, gives the PID namespace a `/proc` of its own. To be
/// called in the first process of the new PID namespace.
pub fn apply_mounts(plan: &Plan) -> io::Result<()> {
    if plan.layers.mounts {
        mounts::apply(plan)
    } else if plan.layers.pids.is_some() {
        mounts::only_proc();
        Ok(())
    } else {
        Ok(())
    }
}

/// Applies Landlock, takes all capabilities away, and filters what a missing layer would refuse: the last
/// thing before the program is executed.
pub fn lock(plan: &Plan) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    // The person's session keyring is inherited. Where the call is refused or missing, so it is for the agent.
    let _ = sys::join_new_session_keyring();
    if let Some(abi) = plan.layers.landlock {
        let mut devices: Vec<&Path> = DEVICES.iter().map(Path::new).collect();
        let shm = Path::new(SHM);
        let mut folders = plan.writable.clone();
        if plan.leaves_memory_folder() && shm.is_dir() {
            folders.push(shm.to_owned());
        }
        devices.retain(|device| device.exists());
        let terminals: Vec<&Path> = TERMINALS.iter().map(Path::new).collect();
        // The mounts hide them, and then the folders around them can be listed.
        let hidden = if plan.layers.mounts {
            Vec::new()
        } else {
            plan.hidden.iter().cloned().chain(landlock::raw_devices()).collect()
        };
        landlock::restrict(
            abi,
            &landlock::Rules {
                folders: &folders,
                devices: &devices,
                terminals: &terminals,
                hidden: &hidden,
                needed: &plan.needed,
                network: &plan.network,
            },
        )?;
    }
    give_up_capabilities()?;
    let refusals = filter::Refusals {
        user_namespaces: plan.layers.landlock.is_none(),
        limits_of_others: plan.layers.pids.is_none(),
        keyrings: plan.layers.pids != Some(Pids::User),
        tcp_by_another_door: plan.network != Network::Allow,
    };
    if refusals.any() {
        filter::apply(refusals)?;
    }
    Ok(())
}
