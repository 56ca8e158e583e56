"""Attributes that are replaced and restored: the probe's own in torch, and those of changes."""
import contextlib
import functools


class Patches:
    def __init__(self):
        self.undo = []

    def set(self, owner, name, value):
        original = vars(owner).get(name)
        setattr(owner, name, value)
        self.undo.append(functools.partial(setattr, owner, name, original) if original is not None
                         else functools.partial(delattr, owner, name))

    def restore(self):
        while self.undo:
            self.undo.pop()()


@contextlib.contextmanager
def swapped(replacements):
    """Of (owner, attribute, value)."""
    patches = Patches()
    try:
        for replacement in replacements:
            patches.set(*replacement)
        yield
    finally:
        patches.restore()
