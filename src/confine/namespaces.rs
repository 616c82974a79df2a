//! Namespaces for mounts and processes, and the end of all capabilities.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets};

use super::layers::Pids;
use super::sys;

const MOUNTS_AND_PIDS: i32 = libc::CLONE_NEWNS | libc::CLONE_NEWPID;

/// Enters these, and an IPC namespace (System V objects and POSIX queues) where the kernel has such.
fn unshare(flags: i32) -> io::Result<()> {
    sys::unshare(flags | libc::CLONE_NEWIPC).or_else(|_| sys::unshare(flags))
}

/// Enters a mount, a PID and an IPC namespace; as an ordinary user inside a user namespace in which everybody
/// is who they are outside. (Mapped to 0, every file would look changed to git, and agents would take themselves
/// for root.)
pub fn enter(pids: Pids) -> io::Result<()> {
    match pids {
        Pids::Root => unshare(MOUNTS_AND_PIDS),
        Pids::User => {
            let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
            unshare(MOUNTS_AND_PIDS | libc::CLONE_NEWUSER)?;
            write("/proc/self/setgroups", "deny")?;
            write("/proc/self/uid_map", &format!("{user} {user} 1", user = user.as_raw()))?;
            write(
                "/proc/self/gid_map",
                &format!("{group} {group} 1", group = group.as_raw()),
            )
        }
    }
}

/// Which kind is to be had here; tried for real, so this process is in the new namespaces after it.
///
/// # Errors
/// The error of the attempt inside a user namespace.
pub fn try_enter() -> io::Result<Pids> {
    if enter(Pids::Root).is_ok() {
        return Ok(Pids::Root);
    }
    enter(Pids::User).map(|()| Pids::User)
}

fn write(path: &str, text: &str) -> io::Result<()> {
    let file = rustix::fs::open(
        path,
        rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )?;
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}

/// Takes all capabilities away, also from what is executed later: none can come back, not for root
/// and not from a file.
pub fn give_up_capabilities() -> io::Result<()> {
    for number in 0..64 {
        let one = CapabilitySet::from_bits_retain(1 << number);
        // Past the last one that the kernel knows: EINVAL. Without the capability to change the set
        // (an ordinary user outside of a user namespace) there is nothing in the others either.
        if rustix::thread::remove_capability_from_bounding_set(one).is_err() {
            break;
        }
    }
    // Old kernels have no such set.
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}
