"""Writes the golden records: synthetic test data with round, made-up times; nothing here was ever measured."""
import json
import pathlib
import random
import sys

BATCHES = int(sys.argv[1]) if len(sys.argv) > 1 else 60
FOLDER = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else __file__)
FOLDER = FOLDER if FOLDER.is_dir() else FOLDER.parent

# id, title, base, identity, inferred, article's seconds, window, overrides, made-up mean ms per phase or reason to skip
BASE = {"load": 1, "h2d": 0.4, "forward": 13, "loss": 0.6, "backward": 24, "step": 1.2, "other": 0.1}
DP = dict(BASE, scatter=1.1, broadcast=0.5, gather=0.3, reduce=0.8)
DDP = dict(BASE, sync=3)
MPI = "needs the mpi backend, which this build lacks; apt-get install libopenmpi-dev and build again"
NET = "needs two nodes: run as root, or name hosts, so that two network namespaces can be joined"
ROWS = [
    ("disk", "files on disk", "", "stated", "", 336.524, {"storage": "files", "cache": "cold"}, dict(BASE, load=30)),
    ("disk-in-order", "files on disk in order", "disk", "control", "", 0, {"storage": "files", "cache": "cold", "order": "in_order"}, dict(BASE, load=21)),
    ("lmdb", "LMDB in key order", "disk-in-order", "stated", "", 0, {"storage": "lmdb", "cache": "cold", "order": "in_order"}, dict(BASE, load=9)),
    ("lmdb-shuffled", "LMDB shuffled", "lmdb", "stated", "", 0, {"storage": "lmdb", "cache": "cold"}, dict(BASE, load=26)),
    ("tmpfs", "files on tmpfs", "disk", "stated", "", 87.989, {}, BASE),
    ("o1", "mixed precision O1", "tmpfs", "stated", "", 0, {"precision": "o1"}, dict(BASE, forward=9, backward=17)),
    ("o2", "16-bit weights O2", "tmpfs", "stated", "published_s", 70.1, {"precision": "o2"}, dict(BASE, forward=8, backward=15, step=2)),
    ("o3", "16-bit throughout O3", "tmpfs", "stated", "", 0, {"precision": "o3"}, dict(BASE, forward=8, backward=14)),
    ("0", "one device and the large batch", "", "stated", "storage, precision", 161.0, {"batch": 512}, {k: 2 * v for k, v in BASE.items()}),
    ("1", "one device", "0", "inferred", "number", 0, {}, BASE),
    ("2", "DP on two", "1", "inferred", "number", 0, {"devices": 2}, DP),
    ("3", "DP on three", "1", "weakly inferred", "number", 0, {"devices": 3}, DP),
    ("4", "DP on four", "1", "inferred", "number", 0, {"devices": 4}, DP),
    ("5", "DP on two and the large batch", "0", "inferred", "number", 0, {"devices": 2, "batch": 512}, {k: 1.9 * v for k, v in DP.items()}),
    ("6", "DP on three and the large batch", "0", "weakly inferred", "number", 0, {"devices": 3, "batch": 512}, {k: 1.8 * v for k, v in DP.items()}),
    ("7", "DP on four and the large batch", "0", "stated", "", 81.7, {"devices": 4, "batch": 512}, dict({k: 1.7 * v for k, v in DP.items()}, load=9)),
    ("8", "7 with 1.5 times the threads", "7", "inferred", "cpus, loader_threads", 0, {"devices": 4, "batch": 512, "loader_threads": 6}, dict({k: 1.7 * v for k, v in DP.items()}, load=7)),
    ("9", "7 with 2 times the threads", "7", "inferred", "cpus, loader_threads", 0, {"devices": 4, "batch": 512, "loader_threads": 8}, dict({k: 1.7 * v for k, v in DP.items()}, load=5)),
    ("10", "7 with 3 times the threads", "7", "stated", "cpus, loader_threads", 60.2, {"devices": 4, "batch": 512, "loader_threads": 12}, dict({k: 1.7 * v for k, v in DP.items()}, load=4)),
    ("11", "7 with 4 times the threads", "10", "stated", "cpus, loader_threads", 0, {"devices": 4, "batch": 512, "loader_threads": 16}, dict({k: 1.7 * v for k, v in DP.items()}, load=6)),
    ("12", "DDP", "10", "stated", "", 41.6, {"devices": 4, "batch": 512, "loader_threads": 12, "strategy": "ddp", "backend": "gloo"}, {k: 1.4 * v for k, v in DDP.items()}),
    ("13", "DDP as APEX does it", "12", "inferred", "number", 0, {"devices": 4, "batch": 512, "loader_threads": 12, "strategy": "apex", "backend": "gloo"}, "strategy `apex` is not in this build; `run_matrix list --values` shows what is"),
    ("14", "APEX and SyncBN", "12", "inferred", "number", 0, {"devices": 4, "batch": 512, "loader_threads": 12, "strategy": "apex", "backend": "gloo", "sync_bn": True}, "strategy `apex` is not in this build; `run_matrix list --values` shows what is"),
    ("15", "as Horovod does it over MPI", "12", "inferred", "number", 0, {"devices": 4, "batch": 512, "loader_threads": 12, "strategy": "horovod", "backend": "mpi"}, MPI),
    ("16", "DDP and O2", "12", "stated", "", 38.8, {"devices": 4, "batch": 512, "loader_threads": 12, "strategy": "ddp", "backend": "gloo", "precision": "o2"}, {k: (1.4 if k in ("load", "sync", "h2d") else 0.9) * v for k, v in DDP.items()}),
    ("17", "two nodes over Ethernet", "16", "inferred", "number, link_rate_mbit", 0, {"devices": 4, "nodes": 2, "batch": 512, "loader_threads": 12, "strategy": "ddp", "backend": "gloo", "precision": "o2", "link": "ethernet"}, NET),
    ("18", "two nodes over InfiniBand", "16", "stated", "batch, precision", 22.1, {"devices": 4, "nodes": 2, "batch": 512, "loader_threads": 12, "strategy": "ddp", "backend": "gloo", "precision": "o2", "link": "infiniband"}, NET),
]
FIRST_WINDOW = {"disk", "disk-in-order", "lmdb", "lmdb-shuffled", "tmpfs", "o1", "o2", "o3"}


