"""DistributedDataParallel on gloo; only rank 0 validates. The rank's own delay in ms is its argument times its rank.
`dispatched`: rank 0 takes the batches for both, as accelerate does of an IterableDataset, and every second one updates."""
import sys
import time

import torch
from torch import distributed

distributed.init_process_group("gloo")
rank = distributed.get_rank()
data = torch.utils.data.TensorDataset(torch.randn(320, 8), torch.randint(2, (320,)))
loader = torch.utils.data.DataLoader(data, 4, sampler=torch.utils.data.DistributedSampler(data))
valid = torch.utils.data.DataLoader(data, 32)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 2))
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
dispatched = "dispatched" in sys.argv


def dispatched_batches():
    iterator = iter(loader) if rank == 0 else None
    for _ in range(len(loader)):
        batch = [next(iterator) if iterator else None]
        distributed.broadcast_object_list(batch, 0)
        yield batch[0]


for _ in range(6):
    for number, (x, y) in enumerate(dispatched_batches() if dispatched else loader):
        time.sleep(rank * float(sys.argv[1]) / 1e3)
        torch.nn.functional.cross_entropy(model(x), y).backward()
        if not dispatched or number % 2:
            sgd.step()
            sgd.zero_grad()
        if number % 10 == 9:
            distributed.all_reduce(torch.ones(1))
            if rank == 0:
                with torch.no_grad():
                    for x, _ in valid:
                        model.module(x)
print("trained")
