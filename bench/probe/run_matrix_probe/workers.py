"""Time, processor time and waiting for a processor of each fetch of a batch in the loader's workers, and the files it opens."""
import ctypes
import json
import os
import stat
import sys
import sysconfig
import time

from run_matrix_probe import report
from run_matrix_probe.loaders import LOADER_VARIABLE

WRITE_EVERY_NS = 500_000_000
MOST_FILES = 200_000
SUMS = "fetches", "wall_s", "cpu_s", "run_queue_s", "collate_s", "items"
NOT_DATA = tuple(os.path.join(path, "") for path in {
    "/proc", "/sys", "/dev", sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
    *(path for name, path in sysconfig.get_paths().items() if "lib" in name)} if path != "/" and path != "/usr") + ("/usr/lib/", "/etc/")


class Fetches:
    """Sums of this process by loader; `write` appends what was added since the last line."""

    def __init__(self, folder, list_files):
        self.folder, self.list_files = folder, list_files
        self.hooked = False  # an audit hook stays, also in forked children
        self.preloaded = preloaded_list() if list_files else None
        self.reset()

    def reset(self):
        self.by_loader, self.written = {}, {}
        self.written_at = 0
        self.inside = False
        self.opened, self.new = set(), []
        self.schedstat = None  # of the thread that fetches

    def sums(self, loader):
        return dict(self.by_loader.get(loader) or dict.fromkeys(SUMS, 0))

    def run_queue_ns(self):
        if self.schedstat is None:
            try:
                self.schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                self.schedstat = -1
        return int(os.pread(self.schedstat, 80, 0).split()[1]) if self.schedstat >= 0 else 0

    def watch(self, fetcher):
        """Replaces the fetcher's fetch and collate_fn."""
        fetch, collate = fetcher.fetch, fetcher.collate_fn
        sums = self.by_loader.setdefault(os.environ.get(LOADER_VARIABLE, "loader 0"), dict.fromkeys(SUMS, 0))

        def timed_collate(data):
            begin = time.perf_counter_ns()
            try:
                return collate(data)
            finally:
                sums["collate_s"] += (time.perf_counter_ns() - begin) / 1e9

        def timed_fetch(index):
            before = self.start()
            try:
                return fetch(index)
            finally:
                self.stop(before, index, sums)
        fetcher.fetch, fetcher.collate_fn = timed_fetch, timed_collate
        if self.list_files and not self.hooked:
            self.hooked = True
            sys.addaudithook(self.audited)

    def start(self):
        try:
            self.list_opens(True)
            return time.perf_counter_ns(), time.thread_time_ns(), self.run_queue_ns()
        except Exception:  # without it there are no figures of workers
            return None

    def list_opens(self, on):
        self.inside = on
        if self.preloaded:
            self.preloaded.run_matrix_list_opens(on)

    def stop(self, before, index, sums):
        self.list_opens(False)
        if before is None:
            return
        try:
            now = time.perf_counter_ns()
            sums["fetches"] += 1
            sums["wall_s"] += (now - before[0]) / 1e9
            sums["cpu_s"] += (time.thread_time_ns() - before[1]) / 1e9
            sums["run_queue_s"] += (self.run_queue_ns() - before[2]) / 1e9
            sums["items"] += len(index) if isinstance(index, (list, tuple)) else 1
            if now - self.written_at > WRITE_EVERY_NS and in_worker():
                self.write()
        except Exception:  # a full disk, for instance
            self.written_at = float("inf")

    def audited(self, event, arguments):
        if event != "open" or not self.inside:
            return
        path, _, flags = arguments
        if isinstance(path, (str, bytes)) and not flags & (os.O_WRONLY | os.O_RDWR):
            self.note_open(path)

    def take_opens_of_all_libraries(self):
        buffer = ctypes.create_string_buffer(1 << 16)
        while size := self.preloaded.run_matrix_take_opens(buffer, ctypes.c_size_t(len(buffer))):
            for path in os.fsdecode(buffer.raw[:size - 1]).split("\n"):
                self.note_open(path)

    def note_open(self, path):
        if path not in self.opened and len(self.opened) < MOST_FILES:
            self.opened.add(path)
            self.new.append(os.path.abspath(os.fsdecode(path)))

    def write(self):
        self.written_at = time.perf_counter_ns()
        for loader in self.by_loader:
            now, before = self.sums(loader), self.written.get(loader, {})
            added = {name: round(value - before.get(name, 0), 6) for name, value in now.items()}
            self.written[loader] = now
            if added["fetches"]:
                line = {"kind": "fetch", "rank": report.rank_and_world()[0], "loader": loader, **added}
                report.append(os.path.join(self.folder, f"worker-{os.getpid()}.jsonl"), json.dumps(line) + "\n")
        if self.preloaded:
            self.take_opens_of_all_libraries()
        new, self.new = self.new, []
        files = [path for path in new if not path.startswith(NOT_DATA) and "\n" not in path and is_regular(path)]
        if files:
            report.append(os.path.join(self.folder, f"files-{os.getpid()}.txt"), "".join(path + "\n" for path in files))


def preloaded_list():
    """Of the library that lists what C++ opens, too (harness/own_job/list_opens); None: it isn't preloaded."""
    functions = ctypes.CDLL(None)
    if not hasattr(functions, "run_matrix_list_opens"):
        return None
    functions.run_matrix_take_opens.restype = ctypes.c_size_t
    return functions


def is_regular(path):
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def in_worker():
    return sys.modules["torch"].utils.data.get_worker_info() is not None
