#!/usr/bin/env python3
"""What the probe costs an iteration of the smallest training, in us: without it, minimal, whole but for the fetches, and whole;
the loader has no workers. The least of several processes' medians counts, since other processes only add time."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

JOB = """
import os, sys, time, torch
if os.environ.get("NO_FETCHES"):
    from run_matrix_probe.workers import Fetches
    Fetches.watch = lambda self, fetcher: None
class Batches(torch.utils.data.IterableDataset):
    def __iter__(self):
        for _ in range(4000):
            yield batch
batch = torch.randn(4, 8), torch.randint(2, (4,))
model = torch.nn.Linear(8, 2)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
marks = []
for x, y in torch.utils.data.DataLoader(Batches(), batch_size=None):
    marks.append(time.perf_counter_ns())
    sgd.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    sgd.step()
print(sorted(b - a for a, b in zip(marks[500:], marks[501:]))[len(marks) // 3] / 1e3)
"""
PROBE = pathlib.Path(__file__).resolve().parent.parent.parent / "bench/probe"
PLAN = {"warmup": 8, "segments": [{"change": "unchanged", "block": 0, "steps": 10**6}]}


def one(plan, fetches):
    """Returns us of an iteration, and of the probe in it by its own clock."""
    with tempfile.TemporaryDirectory() as folder:
        if plan:
            pathlib.Path(folder, "plan.json").write_text(json.dumps(plan))
        variables = os.environ | {"PYTHONPATH": str(PROBE), "RUN_MATRIX_PROBE": folder, "OMP_NUM_THREADS": "1", "NO_FETCHES": "" if fetches else "1"}
        done = subprocess.run([sys.executable, "-c", JOB], env=variables, capture_output=True, text=True, check=True)
        reports = [json.loads(line) for file in pathlib.Path(folder).glob("rank-*") for line in file.read_text().splitlines()]
        return float(done.stdout), next((line["self_us"] for line in reports if "self_us" in line), 0)


def main(rounds=7):
    kinds = {"without": (None, True), "minimal": (PLAN | {"minimal": True}, True), "no fetches": (PLAN, False),
             "whole": (PLAN, True)}
    seen = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, kind in kinds.items():
            seen[name].append(one(*kind))
    base = min(us for us, _ in seen["without"])
    for name, values in seen.items():
        least, own = min(us for us, _ in values), min(own for _, own in values)
        print(f"{name:10} {least:7.1f} us an iteration, {least - base:+6.1f}; by the probe's own clock {own:5.1f}; "
              f"median of processes {statistics.median(us for us, _ in values):7.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
