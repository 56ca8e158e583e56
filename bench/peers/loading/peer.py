"""Runs one loader in a process: python peer.py NAME --list FILE --threads N --output uint8|float32.

NAME is a module in this folder with a function `loader(images, threads, output)`. The function does the set-up that a
training program does once, and returns a function that yields the list's batches in order: arrays or tensors of
64 x 224 x 224 x 3 for uint8, of 64 x 3 x 224 x 224 (or with channels last) for normalised float32.
The protocol is that of load_list: prints `ready`, answers `go` with `<images> <seconds>` and `dump PATH K` with `done`.
"""
import argparse
import importlib
import sys
import time

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"peer.py: {error}; install the packages in requirements.txt, as README.md in the same folder shows")

from image_list import read_list


def dump(load, path, count, output):
    pixels = np.concatenate([np.asarray(batch) for batch in load()])[:count]
    if output == "float32" and pixels.shape[1] != 3:
        pixels = pixels.transpose(0, 3, 1, 2)
    pixels.astype(output).tofile(path)
    print("done", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("name")
    arguments.add_argument("--list", required=True)
    arguments.add_argument("--threads", type=int, required=True)
    arguments.add_argument("--output", choices=("uint8", "float32"), required=True)
    options = arguments.parse_args()
    images = read_list(options.list)
    try:
        module = importlib.import_module(options.name)
    except ImportError as error:
        sys.exit(f"{options.name}: {error}; install what requirements.txt beside peer.py lists")
    load = module.loader(images, options.threads, options.output)
    print("ready", flush=True)
    for line in sys.stdin:
        command = line.split()
        if command[0] == "go":
            begin = time.perf_counter()
            loaded = sum(len(batch) for batch in load())
            print(loaded, time.perf_counter() - begin, flush=True)
        else:
            dump(load, command[1], int(command[2]), options.output)


if __name__ == "__main__":
    main()
