"""Compares rows with several ranks with PyTorch's DDP on the same machine and work, interleaved; prints each ratio with its range.

Usage: python compare.py ddp|strategies [REPEATS]   ddp: with a Python that has torch 2.11 and torchvision:
  python3 -m venv .venv-peer && .venv-peer/bin/pip install torch==2.11.0 torchvision pillow
Use an idle machine. Rows with one device and engine pytorch are compared by run_matrix itself (configs/twin.yaml), loaders too
(configs/loaders.yaml).
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import needs

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
BUILD = PROJECT / "build" / "release"
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_MMAP_MAX_": "0"}


def output_of(*command, **environment):
    done = subprocess.run([str(part) for part in command], env=os.environ | environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        last = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-8:])
        sys.exit(f"{' '.join(map(str, command))}\nended with exit code {done.returncode}:\n{last}")
    return done.stdout


def our_ranks(row, backend):
    with tempfile.TemporaryDirectory() as folder:
        output_of(BUILD / "run_matrix", "--device", "cpu", "--only", row, "--scale", "rehearsal", "--set", f"backend={backend}",
                  "--set", "storage=synthetic", "--set", "timed_batches=150", "--out", folder)
        record = json.loads(open(folder + "/records.jsonl").readline())
    if record["status"] != "OK":
        needs.fail(f"row {record['row']} is {record['status']}: {record['reason']}", "fix the cause, then repeat")
    return record["images_per_second"]


def their_ddp():
    return float(output_of(sys.executable, HERE / "ddp.py", 4, 32, 30, 150, OMP_NUM_THREADS="1", **ALLOCATOR))


def compare(name, ours, peers, repeats):
    runs = {"suite": ours} | peers
    values = {who: [] for who in runs}
    for _ in range(repeats):
        for who, run in runs.items():
            values[who].append(run())
    for who, rates in values.items():
        print(f"{name:16s} {who:28s} {statistics.median(rates):8.1f} images/s  ({min(rates):.1f} to {max(rates):.1f})")
    for peer in peers:
        ratios = sorted(a / b for a, b in zip(values["suite"], values[peer]))
        print(f"{name:16s} suite / {peer:20s} {statistics.median(ratios):8.3f}           ({ratios[0]:.3f} to {ratios[-1]:.3f})")


def main(what, repeats=5):
    if what not in ("ddp", "strategies"):
        sys.exit(__doc__)
    for program in ("run_matrix", "train_slice"):
        needs.program(BUILD / program, "./run_matrix builds it")
    if what == "ddp":
        needs.packages("torch", "torchvision")
        compare("row [12], gloo", lambda: our_ranks("12", "gloo"), {"PyTorch DDP, gloo": their_ddp}, repeats)
    else:
        compare("row [12], mpi", lambda: our_ranks("12", "mpi"),
                {"row [13], apex": lambda: our_ranks("13", "mpi"), "row [15], horovod": lambda: our_ranks("15", "mpi"),
                 "row [12], gloo": lambda: our_ranks("12", "gloo")}, repeats)


main(sys.argv[1] if len(sys.argv) > 1 else "", *needs.numbers(sys.argv[2:3], len(sys.argv[2:3])))
