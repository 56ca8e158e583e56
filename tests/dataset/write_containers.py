#!/usr/bin/env python3
"""Writes the images of SRC/train/CLASS and SRC/val/CLASS into OUT in the forms of other tools, good and damaged ones."""
import glob
import io
import json
import os
import sys
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq

src, out = sys.argv[1:3]
classes = sorted(os.listdir(f"{src}/train"))


def images(part):
    for file in sorted(glob.glob(f"{src}/{part}/*/*")):
        with open(file, "rb") as stream:
            yield file, classes.index(file.split("/")[-2]), stream.read()


def folder(name):
    os.makedirs(f"{out}/{name}", exist_ok=True)
    return f"{out}/{name}"


def tar(path, members):
    with tarfile.open(path, "w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


train = list(images("train"))
jpeg = train[0][2]


def shards(target, part, name):  # as webdataset.ShardWriter with maxcount=9
    rows = list(images(part))
    for first in range(0, len(rows), 9):
        tar(f"{target}/{name}-{first // 9:06d}.tar", [
            member for i, (file, label, content) in enumerate(rows[first:first + 9], first)
            for member in ((f"{i:06d}.cls", str(label).encode()), (f"{i:06d}.jpg", content), (f"{i:06d}.json", b"{}"))])


shards(folder("webdataset"), "train", "set-train")
shards(folder("webdataset"), "val", "set-val")
for name in classes:
    members = [(os.path.basename(file), content) for file, label, content in train if classes[label] == name]
    tar(folder("class_tars/train") + f"/{name}.tar", members)
with tarfile.open(folder("nested") + "/ILSVRC2012_img_train.tar", "w") as archive:
    for name in classes:
        archive.add(f"{out}/class_tars/train/{name}.tar", arcname=f"{name}.tar")
with tarfile.open(folder("one_tar") + "/train.tar", "w", format=tarfile.PAX_FORMAT) as archive:
    for file, label, content in train:
        archive.add(file, arcname=os.path.relpath(file, src))

# As datasets.Dataset has them: to_parquet, and save_to_disk's stream.
features = {"info": {"features": {"image": {"_type": "Image"}, "label": {"names": classes, "_type": "ClassLabel"}}}}
schema = pa.schema([("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), ("label", pa.int64())],
                   metadata={"huggingface": json.dumps(features)})


def table(part, change=lambda label: label):
    return pa.table({"image": [{"bytes": content, "path": os.path.basename(file)} for file, _, content in images(part)],
                     "label": [change(label) for _, label, _ in images(part)]}, schema=schema)


plain = {"compression": "none", "use_dictionary": False, "row_group_size": 7}
for part, name in (("train", "train"), ("val", "validation")):
    pq.write_table(table(part), folder("parquet/data") + f"/{name}-00000-of-00001.parquet", **plain)
    with pa.ipc.new_stream(folder(f"arrow/{name}") + "/data-00000-of-00001.arrow", schema) as writer:
        writer.write_table(table(part), max_chunksize=7)

os.symlink(f"{out}/webdataset/set-train-000000.tar", folder("linked") + "/link-000000.tar")
tar(folder("odd_keys") + "/a-000000.tar", [("../../x y\n\u00e9.jpg", jpeg), ("../../x y\n\u00e9.cls", b"0\n"),
                                          ("/abs/b.jpg", jpeg), ("/abs/b.cls", b"0"), ("__meta__", b"x"), ("._b.jpg", b"x")])

tar(folder("dotted") + "/set.tar", [("n0/image.1.jpg", jpeg), ("n0/image.2.jpg", jpeg)])

# Damaged or unusable.
with open(f"{out}/webdataset/set-train-000000.tar", "rb") as stream:
    whole = stream.read()
for name, content in {"cut_tar": whole[:len(whole) // 2], "cut_end": whole[:whole.rindex(b"000008.json") + 1024],
                      "no_tar": b"hello" * 1000, "empty": b"", "mixed": whole, "validation_only": b"x"}.items():
    file = "/set-val-000000.tar" if name == "validation_only" else "/a-000000.tar"
    with open(folder(name) + file, "wb") as stream:
        stream.write(content)
pq.write_table(table("train"), f"{out}/mixed/a.parquet")
tar(folder("no_member") + "/a-000000.tar", [])
tar(folder("no_label") + "/a-000000.tar", [("a.jpg", jpeg)])
tar(folder("one_label_missing") + "/a-000000.tar", [("a.jpg", jpeg), ("a.cls", b"0"), ("b.jpg", jpeg)])
tar(folder("label_in_words") + "/a-000000.tar", [("a.jpg", jpeg), ("a.cls", b"dog")])
tar(folder("negative") + "/a-000000.tar", [("a.jpg", jpeg), ("a.cls", b"-1")])
tar(folder("from_one") + "/a-000000.tar", [("a.jpg", jpeg), ("a.cls", b"1"), ("b.jpg", jpeg), ("b.cls", b"2")])
tar(folder("no_jpeg") + "/a-000000.tar", [("a.jpg", b"RIFF1234WEBP"), ("a.cls", b"0"), ("b.jpg", jpeg), ("b.cls", b"0")])
tar(folder("two_images") + "/a-000000.tar", [("a.jpg", jpeg), ("a.png", jpeg), ("a.cls", b"0")])
pq.write_table(table("train"), folder("compressed") + "/a.parquet")
pq.write_table(table("train", lambda label: label + 7), folder("label_beyond") + "/a.parquet", **plain)
pq.write_table(pa.table({"text": ["a"], "label": [1]}), folder("no_image") + "/a.parquet")
pq.write_table(pa.table({"image": [{"bytes": None, "path": "a.jpg"}], "label": [0]}, schema=schema),
               folder("only_paths") + "/a.parquet", **plain)
with open(f"{out}/arrow/train/data-00000-of-00001.arrow", "rb") as stream, open(folder("cut_arrow") + "/a.arrow", "wb") as cut:
    cut.write(stream.read()[:-3000])
for name in ("lmdb/data.mdb", "mds/shard.00000.mds", "zip/set.zip", "gzip/train/a.tar.gz", "classes/n0/a.jpg", "flat/a.jpg",
             "no_classes/train/a.jpg"):
    with open(folder(os.path.dirname(name)) + "/" + os.path.basename(name), "wb") as stream:
        stream.write(jpeg)
