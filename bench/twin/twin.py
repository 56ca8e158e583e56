"""One rank of a row with `engine: pytorch` or `pytorch_compiled`: reads the same job as train_slice, trains the slice in
Python's PyTorch on made-up batches, and writes the same report.

Usage: twin.py --job FILE                   started by run_matrix
       twin.py --why-not ENGINE DEVICE      prints why this Python can't run such a row; nothing if it can
"""
import ctypes
import faulthandler
import hashlib
import json
import math
import os
import pathlib
import platform
import signal
import socket
import sys
import time
import traceback

import missing
from report import DONE, FINISHING, TIMING, WARMING_UP, Progress, cores, cpu_time, passed, report_error, write_slice

UNTIMED_OF_CEILING = 2


def open_rank_logs():
    """mpirun and srun merge the output of their ranks; this one has its own files."""
    folder = os.environ.get("RANK_LOGS")
    for name, stream in (("stdout", 1), ("stderr", 2)) if folder else ():
        os.dup2(os.open(f"{folder}/rank-0.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), stream)


def burden_host(ms):
    """Emulates a slower host program by using processor time of this thread."""
    end = time.thread_time() + ms / 1e3
    while ms > 0 and time.thread_time() < end:
        pass


class Slice:
    def __init__(self, job):
        import torch
        from phase_clock import PhaseClock
        from step import Batches, Step
        self.torch, self.job, self.row = torch, job, job["row"]
        row = self.row
        self.progress = Progress(job["progress"])
        self.device = torch.device(row["device"])
        self.on_gpu = self.device.type == "cuda"
        torch.set_num_threads(row["intra_op_threads"])
        torch.manual_seed(row["seed"])
        torch.backends.cudnn.benchmark = row["cudnn_benchmark"]
        torch.backends.cudnn.allow_tf32 = row["tf32"]
        self.warmup, self.timed = row["warmup_batches"], row["timed_batches"]
        make_event = (lambda: torch.cuda.Event(enable_timing=True)) if self.on_gpu else None
        self.make_clock = lambda: PhaseClock(row["phase_clock"], make_event)
        self.batches, self.step = Batches(row, self.device), Step(row, self.device)
        if row["cuda_graphs"]:
            self.step.record(self.batches)
        elif self.warmup == 0 or self.step.compiled:
            self.step.warm_up(self.batches)

    def synchronize(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def run_batches(self, count, clock):
        every = self.row["loss_every"]
        metrics = []
        for batch in range(1, count + 1):
            metrics.append(self.step.run(self.batches, clock, read=batch % every == 0))
            burden_host(self.row["host_work_ms"])
            self.progress.batch_ended()
            clock.next_batch()
        return metrics

    def run(self):
        clock = self.make_clock()
        self.progress.state(WARMING_UP if self.warmup else TIMING)
        warmup_metrics = self.run_batches(self.warmup, clock)
        self.synchronize()
        self.progress.state(TIMING)
        before = cpu_time()
        begin_ns = time.monotonic_ns()
        metrics = self.run_batches(self.timed, clock)
        self.synchronize()
        total_s = (time.monotonic_ns() - begin_ns) / 1e9
        cpu = passed(before, cpu_time())
        self.progress.state(FINISHING)
        write_slice(self.job["directory"], self.facts(), self.report(clock, warmup_metrics + metrics, total_s, cpu))
        self.progress.state(DONE)

    def facts(self):
        from phase_clock import nanoseconds_per_call
        versions = {"pytorch": self.torch.__version__, "python": platform.python_version()}
        device = {"kind": self.row["device"], "label": f"1 {'CPU' if not self.on_gpu else 'cuda'} replica", "name": self.device_name()}
        if self.on_gpu:
            device |= {"driver": self.driver(), "settings": self.gpu_settings()}
        sixteen_bit = str(self.step.sixteen_bit).removeprefix("torch.") if self.step.sixteen_bit else ""
        return {"device": device, "precision": {"name": self.row["precision"], "sixteen_bit": sixteen_bit, "label": ""},
                "clock_ns_per_call": nanoseconds_per_call(), "versions": versions}

    def device_name(self):
        if self.on_gpu:
            return self.torch.cuda.get_device_name()
        names = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        return names[0].partition(": ")[2] if names else "CPU"

    @staticmethod
    def driver():
        loaded = pathlib.Path("/sys/module/nvidia/version")
        return loaded.read_text().strip() if loaded.exists() else ""

    def gpu_settings(self):
        cuda, backends = self.torch.cuda, self.torch.backends
        properties = cuda.get_device_properties(self.device)
        return {"memory_bytes": properties.total_memory, "compute_capability": f"{properties.major}.{properties.minor}",
                "multiprocessors": properties.multi_processor_count, "peak_allocated_bytes": cuda.max_memory_allocated(),
                "peak_reserved_bytes": cuda.max_memory_reserved(), "cudnn": backends.cudnn.version(),
                "cudnn_benchmark": backends.cudnn.benchmark, "tf32_convolutions": backends.cudnn.allow_tf32,
                "tf32_products": backends.cuda.matmul.allow_tf32}

    def report(self, clock, metrics, total_s, cpu):
        """metrics: of all batches, also those of warm-up."""
        loss, top1, top5 = zip(*(one.tolist() for one in metrics))
        wrong = next((batch for batch, value in enumerate(loss) if not math.isfinite(value)), None)
        where = None if wrong is None else f"warm-up batch {wrong}" if wrong < self.warmup else f"timed batch {wrong - self.warmup}"
        report = {
            "place": {"rank": 0, "node": 0, "host": socket.gethostname(), "device": f"{self.row['device']}:0", "cpus": cores()},
            "total_s": total_s, "cpu_time": cpu, "loss": list(loss[self.warmup:]),
            "correct": {"top1": int(sum(top1[self.warmup:])), "top5": int(sum(top5[self.warmup:])), "images": self.row["batch"] * self.timed},
            "ready": {"at_start": len(self.batches.host), "at_end": len(self.batches.host)},
            "cache": {"requested": self.row["cache"], "state": "none", "storage_used": "synthetic", "encoded_bytes": 0,
                      "note": "no page cache between this storage and the loader"},
            "checks": [{"name": "gradients", "ok": True, "detail": "one device: nothing to compare"},
                       {"name": "loss", "ok": where is None, "detail": f"not finite in {where}" if where else "finite"}],
            "strategy": {}, "weights": self.weights(), "clock_calls": clock.calls_per_batch(), "loader_buffer_bytes": 0,
            "bad_images": 0, "warnings": []}
        if clock.enabled:
            report["samples_ms"] = clock.milliseconds(self.warmup, self.warmup + self.timed)
            report["warmup_ms"] = clock.milliseconds(0, self.warmup)
            report["timeline"] = clock.last_batch()
        if clock.enabled and self.on_gpu:
            report["device_ms"] = clock.milliseconds(self.warmup, self.warmup + self.timed, device=True)
        ceiling_batches = min(self.row["ceiling_batches"], self.warmup + self.timed - 1)
        return report | ({"ceilings": self.ceilings(ceiling_batches)} if ceiling_batches > 0 else {})

    def ceilings(self, count):
        """The compute ceiling: the same step again, without a loader as in the slice itself."""
        self.run_batches(UNTIMED_OF_CEILING, self.make_clock())
        self.synchronize()
        clock = self.make_clock()
        clock.enabled = True
        begin_ns = time.monotonic_ns()
        self.run_batches(count, clock)
        self.synchronize()
        phases = clock.milliseconds(0, count)
        batch_ms = [sum(times) for times in zip(*phases.values())]
        return {"batches": count, "compute_ms": (time.monotonic_ns() - begin_ns) / 1e6 / count, "compute_batch_ms": batch_ms,
                "compute": {phase: sum(times) / count for phase, times in phases.items() if phase != "load" and sum(times) > 0}}

    def weights(self):
        hashed = hashlib.blake2b(digest_size=8)
        for parameter in self.step.model.parameters():
            values = parameter.detach().cpu().contiguous()
            hashed.update(ctypes.string_at(values.data_ptr(), values.nbytes))
        return hashed.hexdigest()


def main(words):
    if len(words) == 3 and words[0] == "--why-not":
        print(missing.why_not(*words[1:]))
        return 0
    if len(words) != 2 or words[0] != "--job":
        sys.exit(__doc__)
    job = json.loads(pathlib.Path(words[1]).read_text())
    try:
        open_rank_logs()
        faulthandler.register(signal.SIGUSR2)  # the harness sends it to a hung rank before it ends it
        Slice(job).run()
        return 0
    except Exception as error:
        traceback.print_exc()
        report_error(job, error)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
