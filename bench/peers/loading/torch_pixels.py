"""Crop, antialiased resize, flip and normalisation of a decoded image with torch's uint8 kernels."""
import torch
from torch.nn.functional import interpolate

from image_list import DEVIATION, MEAN, SIDE

torch.set_num_threads(1)
SCALE = (1 / (255 * torch.tensor(DEVIATION))).reshape(3, 1, 1)
OFFSET = (-torch.tensor(MEAN) / torch.tensor(DEVIATION)).reshape(3, 1, 1)


def empty_batch(count, output):
    if output == "uint8":
        return torch.empty(count, SIDE, SIDE, 3, dtype=torch.uint8)
    return torch.empty(count, 3, SIDE, SIDE)


def crop_into(place, pixels, image, output):
    """pixels: the decoded image as uint8, CHW in any memory order; place: one image of an empty_batch()."""
    box = pixels[:, image.y:image.y + image.h, image.x:image.x + image.w]
    small = interpolate(box.unsqueeze(0), (SIDE, SIDE), mode="bilinear", antialias=True)[0]
    if image.flip:
        small = small.flip(2)
    if output == "uint8":
        place.copy_(small.permute(1, 2, 0))
    else:
        torch.addcmul(OFFSET, small, SCALE, out=place)
