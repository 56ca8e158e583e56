"""What each of the plan's changes does to the process while its segment lasts. begin() returns what takes it back."""
import gc
import logging
import sys

import torch

from .batches import Impossible
from .plan import WITHOUT_THE_LOADER


def wait_for_gpu():
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def begin(probe, segment):
    change = segment["change"]
    if change in WITHOUT_THE_LOADER + ("loader_alone", "added_wait") and probe.by_updates:
        raise Impossible("the job uses no torch DataLoader in its main thread, so its loading isn't known")
    if change in WITHOUT_THE_LOADER:
        if change == "double_batch":
            look_for_memory()
        for loader in probe.loaders.training():
            loader.kept.prepare(change)
        return None
    if change in ("unchanged", "loader_alone", "added_step_time", "added_wait"):
        return None
    if change == "threads":
        return threads(segment)
    if change == "no_collectives":
        return no_collectives()
    if change == "no_logging":
        return no_logging()
    raise Impossible("this probe doesn't know the change")


def look_for_memory():
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        peak, (free, total) = torch.cuda.max_memory_allocated(), torch.cuda.mem_get_info()
        if 2 * peak > free + torch.cuda.memory_reserved():
            raise Impossible(f"the GPU may lack memory: {peak >> 20} MiB are in use at most, of {total >> 20} MiB")


def threads(segment):
    before = torch.get_num_threads()
    torch.set_num_threads(int(segment["threads"]))
    return lambda: torch.set_num_threads(before)


def no_collectives():
    if not torch.distributed.is_available():
        raise Impossible("this torch has no torch.distributed")
    kind = torch.nn.parallel.DistributedDataParallel
    modules = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]  # isinstance() would wake lazy objects
    if not modules:
        raise Impossible("no DistributedDataParallel module exists")
    before = [module.require_backward_grad_sync for module in modules]
    for module in modules:
        module.require_backward_grad_sync = False

    def undo():
        for module, value in zip(modules, before):
            module.require_backward_grad_sync = value
    return undo


class Silent:
    """A stream whose texts are dropped; everything else is the stream's own."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return len(text)

    def writelines(self, lines):
        pass

    def flush(self):
        pass

    def __getattr__(self, name):
        return getattr(self.stream, name)


def no_logging():
    replaced = []

    def replace(owner, name, value):
        replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is not None:
            replace(sys, name, Silent(getattr(sys, name)))
    bars = sys.modules.get("tqdm.std")
    if bars:
        for name in ("display", "refresh"):
            replace(bars.tqdm, name, lambda *given, **named: None)
    for module in ("torch.utils.tensorboard", "tensorboardX"):
        writer = getattr(sys.modules.get(module), "SummaryWriter", None)
        for name in [name for name in dir(writer) if name.startswith("add_")] if writer else []:
            replace(writer, name, lambda *given, **named: None)
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)

    def undo():
        logging.disable(before)
        for owner, name, value in reversed(replaced):
            if not isinstance(getattr(owner, name), Silent) and owner is sys:
                continue  # the job has put in another stream since
            setattr(owner, name, value)
    return undo
