"""Prints and logs the number of each iteration."""
import logging
import sys

import torch

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
data = torch.utils.data.TensorDataset(torch.arange(400.0).reshape(400, 1))
weight = torch.nn.Parameter(torch.zeros(1))
sgd = torch.optim.SGD([weight], lr=1e-6)
for number, (x,) in enumerate(torch.utils.data.DataLoader(data, 4)):
    sgd.zero_grad()
    (x * weight - 1).square().mean().backward()
    sgd.step()
    print(number, flush=True)
    logging.info("%d", number)
