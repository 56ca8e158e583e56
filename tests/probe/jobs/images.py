"""Images from files, and a model that all changes of a whole process apply to."""
import os
import sys

import torch

paths = sys.argv[1:]


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 40 * len(paths)

    def __getitem__(self, index):
        if torch.utils.data.get_worker_info():
            assert torch.get_num_threads() == 1, "the loader's workers have one thread"
        with open(paths[index % len(paths)], "rb") as file:
            value = float(file.read(1)[0])
        return torch.full((3, 8, 8), value / 255), index % 2


if __name__ == "__main__":
    torch.set_num_threads(3)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))
    adam = torch.optim.Adam(model.parameters())
    for _ in range(2):
        for x, y in torch.utils.data.DataLoader(Images(), 4, num_workers=int("START" in os.environ),
                                                multiprocessing_context=os.environ.get("START")):
            outputs = model(x)
            adam.zero_grad()
            torch.nn.functional.cross_entropy(outputs, y).backward()
            adam.step()
    group = adam.param_groups[0]
    print("fused", group.get("fused"), "bf16", outputs.dtype == torch.bfloat16, "threads", torch.get_num_threads(), "channels_last",
          model[0].weight.is_contiguous(memory_format=torch.channels_last) and x.is_contiguous(memory_format=torch.channels_last),
          "compiled", model._compiled_call_impl is not None)
