"""Row [12] over Gloo in plain PyTorch, on data in memory: prints images per second of all ranks together.

Usage: python ddp.py RANKS BATCH WARMUP TIMED. DistributedDataParallel with the rehearsal scale's buckets, width 16,
64 px, one compute thread per rank, BATCH images over all ranks. The same work as row 12 with --set storage=synthetic
and backend=gloo: copy, forward, loss, top-1/top-5, backward with all-reduce, SGD; timed between two barriers.
"""
import sys
import time

import needs

needs.packages("torch", "torchvision")
import torch
import torch.distributed as dist
from narrow_resnet import narrow_resnet18, train_step


def train(rank, ranks, batch, warmup, timed, port, result):
    dist._DEFAULT_FIRST_BUCKET_BYTES = int(0.071 * 1048576)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(narrow_resnet18(16, 1000), bucket_cap_mb=1.78)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    share = batch // ranks
    host_images, host_labels = torch.randn(share, 3, 64, 64), torch.randint(1000, (share,))
    images, labels = torch.empty_like(host_images), torch.empty_like(host_labels)
    for step in range(warmup + timed):
        if step == warmup:
            dist.barrier()
            begin = time.perf_counter()
        images.copy_(host_images)
        labels.copy_(host_labels)
        train_step(model, sgd, images, labels)
    dist.barrier()
    if rank == 0:
        result.put(batch * timed / (time.perf_counter() - begin))
    dist.destroy_process_group()


def main(ranks, batch, warmup, timed):
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    result = torch.multiprocessing.get_context("spawn").SimpleQueue()
    torch.multiprocessing.spawn(train, (ranks, batch, warmup, timed, port, result), ranks)
    print(result.get())


if __name__ == "__main__":
    main(*needs.numbers(sys.argv[1:5], 4))
