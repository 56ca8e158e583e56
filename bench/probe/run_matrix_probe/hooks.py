"""The functions of torch that the probe replaces by its own, which call them."""
import functools
import os
import threading
from time import perf_counter_ns as now

import torch
import torch.utils.data.dataloader as dataloader
from torch.optim import optimizer
from torch.utils.data._utils import fetch

from .clock import BACKWARD, FORWARD, H2D, LOAD, OTHER, STEP, SYNC
from .probe import DRAIN, sleep
from .worker import VARIABLE, Watch

COLLECTIVES = ("all_reduce", "broadcast", "reduce", "all_gather", "gather", "scatter", "reduce_scatter", "all_to_all", "barrier",
               "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "all_gather_object",
               "broadcast_object_list", "gather_object", "scatter_object_list", "monitored_barrier")
this_thread = threading.get_ident


def replace(probe, owner, name, make):
    original = getattr(owner, name)
    new = make(original)
    new.__name__, new.__qualname__, new.__doc__ = name, getattr(original, "__qualname__", name), original.__doc__
    new.__wrapped__ = original
    probe.restore.append((owner, name, original))
    setattr(owner, name, new)


def put_in(probe):
    for kind in (dataloader._SingleProcessDataLoaderIter, dataloader._MultiProcessingDataLoaderIter):
        replace(probe, kind, "__init__", lambda original: iterator_init(probe, original))
    replace(probe, dataloader._BaseDataLoaderIter, "__next__", lambda original: iterator_next(probe, original))
    replace(probe, dataloader.DataLoader, "__iter__", lambda original: loader_iter(probe, original))
    replace(probe, torch.autograd, "backward", lambda original: backward(probe, original))
    optimizer.register_optimizer_step_pre_hook(lambda *given: before_step(probe, *given))
    optimizer.register_optimizer_step_post_hook(lambda *given: after_step(probe, *given))
    if torch.distributed.is_available():
        for name in COLLECTIVES:
            if hasattr(torch.distributed, name):
                replace(probe, torch.distributed, name, lambda original: charged(probe, original, SYNC))
    if os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/kfd"):
        for name in ("to", "cuda"):
            replace(probe, torch.Tensor, name, lambda original: charged(probe, original, H2D))
    if not probe.plan.minimal:
        probe.watch = Watch(probe)
        for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
            replace(probe, kind, "fetch", probe.watch.fetching)


def charged(probe, original, phase):
    """Its time belongs to that phase; a copy's only if it changed the device."""
    clock = probe.clock

    def call(*given, **named):
        if not probe.on or this_thread() != probe.thread or clock.phase in (BACKWARD, phase) or probe.charging:
            return original(*given, **named)
        probe.charging = True
        begin = now()
        try:
            result = original(*given, **named)
        finally:
            probe.charging = False
        if phase != H2D or result.device != given[0].device:
            clock.move(phase, now() - begin)
        return result
    return call


def loader_iter(probe, original):
    def __iter__(self):
        if probe.on and this_thread() == probe.thread:
            probe.guard(probe.iterated, self)
        return original(self)
    return __iter__


def iterator_init(probe, original):
    def __init__(self, loader, *given, **named):
        def remember():
            self.run_matrix_loader = probe.loaders.find(loader)
            self.run_matrix_loader.iterated(loader, self)
        if probe.on:
            probe.guard(remember)
        original(self, loader, *given, **named)
        if hasattr(self, "_dataset_fetcher"):  # workers 0
            self._dataset_fetcher.run_matrix_announced = os.environ.get(VARIABLE)
    return __init__


