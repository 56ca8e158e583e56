"""Limits how fast processes may read from the disk of a folder, with a control group of Linux (root only)."""
import os
import pathlib

CGROUPS = pathlib.Path("/sys/fs/cgroup")


class Unavailable(Exception):
    pass


def disk_of(folder):
    """major:minor of the whole disk, which is what the limit is for, also where the folder is on a partition."""
    device = os.stat(folder).st_dev
    entry = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    if not (entry / "dev").exists():
        raise Unavailable(f"{folder} is not on a disk of this machine")
    return ((entry.parent if (entry / "partition").exists() else entry) / "dev").read_text().strip()


class DiskLimit:
    """A control group with a read limit in bytes/s, while the `with` block lasts; enter() puts a process into it."""

    def __init__(self, folder, rate):
        self.disk, self.rate = disk_of(folder), round(rate)
        version_1 = (CGROUPS / "blkio").is_dir()
        self.group = CGROUPS / ("blkio" if version_1 else "") / f"dlio-{os.getpid()}"
        self.setting = ("blkio.throttle.read_bps_device", f"{self.disk} {self.rate}") if version_1 else \
            ("io.max", f"{self.disk} rbps={self.rate}")

    def __enter__(self):
        try:
            if self.setting[0] == "io.max":
                (CGROUPS / "cgroup.subtree_control").write_text("+io")
            self.group.mkdir()
        except OSError as why:
            raise Unavailable(f"can't make a control group that limits the disk: {why}; run as root") from why
        try:
            (self.group / self.setting[0]).write_text(self.setting[1])
        except OSError as why:
            self.group.rmdir()
            raise Unavailable(f"can't limit disk {self.disk} in {self.group}: {why}") from why
        return self

    def enter(self):
        """For subprocess's preexec_fn: the new process and those that it starts are limited."""
        (self.group / "cgroup.procs").write_text(str(os.getpid()))

    def __exit__(self, *unused):
        self.group.rmdir()  # all its processes have ended
