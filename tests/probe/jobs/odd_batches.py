"""Batches that few expect, from a loader that goes on over all epochs with one iterator, as YOLO's and timm's do: a frozen
dataclass; with `generator` one holds what can't be copied."""
import dataclasses
import sys

import torch


@dataclasses.dataclass(frozen=True)
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    more: object = None


def collate(samples):
    x, y = torch.utils.data.default_collate(samples)
    return Batch(x, y, (value for value in samples) if "generator" in sys.argv else None)


class Repeated:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class Endless(torch.utils.data.DataLoader):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        object.__setattr__(self, "batch_sampler", Repeated(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


data = torch.utils.data.TensorDataset(torch.randn(40, 8), torch.randint(2, (40,)))
loader = Endless(data, 4, collate_fn=collate)
model = torch.nn.Linear(8, 2)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    for batch in loader:
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(model(batch.x), batch.y).backward()
        sgd.step()
print("trained")
