"""A person's terminal: names it in NAME, writes down in SEEN what is shown on it, until STOP is there.

usage: terminal.py NAME SEEN STOP
"""

import os
import pty
import select
import sys
import time

name, seen, stop = sys.argv[1:]
ours, theirs = pty.openpty()
log = os.open(seen, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
with open(name + ".new", "w") as file:
    file.write(os.ttyname(theirs))
os.rename(name + ".new", name)
until = time.monotonic() + 50
while not os.path.exists(stop) and time.monotonic() < until:
    if select.select([ours], [], [], 0.02)[0]:
        os.write(log, os.read(ours, 1000))
