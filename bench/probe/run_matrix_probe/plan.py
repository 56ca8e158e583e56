"""plan.json: what run_matrix asks of the probe."""
import json
import os

CHANGES = ("unchanged", "replayed", "half_batch", "double_batch", "loader_alone", "added_step_time", "added_wait",
           "no_collectives", "no_logging", "threads")
WITHOUT_THE_LOADER = ("replayed", "half_batch", "double_batch")
PROCESS = ("workers", "workers_factor", "prefetch_factor", "pin_memory", "persistent_workers", "worker_threads", "threads",
           "autocast", "channels_last", "fused_optimizer", "compile")
KEYS = {"warmup", "segments", "process", "list_files", "minimal"}
SEGMENT_KEYS = {"change", "block", "steps", "added_ms", "threads", "seconds"}


class Plan:
    def __init__(self, folder):
        with open(os.path.join(folder, "plan.json")) as file:
            plan = json.load(file)
        self.folder = folder
        self.warmup = max(1, int(plan.get("warmup", 8)))
        self.segments = plan.get("segments", [])
        self.process = plan.get("process") or {}
        self.list_files = bool(plan.get("list_files"))
        self.minimal = bool(plan.get("minimal"))
        self.unknown = sorted(set(plan) - KEYS) + [f"process.{key}" for key in self.process if key not in PROCESS]
        self.unknown += sorted({f"segments.{key}" for segment in self.segments for key in set(segment) - SEGMENT_KEYS})


def settle_iterations(change, before, workers, prefetch_factor):
    """Untimed iterations at a segment's begin. Workers that went on while the loader wasn't used hold batches ready, and
    after loader_alone they hold none."""
    real = change not in WITHOUT_THE_LOADER
    if real and (change == "loader_alone" or before in WITHOUT_THE_LOADER + ("loader_alone",)):
        return workers * prefetch_factor + 2
    return 2
