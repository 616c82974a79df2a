//! A filter on system calls, for the little that the layers do not refuse by themselves.
//!
//! Without Landlock: a user namespace of the agent's own lets it mount there. Nothing that is read-only here becomes
//! writable by that, but root, who owns the machine's control groups, reaches them through a fresh mount. Without a
//! PID namespace: the limits of the person's other processes can be set, and one of no processor time at all
//! is as good as a kill. Without a user namespace: the keyrings of the person are the agent's too. And where TCP is
//! restricted: Landlock looks at TCP sockets and their connect and bind, not at what reaches TCP by another door.

use std::io;

use super::sys;

/// What is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// A user namespace of one's own.
    pub user_namespaces: bool,
    /// Setting or reading the limits of a process by its number, one's own included.
    pub limits_of_others: bool,
    /// The kernel's keyrings.
    pub keyrings: bool,
    /// TCP by another door: multipath TCP, SMC and RDS sockets, data with the first packet, io_uring.
    pub tcp_by_another_door: bool,
}

impl Refusals {
    /// Whether there is anything to refuse.
    pub fn any(self) -> bool {
        self != Refusals::default()
    }
}

/// An architecture and its numbers of the calls.
struct Calls {
    /// `AUDIT_ARCH_*` of `include/uapi/linux/audit.h`.
    arch: u32,
    unshare: u32,
    clone: u32,
    prlimit64: u32,
    /// `add_key`, `request_key`, `keyctl`.
    keys: [u32; 3],
    socket: u32,
    sendto: u32,
    sendmsg: u32,
    sendmmsg: u32,
    setsockopt: u32,
    /// All calls on sockets behind one number, with arguments where a filter cannot look.
    socketcall: Option<u32>,
}

/// The same everywhere.
const CLONE3: u32 = 435;
const IO_URING_SETUP: u32 = 425;

