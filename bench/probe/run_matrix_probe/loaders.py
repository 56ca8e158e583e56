"""The job's DataLoaders: which of them feed the training, how they are set, and what the plan sets otherwise."""
import contextlib
import os
import weakref

from run_matrix_probe import batches

LOADER_VARIABLE = "RUN_MATRIX_PROBE_LOADER"  # tells worker processes whose they are


class Loader:
    """DataLoaders on the same data count as one: scripts make them anew for each epoch."""

    def __init__(self, name, kind):
        self.name, self.kind, self.kept = name, kind, batches.Kept()
        self.training = self.described = False
        self.drawn = self.trained = 0  # batches, and iterations with a backward that followed one
        self.iterator = None  # weak: the newest
        self.facts = {}

    def set_to(self, of):
        self.dataset = reference(of.dataset)
        self.batch_size = of.batch_size
        self.workers = of.num_workers
        self.ahead = of.num_workers * (of.prefetch_factor or 2)  # batches that workers may hold ready
        self.facts |= {"workers": of.num_workers, "prefetch_factor": of.prefetch_factor, "pin_memory": of.pin_memory,
                       "persistent_workers": of.persistent_workers, "dataset": qualified_name(of.dataset),
                       "length": length_of(of), "sampler": qualified_name(getattr(of, "sampler", None)),
                       "context": start_method(of)}

    def saw(self, batch):
        self.facts |= {"batch": batches.items(batch, self.batch_size), "shapes": batches.shapes(batch),
                       "bytes": batches.bytes_of(batch)}


def reference(value):
    try:
        return weakref.ref(value)
    except TypeError:  # a list, for instance
        return lambda: value


def qualified_name(value):
    return f"{type(value).__module__}.{type(value).__qualname__}"


def length_of(value):
    try:
        return len(value)
    except (TypeError, NotImplementedError):
        return None


def start_method(loader):
    import multiprocessing
    context = loader.multiprocessing_context
    return context.get_start_method() if context else multiprocessing.get_start_method(allow_none=True) or "fork"


class Loaders:
    def __init__(self, process, report):
        self.process, self.report = process, report
        self.reset()

    def reset(self):
        self.known, self.set_already = [], weakref.WeakSet()
        self.training, self.may_train = [], True

    def of(self, loader):
        sampler = getattr(loader, "sampler", None)
        kind = type(loader.dataset), loader.batch_size, type(sampler), length_of(sampler)
        alike = [one for one in self.known if one.kind == kind]
        # A dataset that is gone was made anew, as some scripts do for each epoch.
        for found in [one for one in alike if one.dataset() is loader.dataset] or [one for one in alike if one.dataset() is None]:
            break
        else:
            found = Loader(f"loader {len(self.known)}", kind)
            self.known.append(found)
        found.set_to(loader)
        return found

    def set_as_planned(self, loader, of_training):
        """Before it is iterated for the first time. Its attributes are guarded by __setattr__ but not by __dict__."""
        if not of_training or loader in self.set_already:
            return
        self.set_already.add(loader)
        wanted, attributes = self.process, loader.__dict__
        workers = wanted.get("workers")
        if workers is None and "workers_factor" in wanted:
            factor, now = wanted["workers_factor"], loader.num_workers
            workers = int(now * factor) if now or factor <= 1 else 2
        if workers is not None:
            attributes["num_workers"] = workers
        for name in ("prefetch_factor", "pin_memory", "persistent_workers"):
            if name in wanted:
                attributes[name] = wanted[name]
        if loader.num_workers == 0:
            attributes |= {"prefetch_factor": None, "persistent_workers": False, "timeout": 0}
        elif loader.prefetch_factor is None:
            attributes["prefetch_factor"] = 2

    @contextlib.contextmanager
    def for_workers(self, loader):
        """The environment in which worker processes start."""
        values = {LOADER_VARIABLE: loader.name}
        if "worker_threads" in self.process:
            values["OMP_NUM_THREADS"] = str(self.process["worker_threads"])
        before = {name: os.environ.get(name) for name in values}
        os.environ.update(values)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def started(self, iterator, loader):
        loader.iterator = weakref.ref(iterator)
        iterator.run_matrix_loader, iterator.run_matrix_fresh, iterator.run_matrix_replayed = loader, True, 0
        iterator.run_matrix_handed = False
        # Kind 0: not an IterableDataset. A sampler without length begins again and again, for all epochs.
        iterator.run_matrix_length = None if iterator._dataset_kind else length_of(iterator._index_sampler)

    def of_iterator(self, iterator):
        """For iterators that a subclass of DataLoader made in its own way."""
        for loader in self.known:
            if loader.dataset() is iterator._dataset:
                self.started(iterator, loader)
                return loader
        return None

    def classify(self):
        """A loader trains if a backward follows its batches about as often as those of the most trained one. (A validation
        before the first iteration, or one that is broken off, may come before a backward too.)"""
        if not self.may_train:
            return
        share = {loader: loader.trained / loader.drawn if loader.drawn else 0 for loader in self.known}
        most = max(share.values(), default=0)
        for loader in self.known:
            loader.training = share[loader] > 0 and share[loader] >= most / 2
        self.training = [loader for loader in self.known if loader.training]

    def forget_training(self):
        for loader in self.training:
            loader.training, loader.drawn, loader.trained = False, 0, 0
        self.training = []

    def never_train(self):
        self.forget_training()
        self.may_train = False

    def describe(self, last=False):
        """Those that train when they are known, the others at the end."""
        for loader in self.known:
            if (loader.training or last) and not loader.described and "batch" in loader.facts:
                loader.described = True
                self.report.add("loader", name=loader.name, role="training" if loader.training else "validation", **loader.facts)

    @property
    def workers(self):
        return max((loader.workers for loader in self.training), default=0)

    @property
    def ahead(self):
        return max((loader.ahead for loader in self.training), default=0)
