"""Says in what settings it trains."""
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        return torch.randn(3, 8, 8), index % 4, torch.get_num_threads()


if __name__ == "__main__":
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 4))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Images(), batch_size=8, num_workers=1, persistent_workers=True)
    for number, (images, labels, threads) in enumerate(loader):
        output = model(images)
        torch.nn.functional.cross_entropy(output, labels).backward()
        assert model[0].weight.grad.dtype == torch.float32
        optimizer.step()
        if number == 5:
            layout = model[0].weight.is_contiguous(memory_format=torch.channels_last)
            print("forward", output.dtype, "channels_last", layout, "fused", optimizer.param_groups[0]["fused"])
            print("threads", torch.get_num_threads(), "\nworker threads", int(threads[0]), flush=True)
