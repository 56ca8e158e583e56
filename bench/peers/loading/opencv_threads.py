"""OpenCV in threads. INTER_LINEAR has no antialiasing, so pixels differ from Pillow's and cost less."""
import cv2
import numpy as np

from image_list import DEVIATION, MEAN, SIDE
from threads import in_threads

FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
SCALE = (1 / (255 * np.array(DEVIATION))).astype(np.float32)
OFFSET = (-np.array(MEAN) / np.array(DEVIATION)).astype(np.float32)


def loader(images, threads, output):
    cv2.setNumThreads(0)

    def load_into(place, image):
        pixels = cv2.imdecode(np.fromfile(image.path, np.uint8), FLAGS)
        pixels = cv2.resize(pixels[image.y:image.y + image.h, image.x:image.x + image.w], (SIDE, SIDE),
                            interpolation=cv2.INTER_LINEAR)
        if image.flip:
            pixels = cv2.flip(pixels, 1)
        if output == "uint8":
            place[:] = pixels
        else:
            for channel in range(3):
                np.multiply(pixels[:, :, channel], SCALE[channel], out=place[channel])
                place[channel] += OFFSET[channel]

    def empty_batch(count):
        if output == "uint8":
            return np.empty((count, SIDE, SIDE, 3), np.uint8)
        return np.empty((count, 3, SIDE, SIDE), np.float32)

    return in_threads(images, threads, empty_batch, load_into)
