//! The only module with unsafe code: system calls for which no dependency has a safe form. Each
//! function is safe to call as its comment argues; nothing else belongs here.
#![allow(unsafe_code)]

use std::io;

/// Lets libgit2 open repositories that belong to another user. The git program, which is asked
/// first about every repository, applies `safe.directory`; libgit2 knows only a part of its rules
/// and would refuse what git accepts. Call it before any other use of git2, on one thread.
pub fn leave_ownership_to_git() {
    // SAFETY: writes one global of libgit2 that is not locked; by this function's contract no
    // other thread is inside libgit2.
    let result = unsafe { git2::opts::set_verify_owner_validation(false) };
    // It can fail only for an unknown option number, and then libgit2 stays strict: fail closed.
    let _ = result;
}

/// Bytes of packs that libgit2 maps at a time, and of one mapping. As it comes it maps whole packs, and each page
/// that was read of them counts as this process's memory.
const MAPPED: libc::size_t = 32 << 20;
const WINDOW: libc::size_t = 2 << 20;

/// Bounds what libgit2 maps of packs. Call it before any other use of git2, on one thread.
pub fn bound_mapped_packs() {
    // SAFETY: each writes one global of libgit2 that is not locked; by this function's contract no other thread is
    // inside libgit2.
    let results = unsafe {
        [
            git2::opts::set_mwindow_size(WINDOW),
            git2::opts::set_mwindow_mapped_limit(MAPPED),
        ]
    };
    // They can fail only for an unknown option number, and then libgit2 maps as much as it likes.
    let _ = results;
}

/// Sets every signal to its default action and blocks none, as a program expects to be started.
/// An ignored signal would stay ignored over exec (Rust ignores SIGPIPE; `nohup` and a shell's `&`
/// ignore others). For the stub: its process has no handlers of its own that this could break.
pub fn reset_signals() -> io::Result<()> {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL is a valid disposition for every signal and runs no code of ours. It
        // fails with EINVAL for SIGKILL, SIGSTOP and the two that the C library keeps for
        // itself, none of which can be ignored or caught; so the result does not matter.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set that it is given a valid pointer to; sigprocmask
    // only reads it, and a null old-set pointer is allowed. The stub has a single thread.
    let result = unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Marks every descriptor above 2 to be closed at exec, so that no lock, pipe or log of ours
/// reaches the agent. Linux 5.11 or newer.
pub fn close_above_stderr_at_exec() -> io::Result<()> {
    let (first, last, flags) = (3 as libc::c_uint, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    // SAFETY: close_range with CLOEXEC closes nothing now and touches no memory; descriptors that
    // something in this process owns stay valid.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// `mount_setattr(2)` on everything below `path` (Linux 5.12). `set` are attributes to add;
/// `private` also takes the mounts out of every peer group, so that nothing done to them reaches
/// other mount namespaces.
pub(super) fn mount_setattr(
    dir: std::os::fd::BorrowedFd<'_>,
    path: &std::ffi::CStr,
    flags: u32,
    set: u64,
    private: bool,
) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    /// `struct mount_attr` of `include/uapi/linux/mount.h`.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        userns: u64,
    }
    let attributes = Attributes {
        set,
        clear: 0,
        propagation: if private { libc::MS_PRIVATE } else { 0 },
        userns: 0,
    };
    // SAFETY: path is a valid C string, the struct lives over the call and its size is given; the
    // kernel only reads both.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    check(result)
}

/// Leaves namespaces of this process for new ones; flags are `CLONE_NEW*`. For the stub, which has
/// a single thread.
pub fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: none of the flags used here (user, mount and PID namespace) shares or unshares
    // memory or descriptors.
    check(unsafe { libc::unshare(flags) }.into())
}

/// What [`fork`] returns.
pub enum Forked {
    /// In the parent: the child's pid.
    Parent(rustix::process::Pid),
    /// In the child.
    Child,
}

/// `fork(2)`. For the stub, which has a single thread: in a process with more, the child could only
/// call what is safe in a signal handler.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: with a single thread, no lock is held by a thread that the child does not have.
    match unsafe { libc::fork() } {
        0 => Ok(Forked::Child),
        pid => match rustix::process::Pid::from_raw(pid) {
            Some(pid) if pid.as_raw_nonzero().get() > 0 => Ok(Forked::Parent(pid)),
            _ => Err(io::Error::last_os_error()),
        },
    }
}

/// Ignores a signal. For processes of the stub, which never run a handler.
pub fn ignore(signal: rustix::process::Signal) {
    // SAFETY: SIG_IGN is a valid disposition and runs no code of ours.
    unsafe { libc::signal(signal.as_raw(), libc::SIG_IGN) };
}

/// Ends this process at once, without running destructors or exit handlers: in a forked child they
/// belong to the parent.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: _exit has no preconditions and does not return.
    unsafe { libc::_exit(status) }
}

/// The Landlock ABI of the kernel.
pub(super) fn landlock_abi() -> io::Result<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with the version flag the kernel wants a null pointer and size 0, and reads nothing.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<()>(),
            0usize,
            VERSION,
        )
    };
    check(result)?;
    u32::try_from(result).map_err(io::Error::other)
}

