"""Compares accelerator utilisation (AU: computing / total time) with MLPerf Storage's engine, dlio-benchmark 2.0.0.

Both engines feed a device that only waits, with as many bytes per image, the same batch, loader threads and computing
time per batch. The runs are interleaved and repeated; every AU is printed as median and range. README.md says what to
install and why the figures differ.
"""
import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
sys.path.append(str(HERE.parent / "pytorch"))
import needs

import dlio
from disk_limit import DiskLimit, Unavailable
from suite import RING, WARMUP, Suite

STORAGES = {"tfrecord": "decodes JPEG", "raw": "resizes pixels"}
SETTINGS = {"a100": ("resnet50_a100", 0), "h100": ("resnet50_h100", 0), "a100-disk": ("resnet50_a100", 0.6)}
PACKAGES = ("dlio_benchmark", "tensorflow", "mpi4py", "hydra", "omegaconf", "pandas", "psutil", "h5py", "PIL",
            "dftracer")
INSTALL = (f"python3 -m venv .venv-dlio && .venv-dlio/bin/pip install -r {HERE / 'requirements.txt'} && "
           ".venv-dlio/bin/pip install --no-deps dlio-benchmark==2.0.0, then use .venv-dlio/bin/python")


def whole_number(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text!r}")
    return int(text)


def settings(text):
    for name in text.split(","):
        if name not in SETTINGS:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(SETTINGS)}, found {name!r}")
    return text.split(",")


def stand_in(build, images):
    folder = build.parents[1] / "data" / f"stand-in-{images}-seed1"
    if not (folder / "standin.json").exists():
        subprocess.run([build / "make_dataset", "standin", "--out", folder, "--images", str(images)], check=True)
    return folder


def show(who, values, unit, note):
    spread = f"({min(values):.2f} to {max(values):.2f})"
    print(f"  {who:24s} {statistics.median(values):7.2f} {unit} {spread:18s} {note}".rstrip(), flush=True)


def compare(name, suite, sets, options):
    workload_name, share = SETTINGS[name]
    seconds = dlio.workload(workload_name).train.computation_time
    epochs = 1 if share else options.epochs
    runs = {}  # (engine, storage): AU of each repeat in percent
    for repeat in range(options.repeats):
        for storage, data in sets.items():
            rate = share * suite.batch * data.bytes / seconds
            for engine in ("DLIO", "suite"):
                with DiskLimit(data.folder, rate) if share else contextlib.nullcontext() as limit:
                    run = (data.utilisation(workload_name, options.threads, epochs, limit) if engine == "DLIO" else
                           suite.utilisation(storage, seconds, options.batches * epochs, limit))
                runs.setdefault((engine, storage), []).append(run)
                print(f"  {name}, repeat {repeat + 1}: {engine} {storage} {run:.2f} %", file=sys.stderr, flush=True)
    cache = f"disk limited to {share:.0%} of what the device asks for, page cache cold" if share else "page cache warm"
    print(f"\n{name}: {seconds} s per batch of {suite.batch}, {options.threads} loader threads, {cache}")
    for storage, data in sets.items():
        for engine, does in (("DLIO", "reads only"), ("suite", STORAGES[storage])):
            values = runs[engine, storage]
            rate = statistics.median(values) / 100 * suite.batch / seconds
            show(f"{engine}, {data.bytes} B an image", values, "%",
                 f"{rate:.0f} images/s, {storage + ', ' if engine == 'suite' else ''}{does}")
        differences = [ours - theirs for ours, theirs in zip(runs["suite", storage], runs["DLIO", storage])]
        show("suite - DLIO", differences, "points", "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--settings", type=settings, default=list(SETTINGS),
                           help=f"some of {','.join(SETTINGS)} (default: all)")
    arguments.add_argument("--repeats", type=whole_number, default=3, help="of every run, interleaved (default 3)")
    arguments.add_argument("--batches", type=whole_number, default=14, help=f"of an epoch (default 14, above {WARMUP})")
    arguments.add_argument("--epochs", type=whole_number, default=5,
                           help="with a warm page cache (default 5); with a cold one, one")
    arguments.add_argument("--threads", type=whole_number, default=min(8, len(os.sched_getaffinity(0))),
                           help="loader threads (default: all cores, at most the workload's 8)")
    arguments.add_argument("--build", type=pathlib.Path, default=PROJECT / "build" / "release",
                           help="folder of the programs (default build/release)")
    options = arguments.parse_args()
    if options.batches <= WARMUP:
        arguments.error(f"argument --batches: expected more than {WARMUP}, which are not timed, found {options.batches}")
    needs.packages(*PACKAGES, install=INSTALL)
    for program in ("run_matrix", "train_slice", "make_dataset"):
        needs.program(options.build / program, "./run_matrix builds it")
    build = options.build.resolve()
    try:
        first = SETTINGS[options.settings[0]][0]
        batch = dlio.workload(first).reader.batch_size
        images = stand_in(build, (options.batches + RING) * batch)  # a cold row reads no image twice
        suite = Suite(build, images, batch, options.threads)
        sets = {storage: dlio.DataSet(build.parents[1] / "data", first, options.batches * batch,
                                      suite.bytes_per_image(storage)) for storage in STORAGES}
    except dlio.Failed as why:
        needs.fail(str(why), "fix the cause, then repeat")
    for name in options.settings:
        try:
            compare(name, suite, sets, options)
        except Unavailable as why:
            print(f"\n{name}: SKIPPED: {why}")
        except dlio.Failed as why:
            needs.fail(str(why), "fix the cause, then repeat")


if __name__ == "__main__":
    main()
