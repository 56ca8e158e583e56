"""A plain loop over epochs with a validation after each; its dataset sleeps 20 ms for each batch."""
import sys
import time

import torch


class Sleepy(torch.utils.data.Dataset):
    def __init__(self, length, sleep_s):
        self.length, self.sleep_s = length, sleep_s

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(self.sleep_s)
        return torch.randn(8), index % 2


workers, epochs = (int(word) for word in (sys.argv[1:] or ["0", "3"]))
train = torch.utils.data.DataLoader(Sleepy(80, 0.005), 4, num_workers=workers)
valid = torch.utils.data.DataLoader(Sleepy(12, 0), 4)
model = torch.nn.Linear(8, 2)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for _ in range(epochs):
        batches = 0
        for x, y in train:
            batches += 1
            loss = torch.nn.functional.cross_entropy(model(x), y)
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        assert batches, "an epoch without a batch is an error to many scripts"
        with torch.no_grad():
            for x, y in valid:
                model(x)
    print("trained", epochs)
finally:
    print("finally")
