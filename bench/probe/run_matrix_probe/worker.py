"""Fetches of batches, in a DataLoader's workers or with workers 0 in the job's own process: how long, on which processor
time, how long ready but not running, how long in collate; and the files that were opened."""
import json
import mmap
import os
import struct
import time
from time import perf_counter_ns, thread_time_ns

import torch

from . import files, process
from .record import append

VARIABLE = "RUN_MATRIX_PROBE_LOADER"  # how a new worker knows its rank and loader, also a spawned one
NAMES = ("fetches", "wall_s", "cpu_s", "run_queue_s", "collate_s", "items")
SLOT, SLOTS = struct.Struct("=6q"), 256  # shared with the job's process: the sums of each worker, times in ns

INTERVAL_S = 0.2  # between writes; a worker may be killed


def announce(folder, rank, loader):
    """Called before a loader is iterated. Makes the file of its workers' sums."""
    path = os.path.join(folder, f"sums-{os.getpid()}-{loader.name.split()[-1]}")
    if loader.sums is None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(descriptor, SLOT.size * SLOTS)
        loader.sums = mmap.mmap(descriptor, SLOT.size * SLOTS)
        os.close(descriptor)
    os.environ[VARIABLE] = json.dumps([rank, loader.name, path])


def sums(loaders):
    """Of all workers of these loaders."""
    slots = [slot for loader in loaders if loader.sums for slot in SLOT.iter_unpack(loader.sums[:])]
    return [sum(column) for column in zip(*slots)] if slots else None


def as_record(difference):
    return {name: value / 1e9 if name.endswith("_s") else value for name, value in zip(NAMES, difference)}


class Fetches:
    """Of one loader in this process."""

    def __init__(self, plan, announced):
        self.pid, self.plan = os.getpid(), plan
        self.rank, self.loader, path = json.loads(announced)
        info = torch.utils.data.get_worker_info()
        self.is_worker = info is not None
        self.at = (info.id % SLOTS if info else 0) * SLOT.size
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.shared = mmap.mmap(descriptor, SLOT.size * SLOTS)
        os.close(descriptor)
        self.unwritten, self.collate_ns, self.written = [0] * len(NAMES), 0, 0
        try:
            self.schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.schedstat = None
        self.files = files.of_process(plan.folder) if plan.list_files else None
        if self.is_worker:
            process.in_worker(plan.process)
            from multiprocessing import util
            util.Finalize(None, self.write, exitpriority=100)

    def queued(self):
        return int(os.pread(self.schedstat, 100, 0).split()[1]) if self.schedstat is not None else 0

    def add(self, values):
        self.unwritten = [one + other for one, other in zip(self.unwritten, values)]
        before = SLOT.unpack_from(self.shared, self.at)
        SLOT.pack_into(self.shared, self.at, *(one + other for one, other in zip(before, values)))
        if time.monotonic() - self.written > INTERVAL_S:
            self.write()

    def write(self):
        if os.getpid() != self.pid:
            return
        if self.unwritten[0]:
            record = {"kind": "fetch", "rank": self.rank, "loader": self.loader, **as_record(self.unwritten)}
            append(os.path.join(self.plan.folder, f"worker-{self.pid}.jsonl"), json.dumps(record) + "\n")
        self.unwritten, self.written = [0] * len(NAMES), time.monotonic()
        if self.files:
            self.files.write()


class Watch:
    """Never raises: at its first error it ends in this process."""

    def __init__(self, probe):
        self.probe, self.of, self.broken = probe, {}, False

    def fetches(self, fetcher):
        """In the job's own process each loader has its own."""
        announced = getattr(fetcher, "run_matrix_announced", None) or os.environ[VARIABLE]
        here = self.of.get((os.getpid(), announced))
        if here is None:
            here = self.of[os.getpid(), announced] = Fetches(self.probe.plan, announced)
        return here

    def fetching(self, original):
        def fetch(fetcher, index):
            if self.broken or VARIABLE not in os.environ:
                return original(fetcher, index)
            try:
                here = self.fetches(fetcher)
                here.collate_ns = 0
                self.time_collate(here, fetcher)
                files.listening = here.files
                begin, cpu, queued = perf_counter_ns(), thread_time_ns(), here.queued()
            except Exception:
                self.failed()
                return original(fetcher, index)
            try:
                return original(fetcher, index)
            finally:
                try:
                    wall = perf_counter_ns() - begin
                    if not here.is_worker:
                        files.listening = None
                    here.add((1, wall, thread_time_ns() - cpu, here.queued() - queued, here.collate_ns,
                              len(index) if isinstance(index, (list, tuple)) else 1))
                except Exception:
                    self.failed()
        return fetch

    def write(self):
        for here in self.of.values():
            here.write()

    def time_collate(self, here, fetcher):
        collate = fetcher.collate_fn
        if getattr(collate, "run_matrix", False):
            return

        def timed(data):
            begin = perf_counter_ns()
            try:
                return collate(data)
            finally:
                here.collate_ns += perf_counter_ns() - begin
        timed.run_matrix = True
        fetcher.collate_fn = timed

    def failed(self):
        import traceback
        self.broken, files.listening = True, None
        try:
            append(os.path.join(self.probe.plan.folder, f"worker-{os.getpid()}.jsonl"),
                   json.dumps({"kind": "error", "text": traceback.format_exc()}) + "\n")
        except Exception:
            pass
