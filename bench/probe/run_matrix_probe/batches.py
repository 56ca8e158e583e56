"""Batches kept for replay: copies of the first ones, their halves and doubles, in whatever containers the job uses."""
import copy
from collections.abc import Mapping

import torch

KEPT, LIMIT_BYTES = 8, 1 << 30


class Impossible(Exception):
    """Of a change that this job doesn't allow; says why."""


def mapped(function, *batches):
    """The first batch's containers anew, with function(leaves of all batches) as leaves."""
    first = batches[0]
    if isinstance(first, Mapping):
        new = copy.copy(first)
        for key in first:
            new[key] = mapped(function, *(batch[key] for batch in batches))
        return new
    if isinstance(first, torch.nn.utils.rnn.PackedSequence):
        return function(*batches)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(mapped(function, *parts) for parts in zip(*batches)))
    if type(first) in (tuple, list) and not all(isinstance(part, str) for part in first):
        return type(first)(mapped(function, *parts) for parts in zip(*batches))
    return function(*batches)


def tensors(batch):
    found = []
    mapped(lambda leaf: found.append(leaf) if isinstance(leaf, torch.Tensor) else None, batch)
    return found


def items(batch):
    """The batch's dimension: the first one of the first tensor that has any."""
    if type(batch) in (tuple, list) and batch and isinstance(batch[0], torch.Tensor) and batch[0].dim():
        return batch[0].shape[0]
    for tensor in tensors(batch):
        if tensor.dim():
            return tensor.shape[0]
    return 1


def copied(leaf):
    if not isinstance(leaf, torch.Tensor):
        return copy.deepcopy(leaf)
    new = leaf.detach().clone()
    return new.pin_memory() if leaf.is_pinned() else new


def version(tensor):
    return 0 if tensor.is_inference() else tensor._version


class Kept:
    """The kept batches of one loader."""

    def __init__(self):
        self.batches, self.bytes, self.full = [], 0, False
        self.forms, self.turn = {}, 0
        self.given, self.job_writes = None, False  # does the job write into its batches?

    def keep(self, batch):
        self.look_for_writes()  # into the one before
        found = tensors(batch)
        self.given = found, [version(tensor) for tensor in found]
        size = sum(tensor.numel() * tensor.element_size() for tensor in found)
        self.full = len(self.batches) + 1 >= KEPT or self.bytes + 2 * size > LIMIT_BYTES
        if self.bytes + size <= LIMIT_BYTES:
            self.batches.append(mapped(copied, batch))
            self.bytes += size

    def prepare(self, change):
        """Untimed, before a segment."""
        if not self.batches:
            raise Impossible("no batch of the training loader could be kept: larger than 1 GiB, or none came in the warm-up")
        if change == "replayed":
            self.forms[change] = list(self.batches)
        elif change == "half_batch":
            self.forms[change] = [half(batch) for batch in self.batches]
        else:
            self.forms[change] = [doubled(batch, other) for batch, other in
                                  zip(self.batches, self.batches[1:] + self.batches[:1])]
        self.look_for_writes()
        self.turn = 0

    def look_for_writes(self):
        if self.given and [version(tensor) for tensor in self.given[0]] != self.given[1]:
            self.job_writes = True
        self.given = None

    def next(self, change):
        form = self.forms[change]
        if self.given:
            self.look_for_writes()
            if self.job_writes and len(form) > 1:
                form.pop((self.turn - 1) % len(form))  # it isn't what it was
        batch = form[self.turn % len(form)]
        self.turn += 1
        if self.job_writes:
            return mapped(copied, batch)
        found = tensors(batch)
        self.given = found, [version(tensor) for tensor in found]
        return mapped(itself, batch)


def itself(leaf):
    return leaf


def split_size(batch):
    found = tensors(batch)
    if any(not isinstance(leaf, (torch.Tensor, str, int, float, bool, type(None))) for leaf in leaves(batch)):
        raise Impossible("a batch holds objects that are neither tensors nor lists, tuples, dictionaries of tensors")
    size = items(batch)
    if not found or size < 2:
        raise Impossible(f"a batch of {size} item can't be divided" if found else "a batch holds no tensor")
    return size


def leaves(batch):
    found = []
    mapped(lambda leaf: found.extend(leaf) if type(leaf) in (list, tuple) else found.append(leaf), batch)
    return found


def is_by_item(leaf, size):
    if isinstance(leaf, torch.Tensor):
        return leaf.dim() > 0 and leaf.shape[0] == size
    return type(leaf) in (list, tuple) and len(leaf) == size


def half(batch):
    size = split_size(batch)
    return mapped(lambda leaf: leaf[:size // 2] if is_by_item(leaf, size) else leaf, batch)


def doubled(batch, other):
    size = split_size(batch)
    if [tensor.shape for tensor in tensors(batch)] != [tensor.shape for tensor in tensors(other)]:
        other = batch

    def double(leaf, second):
        if not is_by_item(leaf, size):
            return leaf
        if not isinstance(leaf, torch.Tensor):
            return leaf + second
        new = torch.cat([leaf, second])
        return new.pin_memory() if leaf.is_pinned() else new
    return mapped(double, batch, other)
