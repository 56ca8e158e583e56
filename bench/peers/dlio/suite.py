"""Runs row 0 of this suite on an emulated device whose step takes as long as DLIO's computation_time."""
import json
import pathlib
import subprocess
import tempfile

from dlio import Failed

RING = 2  # batches loaded ahead, as DLIO's prefetch_size
WARMUP = 5  # untimed batches: those that lay ready when the first step began are used up, if loading is the limit


def device_file(name, batch, computation_time):
    """A device that computes for computation_time seconds per batch; copies and launches take no time, as in DLIO."""
    def figure(value, source):
        return f'{{value: {value:.9g}, provenance: assumed, source: "{source}"}}'

    step, free = f"computation_time {computation_time} s of a batch of {batch} in DLIO", "DLIO has no such cost"
    image_ms = computation_time * 1000 / batch
    times = {"forward_ms_per_image": 0.3 * image_ms, "forward_ms": 0, "backward_ms_per_image": 0.7 * image_ms,
             "backward_ms": 0, "optimizer_ms": 0}
    costs = {"launch_us": 0, "memory_gib": 1000, "memory_gb_per_s": 1e9}
    for way in ("h2d", "d2h", "peer", "collective"):
        costs |= {f"{way}_gb_per_s": 1e9, f"{way}_us": 0}
    costs["pageable_gb_per_s"] = 1e9
    lines = [f"name: {name}", f"summary: {step}", "models:", "  resnet18:", "    o0:"]
    lines += [f"      {key}: {figure(value, step)}" for key, value in times.items()]
    lines += [f"{key}: {figure(value, free)}" for key, value in costs.items()]
    return "\n".join(lines) + "\n"


class Suite:
    def __init__(self, build, data, batch, threads):
        self.build, self.data, self.batch, self.threads = pathlib.Path(build), data, batch, threads

    def record(self, storage, computation_time, batches, limit=None):
        """The record of a row of `batches`, of which the first ones are not timed. With a limit, nothing is cached."""
        settings = {"batch": self.batch, "batch_format": "uint8", "storage": storage, "order": "in_order",
                    "cache": "cold" if limit else "warm", "cpus": self.threads, "loader_threads": self.threads,
                    "ring_depth": RING, "warmup_batches": WARMUP, "timed_batches": batches - WARMUP, "ceiling_batches": 0}
        with tempfile.TemporaryDirectory() as folder:
            device = pathlib.Path(folder, "dlio.yaml")
            device.write_text(device_file("dlio", self.batch, computation_time))
            command = [self.build / "run_matrix", "--device", f"emulated:{device}", "--scale", "article", "--only", "0",
                       "--data", self.data, "--out", f"{folder}/run"]
            for key, value in settings.items():
                command += ["--set", f"{key}={value}"]
            done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, preexec_fn=limit and limit.enter)
            records = pathlib.Path(folder, "run", "records.jsonl")
            if not records.exists():
                raise Failed("run_matrix: " + "\n".join(done.stdout.strip().splitlines()[-8:]))
            record = json.loads(records.read_text().splitlines()[0])
        if record["status"] != "OK":
            raise Failed(f"the row with storage {storage} is {record['status']}: {record['reason']}")
        return record

    def utilisation(self, storage, computation_time, batches, limit=None):
        """Percentage of the total time in which the device computes."""
        record = self.record(storage, computation_time, batches, limit)
        computing_ms = sum(sum(ranks[0]) for phase, ranks in record["device_ms"].items() if phase != "load")
        return computing_ms / 10 / record["total_s"]

    def bytes_per_image(self, storage):
        """Mean size of the images as the storage reads them; packs the data set if it isn't yet."""
        record = self.record(storage, 0.5, WARMUP + 1)
        packed = self.build.parents[1] / "data" / "packed" / record["data"]["fingerprint"] / storage
        files = [file for file in packed.iterdir() if file.name.startswith("train-")]
        return round(sum(file.stat().st_size for file in files) / record["data"]["images"])
