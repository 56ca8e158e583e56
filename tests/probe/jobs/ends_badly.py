"""Ends after some iterations as its first argument says."""
import sys

import torch

how, data = sys.argv[1], torch.utils.data.TensorDataset(torch.arange(80.0).reshape(80, 1))
if how == "never trains":
    for (x,) in torch.utils.data.DataLoader(data, 4):
        x.sum()
    sys.exit(0)
weight = torch.nn.Parameter(torch.zeros(1))
sgd = torch.optim.SGD([weight], lr=1e-6)
if how == "probe fails":
    from run_matrix_probe.loop import Loop
    close, calls = Loop.close, []

    def fails_once(self, now):
        calls.append(now)
        if len(calls) == 12:
            raise ValueError("planted")
        close(self, now)
    Loop.close = fails_once
torch.manual_seed(0)
for number, (x,) in enumerate(torch.utils.data.DataLoader(data, 4, shuffle=True)):
    if number == 15 and how == "raises":
        raise RuntimeError("the job's own error")
    sgd.zero_grad()
    (x * weight - 1).square().mean().backward()
    sgd.step()
print("weight", weight.item(), "users own", hasattr(sys, "ran_mine"))
