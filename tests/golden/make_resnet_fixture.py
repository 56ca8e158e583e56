"""Writes resnet_fixture.safetensors: torchvision's ResNet18 at width 4 with PyTorch's own results on one batch.

Run once with torch 2.11 and torchvision 0.26 (CPU): python make_resnet_fixture.py resnet_fixture.safetensors
Holds weights and buffers before, images, labels, logits, loss and gradients of a training step, running statistics
after it, and the weights after two steps of SGD (rate 0.1, momentum 0.9, decay 1e-4) on the same batch.
"""
import json
import pathlib
import struct
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench" / "peers" / "pytorch"))
from narrow_resnet import narrow_resnet18


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype],
                        "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main(path):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = narrow_resnet18(4, 10)
    images, labels = torch.randn(4, 3, 48, 48), torch.randint(10, (4,))
    tensors = {f"before.{k}": v.clone() for k, v in model.state_dict().items()}
    tensors |= {"images": images, "labels": labels}
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for step in range(2):
        sgd.zero_grad()
        logits = model(images)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        loss.backward()
        if step == 0:
            tensors |= {"logits": logits.detach(), "loss": loss.detach()}
            tensors |= {f"gradient.{k}": p.grad.clone() for k, p in model.named_parameters()}
            tensors |= {f"after1.{k}": b.clone() for k, b in model.named_buffers()}
        sgd.step()
    tensors |= {f"after2.{k}": p.detach() for k, p in model.named_parameters()}

    write_safetensors(path, tensors)


if __name__ == "__main__":
    main(sys.argv[1])
