"""The files that a rank and run_matrix share: progress, the reason of an end, and the processor time of a slice. Their formats
are those of harness/contract/progress.h, slice_file.h and cpu_time.h."""
import json
import math
import mmap
import os
import pathlib
import struct
import time

WARMING_UP, TIMING, FINISHING, DONE = range(1, 5)
SLOT_BYTES, WHY_ENDED_AT, WHY_ENDED_BYTES = 1024, 64, 959
OUT_OF_MEMORY = "out of memory", "not enough memory", "can't allocate memory", "Cannot allocate memory", "STATUS_ALLOC_FAILED"


class Progress:
    """The rank's slot of the progress file, mapped."""

    def __init__(self, file):
        with open(file, "r+b") as opened:
            self.slot = mmap.mmap(opened.fileno(), SLOT_BYTES)
        self.batches = 0

    def state(self, state):
        struct.pack_into("=I", self.slot, 8, state)

    def batch_ended(self):
        self.batches += 1
        struct.pack_into("=Q", self.slot, 0, self.batches)

    def why_ended(self, text):
        self.slot[WHY_ENDED_AT:WHY_ENDED_AT + WHY_ENDED_BYTES] = text.encode()[:WHY_ENDED_BYTES].ljust(WHY_ENDED_BYTES, b"\0")


def report_error(job, error):
    lines = str(error).strip().splitlines()
    reason = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    out_of_memory = isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY)
    why = {"status": "OUT_OF_MEMORY" if out_of_memory else "CRASHED", "reason": reason}
    pathlib.Path(job["directory"], "rank-0.error.json").write_text(json.dumps(why) + "\n")
    Progress(job["progress"]).why_ended(json.dumps(why | {"reason": reason[:400]}))


def write_slice(directory, facts, report):
    """Numbers that are not finite are written as null."""
    report = report | {"loss": [loss if math.isfinite(loss) else None for loss in report["loss"]]}
    lines = "".join(json.dumps(part, allow_nan=False) + "\n" for part in (facts, report))
    pathlib.Path(directory, "slice.jsonl").write_text(lines)


def cores():
    return sorted(os.sched_getaffinity(0))


def cpu_time():
    """Until now, in seconds: of this process, and of its cores as /proc/stat tells."""
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    ours = {f"cpu{core}" for core in cores()}
    busy = total = stolen = 0
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name in ours:
            user, nice, system, idle, iowait, irq, softirq, steal = (int(number) * tick_s for number in ticks[:8])
            busy += user + nice + system
            stolen += steal
            total += user + nice + system + idle + iowait + irq + softirq + steal
    queued_ns = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            queued_ns += int((task / "schedstat").read_text().split()[1])
        except OSError:  # the thread has ended, or the kernel keeps no such statistics
            pass
    return {"total_s": total, "busy_s": busy, "stolen_s": stolen, "own_s": time.process_time(), "queued_s": queued_ns / 1e9,
            "kernel_s": 0, "machine": 0}


def passed(before, now):
    return {name: max(0, now[name] - before[name]) for name in now}
