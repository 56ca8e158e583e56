"""What is known of each DataLoader of the job: its settings, its role, its kept batches."""
import weakref

import torch

from . import batches


class Loader:
    def __init__(self, loader, number):
        self.name = f"loader {number}"
        self.loader = weakref.ref(loader)
        self.kept = batches.Kept()
        self.iterator = None   # weak reference to the last one
        self.hits = 0          # iterations in which a backward or an update followed its next()
        self.chances = 0       # iterations since the first of them
        self.nexts = 0         # of this iteration, where gradients were enabled
        self.ended = False     # in this iteration
        self.record = None
        self.written = False
        self.sums = None       # of its workers' fetches, shared with them
        self.key = key(loader)
        try:
            self.length = len(loader)
        except Exception:  # an IterableDataset has none
            self.length = None

    @property
    def training(self):
        return self.hits > 0 and 2 * self.hits >= self.chances

    @property
    def workers(self):
        loader = self.loader()
        return loader.num_workers if loader is not None else 0

    @property
    def ready(self):
        """Batches that workers may hold ready."""
        loader = self.loader()
        return loader.num_workers * (loader.prefetch_factor or 2) if loader is not None and loader.num_workers else 0

    def describe(self, batch):
        """Called with the first batch."""
        loader = self.loader()
        dataset, sampler = loader.dataset, getattr(loader, "sampler", None)
        found = batches.tensors(batch)
        context = loader.multiprocessing_context or torch.multiprocessing
        self.record = {
            "kind": "loader", "name": self.name, "workers": loader.num_workers, "batch": batches.items(batch),
            "prefetch_factor": loader.prefetch_factor, "pin_memory": bool(loader.pin_memory),
            "persistent_workers": bool(loader.persistent_workers), "dataset": type_name(dataset), "length": self.length,
            "sampler": type_name(sampler),
            "shapes": "; ".join(f"[{','.join(map(str, tensor.shape))}] {str(tensor.dtype).split('.')[-1]}" for tensor in found),
            "bytes": sum(tensor.numel() * tensor.element_size() for tensor in found), "context": context.get_start_method()}


def key(loader):
    return type(loader), type(loader.dataset), id(loader.dataset), loader.batch_size, loader.collate_fn


def type_name(thing):
    return f"{type(thing).__module__}.{type(thing).__qualname__}" if thing is not None else None


class Loaders:
    def __init__(self):
        self.of = weakref.WeakKeyDictionary()
        self.all = []
        self.lead = None  # whose next() begins an iteration

    def find(self, loader):
        """A script may make the same loader anew for each epoch."""
        known = self.of.get(loader)
        if known is None:
            known = next((one for one in self.all if one.loader() is None and one.key == key(loader)), None)
            if known:
                known.loader = weakref.ref(loader)
                self.of[loader] = known
        if known is None:
            known = self.of[loader] = Loader(loader, len(self.all))
            self.all.append(known)
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
        return [one for one in self.all if one.training and one.loader() is not None]

    def iteration_began(self):
        for one in self.all:
            one.nexts, one.ended = 0, False
