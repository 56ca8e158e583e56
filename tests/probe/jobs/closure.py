"""Two loaders side by side, an optimizer that calls a closure, and a validation after each tenth iteration."""
import torch


def loader(length, batch):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(length, 8), torch.randint(2, (length,))), batch)


labelled, others, valid = loader(80, 4), loader(160, 8), loader(20, 4)
model = torch.nn.Linear(8, 2)
lbfgs = torch.optim.LBFGS(model.parameters(), lr=0.01, max_iter=2)
number = 0
for _ in range(3):
    for (x, y), (more, _) in zip(labelled, others):
        def closure():
            lbfgs.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y) + 0.01 * model(more).square().mean()
            loss.backward()
            return loss
        lbfgs.step(closure)
        number += 1
        if number % 10 == 0:
            for x, y in valid:  # gradients stay enabled, as in many scripts
                model(x)
print("trained", number)
