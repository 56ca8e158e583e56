"""Compares the network of bench/twin with torchvision's: on the weights and the batch of resnet_fixture.safetensors, with which
tests/train/model_test.cpp compares the suite's, logits, loss, gradients and running statistics must be the same."""
import json
import pathlib
import struct
import sys

import torch

project = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(project / "bench" / "twin"))
from network import ResNet18


def read_safetensors(path):
    raw = bytearray(path.read_bytes())
    length = struct.unpack_from("<Q", raw)[0]
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, one in json.loads(raw[8:8 + length]).items():
        begin, end = (8 + length + offset for offset in one["data_offsets"])
        tensors[name] = torch.frombuffer(bytearray(raw[begin:end]), dtype=types[one["dtype"]]).reshape(one["shape"])
    return tensors


def part(tensors, prefix):
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


expected = read_safetensors(project / "tests" / "golden" / "resnet_fixture.safetensors")
model = ResNet18(4, 10)
model.load_state_dict(part(expected, "before."))  # strict: the same names and shapes
logits = model(expected["images"])
loss = torch.nn.functional.cross_entropy(logits, expected["labels"])
loss.backward()
found = {"logits": logits, "loss": loss}
found |= {f"gradient.{name}": parameter.grad for name, parameter in model.named_parameters()}
found |= {f"after1.{name}": buffer for name, buffer in model.named_buffers()}
for name, tensor in found.items():
    torch.testing.assert_close(tensor.detach(), expected[name], rtol=1e-4, atol=1e-5, msg=lambda text: f"{name}: {text}")
assert sum(parameter.numel() for parameter in ResNet18().parameters()) == 11_689_512, "parameters at width 64"
