"""OpenCV in threads. INTER_LINEAR has no antialiasing, so pixels differ from Pillow's and cost less."""
import cv2
import numpy as np

from thread_pool import in_threads

cv2.setNumThreads(0)
FLAGS = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION


def empty_batch(count, data):
    if data.format == "uint8":
        return np.empty((count, data.px, data.px, 3), np.uint8)
    return np.empty((count, 3, data.px, data.px), np.float32)


def load_into(place, image, data):
    pixels = cv2.imdecode(np.fromfile(image.path, np.uint8), FLAGS)
    pixels = cv2.resize(pixels[image.y:image.y + image.h, image.x:image.x + image.w], (data.px, data.px),
                        interpolation=cv2.INTER_LINEAR)
    if image.flip:
        pixels = cv2.flip(pixels, 1)
    if data.format == "uint8":
        place[:] = pixels
        return
    for channel, (mean, deviation) in enumerate(zip(data.mean, data.deviation)):
        np.multiply(pixels[:, :, channel], np.float32(1 / (255 * deviation)), out=place[channel])
        place[channel] -= np.float32(mean / deviation)


def batches(rank, world, batch, threads, data):
    yield from in_threads(batch, threads, data, empty_batch, load_into)
