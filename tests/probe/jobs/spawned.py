"""Spawned workers, an iterable dataset that reads a file for each batch, and a loader made anew for each epoch.
spawned.py FOLDER"""
import pathlib
import sys

import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __iter__(self):
        for number in range(40):
            pathlib.Path(sys.argv[1], f"{number % 10}.txt").read_text()
            yield {"inputs": torch.randn(8, 16), "extra": [torch.randint(4, (8,)), ("name", 1)]}


if __name__ == "__main__":
    model = torch.nn.Linear(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        for batch in DataLoader(Stream(), batch_size=None, num_workers=2, multiprocessing_context="spawn"):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(batch["inputs"]), batch["extra"][0]).backward()
            optimizer.step()
    print("finally")
