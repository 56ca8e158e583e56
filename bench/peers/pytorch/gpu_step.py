"""The training step at the article's size in Python PyTorch on a GPU, on data in pinned memory: prints images per second.

Usage: python gpu_step.py eager|fused|graph|best BATCH STEPS. Modes, with the corresponding row of configs/beyond.yaml:
  eager  row `unfused`: float32 with TF32 convolutions, NCHW, default SGD, loss and accuracy read together after every
         batch
  fused  row `synthetic`: like eager, with fused SGD
  graph  row `synthetic-graphs`: the step in a torch.cuda.graph, bf16 autocast, channels_last, uint8 batches copied in a
         separate stream while the previous step computes, fused SGD, loss read every 50th batch; needs no compiler
  best   row `synthetic-fused`: like graph, with torch.compile(max-autotune) in place of torch.cuda.graph
"""
import sys
import time

import needs

needs.packages("torch", install="python3 -m venv V && V/bin/pip install torch==2.11.0, then use V/bin/python")
import torch
from plain_resnet import resnet18

batch, steps = needs.numbers(sys.argv[2:4], 2)
mode = sys.argv[1]
if mode not in ("eager", "fused", "graph", "best"):
    sys.exit(__doc__)
if not torch.cuda.is_available():
    needs.fail(f"the torch of {sys.executable} finds no NVIDIA GPU", "on a machine with one install a torch for CUDA")
fast = mode in ("graph", "best")
torch.backends.cudnn.benchmark = True
torch.manual_seed(1)
device = torch.device("cuda")
model = resnet18().to(device, memory_format=torch.channels_last if fast else torch.contiguous_format)
sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=mode != "eager" or None)
mean = torch.tensor([0.485, 0.456, 0.406], device=device).view(1, 3, 1, 1) * 255
deviation = torch.tensor([0.229, 0.224, 0.225], device=device).view(1, 3, 1, 1) * 255
if fast:
    host = [torch.randint(256, (batch, 224, 224, 3), dtype=torch.uint8).pin_memory() for _ in range(4)]
else:
    host = [torch.randn(batch, 3, 224, 224).pin_memory() for _ in range(4)]
host_labels = [torch.randint(1000, (batch,)).pin_memory() for _ in range(4)]


def forward_and_loss(images, labels):
    if fast:
        images = (images.permute(0, 3, 1, 2).float() - mean) / deviation
    with torch.autocast("cuda", torch.bfloat16, enabled=fast, cache_enabled=mode != "graph"):
        logits = model(images)
    logits = logits.float()
    loss = torch.nn.functional.cross_entropy(logits, labels)
    with torch.no_grad():
        hits = logits.topk(5, 1).indices.eq(labels.unsqueeze(1))
        return loss, torch.stack([loss.detach().double(), hits[:, 0].sum().double(), hits.sum().double()])


def copied(step):
    return host[step % 4].to(device, non_blocking=True), host_labels[step % 4].to(device, non_blocking=True)


def copied_beside(step, stream):
    with torch.cuda.stream(stream):
        return copied(step), stream.record_event()


def whole_step(images, labels):
    loss, metrics = compute(images, labels)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    return metrics


def recorded():
    """whole_step() as a CUDA graph on fixed inputs, after three steps in a stream of their own, as PyTorch's manual asks."""
    images, labels = copied(0)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            whole_step(images, labels)
    torch.cuda.current_stream().wait_stream(stream)
    sgd.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        metrics = whole_step(images, labels)

    def replay(new_images, new_labels):
        images.copy_(new_images)
        labels.copy_(new_labels)
        graph.replay()
        return metrics

    return replay


compute = torch.compile(forward_and_loss, mode="max-autotune") if mode == "best" else forward_and_loss
run_step = recorded() if mode == "graph" else whole_step
copies = torch.cuda.Stream() if fast else None
coming = copied_beside(0, copies) if fast else None
warm_up = 30
for step in range(warm_up + steps):
    if step == warm_up:
        torch.cuda.synchronize()
        begin = time.perf_counter()
    if fast:
        (images, labels), arrived = coming
        torch.cuda.current_stream().wait_event(arrived)
        images.record_stream(torch.cuda.current_stream())
        labels.record_stream(torch.cuda.current_stream())
        coming = copied_beside(step + 1, copies)
    else:
        images, labels = copied(step)
    metrics = run_step(images, labels)
    if not fast or step % 50 == 49:
        metrics.cpu()
torch.cuda.synchronize()
print(batch * steps / (time.perf_counter() - begin))
