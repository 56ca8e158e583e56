"""Raises in its 20th iteration."""
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
for number, (inputs,) in enumerate(DataLoader(TensorDataset(torch.randn(320, 4)), batch_size=8)):
    if number == 19:
        raise ValueError("of the script")
    model(inputs).sum().backward()
    optimizer.step()
