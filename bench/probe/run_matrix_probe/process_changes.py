"""The plan's changes of the whole process that are no setting of a loader: threads, autocast, memory layout, optimizer, compiler."""
import multiprocessing
import os

import torch

from run_matrix_probe import batches

KNOWN = {"workers", "workers_factor", "prefetch_factor", "pin_memory", "persistent_workers", "worker_threads", "threads", "autocast",
         "channels_last", "fused_optimizer", "compile"}


def prepare(plan, patches, loop, segments):
    """Once torch is imported. What needs the model or the losses is done after the first iteration."""
    after = segments.at_first
    for name in plan.keys() - KNOWN:
        segments.report.note(f"this probe knows no change of the process {name!r}")
    if "threads" in plan:
        hold_threads(plan["threads"], patches)
    if "autocast" in plan:
        after.append(lambda: autocast(plan["autocast"], loop, patches))
    if plan.get("channels_last"):
        parameters = []
        seen_by_optimizer(loop, lambda optimizer: parameters.append(optimizer))
        after.append(lambda: channels_last(parameters, segments, patches))
    if plan.get("fused_optimizer"):
        seen_by_optimizer(loop, lambda optimizer: fuse(optimizer, segments.report))
    if plan.get("compile"):
        compile_outermost(patches, loop, segments)


def hold_threads(count, patches):
    """Whatever the script sets: threads that a pool once had stay, and would take time. Workers, forked or spawned, set their own."""
    original, process = torch.set_num_threads, os.getpid()
    original(count)

    def set_num_threads(asked):
        if os.getpid() != process or multiprocessing.current_process().daemon:
            original(asked)
    patches.set(torch, "set_num_threads", set_num_threads)


def seen_by_optimizer(loop, once):
    """Calls once(optimizer) before each optimizer's first step."""
    before, seen = loop.on_optimizer, []

    def on_optimizer(optimizer):
        if before:
            before(optimizer)
        if not any(one is optimizer for one in seen):
            seen.append(optimizer)
            once(optimizer)
    loop.on_optimizer = on_optimizer


def autocast(name, loop, patches):
    """Its cache of casted weights would go stale, because it is never left."""
    context = torch.autocast(loop.device or "cpu", dtype=getattr(torch, name), cache_enabled=False)
    context.__enter__()
    patches.undo.append(lambda: context.__exit__(None, None, None))


def in_channels_last(value):
    if isinstance(value, torch.Tensor) and value.dim() == 4:
        return value.contiguous(memory_format=torch.channels_last)
    return value


def channels_last(optimizers, segments, patches):
    """Of parameters and of what the optimizer keeps for them; batches follow."""
    changed = 0
    for optimizer in optimizers:
        for parameter in (one for group in optimizer.param_groups for one in group["params"] if one.dim() == 4):
            parameter.data = in_channels_last(parameter.data)
            changed += 1
            if parameter.grad is not None:
                parameter.grad = in_channels_last(parameter.grad)
            state = optimizer.state.get(parameter) or {}
            state.update({name: in_channels_last(value) for name, value in state.items()})
    if not changed:
        segments.report.impossible("channels_last", "no optimizer has a parameter with four dimensions")
        return
    segments.changes_batches = lambda batch: batches.rebuilt(in_channels_last, batch)
    patches.undo.append(lambda: setattr(segments, "changes_batches", None))


def fuse(optimizer, report):
    kinds = {one.device.type for group in optimizer.param_groups for one in group["params"]}
    floating = all(one.is_floating_point() for group in optimizer.param_groups for one in group["params"])
    new_enough = torch.__version__ >= "2.4" or kinds == {"cuda"}
    if not all("fused" in group for group in optimizer.param_groups) or not floating or not new_enough or kinds - {"cpu", "cuda"}:
        report.impossible("fused_optimizer", f"{type(optimizer).__name__} has no fused form in this torch on {', '.join(kinds)}")
        return
    if optimizer.state:
        report.impossible("fused_optimizer", "the optimizer continues from a checkpoint")
        return
    for group in optimizer.param_groups:
        group.update(fused=True, foreach=False)
    optimizer.defaults.update(fused=True, foreach=False)


def compile_outermost(patches, loop, segments):
    """Compiles each module that is called from none before the first backward, in training."""
    if not hasattr(torch.nn.Module, "compile"):
        segments.report.impossible("compiled", f"torch {torch.__version__} has no nn.Module.compile")
        return
    original, depth = torch.nn.Module.__call__, [0]

    def call(self, *args, **kwargs):
        if segments.iterations or loop.iteration.backwards:
            torch.nn.Module.__call__ = original
        elif not depth[0] and self.training and torch.is_grad_enabled():
            compile_one(self, segments.report)
        depth[0] += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            depth[0] -= 1
    patches.set(torch.nn.Module, "__call__", call)


def compile_one(module, report):
    if getattr(module, "_compiled_call_impl", None) or type(module).__name__ == "OptimizedModule":
        report.note(f"{type(module).__name__} is compiled already")
    elif next(module.parameters(), None) is not None:
        module.compile()
