"""What is no file and still the person's: System V objects, POSIX queues, keyrings, and the network.

    apart.py person KEY COMMAND...   makes such objects, runs the command, says what became of them
    apart.py agent KEY               tries to reach them
    apart.py connect PORT            tries every door to a TCP server
Each answer is a line; what is reached is said as REACHED.
"""

import ctypes
import errno
import os
import socket
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
CREATE, REMOVE = 0o1000, 0
ADD_KEY, REQUEST_KEY, KEYCTL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[os.uname().machine]
JOIN, READ, SEARCH, SESSION = 1, 11, 10, -3
DESCRIPTION = b"agentgate-test"


def say(what, result):
    words = errno.errorcode.get(ctypes.get_errno(), "?") if result == -1 else "REACHED"
    print(f"{what}: {words}", flush=True)


def call(function, *args):
    ctypes.set_errno(0)
    return function(*args)


def key_of_session():
    return call(libc.syscall, KEYCTL, SEARCH, SESSION, b"user", DESCRIPTION, 0)


def person(number, command):
    memory = call(libc.shmget, number, 4096, CREATE | 0o600)
    place = libc.shmat(memory, None, 0)
    ctypes.memmove(place, b"person's", 9)
    queue = call(libc.msgget, number, CREATE | 0o600)
    assert -1 not in (memory, queue), ctypes.get_errno()
    call(libc.syscall, KEYCTL, JOIN, None)
    has_keys = call(libc.syscall, ADD_KEY, b"user", DESCRIPTION, b"secret", 6, SESSION) != -1
    try:
        code = subprocess.run(command).returncode
        print("memory after:", ctypes.string_at(place).decode(), flush=True)
        print("queue after:", "there" if call(libc.msgget, number, 0) == queue else "gone", flush=True)
        print("key after:", "there" if not has_keys or key_of_session() != -1 else "gone", flush=True)
        sys.exit(code)
    finally:
        call(libc.shmctl, memory, REMOVE, None)
        call(libc.msgctl, queue, REMOVE, None)


def agent(number):
    memory = call(libc.shmget, number, 0, 0)
    say("shared memory", memory)
    if memory != -1:
        ctypes.memmove(libc.shmat(memory, None, 0), b"attacked", 9)
    queue = call(libc.msgget, number, 0)
    say("message queue", queue)
    if queue != -1:
        call(libc.msgctl, queue, REMOVE, None)
    key = key_of_session()
    say("session keyring", key)
    if key != -1:
        call(libc.syscall, KEYCTL, 3, key)
    # A keyring of its own may well work; what is in it must not be there in the next job.
    call(libc.syscall, ADD_KEY, b"user", DESCRIPTION + b"-mark", b"x", 1, SESSION)


def attempt(what, door):
    try:
        door()
        print(f"{what}: REACHED", flush=True)
    except OSError as error:
        print(f"{what}: {errno.errorcode.get(error.errno, error)}", flush=True)


def connect(port):
    there = ("127.0.0.1", port)

    def stream(protocol=0, family=socket.AF_INET):
        made = socket.socket(family, socket.SOCK_STREAM, protocol)
        made.settimeout(5)
        return made

    def with_first_write():
        made = stream()
        made.setsockopt(socket.IPPROTO_TCP, 30, 1)
        made.connect(there)
        made.send(b"hi")

    attempt("connect", lambda: stream().connect(there))
    attempt("multipath", lambda: stream(262).connect(there))
    attempt("smc", lambda: stream(0, 43).connect(there))
    attempt("sendto", lambda: stream().sendto(b"hi", 0x20000000, there))
    attempt("sendmsg", lambda: stream().sendmsg([b"hi"], [], 0x20000000, there))
    attempt("first write", with_first_write)
    attempt("bind", lambda: stream().bind(("127.0.0.1", port + 1 if port < 65535 else port - 1)))
    own = socket.socket(socket.AF_UNIX)
    own.bind(os.path.join(os.environ["TMPDIR"], "s"))
    own.listen()
    print("unix socket: works", flush=True)


mode, *rest = sys.argv[1:]
if mode == "person":
    person(int(rest[0]), rest[1:])
elif mode == "agent":
    agent(int(rest[0]))
else:
    connect(int(rest[0]))
