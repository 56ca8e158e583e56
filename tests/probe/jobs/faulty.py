"""plain.py with a probe whose named entry raises after so many calls. faulty.py ENTRY CALLS"""
import pathlib
import sys

import torch
from run_matrix_probe import probe

ENTRY, CALLS = sys.argv.pop(1), int(sys.argv.pop(1))
original, calls = getattr(probe.Probe, ENTRY), [0]


def faulty(self, *given):
    calls[0] += 1
    if calls[0] > CALLS:
        raise RuntimeError("a fault of the probe")
    return original(self, *given)


setattr(probe.Probe, ENTRY, faulty)
exec(compile(pathlib.Path(__file__).with_name("plain.py").read_text(), "plain.py", "exec"))
