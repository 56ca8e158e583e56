"""LitData's StreamingDataset over local chunks, made beforehand; Pillow and torchvision's transforms in its loader."""
from litdata import StreamingDataLoader, StreamingDataset
from litdata.streaming.writer import BinaryWriter

from pillow_pixels import from_shard

BYTES_OF_CHUNK = 1 << 26


def prepare(rank, world, batch, threads, data):
    writer = BinaryWriter(data.folder, chunk_bytes=BYTES_OF_CHUNK)
    for number, image in enumerate(data.images):
        with open(image.path, "rb") as file:
            writer[number] = {"jpg": file.read(), "number": number}
    writer.done()
    writer.merge()


class Images(StreamingDataset):
    def __init__(self, data):
        super().__init__(data.folder, shuffle=False, drop_last=True)
        self.data = data

    def __getitem__(self, index):
        return from_shard(super().__getitem__(index), self.data)


def batches(rank, world, batch, threads, data):
    yield from StreamingDataLoader(Images(data), batch_size=batch, num_workers=threads if threads > 1 else 0, drop_last=True)
