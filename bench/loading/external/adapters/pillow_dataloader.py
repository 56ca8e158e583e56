"""torchvision's transforms on Pillow images in a DataLoader: the usual way to load ImageNet."""
from data_loader import data_loader
from pillow_pixels import cropped


def load_image(image, data):
    return cropped(image.path, image, data)


def batches(rank, world, batch, threads, data):
    yield from data_loader(batch, threads, data, load_image)
