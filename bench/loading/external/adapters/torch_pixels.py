"""Crop, antialiased resize, flip and normalisation of a decoded image with torch's uint8 kernels."""
import torch
from torch.nn.functional import interpolate

torch.set_num_threads(1)


def empty_batch(count, data):
    if data.format == "uint8":
        return torch.empty(count, data.px, data.px, 3, dtype=torch.uint8)
    return torch.empty(count, 3, data.px, data.px)


def normalised(pixels, data, out=None):
    """pixels: CHW or NCHW, 0 to 255."""
    mean, deviation = (torch.tensor(values).reshape(3, 1, 1) for values in (data.mean, data.deviation))
    return torch.addcmul(-mean / deviation, pixels, 1 / (255 * deviation), out=out)


def crop_into(place, pixels, image, data):
    """pixels: the decoded image as uint8, CHW in any memory order; place: one image of an empty_batch()."""
    box = pixels[:, image.y:image.y + image.h, image.x:image.x + image.w]
    small = interpolate(box.unsqueeze(0), (data.px, data.px), mode="bilinear", antialias=True)[0]
    if image.flip:
        small = small.flip(2)
    if data.format == "uint8":
        place.copy_(small.permute(1, 2, 0))
    else:
        normalised(small, data, place)
