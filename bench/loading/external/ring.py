"""Fills a ring of batches in shared memory with those of another loader, for rows with `loader: external`.

Usage: ring.py ADAPTER.py [ARGUMENT...]            started by train_slice; RING_JOB names its file of settings
       ring.py --why-not ADAPTER.py [ARGUMENT...]  prints as JSON what this Python lacks for the adapter; "": nothing

An adapter is a Python file with a generator of batches:

    def batches(rank, world, batch, threads, data):
        yield images, labels

`images` has the type and shape that SHAPES names for data.format, `labels` are `batch` integers; both may be anything with
Python's buffer protocol, a tensor with numpy(), or what has __array__, and labels a list. The clock begins when batches()
is called. What is done once (imports, converting images) belongs to the file's top level or into an optional function
prepare(rank, world, batch, threads, data). Needs Python 3.7 and its standard library alone.
"""
import array
import ast
import collections
import ctypes
import faulthandler
import importlib.util
import json
import mmap
import os
import signal
import struct
import sys
import time
import traceback

# format: type, shape of an image. Values of float32 are normalised: (pixel / 255 - mean) / deviation.
SHAPES = {"uint8": ("B", lambda px: (px, px, 3)), "channels_last": ("f", lambda px: (px, px, 3)),
          "float32": ("f", lambda px: (3, px, px))}
# Module: what pip installs, where the names differ.
PACKAGES = {"PIL": "pillow", "cv2": "opencv-python-headless", "nvidia": "nvidia-dali-cuda130", "tensorflow": "tensorflow-cpu",
            "streaming": "mosaicml-streaming", "spdl": "spdl spdl_core spdl_io"}

Image = collections.namedtuple("Image", "path label x y w h flip")


class Data:
    """images: this rank's share of the data set in the row's order, several epochs if need be, longer than the row; with the
    crop box and flip that this suite's loader would use. px: side of a crop. format, seed: of the row. classes: of the data
    set. arguments: the words after the adapter. folder: for copies of images; removed after the row."""

    def __init__(self, job, arguments):
        self.px, self.format, self.seed, self.classes = job["image_px"], job["format"], job["seed"], job["classes"]
        self.mean, self.deviation = job["mean"], job["deviation"]
        self.folder, self.arguments = os.path.join(job["folder"], "copies"), arguments
        with open(os.path.join(job["folder"], "list.tsv"), encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            fields = [line.rstrip("\n").split("\t", 6) for line in lines]
        self.images = [Image(one[6], *map(int, one[:6])) for one in fields]


class Unfit(Exception):
    """The adapter delivered what isn't a batch of the row."""


def view_of(values, what):
    if what == "labels" and isinstance(values, (list, tuple)):
        values = array.array("q", values)
    for read in (memoryview, lambda it: memoryview(it.numpy()), lambda it: memoryview(it.__array__())):
        try:
            return read(values)
        except (TypeError, AttributeError):
            pass
    raise Unfit("%s: expected a buffer, a tensor or an array, found %s" % (what, type(values).__name__))


def integers_of(labels):
    """memoryview.tolist() refuses the formats of ctypes' arrays, such as <q."""
    kind = {1: "b", 2: "h", 4: "i", 8: "q"}[labels.itemsize]
    return memoryview(labels.tobytes()).cast(kind.upper() if labels.format[-1].isupper() else kind).tolist()


class Ring:
    """Slots of images, labels and the time at which they were complete. A byte from the first pipe stands for a free slot,
    a byte into the second one for a full one."""

    def __init__(self, job):
        kind, shape = SHAPES[job["format"]]
        self.images = (kind,), (job["batch"],) + shape(job["image_px"])
        self.labels = tuple("bBhHiIlLqQ"), (job["batch"],)
        self.job, self.number = job, 0
        self.memory = mmap.mmap(job["memory"], job["slots"] * job["slot_bytes"])
        os.close(job["memory"])
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        # Unlike the copy of a memoryview, a call of a C function lets other Python threads run.
        self.move = ctypes.CDLL(None).memmove
        self.move.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
        # The adapter's own output goes to stderr. No child keeps the pipes open, because their ends tell of this process.
        self.free, self.full = os.dup(0), os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        os.register_at_fork(after_in_child=self.leave)

    def leave(self):
        for end in (self.free, self.full):
            if end >= 0:
                os.close(end)
        self.free = self.full = -1

    def say(self, word, text=""):
        os.write(self.full, word + text.encode(errors="replace")[:3000])

    def take(self):
        return os.read(self.free, 1)  # empty: the reader has ended

    def checked(self, values, what, wanted):
        view = view_of(values, what)
        if view.format.lstrip("<=@") not in wanted[0] or view.shape != wanted[1]:
            raise Unfit("%s of batch %d: expected %s of type %s, found %s of type %s"
                        % (what, self.number, wanted[1], " or ".join(wanted[0]), view.shape, view.format))
        return view

    def fill(self, item):
        """False if there is no reader any more."""
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise Unfit("batch %d: expected images, labels; found %s" % (self.number, type(item).__name__))
        images, labels = self.checked(item[0], "images", self.images), self.checked(item[1], "labels", self.labels)
        if not self.take():
            return False
        begin = self.number % self.job["slots"] * self.job["slot_bytes"]
        if self.job["hands_over"]:
            if images.readonly or not images.c_contiguous:
                self.memory[begin:begin + images.nbytes] = images.cast("B") if images.c_contiguous else images.tobytes()
            else:
                self.move(self.address + begin, ctypes.addressof(ctypes.c_char.from_buffer(images)), images.nbytes)
            struct.pack_into("%dq" % len(labels), self.memory, begin + self.job["labels_at"], *integers_of(labels))
        struct.pack_into("q", self.memory, begin + self.job["time_at"], time.monotonic_ns())
        self.say(b"B")
        self.number += 1
        return True


def load(file):
    name = os.path.splitext(os.path.basename(file))[0]
    if importlib.util.find_spec(name):
        raise Unfit("%s hides the Python module %s; next: give the adapter another name" % (file, name))
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    spec = importlib.util.spec_from_file_location(name, file)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)  # where workers find what is pickled
    spec.loader.exec_module(module)
    if not callable(getattr(module, "batches", None)):
        raise Unfit("%s: expected a function batches(rank, world, batch, threads, data), found none" % file)
    return module


