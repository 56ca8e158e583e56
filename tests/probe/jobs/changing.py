"""Batches whose shape changes and that the script writes into; they are dictionaries it takes keys from; GradScaler."""
import importlib.util

assert importlib.util.find_spec("torch")  # as libraries look whether it is there

import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402


def collate(numbers):
    length = 4 + numbers[0] % 3
    return {"inputs": torch.ones(len(numbers), length), "labels": torch.tensor(numbers) % 4, "names": [str(one) for one in numbers]}


model = torch.nn.Linear(1, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(8):
    for batch in DataLoader(range(320), batch_size=8, collate_fn=collate):
        labels = batch.pop("labels")
        inputs = batch["inputs"]
        assert inputs.unique().tolist() == [1.0], "the script's own change came back"
        assert len(inputs) == len(labels) == len(batch["names"])
        inputs.mul_(2)
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.cross_entropy(model(inputs.sum(1, keepdim=True)), labels)).backward()
        scaler.step(optimizer)
        scaler.update()
print("finally")
