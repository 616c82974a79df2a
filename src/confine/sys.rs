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

/// Sets every signal to its default action and blocks none, as a program expects to be started.
/// An ignored signal would stay ignored over exec (Rust ignores SIGPIPE; `nohup` and a shell's `&`
/// ignore others). For the stub: its process has no handlers of its own that this could break.
pub(super) fn reset_signals() -> io::Result<()> {
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
pub(super) fn close_above_stderr_at_exec() -> io::Result<()> {
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
