"""Trains in a process that is forked after torch was imported."""
import torch
from torch.utils.data import DataLoader, TensorDataset


def train():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for (inputs,) in DataLoader(TensorDataset(torch.randn(160, 4)), batch_size=8):
        model(inputs).sum().backward()
        optimizer.step()


if __name__ == "__main__":
    child = torch.multiprocessing.get_context("fork").Process(target=train)
    child.start()
    child.join()
