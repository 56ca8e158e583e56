"""Runs a job of jobs/ with the probe and reads what the probe wrote."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROBE = ROOT / "bench" / "probe"


def python():
    """The first Python that has torch, or None."""
    for candidate in (os.environ.get("PYTHON"), ROOT / ".venv" / "bin" / "python", sys.executable):
        if candidate and subprocess.run([candidate, "-c", "import torch"], capture_output=True).returncode == 0:
            return str(candidate)
    return None


PYTHON = python()


def has(module):
    return PYTHON is not None and subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


class Job:
    """segments: changes, with their own keys as (change, {key: value}). DATA in arguments: a folder of ten text files."""

    def __init__(self, script, *arguments, segments=(), launcher=(), path="", start_folder=HERE / "jobs", **plan):
        steps = plan.pop("steps", 8)
        given = [one if isinstance(one, tuple) else (one, {}) for one in segments]
        plan["segments"] = [{"change": change, "block": 0, "steps": steps, **own} for change, own in given]
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as data:
            self.folder = pathlib.Path(folder)
            (self.folder / "plan.json").write_text(json.dumps(plan))
            environment = dict(os.environ, RUN_MATRIX_PROBE=folder, PYTHONPATH=f"{PROBE}:{path}", OMP_NUM_THREADS="1")
            for number in range(10):
                pathlib.Path(data, f"{number}.txt").write_text(str(number))
            command = [PYTHON, *launcher, str(start_folder / script), *[str(one).replace("DATA", data) for one in arguments]]
            run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
            self.code, self.out, self.err = run.returncode, run.stdout, run.stderr
            self.ranks = [self.records(file) for file in sorted(self.folder.glob("rank-*.jsonl"))]
            self.fetches = [one for file in self.folder.glob("worker-*.jsonl") for one in self.records(file)]
            self.files = {line for file in self.folder.glob("files-*.txt") for line in file.read_text().split("\n") if line}
            self.modes = {file.stat().st_mode & 0o777 for file in self.folder.glob("rank-*.jsonl")}

    @staticmethod
    def records(file):
        return [json.loads(line) for line in file.read_text().splitlines()]

    def of(self, kind, rank=0):
        return [one for one in self.ranks[rank] if one["kind"] == kind] if rank < len(self.ranks) else []

    def segment(self, change, rank=0):
        return next(one for one in self.of("segment", rank) if one["change"] == change)

    def mean(self, change, phase="wall_ms", rank=0):
        steps = self.segment(change, rank)["steps"]
        return sum(step[phase] for step in steps) / len(steps)

    def text(self):
        return f"exit code {self.code}\n{self.out[-2000:]}\n{self.err[-2000:]}\n" + "\n".join(
            json.dumps(one)[:600] for rank in self.ranks for one in rank)
