"""The plan's segments: so many iterations without and with each change, and one record for each."""
import math
import time

from run_matrix_probe import batches, changes
from run_matrix_probe.loop import Iteration, clock

PHASES = "load", "h2d", "forward", "backward", "sync", "step"


def run_queue_s():
    """How long this thread was ready to run without a processor."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError):  # the kernel keeps no such statistics
        return 0


class Segments:
    def __init__(self, plan, loaders, report, fetches, end):
        self.plan, self.loaders, self.report = plan.get("segments", []), loaders, report
        self.fetches, self.end = fetches, end
        self.warmup = plan.get("warmup", 8)
        self.at_first = []  # what to do after the first iteration
        self.reset()

    def reset(self):
        self.warming_up, self.drained, self.changes_batches = True, False, None
        self.iterations, self.index = 0, -1
        self.updates, self.first_update, self.compared = 0, 0, False
        self.change, self.undo, self.why_not = None, None, {}
        self.prepared, self.given_items = {}, {}  # batches to give instead of loading, by loader
        self.sleep_in_step = self.sleep_in_load = 0  # s
        self.steps, self.left_out, self.timing = [], [], False
        self.self_ns = self.self_iterations = 0

    def items_of(self, batch, loader):
        return self.given_items.get(loader) or batches.items(batch, loader.batch_size)

    def changed_batch(self, batch):
        return (self.changes_batches(batch),)

    # ---- which segment

    def closed(self, iteration):
        self.iterations += 1
        self.updates += iteration.updates
        if self.iterations == 1:
            self.report.flush()
            if self.report.world > 1:
                self.report.say("first", self.what_counts())
            for do in self.at_first:
                do()
        if self.warming_up:
            if self.iterations >= self.warmup and not self.compared:
                self.count_as_the_other_ranks()
            if self.compared and self.updates >= self.first_update:
                self.warming_up = False
                self.next_segment()
        elif self.change != "loader_alone":
            self.count(iteration)

    def what_counts(self):
        return "batches" if self.loaders.training else "updates"

    def count_as_the_other_ranks(self):
        """All must begin and end a segment at the same step. Of accelerate's ranks, the first may take batches for all of them;
        it has then ended its warm-up when the others wait for it in theirs."""
        self.compared = True
        if self.report.world > 1 and (len(set(self.report.answers("first"))) > 1 or
                                      not self.report.all_say("counts", self.what_counts(), limit_s=20)):
            self.report.say("counts", "differ")  # those that come later shall decide alike
            self.loaders.never_train()
            self.first_update = 2 * self.warmup
            self.report.note("not every rank takes batches from a loader: iterations are the optimizer's steps")

    def count(self, iteration):
        """Of an iteration, or of a batch of the loader alone."""
        if not self.timing:
            self.settled += 1
            if self.settled >= self.settle:
                self.start_timing()
            return
        if self.loaders.may_train and (iteration.epoch_start or iteration.validated):
            self.excluded += 1
            # Other ranks may not validate, and all must go on together: the step is left out for all when they are joined.
            if (iteration.epoch_start or self.report.world == 1) and self.excluded <= 20 + 3 * self.wanted:
                return
            self.left_out.append(len(self.steps))
        self.steps.append(iteration)
        self.left -= 1
        late = self.seconds and self.report.world == 1 and clock() > self.began + self.seconds * 1e9
        if self.left <= 0 or (late and self.steps and len(self.steps) % max(1, self.loaders.workers) == 0):
            self.end_segment()
            self.next_segment()

    def start_timing(self):
        changes.synchronize()
        self.timing = True
        self.counters = time.process_time(), run_queue_s(), self.own_fetches()
        self.began = clock()

    def own_fetches(self):
        """Of a loader without workers."""
        return self.fetches.sums(self.loaders.training[0].name if self.loaders.training else None)

    def next_segment(self):
        while True:
            self.index += 1
            if self.index == len(self.plan):
                self.end("done")
            planned = self.plan[self.index]
            real_before = self.index == 0 or self.plan[self.index - 1]["change"] not in changes.WITHOUT_LOADER
            self.passed_over = not self.begin(planned)
            if self.passed_over and self.report.world == 1:
                continue
            self.settled, self.excluded, self.steps, self.left_out, self.timing = 0, 0, [], [], False
            self.settle = 2
            if self.change == "loader_alone" or not (real_before or self.change in changes.WITHOUT_LOADER):
                self.settle = self.loaders.ahead + 2
            workers = max(1, self.loaders.workers)
            self.wanted = self.left = math.ceil(planned.get("steps", 12) / workers) * workers
            self.seconds = planned.get("seconds")
            self.report.flush()
            return

    def begin(self, planned):
        """Returns false where the change is impossible; then, with other ranks, as many iterations pass without it."""
        change = planned["change"]
        try:
            if change in self.why_not:
                raise changes.Impossible(self.why_not[change])
            self.loaders.describe()
            self.report.add("begin", index=self.index, change=change)
            self.undo = changes.begin(self, planned)
            self.change = change
            return True
        except Exception as why:  # such as no memory for batches of twice the size
            known = isinstance(why, (changes.Impossible, batches.CannotChange))
            self.why_not[change] = str(why) if known else f"{type(why).__name__}: {why}"
            self.report.impossible(change, self.why_not[change])
            self.change = "unchanged"
            return False

    def end_segment(self, unfinished=False):
        planned = self.plan[self.index]
        begun = clock()
        changes.synchronize()
        if self.steps and not unfinished and self.change != "loader_alone":  # what a GPU had still to do
            self.steps[-1].wall += clock() - begun
        self.restore()
        if not self.passed_over:
            cpu_s, queue_s, fetches = self.counters
            segment = {"index": self.index, "change": planned["change"], "block": planned.get("block", 0),
                       "added_ms": planned.get("added_ms", 0), "items": sum(one.items for one in self.steps),
                       "updates": sum(one.updates for one in self.steps), "settled": self.settled, "excluded": self.excluded,
                       "cpu_s": round(time.process_time() - cpu_s, 6), "run_queue_s": round(run_queue_s() - queue_s, 6),
                       "left_out": self.left_out, "steps": [self.written(one) for one in self.steps]}
            worker = {name: round(value - fetches[name], 6) for name, value in self.own_fetches().items()}
            if worker["fetches"]:
                segment["worker"] = worker
            if unfinished or len(self.steps) - len(self.left_out) < self.wanted / 2:
                segment["unfinished"] = True
            self.report.add("segment", **segment)
        self.fetches.write()
        if planned["change"] != "loader_alone":
            self.self_ns += sum(one.self for one in self.steps)
            self.self_iterations += len(self.steps)
        self.steps, self.timing = [], False
        self.report.flush()

    @staticmethod
    def written(step):
        values = {f"{phase}_ms": round(getattr(step, phase) / 1e6, 4) for phase in PHASES}
        rest_ms = max(0.0, step.wall / 1e6 - sum(values.values()))  # below 0 by rounding
        values |= {"wall_ms": round(step.wall / 1e6, 4), "other_ms": round(rest_ms, 4), "items": step.items}
        loss = step.loss.item() if step.loss is not None else math.nan
        if math.isfinite(loss):
            values["loss"] = loss
        return values

    def restore(self):
        undo, self.undo = self.undo, None
        if undo:
            undo()

    def ended(self, why):
        """Writes what is left; the caller ends the process, or it ends by itself."""
        if self.timing and self.steps:
            self.end_segment(unfinished=True)
        else:
            self.restore()
        self.loaders.describe(last=True)
        self_us = {"self_us": round(self.self_ns / 1e3 / self.self_iterations, 2)} if self.self_iterations else {}
        self.report.add("end", why=why, iterations=self.iterations, **self_us)
        self.report.flush()

    # ---- instead of loading

    def answer(self, iterator, loader):
        while self.change == "loader_alone":
            stopped = self.drain(iterator)
            if stopped is not None:
                return stopped[0]
        if iterator.run_matrix_replayed and exhausted(iterator):
            return StopIteration()
        if loader in self.prepared:
            if exhausted(iterator):
                return StopIteration()
            iterator.run_matrix_replayed += 1
            return (loader.kept.give(self.prepared[loader]),)
        return None

    def drain(self, iterator):
        """Takes batches until the segment or the epoch ends. Returns None, or (what next() is to raise or None,)."""
        self.drained = True
        sources = [loader.iterator() for loader in self.loaders.training]
        sources = [(one, one.run_matrix_loader) for one in sources if one is not None]
        new, last = 0, None  # last: what `iterator` gave
        for source, loader in sources:
            if source.run_matrix_fresh and self.timing:  # its workers were just started
                left = (source.run_matrix_length or 1 << 30) - source._num_yielded
                new = max(new, min(loader.ahead + 1, left // 2))
            source.run_matrix_fresh = False
        index = self.index
        while self.index == index:
            batch = Iteration(clock())
            for source, loader in sources:
                try:
                    if source.run_matrix_replayed and exhausted(source):
                        raise StopIteration
                    taken = self.real_next(source)
                    if source is iterator:
                        last = (taken,)
                except Exception as stop:  # also the job's own, which it shall see
                    if isinstance(stop, StopIteration) and source is iterator and last and not iterator.run_matrix_handed:
                        return (last,)  # scripts take an epoch without a batch for an error
                    return (stop if source is iterator or not isinstance(stop, StopIteration) else None,)
                batch.items += batches.items(taken, loader.batch_size)
            batch.wall = batch.load = clock() - batch.begin
            batch.epoch_start = new > 0
            new -= 1
            self.count(batch)
        return None


def exhausted(iterator):
    """An epoch is as long as ever, with batches that were not loaded."""
    length = iterator.run_matrix_length
    return length is not None and iterator._num_yielded + iterator.run_matrix_replayed >= length
