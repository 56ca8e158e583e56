"""The plan's segments one after another: settle, time, write, next."""
import os
import time

from . import changes, worker
from .batches import Impossible
from .clock import LOAD, PHASES, as_record
from .plan import settle_iterations


def run_queue_file():
    try:
        return os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


class Segments:
    def __init__(self, probe):
        self.probe, self.plan, self.file = probe, probe.plan, probe.file
        self.index, self.current, self.before = -1, None, None
        self.settle, self.undo, self.refused, self.world = self.plan.warmup, None, set(), 1
        self.schedstat = run_queue_file()
        self.clear()

    def clear(self):
        self.taken, self.excluded, self.passed, self.updates, self.settled, self.timing = [], 0, 0, 0, 0, False

    @property
    def change(self):
        return self.current["change"] if self.current else None

    def run_queue(self):
        return int(os.pread(self.schedstat, 100, 0).split()[1]) / 1e9 if self.schedstat is not None else 0

    def iteration(self, closed, excluded, updates):
        """At an iteration's end. closed: its times, items and loss."""
        if self.change == "loader_alone":  # it counts the batches that it takes itself
            return
        if self.settle:
            self.settled_one()
            return
        self.updates += updates
        self.count(closed, excluded)

    def epoch_began(self, loader):
        """Within loader_alone the first batches of a new epoch show the start of its workers."""
        if self.change == "loader_alone":
            half_of_epoch = loader.length // 2 if loader.length else loader.ready + 2
            self.settle = max(self.settle, min(loader.ready + 2, half_of_epoch))

    def drained(self, nanoseconds, items):
        """A batch of loader_alone."""
        if self.settle:
            self.settled_one()
            return
        sums = [0] * len(PHASES)
        sums[LOAD] = nanoseconds
        self.count(((nanoseconds, sums), items, None), False)

    def settled_one(self):
        self.settle -= 1
        self.settled += 1
        if self.settle == 0:
            if self.current is None:
                self.next()
            elif not self.timing:
                self.begin_timing()

    def count(self, closed, excluded):
        self.passed += 1
        if excluded:
            self.excluded += 1
        else:
            self.taken.append(closed)
        if self.full():
            self.finish()
            self.next()

    def full(self):
        """With several ranks all must change at the same iteration, so what was excluded isn't made up for."""
        if self.world > 1:
            return self.passed >= self.steps
        if self.passed >= 4 * self.steps + 64 or len(self.taken) >= self.steps:
            return True
        seconds = self.current.get("seconds")
        return bool(seconds and self.taken and len(self.taken) % self.burst == 0 and time.monotonic() - self.began >= seconds)

    def begin_timing(self):
        changes.wait_for_gpu()
        self.timing = True
        self.fetched = worker.sums(self.probe.loaders.training())
        self.began, self.cpu, self.queued = time.monotonic(), time.process_time(), self.run_queue()
        self.probe.clock.restart()

    def next(self):
        while True:
            self.index += 1
            if self.index >= len(self.plan.segments):
                self.probe.finish("done")
            segment = self.plan.segments[self.index]
            change = segment["change"]
            try:
                if change not in self.refused:
                    self.undo = changes.begin(self.probe, segment)
                    self.file.write({"kind": "begin", "index": self.index, "change": change})
                    break
            except Impossible as why:
                self.refused.add(change)
                self.file.write({"kind": "impossible", "change": change, "why": str(why)})
        loaders = self.probe.loaders.training()
        self.burst = max([1] + [one.workers for one in loaders])
        self.steps = -(-int(segment["steps"]) // self.burst) * self.burst
        self.clear()
        self.current = segment
        ready = max([0] + [one.ready for one in loaders])
        self.settle = settle_iterations(change, self.before, 1, ready)
        self.before = change
        self.probe.clock.restart()

    def finish(self, unfinished=False):
        """Writes the current segment and takes its change back."""
        segment, self.current = self.current, None
        if segment is None:
            return
        if self.timing:
            changes.wait_for_gpu()
        cpu, queued = (time.process_time() - self.cpu, self.run_queue() - self.queued) if self.timing else (0, 0)
        self.take_back()
        for loader in self.probe.loaders.all:
            loader.kept.forms = {}
        record = {"kind": "segment", "index": self.index, "change": segment["change"], "block": segment.get("block", 0),
                  "added_ms": segment.get("added_ms", 0), "items": sum(items for _, items, _ in self.taken),
                  "updates": self.updates, "settled": self.settled, "excluded": self.excluded, "cpu_s": round(cpu, 6),
                  "run_queue_s": round(queued, 6), "steps": [as_record(one) for one in self.taken]}
        fetched = worker.sums(self.probe.loaders.training())
        if self.timing and fetched and self.fetched:
            record["worker"] = worker.as_record([after - before for after, before in zip(fetched, self.fetched)])
        if unfinished:
            record["unfinished"] = True
        self.file.write(record)
        self.probe.write_loaders()

    def take_back(self):
        undo, self.undo = self.undo, None
        if undo:
            undo()
