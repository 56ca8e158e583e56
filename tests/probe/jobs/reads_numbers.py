"""Reads a tensor's number in each iteration in several ways; with `metrics` also of torchmetrics."""
import sys

import torch

data = torch.utils.data.TensorDataset(torch.arange(400.0).reshape(400, 1))
weight = torch.nn.Parameter(torch.zeros(1))
sgd = torch.optim.SGD([weight], lr=1e-6)
if "metrics" in sys.argv:
    import torchmetrics
    mean, in_one = torchmetrics.MeanMetric(), torchmetrics.MeanMetric()
for (x,) in torch.utils.data.DataLoader(data, 4):
    sgd.zero_grad()
    (x * weight - 1).square().mean().backward()
    sgd.step()
    if "metrics" in sys.argv:
        mean.update(x)
        print(int(mean.compute()), int(in_one(x)), mean.update_count, flush=True)
    else:
        left = torch.tensor(3)
        while left > 0:  # ends in each iteration
            left -= 1
        print(int(x.sum().item()), int(x.sum()), int(float(x.sum())), bool(x[0] < 80), flush=True)
