"""Accelerate with accumulation over two batches; its loader takes one batch ahead."""
import accelerate
import torch
from torch.utils.data import DataLoader, TensorDataset

accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(32, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(320, 32), torch.randint(4, (320,))), batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(8):
    for inputs, labels in loader:
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.cross_entropy(model(inputs), labels))
            optimizer.step()
            optimizer.zero_grad()
print("finally")
