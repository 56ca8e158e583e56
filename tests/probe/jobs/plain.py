"""A plain training loop with a validation after each epoch. plain.py [WORKERS [SLEEP_MS [EPOCHS]]]; the dataset sleeps."""
import sys
import time

import torch

WORKERS, SLEEP_MS, EPOCHS = [int(value) for value in (sys.argv[1:] + ["0", "0", "3"][len(sys.argv) - 1:])]


class Images(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(SLEEP_MS / 1e3)
        return torch.full((64,), float(index)), index % 4


if __name__ == "__main__":
    torch.manual_seed(1)
    training = torch.utils.data.DataLoader(Images(256), batch_size=8, num_workers=WORKERS, shuffle=True)
    validation = torch.utils.data.DataLoader(Images(24), batch_size=8)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    try:
        for epoch in range(EPOCHS):
            for inputs, labels in training:
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                right = sum(int((model(inputs).argmax(1) == labels).sum()) for inputs, labels in validation)
            print(f"epoch {epoch} loss {loss.item():.6f} right {right}")
    finally:
        print("finally")
