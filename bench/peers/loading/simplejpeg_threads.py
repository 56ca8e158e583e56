"""simplejpeg (libjpeg-turbo) and torch's uint8 resize in threads."""
import simplejpeg
import torch

from threads import in_threads
from torch_pixels import crop_into, empty_batch


def loader(images, threads, output):
    def load_into(place, image):
        with open(image.path, "rb") as file:
            pixels = simplejpeg.decode_jpeg(file.read(), "RGB")
        crop_into(place, torch.from_numpy(pixels).permute(2, 0, 1), image, output)

    return in_threads(images, threads, lambda count: empty_batch(count, output), load_into)
