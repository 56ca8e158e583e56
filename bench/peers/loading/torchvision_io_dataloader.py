"""torchvision.io's JPEG decoder and torch's uint8 resize in a DataLoader."""
import functools

from torchvision.io import ImageReadMode, decode_jpeg, read_file

from data_loader import data_loader
from torch_pixels import crop_into, empty_batch


def load_image(image, output):
    place = empty_batch(1, output)[0]
    crop_into(place, decode_jpeg(read_file(image.path), ImageReadMode.RGB), image, output)
    return place


def loader(images, threads, output):
    return data_loader(images, threads, functools.partial(load_image, output=output))