/// The kernel's own architecture, and the one of 32 bits whose programs it may run too.
#[cfg(target_arch = "x86_64")]
const KNOWN: [Calls; 2] = [
    Calls {
        arch: 0xc000_003e,
        unshare: 272,
        clone: 56,
        prlimit64: 302,
        keys: [248, 249, 250],
        socket: 41,
        sendto: 44,
        sendmsg: 46,
        sendmmsg: 307,
        setsockopt: 54,
        socketcall: None,
    },
    Calls {
        arch: 0x4000_0003,
        unshare: 310,
        clone: 120,
        prlimit64: 340,
        keys: [286, 287, 288],
        socket: 359,
        sendto: 369,
        sendmsg: 370,
        sendmmsg: 345,
        setsockopt: 366,
        socketcall: Some(102),
    },
];
#[cfg(target_arch = "aarch64")]
const KNOWN: [Calls; 2] = [
    Calls {
        arch: 0xc000_00b7,
        unshare: 97,
        clone: 220,
        prlimit64: 261,
        keys: [217, 218, 219],
        socket: 198,
        sendto: 206,
        sendmsg: 211,
        sendmmsg: 269,
        setsockopt: 208,
        socketcall: None,
    },
    Calls {
        arch: 0x4000_0028,
        unshare: 337,
        clone: 120,
        prlimit64: 369,
        keys: [309, 310, 311],
        socket: 281,
        sendto: 290,
        sendmsg: 296,
        sendmmsg: 374,
        setsockopt: 294,
        socketcall: Some(102),
    },
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KNOWN: [Calls; 0] = [];

/// Offsets in `struct seccomp_data`: number, architecture, the lower half of the first argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const EQUALS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const HAS_BITS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// The bit by which x32 tells its calls from those of x86-64.
const X32: u32 = 0x4000_0000;

const NEWUSER: u32 = libc::CLONE_NEWUSER.cast_unsigned();
/// `IPPROTO_MPTCP`, `AF_SMC` and `AF_RDS`: streams that are TCP underneath.
const MPTCP: u32 = 262;
const SMC: u32 = 43;
const RDS: u32 = 21;
/// `MSG_FASTOPEN`: connects by sending.
const FASTOPEN: u32 = 0x2000_0000;
/// `IPPROTO_TCP` and `TCP_FASTOPEN_CONNECT`: connects with the first write.
const TCP: u32 = 6;
const FASTOPEN_CONNECT: u32 = 30;

/// A question about an argument, counted from 0.
#[derive(Clone, Copy)]
enum Question {
    Is(u32, u32),
    IsNotZero(u32),
    Has(u32, u32),
}

use Question::{Has, Is, IsNotZero};

/// Puts the filter on this process and what it starts. Needs no_new_privs or the capability.
///
/// # Errors
/// The kernel has no filters, or the numbers of its architecture are not known here.
pub fn apply(refusals: Refusals) -> io::Result<()> {
    if KNOWN.is_empty() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    sys::filter(&program(refusals))
}

fn program(refusals: Refusals) -> Vec<libc::sock_filter> {
    let mut whole = vec![step(LOAD, ARCH, 0, 0)];
    for calls in &KNOWN {
        let block = block(calls, refusals);
        // Jumps are relative, and 8 bits long; a test sees that a block fits.
        let length = u8::try_from(block.len()).unwrap_or(u8::MAX);
        whole.push(step(EQUALS, calls.arch, 0, length));
        whole.extend(block);
    }
    whole.push(allow());
    whole
}

fn block(calls: &Calls, refusals: Refusals) -> Vec<libc::sock_filter> {
    let mut block = vec![step(LOAD, NUMBER, 0, 0), step(AND, !X32, 0, 0)];
    let mut refuse = |call: u32, when: &[&[Question]], errno: i32| block.extend(rule(call, when, errno));
    if refusals.user_namespaces {
        refuse(calls.unshare, &[&[Has(0, NEWUSER)]], libc::EPERM);
        refuse(calls.clone, &[&[Has(0, NEWUSER)]], libc::EPERM);
        // Its flags lie in memory, where a filter cannot look; who is told that it is not there takes clone(2).
        refuse(CLONE3, &[&[]], libc::ENOSYS);
    }
    if refusals.limits_of_others {
        refuse(calls.prlimit64, &[&[IsNotZero(0)]], libc::EPERM);
    }
    if refusals.keyrings {
        for call in calls.keys {
            refuse(call, &[&[]], libc::ENOSYS);
        }
    }
    if refusals.tcp_by_another_door {
        refuse(
            calls.socket,
            &[&[Is(2, MPTCP)], &[Is(0, SMC)], &[Is(0, RDS)]],
            libc::EACCES,
        );
        refuse(calls.sendto, &[&[Has(3, FASTOPEN)]], libc::EACCES);
        refuse(calls.sendmsg, &[&[Has(2, FASTOPEN)]], libc::EACCES);
        refuse(calls.sendmmsg, &[&[Has(3, FASTOPEN)]], libc::EACCES);
        refuse(
            calls.setsockopt,
            &[&[Is(1, TCP), Is(2, FASTOPEN_CONNECT)]],
            libc::EACCES,
        );
        refuse(IO_URING_SETUP, &[&[]], libc::ENOSYS);
        if let Some(call) = calls.socketcall {
            refuse(call, &[&[]], libc::ENOSYS);
        }
    }
    block.push(allow());
    block
}

/// Refuses a call where all of one row of questions is so; otherwise it passes. With another call's number, what
/// follows is reached.
fn rule(call: u32, when: &[&[Question]], errno: i32) -> Vec<libc::sock_filter> {
    let mut body = Vec::new();
    for row in when {
        for (index, question) in row.iter().enumerate() {
            // Past the rest of this row and its answer.
            let past = u8::try_from((row.len() - index - 1) * 2 + 1).unwrap_or(u8::MAX);
            let (argument, question) = match *question {
                Is(argument, value) => (argument, step(EQUALS, value, 0, past)),
                IsNotZero(argument) => (argument, step(EQUALS, 0, past, 0)),
                Has(argument, bits) => (argument, step(HAS_BITS, bits, 0, past)),
            };
            body.extend([step(LOAD, ARGUMENTS + 8 * argument, 0, 0), question]);
        }
        body.push(fail(errno));
    }
    body.push(allow());
    let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
    [vec![step(EQUALS, call, 0, length)], body].concat()
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    // All codes are below 256.
    let code = u16::try_from(code).unwrap_or_default();
    libc::sock_filter { code, jt, jf, k }
}

fn allow() -> libc::sock_filter {
    step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)
}

