"""Row [0] in plain PyTorch: ImageFolder, torchvision transforms, DataLoader with one worker, one compute thread.

Usage: python slice.py DATA BATCH WARMUP TIMED. Rehearsal scale (width 16, 64 px). Prints images per second of the timed
batches, including waits for data.
"""
import sys
import time

import needs

needs.packages("torch", "torchvision", "PIL")
import torch
from narrow_resnet import narrow_resnet18, train_step
from PIL import ImageFile
from torchvision import datasets, transforms

ImageFile.LOAD_TRUNCATED_IMAGES = False


def main(data, batch, warmup, timed):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    transform = transforms.Compose([transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip(),
                                    transforms.ToTensor(),
                                    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    images = datasets.ImageFolder(data + "/train", transform)
    model = narrow_resnet18(16, 1000)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    loader = torch.utils.data.DataLoader(images, batch, shuffle=True, num_workers=1, drop_last=True)
    done = 0
    while done < warmup + timed:
        for host_images, labels in loader:
            if done == warmup:
                begin = time.perf_counter()
            train_step(model, sgd, host_images.clone(), labels)  # the copy to the device
            done += 1
            if done == warmup + timed:
                break
    print(batch * timed / (time.perf_counter() - begin))


if __name__ == "__main__":
    sizes = needs.numbers(sys.argv[2:5], 3)
    needs.folder(sys.argv[1], "train", "name a data set, e.g. data/stand-in-5408-seed1, which ./run_matrix makes")
    main(sys.argv[1], *sizes)