def iterator_next(probe, original):
    clock = probe.clock

    def drain(self):
        """loader_alone. Returns whether the loader's next batch is the job's again."""
        others = probe.guard(probe.others, self) or ()
        while True:
            begin = now()
            try:
                batch = original(self)
                for other in others:
                    original(other)
            except StopIteration:
                probe.guard(probe.epoch_ended, self)
                raise
            if probe.guard(probe.drained, batch, now() - begin) is not DRAIN:
                return

    def __next__(self):
        if not probe.on or this_thread() != probe.thread or not hasattr(self, "run_matrix_loader"):
            return original(self)
        begin = now()
        kept = probe.guard(probe.before_next, self, begin)
        if kept is DRAIN:
            drain(self)
            begin = now()
            kept = probe.guard(probe.before_next, self, begin)
        if probe.on and probe.segments.change == "added_wait" and self.run_matrix_loader is probe.loaders.lead:
            clock.enter(LOAD, now())
            begin += sleep(probe)
        begin = max(begin, clock.mark)  # without what a segment's end took
        called = now()
        clock.enter(LOAD, called if kept is None else begin)
        if kept is None:
            try:
                batch = original(self)
            except StopIteration:
                probe.guard(probe.epoch_ended, self)
                raise
        else:
            batch = kept[0]
        returned = now()
        clock.enter(FORWARD, returned)
        probe.guard(probe.after_next, self, batch, returned)
        clock.own += called - begin + now() - returned
        return batch
    return __next__


def backward(probe, original):
    clock = probe.clock

    def begin(given, named):
        time = now()
        if clock.phase == OTHER:  # another forward of the same iteration
            clock.phase = FORWARD
        clock.enter(BACKWARD, time)
        probe.process.stop_autocast()
        if not probe.plan.minimal and given and isinstance(given[0], torch.Tensor) and given[0].numel() == 1:
            probe.loss = given[0].detach()
        clock.own += now() - time

    def end():
        time = now()
        clock.enter(STEP if probe.in_step else OTHER, time)
        if not probe.trained:
            clock.enter(STEP, time)
            time += probe.trained_now()
            clock.enter(STEP if probe.in_step else OTHER, now())
        probe.process.start_autocast()
        clock.own += now() - time

    def backward(*given, **named):
        if not probe.on or this_thread() != probe.thread or probe.in_backward:
            return original(*given, **named)
        probe.guard(begin, given, named)
        probe.in_backward = True
        try:
            return original(*given, **named)
        finally:
            probe.in_backward = False
            if probe.on:
                probe.guard(end)
    return backward


def before_step(probe, optimizer, given, named):
    if probe.on and this_thread() == probe.thread:
        return probe.guard(begin_step, probe, optimizer, given, named)


def begin_step(probe, optimizer, given, named):
    """Returns new arguments if there is a closure, so that the forward in it isn't counted as the update."""
    time = now()
    probe.in_step += 1
    changed = None
    if probe.in_step == 1:
        probe.clock.enter(STEP, time)
        if not probe.trained and not probe.loaders.lead:
            time += probe.trained_now()
        if probe.plan.process:
            probe.process.before_update(optimizer)
        if len(given) > 1 and callable(given[1]):
            changed = (given[0], in_forward(probe, given[1]), *given[2:]), named
        elif callable(named.get("closure")):
            changed = given, dict(named, closure=in_forward(probe, named["closure"]))
    probe.clock.own += now() - time
    return changed


def in_forward(probe, closure):
    @functools.wraps(closure)
    def call(*given, **named):
        if probe.on:
            probe.clock.enter(FORWARD, now())
        try:
            return closure(*given, **named)
        finally:
            if probe.on:
                probe.clock.enter(STEP, now())
    return call


def after_step(probe, optimizer, given, named):
    if probe.on and this_thread() == probe.thread:
        probe.guard(end_step, probe, optimizer)


def end_step(probe, optimizer):
    time = now()
    probe.in_step = max(0, probe.in_step - 1)
    if probe.in_step == 0:
        probe.clock.enter(OTHER, time)
        if not probe.trained:
            time += probe.trained_now()
        probe.update_ended()
    probe.clock.own += now() - time
