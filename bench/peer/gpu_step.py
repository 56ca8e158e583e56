"""The training step at the article's size in Python PyTorch on a GPU, on data that is already in pinned memory: prints
images per second.

Usage: python gpu_step.py eager|best BATCH STEPS
  eager  what row `synthetic` of configs/beyond.yaml does: float32 with TF32 convolutions, NCHW, SGD as it comes, loss and
         accuracy read after every batch
  best   torch.compile(max-autotune), bf16 autocast, channels_last, uint8 to the device, fused SGD, loss read every 50th
         batch: what row `synthetic-graphs` is to be held against
"""
import sys
import time

import torch
from plain_resnet import resnet18

mode, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
best = mode == "best"
torch.backends.cudnn.benchmark = True
torch.manual_seed(1)
device = torch.device("cuda")
model = resnet18().to(device, memory_format=torch.channels_last if best else torch.contiguous_format)
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=best or None)
mean = torch.tensor([0.485, 0.456, 0.406], device=device).view(1, 3, 1, 1) * 255
deviation = torch.tensor([0.229, 0.224, 0.225], device=device).view(1, 3, 1, 1) * 255
if best:
    host = [torch.randint(256, (batch, 224, 224, 3), dtype=torch.uint8).pin_memory() for _ in range(4)]
else:
    host = [torch.randn(batch, 3, 224, 224).pin_memory() for _ in range(4)]
host_labels = [torch.randint(1000, (batch,)).pin_memory() for _ in range(4)]


def forward_and_loss(images, labels):
    if best:
        images = (images.permute(0, 3, 1, 2).float() - mean) / deviation
    with torch.autocast("cuda", torch.bfloat16, enabled=best):
        logits = model(images)
    logits = logits.float()
    with torch.no_grad():
        hits = logits.topk(5, 1).indices.eq(labels.unsqueeze(1))
    return torch.nn.functional.cross_entropy(logits, labels), hits[:, 0].sum(), hits.sum()


compute = torch.compile(forward_and_loss, mode="max-autotune") if best else forward_and_loss
warm_up = 30
for step in range(warm_up + steps):
    if step == warm_up:
        torch.cuda.synchronize()
        begin = time.perf_counter()
    images = host[step % 4].to(device, non_blocking=True)
    labels = host_labels[step % 4].to(device, non_blocking=True)
    loss, top1, top5 = compute(images, labels)
    if not best or step % 50 == 49:
        loss.item(), top1.item(), top5.item()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
torch.cuda.synchronize()
print(batch * steps / (time.perf_counter() - begin))
