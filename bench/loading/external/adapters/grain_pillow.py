"""Grain (of JAX): its sampler and worker processes; Pillow and torchvision's transforms."""
import grain.python as grain
import numpy as np

from pillow_pixels import cropped


class Images:
    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data.images)

    def __getitem__(self, index):
        image = self.data.images[index]
        return np.asarray(cropped(image.path, image, self.data)), image.label


def batches(rank, world, batch, threads, data):
    images = Images(data)
    sampler = grain.IndexSampler(len(images), grain.NoSharding(), shuffle=False, num_epochs=1)
    yield from grain.DataLoader(data_source=images, sampler=sampler, worker_count=threads if threads > 1 else 0,
                                operations=[grain.Batch(batch, drop_remainder=True)])
