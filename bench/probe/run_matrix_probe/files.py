"""The files that a process opens for reading while batches are fetched, as far as Python opens them."""
import os
import site
import stat
import sys
import sysconfig

from .record import append

MOST = 200_000
listening = None  # the Files that take note of what is opened now
known = None      # this process's, or its parent's
hooked = False


def apart():
    """Folders whose files aren't the job's data."""
    own = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    own.update(getattr(site, "getsitepackages", list)(), [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))])
    own.update(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    return tuple(path.rstrip("/") + "/" for path in own | {"/proc", "/sys", "/dev"})


def opened(event, arguments):
    if event == "open" and listening is not None:
        try:
            listening.see(*arguments)
        except Exception:
            pass


def of_process(folder):
    global known, hooked
    if known is None or known.pid != os.getpid():
        known = Files(folder)
    if not hooked:
        hooked = True
        sys.addaudithook(opened)
    return known


class Files:
    def __init__(self, folder):
        self.pid = os.getpid()
        self.path, self.apart = os.path.join(folder, f"files-{os.getpid()}.txt"), apart() + (folder.rstrip("/") + "/",)
        self.seen, self.unwritten = set(), []

    def see(self, path, mode, flags):
        if not isinstance(path, (str, bytes, os.PathLike)) or (flags or 0) & os.O_ACCMODE != os.O_RDONLY:
            return
        path = os.path.abspath(os.fsdecode(path))
        if path in self.seen or len(self.seen) >= MOST or path.startswith(self.apart) or "\n" in path:
            return
        if stat.S_ISREG(os.stat(path).st_mode):
            self.seen.add(path)
            self.unwritten.append(path)

    def write(self):
        if self.unwritten:
            unwritten, self.unwritten = self.unwritten, []
            append(self.path, "".join(path + "\n" for path in unwritten))
