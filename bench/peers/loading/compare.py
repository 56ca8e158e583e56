"""Compares load_list with other loaders on the same files and crop boxes; prints medians, ratios and pixel differences.

Every loader is a process that prints `ready` and then loads the list once for each `go`: one warm-up pass, then
--repeats timed passes, interleaved with the other loaders. Run it on an idle machine. README.md lists the differences.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "pytorch"))
import needs

needs.packages("numpy", install=f"python3 -m venv .venv-peer && .venv-peer/bin/pip install -r {HERE / 'requirements.txt'}, "
               "then use .venv-peer/bin/python")
import numpy as np

from image_list import BATCH, DEVIATION, SIDE, read_list

PEERS = ("pillow_dataloader", "torchvision_io_dataloader", "torchvision_io_threads", "simplejpeg_threads",
         "opencv_threads", "webdataset_pillow", "spdl_ffmpeg", "dali_cpu", "tf_data")
REFERENCE = "pillow_dataloader"
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_MMAP_MAX_": "0"}  # as run_matrix


class Missing(Exception):
    pass


class Process:
    def __init__(self, command, environment):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env=os.environ | environment)
        self.answer("ready")

    def answer(self, wanted=None):
        """Returns the words of the next answer and skips output of libraries."""
        for line in self.process.stdout:
            words = line.split()
            if words and (words[0] == wanted if wanted else len(words) == 2 and words[0].isdigit()):
                return words
        self.process.wait()
        self.errors.seek(0)
        lines = [line for line in self.errors.read().splitlines() if line.strip()]
        raise Missing(lines[-1] if lines else f"the loader ended with exit code {self.process.returncode}")

    def say(self, text):
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the process ended; answer() reports why

    def rate(self, least):
        self.say("go")
        images, seconds = self.answer()
        if int(images) < least:
            raise Missing(f"the loader delivered {images} of {least} images")
        return int(images) / float(seconds)

    def pixels(self, count, output):
        """Pixels of the first `count` images, 0-255: images x 3 x side x side, or for uint8 images x side x side x 3."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pixels")
            self.say(f"dump {path} {count}")
            self.answer("done")
            values = np.fromfile(path, output).astype(np.float64)
        if output == "uint8":
            return values.reshape(-1, SIDE, SIDE, 3)
        return values.reshape(-1, 3, SIDE, SIDE) * (255 * np.array(DEVIATION)).reshape(3, 1, 1)

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(name, options, threads, output):
    settings = ["--list", options.list, "--threads", threads, "--output", output]
    if name == "suite":
        return Process([options.ours, *settings, "--batch", BATCH], ALLOCATOR)
    environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return Process([sys.executable, HERE / "peer.py", name, *settings], environment)


def start_all(options, threads, output):
    processes = {}
    for name in ("suite", *options.peers):
        try:
            process = start(name, options, threads, output)
            process.rate(options.images)  # warm-up: fills the page cache, starts workers
            processes[name] = process
        except Missing as why:
            if name == "suite":
                sys.exit(f"{options.ours}: {why}")
            print(f"{name:27s} SKIPPED: {why}")
    return processes


def differences(processes, output, count=64):
    if REFERENCE not in processes:
        return {}
    expected = processes[REFERENCE].pixels(count, output)
    found = {}
    for name, process in processes.items():
        if name != REFERENCE:
            difference = np.abs(process.pixels(count, output) - expected)
            found[name] = f"max {difference.max():.1f}, mean {difference.mean():.3f}"
    return found


def spread(values, digits):
    return f"{statistics.median(values):9.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def compare(options, threads, output):
    print(f"\n{output}, {threads} thread{'s' if threads > 1 else ''}: images/s, suite/peer, difference from Pillow in grey levels")
    processes = start_all(options, threads, output)
    try:
        pixels = differences(processes, output)
        rates = {name: [] for name in processes}
        for _ in range(options.repeats):
            for name, process in processes.items():
                rates[name].append(process.rate(options.images))
    finally:
        for process in processes.values():
            process.end()
    for name, values in rates.items():
        ratios = [ours / theirs for ours, theirs in zip(rates["suite"], values)]
        ratio = "" if name == "suite" else spread(ratios, 2)
        print(f"{name:27s}{spread(values, 0):28s}{ratio:27s}{pixels.get(name, '')}", flush=True)


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", required=True, help="list of images, written by make_list.py")
    arguments.add_argument("--threads", type=numbers, default=[1, 2])
    arguments.add_argument("--output", type=lambda text: text.split(","), default=["float32", "uint8"])
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--ours", default=HERE.parents[2] / "build" / "release" / "load_list")
    arguments.add_argument("--peers", type=lambda text: text.split(","), default=PEERS, help=",".join(PEERS))
    options = arguments.parse_args()
    options.images = len(read_list(options.list))
    needs.program(options.ours, "cmake --build build/release --target load_list, after ./run_tests")
    for output in options.output:
        for threads in options.threads:
            compare(options, threads, output)


if __name__ == "__main__":
    main()
