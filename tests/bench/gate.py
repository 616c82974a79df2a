#!/usr/bin/env python3
"""What a check costs: 20 and 10,000 changed files in a repository of 100,000.

    cargo build --release && python3 tests/bench/gate.py [target/release/agentgate]

Makes the repository in a temporary folder, compares `agentgate check` with `git diff-tree -r` of the same
range in turns (medians, the start of both programs included), and reads the peak memory of a check of 10,000
changed files from the kernel. Needs git and Python; removes what it made.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

FILES, FOLDERS, LINES = 100_000, 2_000, 95
ROUNDS = 30
POLICY = b"""version: 1
payments:
  allowed_roots: [src/payments/]
  forbidden_imports: [redis, bullmq]
  forbidden_dirs: [infra/async]
everywhere:
  forbidden_imports: [celery]
must_not_touch: [LICENSE]
unmapped: allow
"""


def stream(out):
    """A history for `git fast-import`: main, and a branch for each number of changed files."""
    pick = random.Random(1)
    names = ["payments", "ledger", "billing", "auth", "users", "orders"]
    pool = []
    for number in range(4000):
        a, b = pick.choice(names), pick.choice(names)
        pool.append(
            pick.choice(
                [
                    f"from src.{a}.mod{number % 97} import helper_{number}\n",
                    f"def {a}_{b}_{number}(x, y=None):\n",
                    f"    return {a}.{b}(x, {number}) if x else None\n",
                    f"    # {a} needs {b} before step {number}\n",
                    f"    total_{number} = sum(v.amount for v in {a}_items)\n",
                    "\n",
                ]
            ).encode()
        )
    per = FILES // FOLDERS
    paths = [
        f"src/{names[folder % len(names)]}/pkg{folder:04d}/mod_{index:03d}.py"
        for folder in range(FOLDERS)
        for index in range(per)
    ]

    def commit(branch, message, mark, parent):
        who = b"Gen <gen@example.invalid> 1700000000 +0000"
        out.write(f"commit refs/heads/{branch}\nmark :{mark}\n".encode())
        out.write(b"author " + who + b"\ncommitter " + who + b"\n")
        out.write(f"data {len(message)}\n{message}\n".encode())
        if parent:
            out.write(f"from :{parent}\n".encode())

    def file(path, data):
        out.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")

    commit("main", "start", 1, None)
    file("architecture/invariants.yml", POLICY)
    file("LICENSE", b"MIT\n")
    for path in paths:
        file(path, b"".join(pick.choices(pool, k=LINES)))
    for mark, (branch, count) in enumerate([("chg20", 20), ("chg10k", 10_000)], 2):
        commit(branch, branch, mark, 1)
        for path in pick.sample(paths, count):
            file(path, b"".join(pick.choices(pool, k=LINES)))
    out.write(b"done\n")


def once(command, cwd):
    """Milliseconds, peak resident kilobytes and milliseconds of the processor of a program that must succeed."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = (time.perf_counter() - started) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: exit {process.returncode}")
    return took, usage.ru_maxrss, (usage.ru_utime + usage.ru_stime) * 1000


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/agentgate")
    os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", INVARIANT_BASE="")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        importer = subprocess.Popen(["git", "-C", folder, "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE)
        stream(importer.stdin)
        importer.stdin.close()
        if importer.wait() != 0:
            sys.exit("git fast-import failed")
        subprocess.run(["git", "-C", folder, "symbolic-ref", "HEAD", "refs/heads/chg20"], check=True)
        for branch in ["chg20", "chg10k"]:
            check = [program, "check", "--range", f"main..{branch}"]
            diff = ["git", "diff-tree", "-r", "main", branch]
            once(check, folder), once(diff, folder)
            rounds = ROUNDS if branch == "chg20" else 5
            runs = [(once(check, folder), once(diff, folder)) for _ in range(rounds)]
            ours = statistics.median(run[0][0] for run in runs)
            theirs = statistics.median(run[1][0] for run in runs)
            cpu, theirs_cpu = (statistics.median(run[side][2] for run in runs) for side in (0, 1))
            memory = max(run[0][1] for run in runs) / 1024
            print(
                f"{branch}: check {ours:.1f} ms, git diff-tree {theirs:.1f} ms ({ours / theirs:.2f} times), "
                f"peak memory {memory:.0f} MiB; of the processor {cpu:.1f} and {theirs_cpu:.1f} ms"
            )


main()
