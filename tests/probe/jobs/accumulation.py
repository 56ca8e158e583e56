"""Gradients of four batches for each update, and workers that live on through all epochs."""
import sys

import torch

data = torch.utils.data.TensorDataset(torch.randn(128, 8), torch.randint(2, (128,)))
loader = torch.utils.data.DataLoader(data, 4, shuffle=True, num_workers=2, persistent_workers=True,
                                     multiprocessing_context=sys.argv[1] if len(sys.argv) > 1 else None)
model = torch.nn.Linear(8, 2)
adam = torch.optim.Adam(model.parameters())
if __name__ == "__main__":
    for _ in range(4):
        for number, (x, y) in enumerate(loader):
            (torch.nn.functional.cross_entropy(model(x), y) / 4).backward()
            if number % 4 == 3:
                adam.step()
                adam.zero_grad()
        assert number == 31 or "RUN_MATRIX_PROBE" in __import__("os").environ, number
    print("trained")
