"""Gradients of 4 batches for each update, persistent workers."""
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 192

    def __getitem__(self, index):
        time.sleep(0.02)
        return torch.randn(16), index % 4


model = torch.nn.Linear(16, 4)
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(Slow(), batch_size=4, num_workers=2, persistent_workers=True, prefetch_factor=2)
for epoch in range(6):
    for number, (inputs, labels) in enumerate(loader):
        (torch.nn.functional.cross_entropy(model(inputs), labels) / 4).backward()
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
print("finally")
