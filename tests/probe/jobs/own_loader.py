"""No DataLoader at all: a class of the script's own makes the batches; gradients are scaled as for float16.
Whether there is a torch is asked before it is imported, as some packages do."""
import importlib.util

assert importlib.util.find_spec("torch")
import torch


class Batches:
    def __iter__(self):
        for _ in range(40):
            yield torch.randn(4, 8), torch.randint(2, (4,))


model = torch.nn.Linear(8, 2)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler(enabled=False)
for x, y in Batches():
    with torch.autocast("cpu", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    sgd.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(sgd)
    scaler.update()
print("trained")
