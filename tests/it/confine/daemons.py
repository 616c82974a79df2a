"""Leaves processes of every kind behind. usage: daemons.py MARK [stay]

Each has MARK in its environment, or in its command line once it has changed that.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

mark = sys.argv[1]
os.environ["DAEMON"] = mark
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def twice(body):
    """A double fork into a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            body()
            os._exit(0)
        os._exit(0)
    os.wait()


def sleeps():
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    time.sleep(60)


def ignores():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)


def renamed():
    os.setsid() if os.getsid(0) != os.getpid() else None
    ctypes.CDLL(None).prctl(15, b"kworker/0:1")
    os.execve("/bin/sleep", [f"[kworker/{mark}]", "60"], {})


def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


subprocess.Popen(["setsid", "nohup", "sleep", "60"], **quiet)
for body in (sleeps, ignores, renamed, stopped):
    twice(body)
# A storm of 500 that ignore SIGTERM, some of which go on in a new process as long as they live.
for number in range(500):
    try:
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if number % 2:
                os.setsid()
            until = time.monotonic() + 30
            while time.monotonic() < until:
                time.sleep(0.05)
                if number % 25:
                    time.sleep(60)
                elif os.fork():
                    break
            os._exit(0)
    except OSError:
        # So many are not allowed here.
        break
open("payments/new.ts", "w").write("export const left = 1;\n")
open("at-work", "w").close()
if "stay" in sys.argv:
    time.sleep(60)
os.unlink("at-work")
