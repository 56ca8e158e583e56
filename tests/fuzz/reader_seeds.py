#!/usr/bin/env python3
"""reader_seeds.py MAKE_DATASET FOLDER: seeds for reader_fuzz, in FOLDER/READER: copies of five images as make_dataset
packs them, answers of an object store, the suite's own configurations, records, nights and a trace. reader_fuzz reads
all of them."""
import gzip
import io
import json
import pathlib
import struct
import subprocess
import sys
import tarfile

NEXT_FILE = b"\n=== next file ===\n"
project = pathlib.Path(__file__).resolve().parents[2]
make_dataset, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])


def seed(reader, name, *files, ending=b""):
    (folder / reader).mkdir(parents=True, exist_ok=True)
    (folder / reader / name).write_bytes(NEXT_FILE.join(files) + ending)


def packed_copies():
    images, store = folder / "images", folder / "store"
    for number in range(5):
        image = images / f"train/{'ab'[number // 3]}/{number}.JPEG"
        image.parent.mkdir(parents=True, exist_ok=True)
        image.write_bytes(bytes([97 + number]) * (100 + number))  # packers don't look into them
    made = subprocess.run([make_dataset, "index", "--data", images, "--store", store], check=True, stdout=subprocess.PIPE)
    index = pathlib.Path(json.loads(made.stdout)["index"])
    seed("index", "five", index.read_bytes())
    for storage in ("lmdb", "hdf5", "arrow", "parquet", "tfrecord", "webdataset"):
        made = subprocess.run([make_dataset, "pack", "--index", index, "--to", storage, "--store", store],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if made.returncode != 0:  # this build lacks its library
            continue
        copy = pathlib.Path(json.loads(made.stdout.splitlines()[-1])["location"])
        files = [file.read_bytes() for file in sorted(copy.iterdir())]
        seed(storage, "five", *files)
        if storage == "tfrecord":
            seed(storage, "repaired", *files, ending=b"repair")
            seed("of_tfrecord", "one", files[4])
            seed("of_tfrecord", "repaired", files[4], ending=b"repair")
        elif storage in ("arrow", "parquet"):
            seed(f"of_{storage}", "five", files[0])


def raw():
    entries, shards = b"", [b"", b""]
    for number in range(5):
        shard, width, height = number // 3, 2 + number, 3
        entries += struct.pack("<qqiiQ", len(shards[shard]), number % 2, width, height, 0)
        shards[shard] += bytes(range(3 * width * height))
    seed("raw", "repaired", struct.pack("<8sqq", b"RAWIDX02", 5, 2) + entries, *shards, ending=b"repair")


def tar():
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for name, content in (("a/1.jpg", b"image"), ("a/1.cls", b"3"), ("a/2.jpg", b"another"), ("a/2.cls", b"4\n")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))
    seed("of_tar", "samples", whole.getvalue())


def object_store():
    hello = b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\nContent-Length: 300\r\n\r\n"
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nAccept-Ranges: bytes\r\n\r\n" + b"i" * 12
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + b"i" * 12 + b"\r\n0\r\n\r\n"
    part = b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 512-516/2048\r\nContent-Length: 5\r\n\r\n" + b"i" * 5
    seed("remote", "whole", hello, whole, part)
    seed("remote", "chunked", hello, chunked, part)


def trace():
    def event(kind, name, thread, at, length, **arguments):
        return {"ph": "X", "cat": kind, "name": name, "pid": 1, "tid": thread, "ts": at, "dur": length, "args": arguments}

    events = []
    for number in range(2):
        at, call = 1000.0 + 10000 * number, 10 * number
        events += [
            event("user_annotation", f"ProfilerStep#{number}", 11, at, 10000),
            event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 11, at, 2000),
            event("cuda_runtime", "cudaMemcpyAsync", 11, at + 2000, 5, correlation=call + 1),
            event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, at + 2100, 400, correlation=call + 1, bytes=4000000),
            event("cpu_op", "aten::conv2d", 11, at + 2200, 500, **{"Input Dims": [[32, 3, 8, 8], [4, 3, 3, 3]]}),
            event("cuda_runtime", "cudaLaunchKernel", 11, at + 2300, 5, correlation=call + 2),
            event("kernel", "conv", 7, at + 2500, 1000, correlation=call + 2),
            event("cpu_op", "autograd::engine::evaluate_function: B", 12, at + 5000, 1500),
            event("user_annotation", "Optimizer.step#SGD.step", 11, at + 9000, 1000)]
    text = json.dumps({"deviceProperties": [{"name": "GPU X", "totalGlobalMem": 1 << 32}],
                       "distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents": events}).encode()
    seed("trace", "plain", text)
    seed("trace", "compressed", gzip.compress(text, mtime=0))


def configurations():
    for file in (project / "configs").glob("*.yaml"):
        text = file.read_bytes()
        if file.name == "scales.yaml":
            seed("scales", file.name, text)
        elif b"\nrows:" in text and len(text) < 20000 and b"micro_batches" not in text:  # without values of axes
            seed("matrix", file.name, text)
    for file in (project / "configs/devices").glob("*.yaml"):
        seed("device", file.name, file.read_bytes().replace(f"name: {file.stem}".encode(), b"name: x", 1))  # x.yaml
    seed("machine", "all", b"cores: 8\nmemory_gib: 64\ncpu: Zen\nsixteen_bit_instructions: [avx512_bf16]\n")
    seed("prices", "all", b"unit: EUR\nkWh: 0.3\nwatts_per_gpu: 300\nwatts_per_core: 5\ngpu: 2\n")
    seed("hostfile", "two", b"# nodes\na slots=4\nb slots=4 max_slots=8\n")


def results():
    lines = (project / "tests/golden/records/repeats.jsonl").read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines[:3]):
        seed("records", str(number), line)
    night = {"schema": 1, "id": "n1", "started_at": "2026-01-01T03:00:00Z", "tag": "main", "machine": "Zen", "environment": "Zen",
             "host": "a", "revision": "abc", "run": "/runs/n1", "complete": True, "canaries": {"gemm_ms": 1.5}, "rows": []}
    seed("history", "one", json.dumps(night).encode() + b"\n")


packed_copies()
raw()
tar()
object_store()
trace()
configurations()
results()
