"""Becomes a program for which some system calls fail, as in a container's filter.

usage: without.py ERRNO NUMBER[,NUMBER...] PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000

numbers = [int(number) for number in sys.argv[2].split(",")]
rules = [(LOAD, 0, 0, 0)]
for number in numbers:
    rules += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL | int(sys.argv[1]))]
rules.append((RETURN, 0, 0, ALLOW))
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
zero = ctypes.c_ulong(0)
if libc.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) or libc.prctl(
    PR_SET_SECCOMP, ctypes.c_ulong(MODE_FILTER), header, zero, zero
):
    sys.exit("no filter can be set: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[3], sys.argv[3:])
