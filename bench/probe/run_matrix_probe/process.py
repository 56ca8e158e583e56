"""Changes of the whole process, which the plan asks for under "process". What is impossible is noted, and left as it was."""
import os
import weakref

import torch


class ProcessChanges:
    def __init__(self, probe):
        self.file, self.wanted, self.seen, self.noted = probe.file, probe.plan.process, weakref.WeakSet(), set()
        self.autocast, self.called, self.handle, self.autocast_begun = None, [], None, False
        if self.wanted.get("compile"):
            self.handle = torch.nn.modules.module.register_module_forward_pre_hook(lambda module, given: self.called.append(module))

    def set_threads(self):
        if self.wanted.get("threads"):
            torch.set_num_threads(int(self.wanted["threads"]))

    def note(self, change, why):
        if change not in self.noted:
            self.noted.add(change)
            self.file.note(f"process.{change}: {why}")

    # Loaders

    def before_iterating(self, loader):
        """Sets what the iterator's constructor reads. The loader refuses some of it once it is made, so its dictionary is set."""
        if not torch.is_grad_enabled() or getattr(loader, "_iterator", None) is not None:
            return
        values, wanted = loader.__dict__, self.wanted
        workers = loader.num_workers
        if "workers" in wanted:
            workers = int(wanted["workers"])
        elif "workers_factor" in wanted and "run_matrix_workers" not in values:
            workers = int(workers * wanted["workers_factor"]) if workers else (2 if wanted["workers_factor"] > 1 else 0)
        values["run_matrix_workers"] = workers
        values["num_workers"] = workers
        if "pin_memory" in wanted:
            values["pin_memory"] = bool(wanted["pin_memory"])
        if workers == 0:
            values.update(prefetch_factor=None, persistent_workers=False, timeout=0)
            if loader.multiprocessing_context is not None:
                values["_DataLoader__multiprocessing_context"] = None
            return
        values["prefetch_factor"] = int(wanted.get("prefetch_factor") or loader.prefetch_factor or 2)
        if "persistent_workers" in wanted:
            values["persistent_workers"] = bool(wanted["persistent_workers"])

    def touches_loaders(self):
        return any(key in self.wanted for key in ("workers", "workers_factor", "prefetch_factor", "pin_memory", "persistent_workers"))

    # Optimizers

    def before_update(self, optimizer):
        """Before an optimizer's first update: its state isn't there yet."""
        if optimizer in self.seen:
            return
        self.seen.add(optimizer)
        if self.wanted.get("fused_optimizer"):
            self.fuse(optimizer)
        if self.wanted.get("channels_last"):
            for parameter in parameters(optimizer):
                if parameter.dim() == 4:
                    parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)

    def fuse(self, optimizer):
        if not all("fused" in group for group in optimizer.param_groups):
            return self.note("fused_optimizer", f"{type(optimizer).__name__} has no fused form")
        from torch.utils._foreach_utils import _get_fused_kernels_supported_devices
        devices = _get_fused_kernels_supported_devices()
        if not all(one.device.type in devices and one.is_floating_point() for one in parameters(optimizer)):
            return self.note("fused_optimizer", "a parameter's device or type has no fused form")
        for group in optimizer.param_groups:
            group.update(fused=True, foreach=False)
        for parameter, state in optimizer.state.items():  # of a checkpoint
            if isinstance(state.get("step"), torch.Tensor):
                state["step"] = state["step"].to(parameter.device, torch.float32)

    # The model

    def first_iteration_ended(self):
        self.set_threads()  # the script may have set its own
        if self.handle:
            self.handle.remove()
            self.handle = None
            inner = {id(part) for module in self.called for part in module.modules() if part is not module}
            roots = {id(module): module for module in self.called if id(module) not in inner}
            self.called = []
            roots = [module for module in roots.values() if any(True for _ in module.parameters())]
            if not roots or not hasattr(torch.nn.Module, "compile"):
                self.note("compile", "no module was called, or this torch has no Module.compile")
            for module in roots:
                module.compile()
        if self.wanted.get("autocast"):
            self.autocast_begun = True
            self.start_autocast()

    def start_autocast(self):
        """Left during backward and updates. Its cache of weights would go stale, as it is never left in between."""
        if self.autocast_begun and self.autocast is None:
            device = "cuda" if torch.cuda.is_available() and torch.cuda.is_initialized() else "cpu"
            self.autocast = torch.autocast(device, dtype=getattr(torch, self.wanted["autocast"]), cache_enabled=False)
            self.autocast.__enter__()

    def stop_autocast(self):
        if self.autocast is not None:
            autocast, self.autocast = self.autocast, None
            autocast.__exit__(None, None, None)


def parameters(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def in_worker(wanted):
    """Called in a DataLoader's worker before its first fetch."""
    threads = wanted.get("worker_threads")
    if threads:
        import sys
        os.environ["OMP_NUM_THREADS"] = str(threads)
        torch.set_num_threads(int(threads))
        if "cv2" in sys.modules:
            sys.modules["cv2"].setNumThreads(int(threads))
