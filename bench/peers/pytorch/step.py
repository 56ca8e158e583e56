"""The training step of row [0] in eager Python PyTorch on data in memory: prints images per second.

Usage: python step.py BATCH STEPS [fused]. The same work as bench_micro's step/o0: copy, forward, loss, top-1/top-5,
backward, SGD; rehearsal scale (width 16, 64 px), one compute thread.
"""
import sys
import time

import needs

needs.packages("torch", "torchvision")
import torch
from narrow_resnet import narrow_resnet18, train_step

batch, steps = needs.numbers(sys.argv[1:3], 2)
torch.set_num_threads(1)
torch.manual_seed(1)
model = narrow_resnet18(16, 1000)
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused="fused" in sys.argv or None)
host_images, host_labels = torch.randn(batch, 3, 64, 64), torch.randint(1000, (batch,))
images, labels = torch.empty_like(host_images), torch.empty_like(host_labels)
for step in range(5 + steps):
    if step == 5:
        begin = time.perf_counter()
    images.copy_(host_images)
    labels.copy_(host_labels)
    train_step(model, sgd, images, labels)
print(batch * steps / (time.perf_counter() - begin))
