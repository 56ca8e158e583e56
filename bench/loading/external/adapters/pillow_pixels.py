"""torchvision's transforms on Pillow images, and images as its formats."""
import io

import numpy as np
import PIL.Image
import torch
from torchvision.transforms import functional as transforms

torch.set_num_threads(1)


def cropped(file, image, data):
    """file: anything that Pillow opens. Returns an array for uint8, a tensor for float32."""
    with PIL.Image.open(file) as opened:
        pixels = transforms.resized_crop(opened.convert("RGB"), image.y, image.x, image.h, image.w, (data.px, data.px))
    if image.flip:
        pixels = transforms.hflip(pixels)
    if data.format == "uint8":
        return np.array(pixels)
    return transforms.normalize(transforms.to_tensor(pixels), data.mean, data.deviation)


def from_shard(sample, data):
    """Of a sample of copies that were made beforehand: `jpg`, the file's bytes, and `number`, its place in data.images."""
    image = data.images[sample["number"]]
    return np.asarray(cropped(io.BytesIO(sample["jpg"]), image, data)), image.label
