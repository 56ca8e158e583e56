"""MosaicML's StreamingDataset over a local copy, made beforehand; Pillow and torchvision's transforms in a DataLoader."""
from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

from pillow_pixels import from_shard


def prepare(rank, world, batch, threads, data):
    with MDSWriter(out=data.folder, columns={"jpg": "bytes", "number": "int"}) as shards:
        for number, image in enumerate(data.images):
            with open(image.path, "rb") as file:
                shards.write({"jpg": file.read(), "number": number})


class Images(StreamingDataset):
    def __init__(self, batch, data):
        super().__init__(local=data.folder, shuffle=False, batch_size=batch)
        self.data = data

    def __getitem__(self, index):
        return from_shard(super().__getitem__(index), self.data)


def batches(rank, world, batch, threads, data):
    yield from DataLoader(Images(batch, data), batch, num_workers=threads if threads > 1 else 0, drop_last=True)