def identity(scale):
    summary = {"rehearsal": "ResNet18 at width 16, 64 px, batch / 16, C0 = 4 threads", "smoke": "a handful of batches",
               "article": "ResNet18, 224 px, C0 = 16 threads"}[scale]
    return {"schema": 1, "scale": {"name": scale, "batch_divisor": 16, "c0": 4, "summary": summary},
            "machine": {"host": "golden", "cpu": "golden (synthetic test data, not measured)", "cores": 2},
            "build": {"revision": "golden", "libtorch": "0.0.0"},
            "data": {"fingerprint": "golden", "images": 5440, "bytes": 623968000, "kind": "stand-in"},
            "started_at": "2000-01-01T00:00:00Z"}


def record(spec, scale="rehearsal", repeat=0, batches=BATCHES, slower=1.0, **changes):
    row, title, base, sure, inferred, published, overrides, means = spec
    rng = random.Random(f"{row} {scale} {repeat}")
    config = {"id": row, "title": title, "base": base, "identity": sure, "inferred": ", ".join(filter(None, ["learning_rate", inferred])),
              "published_s": published, "window": "0-299" if row in FIRST_WINDOW else "100-399", "nodes": 1,
              "devices": 1, "strategy": "data_parallel" if overrides.get("devices", 1) > 1 else "single",
              "backend": "none", "link": "none", "precision": "o0", "storage": "tmpfs", "order": "shuffled",
              "cache": "warm", "cpus": 2, "loader_threads": 4, "batch": 256, "timed_batches": batches, **overrides}
    config["batch"] //= 16
    devices = config["devices"]
    processes = devices if config["strategy"] not in ("single", "data_parallel") else 1
    label = ("1 CPU replica" if devices == 1 else
             f"{devices} CPU {'ranks' if processes > 1 else 'replicas'}")
    if config["nodes"] > 1:
        label = f"2 x {label}"
    sixteen = "" if config["precision"] == "o0" else "bf16"
    result = {**identity(scale), "row": row, "repeat": repeat, "status": "OK", "reason": "", "config": config,
              "device": {"kind": "cpu", "name": "golden", "label": label},
              "precision": {"sixteen_bit": sixteen,
                            "label": config["precision"].upper() + (" in bf16" if sixteen else "")},
              "world_size": processes, "timed_batches": batches,
              "cache": {"requested": config["cache"], "state": config["cache"], "storage_used": config["storage"]},
              "bad_images": 0, "notes": [], "emulated": []}
    if isinstance(means, str):
        result.update(status="SKIPPED", reason=means)
        del result["timed_batches"]
    else:
        samples, state = {}, 0.0
        for phase, mean in means.items():
            samples[phase] = []
            for _ in range(processes):
                times = []
                for batch in range(batches):
                    state = 0.5 * state + rng.uniform(-0.06, 0.06)
                    start = 4 * mean if phase == "load" and batch == 0 and row in FIRST_WINDOW else 0
                    times.append(round(max(0.0, slower * mean * (1 + state) + start), 3))
                samples[phase].append(times)
        steps = [max(sum(samples[p][r][b] for p in samples) for r in range(processes)) for b in range(batches)]
        result["samples_ms"] = samples
        result["total_s"] = round(sum(steps) / 1000, 6)
        result["images_per_second"] = round(config["batch"] * batches / result["total_s"], 3)
        result["loss"] = [2.0] * batches
        if config["loader_threads"] > 4:
            result["notes"] = [f"cpus: {config['loader_threads']} clipped to 2"]
    result.update(changes)
    return result


def write(name, records):
    text = "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records)
    (FOLDER / name).write_text(text)


def failed(spec, status, reason, **more):
    made = record(spec, **more)
    for key in ("total_s", "images_per_second", "samples_ms", "loss"):
        made.pop(key, None)
    return {**made, "status": status, "reason": reason}


BY_ID = {spec[0]: spec for spec in ROWS}
write("matrix.jsonl", [record(spec) for spec in ROWS])
write("repeats.jsonl",
      [record(BY_ID["0"], repeat=r, batches=20, slower=s) for r, s in enumerate((1.0, 1.2, 1.1))] +
      [record(BY_ID["7"], repeat=0, batches=20), failed(BY_ID["7"], "CRASHED", "signal 11 in rank 0", repeat=1, batches=20),
       record(BY_ID["7"], repeat=2, batches=20, slower=1.3)])
write("mixed.jsonl", [
    record(BY_ID["disk"], batches=20, bad_images=3, emulated=["read_rate"]),
    record(BY_ID["tmpfs"], batches=20, cache={"state": "none", "storage_used": "memory"},
           environment={"steal_share": 0.11, "throttled_periods": 4}),
    failed(BY_ID["o1"], "DIVERGED", "loss is not finite from batch 12 on", batches=20),
    failed(BY_ID["12"], "INVALID", "gradients | differ\nbetween ranks", batches=20),
    record(BY_ID["disk"], scale="smoke", batches=4)])
