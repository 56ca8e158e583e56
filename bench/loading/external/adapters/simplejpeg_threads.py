"""simplejpeg (libjpeg-turbo) and torch's uint8 resize in threads."""
import simplejpeg
import torch

from thread_pool import in_threads
from torch_pixels import crop_into, empty_batch


def load_into(place, image, data):
    with open(image.path, "rb") as file:
        pixels = simplejpeg.decode_jpeg(file.read(), "RGB")
    crop_into(place, torch.from_numpy(pixels).permute(2, 0, 1), image, data)


def batches(rank, world, batch, threads, data):
    yield from in_threads(batch, threads, data, empty_batch, load_into)
