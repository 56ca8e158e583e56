"""Loading alone in plain PyTorch: ImageFolder, torchvision transforms at 224 px, DataLoader in the calling thread.

Usage: python load.py DATA IMAGES. Float32, normalised, batches of 64, one thread; the work of bench_micro's
load/files/float32/threads:1. Prints images per second.
"""
import sys
import time

import torch
from torchvision import datasets, transforms

torch.set_num_threads(1)
transform = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                                transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
images = torch.utils.data.Subset(datasets.ImageFolder(sys.argv[1] + "/train", transform), range(int(sys.argv[2])))
loader = torch.utils.data.DataLoader(images, 64, shuffle=True)
begin = time.perf_counter()
for _ in loader:
    pass
print(len(images) / (time.perf_counter() - begin))
