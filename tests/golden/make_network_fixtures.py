"""Writes FOLDER/{resnet50,vit_tiny}_fixture.safetensors and adam_fixture.safetensors: PyTorch's own results.

Run once with torch 2.11 and torchvision 0.26 (CPU): python make_network_fixtures.py FOLDER
The networks' files are as that of make_resnet_fixture.py, with fewer outputs: weights and buffers before, images, labels, logits, loss,
gradients, and running statistics after one forward pass, computed in float64. adam: a small problem's weights before, gradients and weights after
each of 20 steps.
"""
import pathlib
import sys

import torch
from torchvision.models.resnet import Bottleneck
from torchvision.models.vision_transformer import VisionTransformer

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench" / "peers" / "pytorch"))
from make_resnet_fixture import write_safetensors
from narrow_resnet import narrow_resnet


def first_step(model, images, labels):
    tensors = {f"before.{k}": v.clone() for k, v in model.state_dict().items()}
    tensors |= {"images": images, "labels": labels}
    model.double()  # 50 layers of batch norm over few values amplify float32's rounding
    logits = model(images.double())
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    results = {"logits": logits.detach(), "loss": loss.detach()}
    results |= {f"gradient.{k}": p.grad for k, p in model.named_parameters()}
    results |= {f"after1.{k}": b for k, b in model.named_buffers()}
    return tensors | {k: t.float() if t.is_floating_point() else t for k, t in results.items()}


def resnet50():
    model = narrow_resnet(Bottleneck, [3, 4, 6, 3], 2, 10)
    return first_step(model, torch.randn(4, 3, 48, 48), torch.randint(10, (4,)))


def vit_tiny():
    model = VisionTransformer(image_size=32, patch_size=16, num_layers=12, num_heads=3, hidden_dim=12, mlp_dim=48, num_classes=10)
    torch.nn.init.normal_(model.heads.head.weight)  # torchvision's zeros would leave the blocks without a gradient
    return first_step(model, torch.randn(4, 3, 32, 32), torch.randint(10, (4,)))


def adam():
    weights = [torch.randn(37, requires_grad=True), torch.randn(3, 5, requires_grad=True)]
    tensors = {f"before.{i}": w.detach().clone() for i, w in enumerate(weights)}
    optimizer = torch.optim.Adam(weights, lr=0.01, weight_decay=0.1)
    for step in range(20):
        for i, weight in enumerate(weights):
            weight.grad = torch.randn_like(weight)
            tensors[f"gradient{step}.{i}"] = weight.grad.clone()
        optimizer.step()
        tensors |= {f"after{step}.{i}": w.detach().clone() for i, w in enumerate(weights)}
    return tensors


def main(folder):
    torch.manual_seed(7)
    torch.set_num_threads(1)
    for make in (resnet50, vit_tiny, adam):
        write_safetensors(pathlib.Path(folder) / f"{make.__name__}_fixture.safetensors", make())


if __name__ == "__main__":
    main(sys.argv[1])
