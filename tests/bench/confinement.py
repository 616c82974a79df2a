#!/usr/bin/env python3
"""What the confinement costs: the start of a program, and `git status` on 20,000 files.

    cargo build --release && python3 tests/bench/confinement.py [target/release/agentgate]

Starts the program's own stub (the hidden `__exec`) with and without its layers, in turns, and compares
medians; so the figure is that of the layers alone, without git and the log. Needs git and Python; works
in a folder of its own below the current one and removes it.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 100
FILES = 20_000


def layers(program):
    """The layers of this machine as the stub's argument: `m`ounts, `r`oot or `u`ser, Landlock's ABI."""
    pids, _, mounts, _ = subprocess.run([program, "__probe"], check=True, capture_output=True).stdout.split()
    kind = {b"0": "-", b"1": "r", b"2": "u"}[pids]
    return ("m" if mounts == b"1" else "-") + kind + "7"


def stub(program, which, kind, folder, command):
    plan = [f"l{which}", "t", f"w{folder}", f"h{os.path.expanduser('~')}/.ssh", "--"]
    return [program, "__exec", str(os.getpid()), "-", kind, folder, *plan, command[0], *command]


def once(command):
    started = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


def compare(name, variants, rounds):
    times = {label: [] for label in variants}
    for command in variants.values():
        once(command)
    for _ in range(rounds):
        for label, command in variants.items():
            times[label].append(once(command))
    print(f"{name} ({rounds} rounds)")
    first = None
    for label, all_times in times.items():
        median = statistics.median(all_times)
        first = median if first is None else first
        spread = statistics.quantiles(all_times, n=10)
        print(f"  {label:<22} median {median:7.2f} ms   9 of 10 below {spread[8]:7.2f} ms   added {median - first:+.2f} ms")


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/agentgate")
    which = layers(program)
    print(f"kernel {os.uname().release}, {os.cpu_count()} cores, uid {os.getuid()}, layers {which}")
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = os.path.realpath(scratch)
        true = ["/bin/true"]
        compare(
            "start of a program",
            {
                "stub without layers": stub(program, "--0", "tool", folder, true),
                "all layers": stub(program, which, "agent", folder, true),
                "Landlock and warden": stub(program, "--" + which[2:], "agent", folder, true),
            },
            ROUNDS,
        )
        compare("the attempt at the layers, once a job", {"__probe": [program, "__probe"]}, ROUNDS)
        repo = pathlib.Path(folder, "repo")
        for number in range(FILES):
            file = repo / f"d{number % 200}" / f"f{number}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{number}\n")
        git = ["git", "-C", str(repo), "-c", "user.name=b", "-c", "user.email=b@b.invalid"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"], ["status"]):
            subprocess.run([*git, *command], check=True, stdout=subprocess.DEVNULL)
        found = subprocess.run(["sh", "-c", "command -v git"], check=True, capture_output=True, text=True).stdout.strip()
        status = [found, "-C", str(repo), "status", "--porcelain"]
        compare(
            f"git status on {FILES} files, start included",
            {
                "stub without layers": stub(program, "--0", "tool", folder, status),
                "all layers": stub(program, which, "agent", folder, status),
                # What the same command differs by from itself.
                "without layers, again": stub(program, "--0", "tool", folder, status),
            },
            ROUNDS // 2,
        )


if __name__ == "__main__":
    main()
