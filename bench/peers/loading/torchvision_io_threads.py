"""torchvision.io's JPEG decoder and torch's uint8 resize in threads."""
from torchvision.io import ImageReadMode, decode_jpeg, read_file

from threads import in_threads
from torch_pixels import crop_into, empty_batch


def loader(images, threads, output):
    def load_into(place, image):
        crop_into(place, decode_jpeg(read_file(image.path), ImageReadMode.RGB), image, output)

    return in_threads(images, threads, lambda count: empty_batch(count, output), load_into)
