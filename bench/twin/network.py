"""ResNet18 (He et al. 2015) with torchvision's structure, names and initial weights, and with narrower stages: the same
network as bench/train/model/resnet18.cpp."""
from torch import nn


def conv_bn(inside, outside, kernel, stride):
    return nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outside)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = conv_bn(inside, outside, 3, stride)
        self.conv2, self.bn2 = conv_bn(outside, outside, 3, 1)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(*conv_bn(inside, outside, 1, stride))

    def forward(self, x):
        same = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out.add_(same))


class ResNet18(nn.Module):
    def __init__(self, width=64, classes=1000):
        super().__init__()
        self.conv1, self.bn1 = conv_bn(3, width, 7, 2)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inside = width
        for stage in range(4):
            outside = width << stage
            blocks = Block(inside, outside, 2 if stage else 1), Block(outside, outside, 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
            inside = outside
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inside, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))
