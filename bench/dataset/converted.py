#!/usr/bin/env python3
"""Converts data that the suite can't read in place.
usage: converted.py parquet FOLDER OUT   writes Parquet files again without compression; needs pyarrow (.venv has it)
       converted.py mds FOLDER OUT       MosaicML's shards with a column of images (jpeg, png, pil or bytes) and one of
                                         integers into OUT/train/CLASS/IMAGE; needs mosaicml-streaming
       converted.py lmdb FILE OUT        folder2lmdb's pickled (image bytes, label), the same; needs lmdb
Unpickling runs code that the file contains: convert only files that you trust.
"""
import io
import os
import pickle
import sys


def from_lmdb(place):
    import lmdb
    with lmdb.open(place, subdir=os.path.isdir(place), readonly=True, lock=False).begin() as transaction:
        for key, value in ((key, value) for key, value in transaction.cursor() if not key.startswith(b"__")):
            try:
                image, label = pickle.loads(value)[:2]
            except Exception as error:
                sys.exit(f"{place}: the value of {key!r} is no pickled (image, label): {error}; values of older versions are "
                         "of pyarrow.serialize, which pyarrow before 14 reads")
            yield image, int(label)


def from_mds(place):
    from streaming import StreamingDataset
    for sample in StreamingDataset(local=place, remote=None, shuffle=False, batch_size=1):
        images = [value for value in sample.values() if isinstance(value, bytes) or hasattr(value, "save")]
        labels = [value for value in sample.values() if hasattr(value, "__index__")]
        if len(images) != 1 or len(labels) != 1:
            sys.exit(f"{place}: expected one column of images and one of integers, found {sorted(sample)}")
        if hasattr(images[0], "save"):  # decoded by the package: PNG keeps the pixels
            images[0].save(buffer := io.BytesIO(), "PNG")
        yield images[0] if isinstance(images[0], bytes) else buffer.getvalue(), int(labels[0])


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("parquet", "lmdb", "mds"):
        sys.exit(__doc__)
    _, kind, place, out = sys.argv
    if os.path.exists(out):
        sys.exit(f"{out} exists already: remove it, or give another folder")
    if kind == "parquet":
        import pyarrow.parquet as parquet
        for folder, _, names in os.walk(place):
            for name in (name for name in names if name.endswith(".parquet")):
                os.makedirs(target := os.path.join(out, os.path.relpath(folder, place)), exist_ok=True)
                parquet.write_table(parquet.read_table(os.path.join(folder, name), partitioning=None),
                                    os.path.join(target, name), compression="none", use_dictionary=False)
        return
    for number, (image, label) in enumerate({"lmdb": from_lmdb, "mds": from_mds}[kind](place)):
        os.makedirs(folder := os.path.join(out, "train", f"{label:05d}"), exist_ok=True)
        with open(os.path.join(folder, f"{number:08d}.jpg"), "wb") as file:
            file.write(image)


main()
