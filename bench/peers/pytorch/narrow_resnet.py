"""torchvision's ResNet18 with narrower stages: the same class and parameter names, channels divided by 64 / width."""
import torch
from torchvision.models.resnet import BasicBlock, ResNet


def narrow_resnet18(width, classes):
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

    model = NarrowResNet(BasicBlock, [2, 2, 2, 2])
    model.fc = torch.nn.Linear(512 // divisor, classes)
    return model
