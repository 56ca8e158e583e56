"""torchvision.io's JPEG decoder and torch's uint8 resize in a DataLoader."""
from torchvision.io import ImageReadMode, decode_jpeg, read_file

from data_loader import data_loader
from torch_pixels import crop_into, empty_batch


def load_image(image, data):
    place = empty_batch(1, data)[0]
    crop_into(place, decode_jpeg(read_file(image.path), ImageReadMode.RGB), image, data)
    return place


def batches(rank, world, batch, threads, data):
    yield from data_loader(batch, threads, data, load_image)
