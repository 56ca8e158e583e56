"""Compares the suite with plain PyTorch on the same machine and work, interleaved; prints each ratio with its range.

Usage: python compare.py WHAT [REPEATS [FILE]]   with a Python that has torch 2.11 and torchvision:
  python3 -m venv .venv-peer && .venv-peer/bin/pip install torch==2.11.0 torchvision pillow
WHAT: step, slice, ddp, strategies; gpu-best, gpu-float32, gpu-unfused, which need neither torchvision nor pillow, but a
torch built for CUDA and an idle GPU. FILE keeps each rate as it is measured; called again with it, the script goes on.
Run ./run_tests once before, which builds bench_micro. Use an idle machine. bench/peers/loading/compare.py compares loaders.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import needs

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
BUILD = PROJECT / ("bin" if (PROJECT / "libtorch_version").exists() else "build/release")  # bin: an unpacked bundle
GPU_STEPS = 100
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_MMAP_MAX_": "0"}


def output_of(*command, **environment):
    if pathlib.Path(command[0]).is_relative_to(BUILD):
        needs.program(command[0], "./run_tests builds it" if command[0].name == "bench_micro" else "./run_matrix builds it")
    done = subprocess.run([str(part) for part in command], env=os.environ | environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        last = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[-8:])
        sys.exit(f"{' '.join(map(str, command))}\nended with exit code {done.returncode}:\n{last}")
    return done.stdout


def our_step(batch):
    report = output_of(BUILD / "bench_micro", f"--benchmark_filter=step/o0/batch:{batch}/", "--benchmark_format=json",
                       "--benchmark_min_time=2", **ALLOCATOR)
    benchmarks = json.loads(report)["benchmarks"]
    if not benchmarks:
        needs.fail(f"{BUILD / 'bench_micro'}: has no benchmark step/o0/batch:{batch}/", "rebuild it with ./run_tests")
    return benchmarks[0]["images_per_second"]


def their_step(batch, *fused):
    return float(output_of(sys.executable, HERE / "step.py", batch, 100, *fused, **ALLOCATOR))


def rate_of_row(*options):
    with tempfile.TemporaryDirectory() as folder:
        output_of(BUILD / "run_matrix", *options, "--out", folder)
        record = json.loads(open(folder + "/records.jsonl").readline())
    if record["status"] != "OK":
        needs.fail(f"row {record['row']} is {record['status']}: {record['reason']}", "fix the cause, then repeat")
    return record["images_per_second"]


def our_slice():
    return rate_of_row("--device", "cpu", "--only", "0", "--scale", "rehearsal")


def their_slice(data):
    return float(output_of(sys.executable, HERE / "slice.py", data, 32, 30, 300, **ALLOCATOR))


def our_ranks(row, backend):
    return rate_of_row("--device", "cpu", "--only", row, "--scale", "rehearsal", "--set", f"backend={backend}", "--set",
                       "storage=synthetic", "--set", "timed_batches=150")


def their_ddp():
    return float(output_of(sys.executable, HERE / "ddp.py", 4, 32, 30, 150, OMP_NUM_THREADS="1", **ALLOCATOR))


def our_gpu_step(row, batch):
    return rate_of_row(PROJECT / "configs" / "beyond.yaml", "--only", row, "--scale", "article", "--device", "cuda", "--set",
                       f"timed_batches={GPU_STEPS}", "--set", "warmup_batches=30", "--set", f"batch={batch}")


def their_gpu_step(mode, batch):
    return float(output_of(sys.executable, HERE / "gpu_step.py", mode, batch, GPU_STEPS))


def stand_in():
    our_slice()  # makes the data
    return str(max((PROJECT / "data").glob("stand-in-*"), key=lambda folder: int(folder.name.split("-")[2])))


class Kept:
    """Rates in a file of JSON lines, so that what was measured before an interruption isn't measured again."""

    def __init__(self, file):
        self.file = file
        self.rates = {}
        if file and file.exists():
            for number, line in enumerate(file.read_text().splitlines(), 1):
                try:
                    one = json.loads(line)
                    self.rates[one["name"], one["who"], one["repeat"]] = float(one["images_per_second"])
                except (ValueError, KeyError, TypeError):
                    needs.fail(f"{file}:{number}: expected name, who, repeat and images_per_second", f"remove {file}")

    def rate(self, name, who, repeat, run):
        key = name, who, repeat
        if key not in self.rates:
            self.rates[key] = run()
            if self.file:
                with self.file.open("a") as lines:
                    lines.write(json.dumps(dict(zip(("name", "who", "repeat"), key)) | {"images_per_second": self.rates[key]}) + "\n")
        return self.rates[key]


