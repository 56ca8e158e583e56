"""torchvision.io's JPEG decoder and torch's uint8 resize in threads."""
from torchvision.io import ImageReadMode, decode_jpeg, read_file

from thread_pool import in_threads
from torch_pixels import crop_into, empty_batch


def load_into(place, image, data):
    crop_into(place, decode_jpeg(read_file(image.path), ImageReadMode.RGB), image, data)


def batches(rank, world, batch, threads, data):
    yield from in_threads(batch, threads, data, empty_batch, load_into)
