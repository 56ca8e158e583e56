"""WebDataset: tar shards of the row's images, made beforehand; Pillow and torchvision's transforms."""
import functools
import io
import json
import os

import torch
import webdataset

from pillow_pixels import cropped

IMAGES_OF_SHARD = 256


def prepare(rank, world, batch, threads, data):
    with webdataset.ShardWriter(os.path.join(data.folder, "%06d.tar"), maxcount=IMAGES_OF_SHARD, verbose=0) as shards:
        for number, image in enumerate(data.images):
            with open(image.path, "rb") as file:
                shards.write({"__key__": "%09d" % number, "jpg": file.read(), "json": json.dumps(number).encode()})


def load_image(sample, data):
    image = data.images[json.loads(sample["json"])]
    return torch.as_tensor(cropped(io.BytesIO(sample["jpg"]), image, data)), image.label


def collated(samples):
    images, labels = zip(*samples)
    return torch.stack(images), torch.tensor(labels)


def batches(rank, world, batch, threads, data):
    shards = sorted(os.path.join(data.folder, name) for name in os.listdir(data.folder))
    images = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False).map(functools.partial(load_image, data=data))
    images = images.batched(batch, collation_fn=collated, partial=False)
    yield from webdataset.WebLoader(images, batch_size=None, num_workers=threads if threads > 1 else 0)
