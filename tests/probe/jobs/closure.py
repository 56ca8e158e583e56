"""LBFGS with a closure, two loaders zipped, and an evaluation with gradients enabled every 10 updates."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
left = DataLoader(TensorDataset(torch.randn(320, 16)), batch_size=8)
right = DataLoader(TensorDataset(torch.randn(320, 1)), batch_size=8)
held_out = DataLoader(TensorDataset(torch.randn(32, 16)), batch_size=8)
model = torch.nn.Linear(16, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.01, max_iter=3)
updates = 0
for epoch in range(8):
    for (inputs,), (targets,) in zip(left, right):
        def closure():
            optimizer.zero_grad()
            loss = (model(inputs) - targets).square().mean()
            loss.backward()
            return loss
        optimizer.step(closure)
        updates += 1
        if updates % 10 == 0:
            model.eval()
            for (inputs,) in held_out:
                model(inputs)
            model.train()
print("finally", updates)