def compare(name, ours, peers, repeats):
    runs = {"suite": ours} | peers
    values = {who: [] for who in runs}
    for repeat in range(repeats):
        for who, run in runs.items():
            values[who].append(KEPT.rate(name, who, repeat, run))
    for who, rates in values.items():
        print(f"{name:16s} {who:28s} {statistics.median(rates):8.1f} images/s  ({min(rates):.1f} to {max(rates):.1f})")
    for peer in peers:
        ratios = sorted(a / b for a, b in zip(values["suite"], values[peer]))
        print(f"{name:16s} suite / {peer:20s} {statistics.median(ratios):8.3f}           ({ratios[0]:.3f} to {ratios[-1]:.3f})")


def main(what, repeats=5):
    gpu_work = what.startswith("gpu-")
    for program in {"step": ["bench_micro"], "slice": ["run_matrix", "train_slice", "make_dataset"],
                    "ddp": ["run_matrix", "train_slice"], "strategies": ["run_matrix", "train_slice"],
                    "gpu": ["run_matrix", "train_slice_cuda"]}.get("gpu" if gpu_work else what, []):
        needs.program(BUILD / program, "./run_tests builds it" + (", where nvcc (CUDA 13) is in PATH" if gpu_work else ""))
    if what in ("step", "ddp"):
        needs.packages("torch", "torchvision")
    elif what == "slice":
        needs.packages("torch", "torchvision", "PIL")
    elif gpu_work:
        needs.packages("torch", install="python3 -m venv V && V/bin/pip install torch==2.11.0, then use V/bin/python")
        gpu = output_of(sys.executable, "-c", "import torch; print(torch.cuda.is_available() and 'torch ' + torch.__version__"
                        " + ' on ' + torch.cuda.get_device_name())").strip()
        if gpu == "False":
            needs.fail(f"the torch of {sys.executable} finds no NVIDIA GPU", "on a machine with one install a torch for CUDA")
        print(gpu, flush=True)
    if what == "step":
        for batch in (16, 32):
            compare(f"step, batch {batch}", lambda: our_step(batch),
                    {"eager PyTorch": lambda: their_step(batch),
                     "eager PyTorch, fused SGD": lambda: their_step(batch, "fused")}, repeats)
    elif what == "slice":
        data = stand_in()
        compare("row [0]", our_slice, {"PyTorch with DataLoader": lambda: their_slice(data)}, repeats)
    elif what == "ddp":
        compare("row [12], gloo", lambda: our_ranks("12", "gloo"), {"PyTorch DDP, gloo": their_ddp}, repeats)
    elif what == "gpu-float32":
        compare("[0] synthetic", lambda: our_gpu_step("synthetic", 512),
                {"eager PyTorch": lambda: their_gpu_step("eager", 512),
                 "eager PyTorch, fused SGD": lambda: their_gpu_step("fused", 512)}, repeats)
    elif what == "gpu-unfused":
        compare("[0] unfused SGD", lambda: our_gpu_step("unfused", 512),
                {"eager PyTorch": lambda: their_gpu_step("eager", 512)}, repeats)
    elif what == "gpu-best":
        compiled = {"torch.compile, bf16, NHWC": lambda: their_gpu_step("best", 256)}
        lacking = needs.what_triton_lacks()
        if lacking:
            print(f"torch.compile: SKIPPED: {lacking}", flush=True)
            compiled = {}
        compare("every field", lambda: our_gpu_step("synthetic-fused", 256),
                compiled | {"torch.cuda.graph, bf16, NHWC": lambda: their_gpu_step("graph", 256),
                            "row synthetic-graphs": lambda: our_gpu_step("synthetic-graphs", 256),
                            "row synthetic-o2-fused": lambda: our_gpu_step("synthetic-o2-fused", 256)}, repeats)
    elif what == "strategies":
        compare("row [12], mpi", lambda: our_ranks("12", "mpi"),
                {"row [13], apex": lambda: our_ranks("13", "mpi"), "row [15], horovod": lambda: our_ranks("15", "mpi"),
                 "row [12], gloo": lambda: our_ranks("12", "gloo")}, repeats)
    else:
        sys.exit(__doc__)


KEPT = Kept(pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else None)
main(sys.argv[1] if len(sys.argv) > 1 else "", *needs.numbers(sys.argv[2:3], len(sys.argv[2:3])))
