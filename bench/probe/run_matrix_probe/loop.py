"""Finds the iterations of the training in the main thread, and their phases, from next(), backward and the optimizers' steps."""
import threading
import time

clock = time.perf_counter_ns
UPDATES_WITHOUT_NEXT = 64  # then the script goes on with a batch that it took once


class Iteration:
    """Phases in ns; what is in none is `other`. `pending` belongs to forward if a backward comes next."""
    __slots__ = ("begin", "wall", "load", "h2d", "forward", "backward", "sync", "step", "pending", "drawn", "items",
                 "backwards", "updates", "loss", "epoch_start", "validated", "self")

    def __init__(self, begin):
        self.begin = begin
        self.wall = self.load = self.h2d = self.forward = self.backward = self.sync = self.step = self.pending = 0
        self.items = self.backwards = self.updates = self.self = 0
        self.drawn, self.loss = [], None
        self.epoch_start = self.validated = False


class Loop:
    def __init__(self, loaders, segments, grad_enabled, keeps_batches, keeps_losses):
        self.loaders, self.segments, self.grad_enabled = loaders, segments, grad_enabled
        self.keeps_batches, self.keeps_losses = keeps_batches, keeps_losses
        self.on_optimizer = None
        self.reset()

    def reset(self):
        self.on, self.thread = True, threading.get_ident()
        self.leader = None  # optimizer whose steps end the iterations of a script without loader
        self.in_backward, self.device = False, None  # the losses' kind of device
        self.last = clock()
        self.iteration = Iteration(self.last)

    def close(self, now):
        """The training goes from one iteration to the next."""
        iteration = self.iteration
        iteration.wall = now - iteration.begin
        iteration.drawn = None
        self.segments.closed(iteration)
        self.last = clock()
        self.iteration = Iteration(self.last)

    def before_next(self, iterator):
        """None, or what next() does instead of loading: an exception to raise, or a tuple with the batch to return."""
        now = clock()
        iteration, answer = self.iteration, None
        iteration.pending = 0
        loader = iterator.__dict__.get("run_matrix_loader") or self.loaders.of_iterator(iterator)
        if loader is not None and loader.training and self.grad_enabled():
            if iteration.backwards:
                self.close(now)
                iteration = self.iteration
            began = clock()
            answer = self.segments.answer(iterator, loader)
            if self.segments.drained:  # the time of the loader alone is no part of an iteration
                self.segments.drained = False
                iteration = self.iteration = Iteration(clock())
                began = iteration.begin
            if self.segments.sleep_in_load and not iteration.drawn:
                time.sleep(self.segments.sleep_in_load)
                iteration.self -= int(self.segments.sleep_in_load * 1e9)
            iteration.load += clock() - began
        elif self.loaders.training:
            iteration.validated = True
        self.last = clock()
        iteration.self += self.last - now
        return answer

    def after_next(self, iterator, batch, given):
        """Returns None, or a tuple with the batch to return instead."""
        now = clock()
        iteration = self.iteration
        loader = iterator.__dict__.get("run_matrix_loader")
        if loader is not None and "batch" not in loader.facts:
            loader.saw(batch)
        trains = loader is not None and self.grad_enabled()
        if trains:
            loader.drawn += 1
            if loader not in iteration.drawn:
                iteration.drawn.append(loader)
        pending, iteration.pending = iteration.pending, 0  # before a copy to the device within the loader
        if loader is not None:
            iterator.run_matrix_handed = True
        if trains and (loader.training or not self.loaders.training):
            iteration.load += pending + now - self.last
            items = self.segments.items_of(batch, loader)
            iteration.items += items
            if iterator.run_matrix_fresh and not given:
                iterator.run_matrix_fresh, iteration.epoch_start = False, True
            if self.segments.warming_up and self.keeps_batches and not loader.kept.full():
                loader.kept.keep(batch, items)
        changed = self.segments.changed_batch(batch) if self.segments.changes_batches else None
        self.last = clock()
        iteration.self += self.last - now
        return changed

    def next_stopped(self, iterator):
        now = clock()
        iteration = self.iteration
        loader = iterator.__dict__.get("run_matrix_loader")
        pending, iteration.pending = iteration.pending, 0
        if loader is not None and loader.training:
            iteration.load += pending + now - self.last
            iteration.epoch_start = True
        else:
            iteration.drawn = [one for one in iteration.drawn if one is not loader]  # it was gone through, not trained on
        self.last = now

    def before_backward(self, losses):
        now = clock()
        iteration = self.iteration
        iteration.forward += iteration.pending + now - self.last
        iteration.pending = 0
        self.in_backward = True
        if not iteration.backwards:
            known = False
            for loader in iteration.drawn:
                loader.trained += 1
                known = known or loader.training
            if iteration.drawn and (self.segments.warming_up or not known):
                self.loaders.classify()
        iteration.backwards += 1
        if self.keeps_losses or not self.device:
            loss = losses[0] if isinstance(losses, (tuple, list)) else losses
            self.device = loss.device.type
            if self.keeps_losses and loss.numel() == 1:
                iteration.loss = loss.detach().clone()  # a CUDA graph would write over it
        self.last = clock()
        iteration.self += self.last - now

    def after_backward(self):
        now = clock()
        iteration = self.iteration
        iteration.backward += now - self.last
        self.in_backward = False
        self.last = now
        if iteration.backwards == 1 and self.segments.sleep_in_step:
            time.sleep(self.segments.sleep_in_step)
            self.last = clock()
            iteration.step += self.last - now

    def before_step(self, optimizer, *_):
        if not self.on or threading.get_ident() != self.thread:
            return
        if self.on_optimizer:
            self.on_optimizer(optimizer)
        self.iteration.pending = 0
        self.last = clock()

    def after_step(self, optimizer, *_):
        if not self.on or threading.get_ident() != self.thread:
            return
        now = clock()
        iteration = self.iteration
        iteration.step += iteration.pending + now - self.last
        iteration.pending = 0
        iteration.updates += 1
        self.last = now
        if self.loaders.training and iteration.updates > UPDATES_WITHOUT_NEXT:
            self.loaders.forget_training()
            self.segments.report.note("one batch of the loader is trained on for long: iterations are the optimizer's steps")
        if iteration.backwards and not self.loaders.training:
            if self.leader is None:
                self.leader = id(optimizer)
                self.segments.report.note("the main thread trains from no torch DataLoader: iterations are the optimizer's steps, and "
                                          "the time to load is unknown, 0 here")
            if self.leader == id(optimizer):
                self.close(now)
                if self.segments.sleep_in_load:
                    time.sleep(self.segments.sleep_in_load)
                    self.last = clock()
                    self.iteration.load += self.last - self.iteration.begin

    def apart(self, phase, begin, end):
        """h2d or sync: part of no other phase. Within backward it stays backward."""
        if not self.in_backward:
            iteration = self.iteration
            iteration.pending += begin - self.last
            setattr(iteration, phase, getattr(iteration, phase) + end - begin)
            self.last = end
