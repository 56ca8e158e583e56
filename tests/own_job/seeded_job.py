#!/usr/bin/env python3
"""A small training with a bottleneck made on purpose, in one of the usual shapes of training scripts.

usage: seeded_job.py SHAPE [KEY=VALUE...], or seeded_job.py products: prints how many this machine makes in a millisecond
SHAPE: plain, accumulate, closure, zipped, iterable, spawned, scaler or ddp (start that one with torchrun)
  products=N     of matrices in a step: its arithmetic, which grows with the batch
  sleep=MS       that an item waits, as for a slow disk      decode=MS  that it computes in Python
  collate=MS     that the workers need to put a batch together
  workers=N batch=N threads=N  of the loader, and of arithmetic; wide=N: functions of 200,000 numbers, which threads share
  overhead=MS    of every step, whatever the batch           log=MS  or so of output in every step
  python=MS      of a step, of one thread, which grows with the batch
  lag=MS         more of rank 1                              exchange=N  parameters, 1e6, in buckets of 0.05 MB
  folder=PATH    read a file for every item from there
  cached=1       mended: the first batches are kept in memory and trained on again and again"""
import itertools
import os
import sys
import time

import torch
from torch import nn

SHAPE = sys.argv[1]
job = dict(products=0, sleep=0.0, decode=0.0, collate=0.0, workers=2, batch=16, threads=1, wide=0, overhead=0.0, python=0.0,
           log=0.0, lag=0.0, exchange=0.0, folder="", cached=0)
for word in sys.argv[2:]:
    key, value = word.split("=", 1)
    job[key] = type(job[key])(value)


def compute(ms):
    """Python arithmetic of so many milliseconds of processor time."""
    end = time.thread_time() + ms / 1e3
    while time.thread_time() < end:
        sum(range(200))


class Items(torch.utils.data.Dataset):
    def __len__(self):
        return FILES or 1_000_000  # no file twice in an epoch: it would be in memory

    def __getitem__(self, index):
        if job["folder"]:
            with open(os.path.join(job["folder"], f"{index % FILES}.bin"), "rb") as file:
                file.read()
        if job["sleep"]:
            time.sleep(job["sleep"] / 1e3)
        compute(job["decode"])
        return torch.full((64,), float(index % 7)), index % 10


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        items, index = Items(), 0
        while True:
            yield items[index]
            index += 1


FILES = len(os.listdir(job["folder"])) if job["folder"] else 0


def collate(items):
    compute(job["collate"])
    return torch.utils.data.default_collate(items)


def loader():
    if SHAPE == "iterable":
        return torch.utils.data.DataLoader(Stream(), job["batch"], num_workers=job["workers"], collate_fn=collate)
    context = "spawn" if SHAPE == "spawned" and job["workers"] else None
    return torch.utils.data.DataLoader(Items(), job["batch"], shuffle=True, num_workers=job["workers"], collate_fn=collate,
                                       multiprocessing_context=context)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.extra = nn.ParameterList(nn.Parameter(torch.zeros(1000, 100)) for _ in range(int(10 * job["exchange"])))

    def forward(self, x):
        out = self.layers(x)
        for parameter in self.extra:
            out = out + parameter[0, 0]
        return out


SIZE = 96


def products_per_ms():
    """Of SIZE x SIZE matrices, with one thread on an idle core."""
    torch.set_num_threads(1)
    a = torch.randn(SIZE, SIZE)
    def run(count):
        begin = time.perf_counter()
        for _ in range(count):
            a @ a
        return time.perf_counter() - begin
    run(1000)
    return 0.1 / min(run(100) for _ in range(50))


def main():
    rank = int(os.environ.get("RANK", 0))
    network = Network()
    torch.set_num_threads(job["threads"])
    if SHAPE == "ddp":
        torch.distributed.init_process_group("gloo")
        network = nn.parallel.DistributedDataParallel(network, bucket_cap_mb=0.05)
    optimizer = (torch.optim.LBFGS(network.parameters(), max_iter=1) if SHAPE == "closure" else
                 torch.optim.SGD(network.parameters(), lr=0.01))
    scaler = torch.amp.GradScaler("cpu", enabled=SHAPE == "scaler")
    matrix = torch.randn(SIZE, SIZE)

    def loss_of(x, y):
        for _ in range(job["products"] * len(x) // job["batch"]):
            matrix @ matrix
        for _ in range(job["wide"] * len(x) // job["batch"]):
            torch.randn(200_000).exp_()
        compute(job["overhead"] + job["python"] * len(x) / job["batch"] + (job["lag"] if rank == 1 else 0))
        return nn.functional.cross_entropy(network(x), y)

    batches = zip(loader(), loader()) if SHAPE == "zipped" else loader()
    if job["cached"]:
        kept = list(itertools.islice(batches, 8))
        batches = torch.utils.data.DataLoader(kept * 10_000, batch_size=None)
    for number, batch in enumerate(batches):
        x, y = batch[0] if SHAPE == "zipped" else batch
        if SHAPE == "closure":
            def closure():
                optimizer.zero_grad()
                loss = loss_of(x, y)
                loss.backward()
                return loss
            optimizer.step(closure)
        else:
            loss = loss_of(x, y)
            scaler.scale(loss).backward()
            if SHAPE != "accumulate" or number % 4 == 3:
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
        if job["log"]:
            for _ in range(int(250 * job["log"])):
                print("step", number, "x" * 100, file=sys.stderr, flush=True)


if __name__ == "__main__":
    print(products_per_ms()) if SHAPE == "products" else main()