def run(file, arguments):
    with open(os.environ["RING_JOB"]) as settings:
        job = json.load(settings)
    faulthandler.register(signal.SIGUSR2, open(os.path.join(job["folder"], "stack"), "w"))
    ring = Ring(job)
    try:
        adapter = load(file)
        settings = job["rank"], job["world"], job["batch"], job["threads"], Data(job, arguments)
        if hasattr(adapter, "prepare"):
            adapter.prepare(*settings)
        ring.say(b"R")
        if not ring.take():  # the row begins
            return 0
        for item in adapter.batches(*settings):
            if not ring.fill(item):
                return 0
        ring.say(b"N")
        while ring.take():
            pass
    except BrokenPipeError:
        pass
    except Unfit as error:
        ring.say(b"U", str(error))
        return 1
    except BaseException as error:
        traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(("%s: %s" % (type(error).__name__, error)).split())
        ring.say(b"E", "%s (%s:%s)" % (text[:2000], last.filename, last.lineno))
        return 1
    return 0


def imports_of(file, seen):
    """Modules that the file needs to be loaded, and those that the files beside it need which it imports."""
    seen.add(file)
    with open(file, encoding="utf-8") as source:
        tree = ast.parse(source.read(), file)
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 0]
    found = []
    for name in (name.split(".")[0] for name in names):
        beside = os.path.join(os.path.dirname(file), name + ".py")
        if not os.path.exists(beside):
            found.append(name)
        elif beside not in seen:
            found += imports_of(beside, seen)
    return found


def why_not(file):
    """All modules that are missing at once, or why what is installed can't be imported."""
    try:
        lacking = [name for name in dict.fromkeys(imports_of(file, set())) if importlib.util.find_spec(name) is None]
        if not lacking:
            load(file)
            return ""
    except ModuleNotFoundError as error:
        lacking = [error.name]
    except Unfit as error:
        return str(error)
    except BaseException as error:
        return "%s can't be loaded: %s: %s; or name another Python in the command or in PYTHON" % (file, type(error).__name__, " ".join(str(error).split())[:200])
    return "%s has no %s; next: %s -m pip install %s, or name another Python in the command or in PYTHON" % (
        sys.executable, ", ".join(lacking), sys.executable, " ".join(PACKAGES.get(name, name) for name in lacking))


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--why-not":
        answer = os.dup(1)
        os.dup2(2, 1)  # imports may print
        os.write(answer, json.dumps(why_not(os.path.abspath(sys.argv[2]))).encode())
    elif len(sys.argv) < 2 or "RING_JOB" not in os.environ:
        sys.exit(__doc__)
    else:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
