"""WebDataset with tar shards of the same files, Pillow and torchvision's transforms. Shards are made before `ready`."""
import functools
import io
import json
import os
import tempfile

import PIL.Image
import torch
import webdataset

from image_list import BATCH, Image, batches
from pillow_dataloader import finish

torch.set_num_threads(1)


def load_image(sample, output):
    image = Image(*json.loads(sample["json"]))
    return finish(PIL.Image.open(io.BytesIO(sample["jpg"])).convert("RGB"), image, output)


def write_shards(images, folder):
    with webdataset.ShardWriter(os.path.join(folder, "%06d.tar"), maxcount=BATCH, verbose=0) as shards:
        for number, image in enumerate(images):
            with open(image.path, "rb") as file:
                shards.write({"__key__": f"{number:09d}", "jpg": file.read(), "json": json.dumps(image).encode()})
    return os.path.join(folder, f"{{000000..{len(batches(images)) - 1:06d}}}.tar")


def loader(images, threads, output):
    folder = tempfile.TemporaryDirectory()
    dataset = webdataset.WebDataset(write_shards(images, folder.name), shardshuffle=False, empty_check=False)
    dataset = dataset.map(functools.partial(load_image, output=output)).batched(BATCH, collation_fn=torch.stack)
    workers = threads if threads > 1 else 0
    batched = webdataset.WebLoader(dataset, batch_size=None, num_workers=workers, persistent_workers=workers > 0)

    def load():
        assert folder  # keeps the folder as long as the loader exists
        return iter(batched)

    return load