fn fail(errno: i32) -> libc::sock_filter {
    step(RETURN, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(), 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Refusals = Refusals {
        user_namespaces: true,
        limits_of_others: true,
        keyrings: true,
        tcp_by_another_door: true,
    };

    /// What the filter answers, by the rules of BPF as far as it uses them.
    fn answer(refusals: Refusals, arch: u32, number: u32, arguments: [u32; 4]) -> u32 {
        let program = program(refusals);
        let (mut at, mut word) = (0, 0);
        loop {
            let step = &program[at];
            let jump = |is_so: bool| usize::from(if is_so { step.jt } else { step.jf });
            at += 1;
            match u32::from(step.code) {
                LOAD => {
                    word = match step.k {
                        NUMBER => number,
                        ARCH => arch,
                        argument => arguments[(argument as usize - 16) / 8],
                    }
                }
                AND => word &= step.k,
                EQUALS => at += jump(word == step.k),
                HAS_BITS => at += jump(word & step.k != 0),
                RETURN => return step.k,
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn only_what_is_named_is_refused() {
        const PASSES: u32 = libc::SECCOMP_RET_ALLOW;
        let errno = |errno: i32| libc::SECCOMP_RET_ERRNO | errno.cast_unsigned();
        for calls in &KNOWN {
            let all = |number, arguments| answer(ALL, calls.arch, number, arguments);
            let none = |number, arguments| answer(Refusals::default(), calls.arch, number, arguments);
            for call in [calls.unshare, calls.clone, calls.clone | X32] {
                assert_eq!(all(call, [NEWUSER | 17, 0, 0, 0]), errno(libc::EPERM));
                assert_eq!(all(call, [0x0002_0011, 0, 0, 0]), PASSES);
                assert_eq!(none(call, [NEWUSER, 0, 0, 0]), PASSES);
            }
            assert_eq!(all(CLONE3, [0; 4]), errno(libc::ENOSYS));
            assert_eq!(all(calls.prlimit64, [7, 0, 0, 0]), errno(libc::EPERM));
            assert_eq!(all(calls.prlimit64, [0, 7, 7, 7]), PASSES);
            for call in calls.keys {
                assert_eq!(all(call, [0; 4]), errno(libc::ENOSYS));
                assert_eq!(none(call, [0; 4]), PASSES);
            }
            let refused = errno(libc::EACCES);
            for (call, arguments, plain) in [
                (calls.socket, [2, 1, MPTCP, 0], [2, 1, 6, 0]),
                (calls.socket, [SMC, 1, 0, 0], [1, 1, 0, 0]),
                (calls.socket, [RDS, 5, 0, 0], [10, 2, 17, 0]),
                (calls.sendto, [3, 0, 1, FASTOPEN | 0x4000], [3, 0, 1, 0x4000]),
                (calls.sendmsg, [3, 0, FASTOPEN, 0], [3, 0, 0, FASTOPEN]),
                (calls.sendmmsg, [3, 0, 1, FASTOPEN], [3, 0, FASTOPEN, 0]),
                (calls.setsockopt, [3, TCP, FASTOPEN_CONNECT, 0], [3, TCP, 1, 0]),
                (
                    calls.setsockopt,
                    [3, TCP, FASTOPEN_CONNECT, 0],
                    [3, 1, FASTOPEN_CONNECT, 0],
                ),
            ] {
                assert_eq!(all(call, arguments), refused, "{call} {arguments:?}");
                assert_eq!(all(call, plain), PASSES, "{call} {plain:?}");
                assert_eq!(none(call, arguments), PASSES);
            }
            assert_eq!(all(IO_URING_SETUP, [0; 4]), errno(libc::ENOSYS));
            assert_eq!(all(0, [NEWUSER, 0, 0, 0]), PASSES);
            assert!(block(calls, ALL).len() < 256, "a jump over it is 8 bits long");
        }
        assert_eq!(
            answer(ALL, 1, 272, [NEWUSER, 0, 0, 0]),
            PASSES,
            "an architecture that does not run here"
        );
    }
}
