"""torch.utils.data.DataLoader over the list. With one thread, it loads in the calling process."""
import torch
from torch.utils.data import DataLoader, Dataset

from image_list import BATCH

torch.set_num_threads(1)


class ImageList(Dataset):
    def __init__(self, images, load_image):
        self.images = images
        self.load_image = load_image

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.load_image(self.images[index])


def data_loader(images, threads, load_image):
    workers = threads if threads > 1 else 0
    loader = DataLoader(ImageList(images, load_image), BATCH, num_workers=workers, persistent_workers=workers > 0)
    return lambda: iter(loader)
