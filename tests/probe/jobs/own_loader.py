"""Batches from a generator of the script's own, without a DataLoader."""
import torch


def batches(count):
    for _ in range(count):
        yield torch.randn(16, 32), torch.randint(4, (16,))


model = torch.nn.Linear(32, 4)
optimizer = torch.optim.Adam(model.parameters())
for inputs, labels in batches(200):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
print("finally")
