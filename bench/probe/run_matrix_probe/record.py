"""The probe's files: JSON lines, written at segment ends by one write each."""
import json
import os
import sys
import time


def append(path, text):
    """Opens, writes and closes, so that no open file is inherited by a fork."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, text.encode(errors="backslashreplace"))
    finally:
        os.close(descriptor)


def environment_number(names, otherwise):
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return otherwise


def of_group(name, variables, otherwise):
    """A process group's own answer, where there is one, else the launcher's."""
    import torch.distributed as group
    if group.is_available() and group.is_initialized():
        return getattr(group, name)()
    return environment_number(variables, otherwise)


def rank():
    return of_group("get_rank", ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"), 0)


def world():
    return of_group("get_world_size", ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"), 1)


class RankFile:
    def __init__(self, folder):
        self.folder, self.path, self.waiting = folder, None, []

    def begin(self):
        """Called at the first iteration: processes that never train have no file."""
        import torch
        self.path = os.path.join(self.folder, f"rank-{rank()}-{os.getpid()}.jsonl")
        on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
        waiting, self.waiting = self.waiting, []
        self.write({"kind": "start", "pid": os.getpid(), "rank": rank(), "world": world(),
                    "local_rank": environment_number(("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"), 0),
                    "host": os.uname().nodename, "python": sys.version.split()[0], "torch": torch.__version__,
                    "argv": list(sys.argv), "device": torch.cuda.get_device_name() if on_gpu else "cpu",
                    "cores": len(os.sched_getaffinity(0)), "threads": torch.get_num_threads(), "wall_clock_start": time.time()})
        for record in waiting:
            self.write(record)

    def write(self, record):
        if self.path is None:
            self.waiting.append(record)
        else:
            append(self.path, json.dumps(record, default=str) + "\n")

    def note(self, text):
        self.write({"kind": "note", "text": text})
