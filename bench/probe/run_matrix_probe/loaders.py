"""What is known of each DataLoader of the job: its settings, its role, its kept batches."""
import weakref

import torch
from torch.utils.data import IterableDataset

from . import batches


class Loader:
    """A DataLoader, or several that a script makes anew for each epoch. They may be gone while their iterators live."""

    def __init__(self, number):
        self.name = f"loader {number}"
        self.kept = batches.Kept()
        self.iterator = gone   # weak reference to the last one
        self.hits = 0          # iterations in which a backward or an update followed its next()
        self.chances = 0       # iterations since the first of them
        self.nexts = 0         # of this iteration, where gradients were enabled
        self.ended = False     # in this iteration
        self.fresh = False     # iterated anew, and no batch taken yet
        self.record = None     # complete with the first batch
        self.written = False
        self.sums = None       # of its workers' fetches, shared with them

    def bind(self, loader):
        self.loader, self.kind = weakref.ref(loader), (type(loader), type(loader.dataset), loader.batch_size)
        try:
            self.dataset = weakref.ref(loader.dataset)
        except TypeError:  # such as a list
            self.dataset = gone
        try:  # asked for it, the loader of an IterableDataset would warn later
            self.length = None if isinstance(loader.dataset, IterableDataset) else len(loader)
        except Exception:  # a sampler of the script's own may have none
            self.length = None

    def is_free_for(self, loader):
        if self.loader() is not None or self.iterator() is not None:
            return False
        return self.dataset() is loader.dataset or self.dataset() is None and self.kind == (
            type(loader), type(loader.dataset), loader.batch_size)

    def iterated(self, loader, iterator):
        self.iterator = weakref.ref(iterator)
        self.workers = loader.num_workers
        self.ready = self.workers * (loader.prefetch_factor or 2)  # batches that workers may hold ready
        if self.record:
            return
        context = loader.multiprocessing_context or torch.multiprocessing
        self.record = {"kind": "loader", "name": self.name, "workers": self.workers, "batch": 0,
                       "prefetch_factor": loader.prefetch_factor, "pin_memory": bool(loader.pin_memory),
                       "persistent_workers": bool(loader.persistent_workers), "dataset": type_name(loader.dataset),
                       "length": self.length, "sampler": type_name(getattr(loader, "sampler", None)),
                       "context": context.get_start_method()}

    def describe(self, batch):
        """Called with the first batch."""
        found = batches.tensors(batch)
        shapes = (f"[{','.join(map(str, tensor.shape))}] {str(tensor.dtype).split('.')[-1]}" for tensor in found)
        self.record.update(batch=batches.items(batch), shapes="; ".join(shapes),
                           bytes=sum(tensor.numel() * tensor.element_size() for tensor in found))

    @property
    def training(self):
        return self.hits > 0 and 2 * self.hits >= self.chances


def gone():
    return None


def type_name(thing):
    return f"{type(thing).__module__}.{type(thing).__qualname__}" if thing is not None else None


class Loaders:
    def __init__(self):
        self.of = weakref.WeakKeyDictionary()
        self.all = []
        self.lead = None  # whose next() begins an iteration

    def find(self, loader):
        known = self.of.get(loader)
        if known is None:
            known = next((one for one in self.all if one.is_free_for(loader)), None)
            if known is None:
                known = Loader(len(self.all))
                self.all.append(known)
            known.bind(loader)
            self.of[loader] = known
        return known

    def trained(self):
        """The first backward or update of an iteration: which loaders did its batches come from? A validation has ended or
        taken several batches; a loader that is asked one batch ahead has taken two."""
        candidates = [one for one in self.all if one.nexts and not one.ended]
        few = [one for one in candidates if one.nexts <= 2]
        candidates = few if few and self.lead not in candidates else candidates
        for one in self.all:
            one.chances += one.hits > 0
        for one in candidates:
            one.hits += 1
            one.chances = max(1, one.chances)
        if candidates and self.lead not in candidates:
            self.lead = candidates[0]
        return candidates

    def training(self):
        return [one for one in self.all if one.training and (one.loader() is not None or one.iterator() is not None)]

    def iteration_began(self):
        for one in self.all:
            one.nexts, one.ended = 0, False
