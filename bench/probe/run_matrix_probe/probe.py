"""The probe of this process: recognises iterations from the job's calls and hands each to the segments. Every entry from a
hook goes through guard(): an error of the probe is recorded once, the job's functions are restored, the job runs on."""
import atexit
import os
import statistics
import sys
import threading
import time
import traceback
from multiprocessing import process, util
from time import perf_counter_ns

import torch

from . import worker
from .batches import items
from .clock import Clock
from .loaders import Loaders
from .plan import Plan
from .process import ProcessChanges
from .record import RankFile, rank, world
from .segments import Segments

DRAIN = object()
LARGEST_VALIDATION = 16  # a replayed loader that is asked so often without a backward isn't being trained from
SHORT_EPOCH = 4          # in which every iteration may begin or end an epoch


class Probe:
    def __init__(self, folder):
        self.plan, self.clock = Plan(folder), Clock()
        self.watch = None           # of fetches in this process
        self.restore = []           # what the hooks replaced: (owner, name, original)
        self.begin_process()

    def begin_process(self):
        """Also called in a forked child: a training may be forked off, and a worker never trains."""
        self.file, self.loaders = RankFile(self.plan.folder), Loaders()
        self.on, self.thread, self.pid = True, threading.get_ident(), os.getpid()
        self.process, self.segments = ProcessChanges(self), Segments(self)
        self.clock.restart()
        self.iterations, self.own_ns, self.used = 0, [], False
        self.by_updates = False     # no DataLoader: an iteration ends with an update
        self.updates_without_loader = 0
        self.in_backward = self.charging = False
        self.in_step = 0
        self.new_iteration()

    def new_iteration(self):
        self.trained, self.excluded, self.items, self.updates, self.loss = False, False, 0, 0, None

    def guard(self, function, *given):
        try:
            return function(*given) if self.on else None
        except Exception:
            self.fail()

    def fail(self):
        text = traceback.format_exc()
        self.on = False
        for attempt in (self.segments.take_back, self.process.stop_autocast, self.restore_all,
                        lambda: self.file.path or self.file.begin(),
                        lambda: self.file.write({"kind": "error", "text": text})):
            try:
                attempt()
            except Exception:
                pass

    def restore_all(self):
        while self.restore:
            owner, name, original = self.restore.pop()
            setattr(owner, name, original)

    # next() of a DataLoader

    def before_next(self, iterator, now):
        """Returns None for the loader's own batch, (batch,) for a kept one, or DRAIN."""
        loader = iterator.run_matrix_loader
        if self.trained and loader.nexts and loader is self.loaders.lead:
            self.end_iteration(now)
        if loader.fresh:  # its workers may have just been started
            loader.fresh = loader.ended = False
            self.epoch_began(loader)
            self.segments.epoch_began(loader)
        change = self.segments.change
        if not loader.training:
            self.excluded = True
            return None
        if change is None or not torch.is_grad_enabled():
            return None
        if change == "loader_alone":
            return DRAIN if loader is self.loaders.lead else None
        if change in loader.kept.forms and change in ("replayed", "half_batch", "double_batch"):
            if loader.nexts < LARGEST_VALIDATION:
                return (loader.kept.next(change),)
        return None

    def after_next(self, iterator, batch, now):
        self.used = True
        loader = iterator.run_matrix_loader
        if not loader.record["batch"]:
            loader.describe(batch)
        if torch.is_grad_enabled():
            loader.nexts += 1
        if loader is self.loaders.lead or not loader.hits:
            self.items += items(batch)
        if loader.training and not loader.kept.full and not self.segments.timing:
            loader.kept.keep(batch)

    def epoch_ended(self, iterator):
        loader = iterator.run_matrix_loader
        loader.ended = True
        self.epoch_began(loader)

    def iterated(self, dataloader):
        """Before a DataLoader's __iter__."""
        if self.process.touches_loaders():
            self.process.before_iterating(dataloader)
        loader = self.loaders.find(dataloader)
        if not self.plan.minimal:
            worker.announce(self.plan.folder, rank(), loader)
        loader.fresh = True

    def epoch_began(self, loader):
        if loader.length is None or loader.length >= SHORT_EPOCH:
            self.excluded = True

    def others(self, iterator):
        """The iterators that are zipped with this one."""
        own = iterator.run_matrix_loader
        found = [one.iterator() for one in self.loaders.training() if one is not own]
        return [one for one in found if one is not None]

    def drained(self, batch, nanoseconds):
        """A batch was taken and thrown away. Returns DRAIN until the segment has enough."""
        self.segments.drained(nanoseconds, items(batch))
        return DRAIN if self.segments.change == "loader_alone" else None

    # Backward and updates

    def trained_now(self):
        """The first backward or update of an iteration. Returns the nanoseconds slept for a change."""
        self.trained = self.used = True
        self.loaders.trained()
        if self.file.path is None:
            self.begin()
        if self.segments.change == "added_step_time":
            return sleep(self)
        return 0

    def begin(self):
        self.segments.world = world()
        self.file.begin()
        for key in self.plan.unknown:
            self.file.note(f"plan.json: unknown key {key}, ignored")
        if process.parent_process() is not None:  # such children leave without atexit
            util.Finalize(None, self.at_exit, exitpriority=100)

    def update_ended(self):
        self.updates += 1
        if self.by_updates:
            self.end_iteration(perf_counter_ns())
        elif self.loaders.lead is None:
            self.updates_without_loader += 1
            if self.updates_without_loader == 2:
                self.by_updates = True
                self.file.note("no torch DataLoader is used in the main thread: iterations are the optimizer's steps, load is unknown and 0")
                self.end_iteration(perf_counter_ns())

    def end_iteration(self, now):
        own = self.clock.own
        if self.segments.timing:
            self.own_ns.append(own)
        closed = self.clock.close(now), self.items, self.loss
        excluded, updates = self.excluded, self.updates
        self.iterations += 1
        self.new_iteration()
        self.loaders.iteration_began()
        self.in_step = 0
        if self.iterations == 1:
            self.process.first_iteration_ended()
        self.segments.iteration(closed, excluded, updates)

    # The end

    def write_loaders(self):
        for loader in self.loaders.all:
            if loader.record and loader.record["batch"] and not loader.written:
                loader.written = True
                self.file.write(dict(loader.record, role="training" if loader.training else "validation"))

    def write_end(self, why):
        if self.watch:
            self.watch.write()
        self.file.write({"kind": "end", "why": why, "iterations": self.iterations,
                         "self_us": round(statistics.median(self.own_ns or [0]) / 1e3, 3)})

    def finish(self, why):
        """The plan is done: leaves the process without running the script's own end."""
        self.write_loaders()
        self.write_end(why)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        for child in process.active_children():
            child.kill()
        if self.segments.world > 1:
            time.sleep(0.5)  # what other ranks still read from this one
        os._exit(0)

    def at_exit(self):
        if not self.on or os.getpid() != self.pid:
            return
        self.on = False
        try:
            if self.file.path:
                self.segments.finish(unfinished=True)
                self.write_loaders()
                self.write_end("exit")
            elif self.used or self.is_the_job():
                self.file.begin()
                self.write_end("no steps")
        except Exception:
            self.fail()

    def is_the_job(self):
        """Of a process without any iteration: not a launcher whose children trained, nor a `python -c` of somebody."""
        own = os.environ.get("RUN_MATRIX_PROBE_ROOT") == str(os.getpid()) or "RANK" in os.environ
        script = sys.argv[0] not in ("", "-c") and process.parent_process() is None
        others = any(name.startswith("rank-") for name in os.listdir(self.plan.folder))
        return own and script and not others


def sleep(probe):
    """The delay of the current segment. Returns the nanoseconds that it took."""
    begin = perf_counter_ns()
    time.sleep(probe.segments.current["added_ms"] / 1e3)
    return perf_counter_ns() - begin


def install():
    """Called once torch has been imported."""
    from . import hooks  # which import this file
    probe = Probe(os.environ["RUN_MATRIX_PROBE"])
    hooks.put_in(probe)
    probe.process.set_threads()
    atexit.register(probe.at_exit)
    os.register_at_fork(after_in_child=lambda: probe.on and probe.guard(probe.begin_process))