/// Makes a ruleset that handles these file rights, TCP rights and scopes.
pub(super) fn landlock_create(abi: u32, fs: u64, net: u64, scoped: u64) -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    /// `struct landlock_ruleset_attr`; the last two fields came with ABI 4 and 6.
    #[repr(C)]
    struct Attributes {
        fs: u64,
        net: u64,
        scoped: u64,
    }
    let attributes = Attributes { fs, net, scoped };
    let size = match abi {
        0..=3 => 8usize,
        4 | 5 => 16,
        _ => 24,
    };
    // SAFETY: the struct lives over the call and `size` is at most its size; the kernel only reads.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attributes,
            size,
            0 as libc::c_uint,
        )
    };
    check(result)?;
    let descriptor = i32::try_from(result).map_err(io::Error::other)?;
    // SAFETY: the kernel just returned this descriptor, and nothing else owns it.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(descriptor) })
}

/// Grants rights on what a descriptor opened with `O_PATH` names, and below it.
pub(super) fn landlock_allow_path(
    ruleset: &std::os::fd::OwnedFd,
    path: &std::os::fd::OwnedFd,
    rights: u64,
) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    const PATH_BENEATH: libc::c_int = 1;
    /// `struct landlock_path_beneath_attr`, which is packed.
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        parent: i32,
    }
    let rule = Rule {
        rights,
        parent: path.as_raw_fd(),
    };
    // SAFETY: the struct lives over the call; the kernel only reads it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            0 as libc::c_uint,
        )
    };
    check(result)
}

/// Grants TCP rights on a port (host byte order).
pub(super) fn landlock_allow_port(ruleset: &std::os::fd::OwnedFd, port: u64, rights: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    const NET_PORT: libc::c_int = 2;
    /// `struct landlock_net_port_attr`.
    #[repr(C)]
    struct Rule {
        rights: u64,
        port: u64,
    }
    let rule = Rule { rights, port };
    // SAFETY: the struct lives over the call; the kernel only reads it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            NET_PORT,
            &raw const rule,
            0 as libc::c_uint,
        )
    };
    check(result)
}

/// Puts a ruleset on this thread.
pub(super) fn landlock_restrict(ruleset: &std::os::fd::OwnedFd) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: takes a descriptor and flags only.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0 as libc::c_uint) })
}

/// Puts a filter on the system calls of this thread and what it starts; with no_new_privs set.
pub(super) fn filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let whole = libc::sock_fprog {
        len: length,
        filter: program.as_ptr().cast_mut(),
    };
    let unused: libc::c_ulong = 0;
    // SAFETY: the program lives over the call and its length is given; the kernel copies it, checks it
    // and writes to neither.
    let result = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::c_ulong::from(libc::SECCOMP_MODE_FILTER),
            &raw const whole,
            unused,
            unused,
        )
    };
    check(result.into())
}

/// Leaves the session keyring for a new, empty one.
pub(super) fn join_new_session_keyring() -> io::Result<()> {
    /// `KEYCTL_JOIN_SESSION_KEYRING` of `include/uapi/linux/keyctl.h`.
    const JOIN: libc::c_int = 1;
    // SAFETY: a null name is allowed and means an anonymous one; nothing is read.
    check(unsafe { libc::syscall(libc::SYS_keyctl, JOIN, std::ptr::null::<libc::c_char>()) })
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Sends a signal to every process that this one may signal, but not to itself. In the first process of
/// a PID namespace: everything in it.
pub fn signal_all(signal: rustix::process::Signal) -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::kill(-1, signal.as_raw()) }.into())
}

/// The number of our session; 0 where its leader is outside of our PID namespace, as in a container that
/// was entered. `rustix::process::getsid` has no value for that one and ends the process.
pub fn own_session() -> i32 {
    // SAFETY: takes a number only.
    unsafe { libc::getsid(0) }
}

/// A child that has ended and is still on the process table, where it stays; `None` where there is none
/// now. Fails with `ECHILD` where there is no child at all.
pub fn ended_child() -> io::Result<Option<i32>> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: all zeroes is a value of this type, and the number read is set by a call that succeeds or is
    // still the zero that it is where there is nothing to tell.
    let (result, pid) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let result = libc::waitid(libc::P_ALL, 0, &raw mut info, options);
        (result, info.si_pid())
    };
    check(result.into())?;
    Ok((pid > 0).then_some(pid))
}

/// Ends this process as a wait status (as of wait(2)) says that another one ended: with its exit
/// status, or by its signal and without a core file.
pub fn end_like(status: i32) -> ! {
    if libc::WIFEXITED(status) {
        exit_now(libc::WEXITSTATUS(status));
    }
    let signal = libc::WTERMSIG(status);
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Core,
        rustix::process::Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    let _ = reset_signals();
    // SAFETY: takes numbers only; the target is this process.
    unsafe { libc::kill(libc::getpid(), signal) };
    exit_now(128 + signal)
}
