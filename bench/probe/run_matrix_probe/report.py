"""What the probe of one process writes: JSON lines, kept in memory until `flush`."""
import json
import os
import platform
import socket
import sys
import time


def number_in(*names, otherwise=0):
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return otherwise


def rank_and_world():
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return (number_in("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
            number_in("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", otherwise=1))


def local_rank():
    return number_in("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")


def append(file, text):
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


class Report:
    """rank-R-PID.jsonl. The rank is asked for when the first lines are written, since scripts may set it late."""

    def __init__(self, folder):
        self.folder = folder
        self.reset()

    def reset(self):
        self.file, self.lines, self.said = None, [], set()
        self.rank, self.world = rank_and_world()
        self.began = time.time()

    def add(self, kind, **values):
        self.lines.append(json.dumps({"kind": kind, **values}, default=str, allow_nan=False))

    def note(self, text):
        if text not in self.said:
            self.said.add(text)
            self.add("note", text=text)

    def impossible(self, change, why):
        if (change, why) not in self.said:
            self.said.add((change, why))
            self.add("impossible", change=change, why=why)

    def say(self, what, answer):
        with open(os.path.join(self.folder, f"{what}-{self.rank}-{answer}"), "w"):
            pass

    def answers(self, what):
        """Of the ranks of this machine, so far."""
        return [name.split("-")[2] for name in os.listdir(self.folder) if name.startswith(what + "-")]

    def all_say(self, what, answer, limit_s=5):
        """Whether the ranks of this machine say the same within this time. Where no launcher tells how many they are, all ranks
        are waited for, and may be missing."""
        here = number_in("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE")
        self.say(what, answer)
        until = time.monotonic() + limit_s
        while True:
            said = self.answers(what)
            if len(said) >= (here or self.world) or time.monotonic() >= until:
                return len(set(said)) == 1 and len(said) >= here
            time.sleep(0.02)

    def open(self):
        self.rank, self.world = rank_and_world()
        self.file = os.path.join(self.folder, f"rank-{self.rank}-{os.getpid()}.jsonl")
        import torch
        gpu = torch.cuda.is_initialized()
        later, self.lines = self.lines, []
        self.add("start", pid=os.getpid(), rank=self.rank, world=self.world, local_rank=local_rank(), host=socket.gethostname(),
                 python=platform.python_version(), torch=torch.__version__, argv=sys.argv,
                 device=torch.cuda.get_device_name() if gpu else "cpu", cores=len(os.sched_getaffinity(0)),
                 threads=torch.get_num_threads(), wall_clock_start=self.began)
        self.lines += later

    def flush(self):
        if self.file is None:
            self.open()
        lines, self.lines = self.lines, []
        if lines:
            append(self.file, "".join(line + "\n" for line in lines))
