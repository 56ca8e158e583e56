"""Puts the probe into torch's functions, and takes it out again when it fails."""
import atexit
import contextlib
import functools
import json
import multiprocessing
import os
import signal
import sys
import threading
import traceback
import types
from multiprocessing import util

import torch
import torch.utils.data.dataloader as dataloader
from torch.optim import optimizer as optimizers

from run_matrix_probe import changes, process_changes
from run_matrix_probe.loaders import Loaders
from run_matrix_probe.loop import Loop, clock
from run_matrix_probe.patches import Patches
from run_matrix_probe.report import Report
from run_matrix_probe.segments import Segments
from run_matrix_probe.workers import Fetches, in_worker

COLLECTIVES = ("all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_to_all", "all_to_all_single", "barrier",
               "broadcast", "broadcast_object_list", "gather", "gather_object", "recv", "reduce", "reduce_scatter",
               "reduce_scatter_tensor", "scatter", "send")
LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "deepspeed.launcher.runner")
get_ident = threading.get_ident


class Probe:
    """Of one process."""

    def __init__(self, folder, plan):
        self.folder, self.plan, self.on, self.finished = folder, plan, True, False
        self.process, self.minimal = plan.get("process", {}), plan.get("minimal", False)
        self.patches, self.report = Patches(), Report(folder)
        self.fetches = Fetches(folder, plan.get("list_files", False))
        self.loaders = Loaders(self.process, self.report)
        self.segments = Segments(plan, self.loaders, self.report, self.fetches, self.end)
        self.loop = Loop(self.loaders, self.segments, torch.is_grad_enabled, keeps_losses=not self.minimal,
                         keeps_batches=any(one["change"] in changes.REPLAYED for one in plan.get("segments", [])))

    def after_fork(self):
        """The child begins anew; the functions in torch stay those of these objects."""
        self.finished = False
        for part in (self.report, self.loaders, self.fetches, self.segments, self.loop):
            part.reset()
        self.loop.on = self.on

    @contextlib.contextmanager
    def guarded(self):
        try:
            yield
        except Exception:
            self.fail()

    def guard(self, function):
        """Nothing of the probe may end the job: its errors are recorded and switch it off."""
        def call(*arguments):
            try:
                return function(*arguments)
            except Exception:
                self.fail()
                return None
        return call

    def fail(self):
        self.on = self.loop.on = False
        text = traceback.format_exc()
        for clean_up in (self.segments.restore, self.patches.restore, lambda: self.report.add("error", text=text), self.report.flush):
            try:
                clean_up()
            except Exception as error:
                print(f"run_matrix: the probe could not switch itself off: {error}", file=sys.stderr)

    # ---- ends

    def end(self, why):
        """After the last segment: the process ends at once, and no `finally` of the script runs."""
        self.finished = True
        self.segments.ended(why)
        changes.synchronize()
        self.report.all_say("ended", "yes")  # the others may still need what this rank holds of the last exchange
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        with contextlib.suppress(Exception):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # torch's handler takes a killed worker for a crash
            for child in multiprocessing.active_children():
                child.kill()
        os._exit(0)

    def at_exit(self):
        if not self.on or self.finished or in_worker():
            return
        self.finished = True
        with self.guarded():
            if self.segments.iterations:
                self.segments.ended("exit")
            elif self.may_be_a_job():
                self.segments.ended("no steps")

    def may_be_a_job(self):
        """Not what starts the ranks, nor a helper process of Python's."""
        started = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", None)
        starts_ranks = "RANK" not in os.environ and any(name in sys.modules or name == started for name in LAUNCHERS)
        return not starts_ranks and multiprocessing.parent_process() is None and sys.argv[:1] != ["-c"]

    # ---- torch's functions

    def install(self):
        iterator, parallel = dataloader._BaseDataLoaderIter, torch.nn.parallel.DistributedDataParallel
        self.segments.real_next = iterator.__next__
        self.patches.set(iterator, "__next__", self.next_of(iterator.__next__))
        self.patches.set(dataloader.DataLoader, "__iter__", self.iter_of(dataloader.DataLoader.__iter__))
        self.patches.set(torch.autograd, "backward", self.backward_of(torch.autograd.backward))
        self.patches.set(parallel, "__init__", self.init_of(parallel.__init__))
        for register, function in ((optimizers.register_optimizer_step_pre_hook, self.loop.before_step),
                                   (optimizers.register_optimizer_step_post_hook, self.loop.after_step)):
            self.patches.undo.append(register(self.guard(function)).remove)
        if not self.minimal or "worker_threads" in self.process:
            create = dataloader._DatasetKind.create_fetcher
            self.patches.set(dataloader._DatasetKind, "create_fetcher", staticmethod(self.fetcher_of(create)))
        if not self.minimal:
            for name in COLLECTIVES if torch.distributed.is_available() else ():
                if hasattr(torch.distributed, name):
                    self.patches.set(torch.distributed, name, self.collective(getattr(torch.distributed, name)))
            if torch.version.cuda or torch.version.hip:  # to ask whether there is a GPU would fix which ones the job sees
                self.watch_copies()
        process_changes.prepare(self.process, self.patches, self.loop, self.segments)
        # At the first iteration, since multiprocessing forgets what was registered before its child's own code.
        self.segments.at_first.append(lambda: util.Finalize(None, self.at_exit, exitpriority=10))

    def watch_copies(self):
        lazy = torch.nn.parameter.UninitializedTensorMixin
        copies = {name: self.copy_of(getattr(torch.Tensor, name)) for name in ("to", "cuda")}
        self.patches.set(lazy, "_allowed_methods", [*lazy._allowed_methods, *copies.values()])  # told apart by identity
        for name, copy in copies.items():
            self.patches.set(torch.Tensor, name, copy)

    def next_of(self, original):
        loop = self.loop
        before, after, stopped = self.guard(loop.before_next), self.guard(loop.after_next), self.guard(loop.next_stopped)

        @functools.wraps(original)
        def __next__(iterator):
            if not loop.on or get_ident() != loop.thread:
                return original(iterator)
            answer = before(iterator)
            try:
                if answer is None:
                    batch = original(iterator)
                elif type(answer) is tuple:
                    batch = answer[0]
                else:
                    raise answer
            except StopIteration:
                stopped(iterator)
                raise
            changed = after(iterator, batch, answer is not None)
            return batch if changed is None else changed[0]
        return __next__

    def iter_of(self, original):
        @functools.wraps(original)
        def __iter__(loader):
            known, around = None, contextlib.nullcontext()
            if self.on and not in_worker():
                with self.guarded():
                    known = self.loaders.of(loader)
                    training = known in self.loaders.training if self.loaders.training else torch.is_grad_enabled()
                    self.loaders.set_as_planned(loader, training)
                    known.set_to(loader)  # as it is now
                    around = self.loaders.for_workers(known)
            with around:
                iterator = original(loader)
            if known is not None and self.on and isinstance(iterator, dataloader._BaseDataLoaderIter):
                with self.guarded():
                    self.loaders.started(iterator, known)
            return iterator
        return __iter__

    def backward_of(self, original):
        loop = self.loop
        before, after = self.guard(loop.before_backward), self.guard(loop.after_backward)

        @functools.wraps(original)
        def backward(*arguments, **named):
            if not loop.on or loop.in_backward or get_ident() != loop.thread:
                return original(*arguments, **named)
            before(arguments[0] if arguments else named.get("tensors"))
            try:
                return original(*arguments, **named)
            finally:
                after()
        return backward

    def init_of(self, original):
        @functools.wraps(original)
        def __init__(module, *arguments, **named):
            original(module, *arguments, **named)
            changes.data_parallel.add(module)
        return __init__

    def fetcher_of(self, original):
        def create_fetcher(*arguments, **named):
            fetcher = original(*arguments, **named)
            with self.guarded():
                if in_worker():
                    self.in_new_worker(self.process.get("worker_threads"))
                if not self.minimal:
                    self.fetches.watch(fetcher)
            return fetcher
        return create_fetcher

    def in_new_worker(self, threads):
        if threads:
            torch.set_num_threads(threads)
            if "cv2" in sys.modules:
                sys.modules["cv2"].setNumThreads(threads)
        util.Finalize(None, self.guard(self.fetches.write), exitpriority=1)  # at the worker's end

    def collective(self, original):
        @functools.wraps(original)
        def call(*arguments, **named):
            begin = clock()
            try:
                return original(*arguments, **named)
            finally:
                if self.on and get_ident() == self.loop.thread:
                    self.loop.apart("sync", begin, clock())
        return call

    def copy_of(self, original):
        @functools.wraps(original)
        def call(tensor, *arguments, **named):
            begin = clock()
            result = original(tensor, *arguments, **named)
            if self.on and tensor.device.type == "cpu" != result.device.type and get_ident() == self.loop.thread:
                self.loop.apart("h2d", begin, clock())
            return result
        return call


def leave_out_of_compilation():
    """A step that the job compiles would take the probe's functions along, and compile them again whenever they count on."""
    try:
        from torch._C._dynamo.eval_frame import skip_code
    except ImportError:
        return
    waiting = [value for name, module in sys.modules.items() if name.startswith("run_matrix_probe.") for value in vars(module).values()
               if getattr(value, "__module__", None) == name]
    while waiting:
        value = waiting.pop()
        if isinstance(value, type):
            waiting += vars(value).values()
        elif isinstance(value, types.CodeType):
            skip_code(value)
            waiting += value.co_consts  # functions within it
        elif isinstance(value, types.FunctionType):
            waiting.append(value.__code__)


def install(folder):
    with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    probe = Probe(folder, plan)
    probe.install()
    leave_out_of_compilation()
    os.register_at_fork(after_in_child=probe.after_fork)
    atexit.register(probe.at_exit)
    return probe
