"""Batches of any nested shape: copies that are given again, and two in one."""
import collections.abc
import copy
import dataclasses

import torch

KEPT, KEPT_BYTES = 8, 1 << 30  # of a loader


class CannotChange(Exception):
    """Why a batch can't be made into another."""


def is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def rebuilt(function, value):
    """The same containers, new, around function(leaf)."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if is_namedtuple(value):
        return type(value)(*(rebuilt(function, part) for part in value))
    if type(value) in (list, tuple):
        return type(value)(rebuilt(function, part) for part in value)
    if type(value) is dict:
        return {key: rebuilt(function, part) for key, part in value.items()}
    if isinstance(value, collections.abc.MutableMapping):  # such as transformers' BatchEncoding
        new = copy.copy(value)
        if getattr(new, "data", None) is getattr(value, "data", new):
            new.data = dict(value)
        for key, part in value.items():
            new[key] = rebuilt(function, part)
        return new
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        new = copy.copy(value)
        for field in dataclasses.fields(value):  # of a frozen one, too
            object.__setattr__(new, field.name, rebuilt(function, getattr(value, field.name)))
        return new
    return function(value)


def tensors(value):
    found = []
    rebuilt(lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None, value)
    return found


def bytes_of(batch):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors(batch))


def shapes(batch):
    return "; ".join(f"{list(one.shape)} {str(one.dtype).replace('torch.', '')}".replace(", ", ",") for one in tensors(batch)[:12])


def items(value, batch_size):
    """A list that is as long as the loader's batch holds the items; otherwise the first tensor's first dimension counts."""
    while True:
        if isinstance(value, torch.Tensor):
            return value.size(0) if value.dim() else 1
        if isinstance(value, (list, tuple)):
            if not value or len(value) == batch_size:
                return len(value)
            value = value[0]
        elif isinstance(value, collections.abc.Mapping):
            value = next(iter(value.values()), None)
        else:
            first = tensors(value)[:1]
            return first[0].size(0) if first and first[0].dim() else batch_size or 1


def copied(leaf):
    if not isinstance(leaf, torch.Tensor):
        return leaf.clone() if hasattr(leaf, "clone") else copy.copy(leaf)
    if leaf.device.type == "cpu" and torch.cuda.is_initialized() and leaf.is_pinned():
        return torch.empty_like(leaf, pin_memory=True).copy_(leaf)
    return leaf.detach().clone()


def versions(found):
    return [0 if tensor.is_inference() else tensor._version for tensor in found]


def doubled(batch, count):
    """With all parts twice that have one entry for each of its `count` items."""
    def twice(leaf):
        if not isinstance(leaf, torch.Tensor) or not leaf.dim() or len(leaf) != count:
            return leaf
        both = torch.cat([leaf, leaf])
        return copied(both.pin_memory()) if torch.cuda.is_initialized() and leaf.is_pinned() else both

    def change(part):
        parts = isinstance(part, (list, tuple)) and not is_namedtuple(part)
        if parts and len(part) == count and not any(isinstance(one, torch.Tensor) and one.dim() and len(one) == count for one in part):
            return part + part
        if parts:
            return type(part)(change(one) for one in part)
        if isinstance(part, dict):
            new = copy.copy(part)
            new.update({key: change(one) for key, one in part.items()})
            return new
        return rebuilt(twice, part)
    new = change(batch)
    if bytes_of(new) <= bytes_of(batch):
        raise CannotChange("no tensor of the batch has its items as first dimension")
    return new


class Kept:
    """The first batches of a loader, to be given again without it."""

    def __init__(self):
        self.batches, self.bytes, self.items = [], 0, 0
        self.given, self.number, self.clone_each = None, 0, False
        self.why_not = None  # a batch can't be copied

    def full(self):
        return self.why_not or len(self.batches) >= KEPT or (self.batches and self.bytes + self.bytes // len(self.batches) > KEPT_BYTES)

    def keep(self, batch, count):
        """Later batches of another number of items, such as an epoch's last, are left out."""
        if self.batches and count != self.items:
            return
        try:
            self.batches.append(rebuilt(copied, batch))
        except Exception as error:  # such as a generator or an open file in it
            self.batches, self.why_not = [], f"a batch can't be copied: {type(error).__name__}: {error}"
            return
        self.items = count
        self.bytes += bytes_of(batch)
        self.watch(tensors(batch))

    def watch(self, handed):
        self.check()
        self.given = handed, versions(handed)

    def check(self):
        """A script that writes into its batches gets a copy each time."""
        if self.given and versions(self.given[0]) != self.given[1]:
            self.clone_each = True
        self.given = None

    def give(self, batches):
        self.check()
        self.number += 1
        stored = batches[self.number % len(batches)]
        if self.clone_each:
            return rebuilt(copied, stored)
        # New containers, since scripts take entries out of them, and no gradients from the last use.
        self.given = tensors(stored), versions(tensors(stored))
        return rebuilt(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, stored)
