"""An IterableDataset without length, shared by workers, whose batches are nested and have no two equal shapes."""
import collections

import torch

Sample = collections.namedtuple("Sample", "tokens label")


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        for number in range(worker.id if worker else 0, 240, worker.num_workers if worker else 1):
            yield number


def collate(numbers):
    length = 3 + numbers[0] % 5
    sample = Sample(torch.ones(len(numbers), length), torch.zeros(len(numbers), dtype=torch.long))
    return {"sample": sample, "names": [str(one) for one in numbers], "scale": torch.tensor(2.0)}


model = torch.nn.Linear(1, 2)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    for batch in torch.utils.data.DataLoader(Stream(), 4, num_workers=2, collate_fn=collate):
        sample = batch.pop("sample")  # the dictionary is the script's own
        assert len(batch["names"]) == len(sample.tokens) == len(sample.label)
        sample.tokens.sub_(1.0)       # and so are the tensors
        assert float(sample.tokens.sum()) == 0, "a batch was given again after it had been written to"
        outputs = model(sample.tokens.mean(1, keepdim=True) * batch["scale"])
        sgd.zero_grad()
        torch.nn.functional.cross_entropy(outputs, sample.label).backward()
        sgd.step()
print("trained")
