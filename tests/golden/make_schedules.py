"""Writes schedules.csv: the learning rates of PyTorch's schedulers, for a learning rate of 1.

Run once with torch 2.11 (CPU): python make_schedules.py schedules.csv
"""
import csv
import sys

import torch
from torch.optim import lr_scheduler


def rates(schedule, steps, warmup):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    rest = steps - warmup
    main = {
        "constant": lambda: lr_scheduler.LambdaLR(optimizer, lambda _: 1.0),
        "step": lambda: lr_scheduler.StepLR(optimizer, step_size=-(-rest // 3), gamma=0.1),
        "cosine": lambda: lr_scheduler.CosineAnnealingLR(optimizer, T_max=rest),
    }[schedule]
    if warmup:
        rise = lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=warmup)
        scheduler = lr_scheduler.SequentialLR(optimizer, [rise, main()], milestones=[warmup])
    else:
        scheduler = main()
    for _ in range(steps):
        yield optimizer.param_groups[0]["lr"]
        optimizer.step()
        scheduler.step()


def main(path):
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["schedule", "steps", "warmup", "step", "rate"])
        for schedule in ("constant", "step", "cosine"):
            for steps, warmup in ((20, 0), (20, 5), (1, 0)):
                for step, rate in enumerate(rates(schedule, steps, warmup)):
                    table.writerow([schedule, steps, warmup, step, f"{rate:.12g}"])


if __name__ == "__main__":
    main(sys.argv[1])
