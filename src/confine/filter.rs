//! A filter on system calls, for the little that a layer which is missing would have refused.
//!
//! Without Landlock: a user namespace of the agent's own lets it mount there. Nothing that is read-only here becomes
//! writable by that, but root, who owns the machine's control groups, reaches them through a fresh mount. Without a
//! PID namespace: the limits of the person's other processes can be set, and one of no processor time at all
//! is as good as a kill. Landlock speaks of neither.

use std::io;

use super::sys;

/// What is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// A user namespace of one's own.
    pub user_namespaces: bool,
    /// Setting or reading the limits of a process by its number, one's own included.
    pub limits_of_others: bool,
}

/// An architecture and its numbers of the calls.
struct Calls {
    /// `AUDIT_ARCH_*` of `include/uapi/linux/audit.h`.
    arch: u32,
    unshare: u32,
    clone: u32,
    clone3: u32,
    prlimit64: u32,
}

/// The kernel's own architecture, and the one of 32 bits whose programs it may run too.
#[cfg(target_arch = "x86_64")]
const KNOWN: [Calls; 2] = [
    Calls {
        arch: 0xc000_003e,
        unshare: 272,
        clone: 56,
        clone3: 435,
        prlimit64: 302,
    },
    Calls {
        arch: 0x4000_0003,
        unshare: 310,
        clone: 120,
        clone3: 435,
        prlimit64: 340,
    },
];
#[cfg(target_arch = "aarch64")]
const KNOWN: [Calls; 2] = [
    Calls {
        arch: 0xc000_00b7,
        unshare: 97,
        clone: 220,
        clone3: 435,
        prlimit64: 261,
    },
    Calls {
        arch: 0x4000_0028,
        unshare: 337,
        clone: 120,
        clone3: 435,
        prlimit64: 369,
    },
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KNOWN: [Calls; 0] = [];

/// Offsets in `struct seccomp_data`: number, architecture, the lower half of the first argument.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const FIRST: u32 = 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const EQUALS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const HAS_BITS: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// The bit by which x32 tells its calls from those of x86-64.
const X32: u32 = 0x4000_0000;

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
        // Jumps are relative, and 8 bits long: a block has about 20 steps.
        let length = u8::try_from(block.len()).unwrap_or(u8::MAX);
        whole.push(step(EQUALS, calls.arch, 0, length));
        whole.extend(block);
    }
    whole.push(allow());
    whole
}

fn block(calls: &Calls, refusals: Refusals) -> Vec<libc::sock_filter> {
    const NEWUSER: u32 = libc::CLONE_NEWUSER.cast_unsigned();
    let mut block = vec![step(LOAD, NUMBER, 0, 0), step(AND, !X32, 0, 0)];
    if refusals.user_namespaces {
        for call in [calls.unshare, calls.clone] {
            block.extend([
                step(EQUALS, call, 0, 4),
                step(LOAD, FIRST, 0, 0),
                step(HAS_BITS, NEWUSER, 0, 1),
                fail(libc::EPERM),
                allow(),
            ]);
        }
        // Its flags lie in memory, where a filter cannot look; who is told that it is not there takes clone(2).
        block.extend([step(EQUALS, calls.clone3, 0, 1), fail(libc::ENOSYS)]);
    }
    if refusals.limits_of_others {
        block.extend([
            step(EQUALS, calls.prlimit64, 0, 4),
            step(LOAD, FIRST, 0, 0),
            step(EQUALS, 0, 1, 0),
            fail(libc::EPERM),
            allow(),
        ]);
    }
    block.push(allow());
    block
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

    /// What the filter answers, by the rules of BPF as far as it uses them.
    fn answer(refusals: Refusals, arch: u32, number: u32, first: u32) -> u32 {
        let program = program(refusals);
        let (mut at, mut word) = (0, 0);
        loop {
            let step = &program[at];
            let jump = |is_so: bool| usize::from(if is_so { step.jt } else { step.jf });
            at += 1;
            match u32::from(step.code) {
                LOAD => {
                    word = [(NUMBER, number), (ARCH, arch), (FIRST, first)]
                        .iter()
                        .find(|(at, _)| *at == step.k)
                        .expect("known")
                        .1
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
        let user = libc::CLONE_NEWUSER.cast_unsigned();
        let both = Refusals {
            user_namespaces: true,
            limits_of_others: true,
        };
        let eperm = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
        for calls in &KNOWN {
            for call in [calls.unshare, calls.clone, calls.clone | X32] {
                assert_eq!(answer(both, calls.arch, call, user | 17), eperm);
                assert_eq!(answer(both, calls.arch, call, 0x0002_0011), PASSES);
                let limits = Refusals {
                    user_namespaces: false,
                    ..both
                };
                assert_eq!(answer(limits, calls.arch, call, user), PASSES);
            }
            assert_ne!(answer(both, calls.arch, calls.clone3, 0), PASSES);
            assert_eq!(answer(both, calls.arch, calls.prlimit64, 7), eperm);
            assert_eq!(answer(both, calls.arch, calls.prlimit64, 0), PASSES);
            let namespaces = Refusals {
                limits_of_others: false,
                ..both
            };
            assert_eq!(answer(namespaces, calls.arch, calls.prlimit64, 7), PASSES);
            assert_eq!(answer(both, calls.arch, 0, user), PASSES);
        }
        assert_eq!(
            answer(both, 1, 272, user),
            PASSES,
            "an architecture that does not run here"
        );
    }
}
