"""Changes for the length of a segment. Each is a generator: what is before its yield begins it, what is after ends it."""
import builtins
import collections
import contextlib
import gc
import logging
import sys
import time
import weakref

import torch

from run_matrix_probe import batches
from run_matrix_probe.patches import swapped

REPLAYED = "replayed", "double_batch"
WITHOUT_LOADER = (*REPLAYED, "loader_alone")  # after them workers hold batches ready
NO_LOADER = "the job's main thread trains from no torch DataLoader"
data_parallel = weakref.WeakSet()  # the DistributedDataParallel modules


class Impossible(Exception):
    """Why a change can't be made here."""


def synchronize():
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def begin(segments, planned):
    """Returns what ends it."""
    name = planned["change"]
    if name == "unchanged":
        return None
    if name in REPLAYED:
        made = replaying(segments, name)
    elif name in CHANGES:
        made = CHANGES[name](segments, planned)
    else:
        raise Impossible(f"this probe knows no change {name!r}")
    change = contextlib.contextmanager(lambda: made)()
    change.__enter__()
    return lambda: change.__exit__(None, None, None)


def replaying(segments, name):
    loaders = segments.loaders.training
    if not loaders:
        raise Impossible(NO_LOADER)
    if not all(loader.kept.batches for loader in loaders):
        whys = [loader.kept.why_not for loader in loaders if loader.kept.why_not]
        raise Impossible(whys[0] if whys else "no batch was kept in the iterations before the first segment")
    doubled = name == "double_batch"
    if doubled:
        check_free_memory()
    prepared = {}
    for loader in loaders:
        kept = loader.kept
        kept.check()
        prepared[loader] = [batches.doubled(batch, kept.items) for batch in kept.batches] if doubled else kept.batches
    wait_for_idle_workers(loaders)
    segments.prepared = prepared
    segments.given_items = {loader: loader.kept.items * (2 if doubled else 1) for loader in loaders}
    yield
    segments.prepared, segments.given_items = {}, {}


def check_free_memory():
    if torch.cuda.is_initialized():
        peak = torch.cuda.max_memory_allocated()
        free = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - peak
        if free < peak:
            raise Impossible(f"{free >> 20} MiB of the GPU's memory are free; a batch twice as large may need {peak >> 20} more")


def wait_for_idle_workers(loaders, limit_s=10):
    """They still fill their queue, on the cores of the step."""
    until = time.monotonic() + limit_s
    for loader in loaders:
        iterator = loader.iterator()
        results, ready = getattr(iterator, "_worker_result_queue", None), getattr(iterator, "_data_queue", None)
        if results is None:
            continue
        with contextlib.suppress(NotImplementedError):  # queues without qsize()
            while time.monotonic() < until:
                waiting = results.qsize() + (ready.qsize() if ready is not results else 0)
                if waiting >= iterator._tasks_outstanding:
                    break
                time.sleep(0.005)


def loader_alone(segments, planned):
    if not segments.loaders.training:
        raise Impossible(NO_LOADER)
    yield


def added_step_time(segments, planned):
    segments.sleep_in_step = planned.get("added_ms", 0) / 1e3
    yield
    segments.sleep_in_step = 0


def added_wait(segments, planned):
    segments.sleep_in_load = planned.get("added_ms", 0) / 1e3
    yield
    segments.sleep_in_load = 0


def no_collectives(segments, planned):
    modules = [module for module in data_parallel if module.require_backward_grad_sync]
    if not modules:
        raise Impossible("no DistributedDataParallel module was made")
    for module in modules:
        module.require_backward_grad_sync = False
    yield
    for module in modules:
        module.require_backward_grad_sync = True


def no_logging(segments, planned):
    before = logging.root.manager.disable
    replaced = [(stream, "write", lambda text: len(text)) for stream in (sys.stdout, sys.stderr) if stream]
    printed = builtins.print  # without it what it would write isn't put together either
    replaced.append((builtins, "print", lambda *words, file=None, **options:
                     None if file in (None, sys.stdout, sys.stderr) else printed(*words, file=file, **options)))
    if "tqdm.std" in sys.modules:
        replaced.append((sys.modules["tqdm.std"].tqdm, "display", lambda self, *args, **kwargs: None))
    if "torch.utils.tensorboard" in sys.modules:
        writer = sys.modules["torch.utils.tensorboard"].SummaryWriter
        replaced += [(writer, name, lambda self, *args, **kwargs: None) for name in vars(writer) if name.startswith("add_")]
    logging.disable(logging.CRITICAL)
    with swapped([one for one in replaced if hasattr(one[0], "__dict__")]):
        yield
    logging.disable(before)


def no_item(segments, planned):
    """Each place of the script that reads a tensor on a GPU gets what it got first, without waiting for the GPU. What it reads
    for the second time in a step is another place, so that its loops end as they first did."""
    device, kept, times = planned.get("device", "cuda"), {}, collections.Counter()
    if device == "cuda" and not torch.cuda.is_initialized():
        raise Impossible("no GPU")
    step = [None]

    def read_once(original):
        def read(self, *arguments, **named):
            if self.device.type != device:
                return original(self, *arguments, **named)
            if step[0] != segments.iterations:
                step[0] = segments.iterations
                times.clear()
            frame = sys._getframe(1)
            place = frame.f_code, frame.f_lasti, None if self.is_nested else self.shape, self.dtype
            times[place] += 1
            place = *place, times[place]
            if place not in kept:
                kept[place] = original(self, *arguments, **named)
            return kept[place]
        return read
    reads = "item", "tolist", "cpu", "__float__", "__int__", "__bool__"
    with swapped([(torch.Tensor, name, read_once(getattr(torch.Tensor, name))) for name in reads]):
        yield


def no_metrics(segments, planned):
    """Of torchmetrics; what is computed from them stays what it was first."""
    if "torchmetrics" not in sys.modules:
        raise Impossible("it uses no torchmetrics")
    kind = sys.modules["torchmetrics"].Metric
    metrics = [one for one in gc.get_objects() if issubclass(type(one), kind)]
    if not metrics:
        raise Impossible("it has no metric of torchmetrics")

    inside = []  # a first call, which calls others of these functions

    def once(original):
        values = []

        def call(*arguments, **named):
            if values and not inside:
                return values[0]
            inside.append(original)
            try:
                values.append(original(*arguments, **named))
            finally:
                inside.pop()
            return values[-1]
        return call
    with swapped([(one, name, once(getattr(one, name))) for one in metrics for name in ("update", "compute", "forward")]):
        yield


CHANGES = {change.__name__: change
           for change in (loader_alone, added_step_time, added_wait, no_collectives, no_logging, no_item, no_metrics)}
