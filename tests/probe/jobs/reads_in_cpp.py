"""Reads a file for every item in LibTorch's C++, of which Python's audit events tell nothing."""
import sys

import torch

paths = sys.argv[1:]


class Archives(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        torch._C.PyTorchFileReader(paths[index % len(paths)])
        return torch.randn(8), index % 2


if __name__ == "__main__":
    model = torch.nn.Linear(8, 2)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in torch.utils.data.DataLoader(Archives(), 4):
        torch.nn.functional.cross_entropy(model(x), y).backward()
        sgd.step()
