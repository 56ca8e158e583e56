"""Accelerate, which takes each batch one iteration ahead."""
import accelerate
import torch

accelerator = accelerate.Accelerator(cpu=True)
data = torch.utils.data.TensorDataset(torch.randn(160, 8), torch.randint(2, (160,)))
model = torch.nn.Linear(8, 2)
model, sgd, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.utils.data.DataLoader(data, 4))
for _ in range(3):
    for x, y in loader:
        sgd.zero_grad()
        accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
        sgd.step()
