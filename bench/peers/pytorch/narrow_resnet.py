"""torchvision's ResNets with narrower stages: the same class and parameter names, channels divided by 64 / width. And its
training step."""
import torch
from torchvision.models.resnet import BasicBlock, ResNet


def narrow_resnet18(width, classes):
    return narrow_resnet(BasicBlock, [2, 2, 2, 2], width, classes)


def narrow_resnet(block, blocks, width, classes):
    divisor = 64 // width

    class NarrowResNet(ResNet):
        @property
        def inplanes(self):
            return self._inplanes

        @inplanes.setter
        def inplanes(self, value):
            first = not hasattr(self, "_inplanes")
            self._inplanes = value // divisor if first else value

        def _make_layer(self, block, planes, *args, **kwargs):
            return super()._make_layer(block, planes // divisor, *args, **kwargs)

    model = NarrowResNet(block, blocks)
    model.fc = torch.nn.Linear(512 * block.expansion // divisor, classes)
    return model


def train_step(model, sgd, images, labels):
    """Forward, loss, top-1/top-5 and loss read on the host, backward, SGD."""
    logits = model(images)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    with torch.no_grad():
        hits = logits.topk(5, 1).indices.eq(labels.unsqueeze(1))
        hits[:, 0].sum().item(), hits.sum().item(), loss.item()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
