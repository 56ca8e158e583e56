"""torch.utils.data.DataLoader over the row's images. With one thread, it loads in the calling process."""
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, data, load_image):
        self.data, self.load_image = data, load_image

    def __len__(self):
        return len(self.data.images)

    def __getitem__(self, index):
        image = self.data.images[index]
        return self.load_image(image, self.data), image.label


def data_loader(batch, threads, data, load_image):
    return DataLoader(Images(data, load_image), batch, num_workers=threads if threads > 1 else 0, drop_last=True)
