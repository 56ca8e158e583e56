"""torchvision's transforms on Pillow images in a DataLoader: the usual way to load ImageNet."""
import functools

import numpy as np
import PIL.Image
import torch
from torchvision.transforms import functional as transforms

from data_loader import data_loader
from image_list import DEVIATION, MEAN, SIDE


def load_image(image, output):
    with PIL.Image.open(image.path) as file:
        pixels = file.convert("RGB")
    return finish(pixels, image, output)


def finish(pixels, image, output):
    pixels = transforms.resized_crop(pixels, image.y, image.x, image.h, image.w, (SIDE, SIDE))
    if image.flip:
        pixels = transforms.hflip(pixels)
    if output == "uint8":
        return torch.from_numpy(np.array(pixels))
    return transforms.normalize(transforms.to_tensor(pixels), MEAN, DEVIATION)


def loader(images, threads, output):
    return data_loader(images, threads, functools.partial(load_image, output=output))
