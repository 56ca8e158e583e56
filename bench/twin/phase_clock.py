"""Phases of each batch on the host, and on a GPU from events that are read after the slice (bench/README.md)."""
import collections
import time

PHASES = ("load", "h2d", "scatter", "broadcast", "forward", "gather", "loss", "backward", "reduce", "sync", "step", "other")


class PhaseClock:
    """Entering a phase ends the previous one. make_event: None, or what makes a CUDA event with timing."""

    def __init__(self, enabled, make_event=None):
        self.enabled = enabled
        self.make_event = make_event
        self.marks = []  # (phase, or None at the end of a batch; ns of the steady clock; event)

    def enter(self, phase):
        if self.enabled:
            event = self.make_event() if self.make_event else None
            self.marks.append((phase, time.monotonic_ns(), event))
            if event:
                event.record()

    def next_batch(self):
        self.enter(None)

    def by_batch(self):
        """Of each batch its marks, with the one that ended it."""
        batches = [[]]
        for mark in self.marks:
            batches[-1].append(mark)
            if mark[0] is None:
                batches.append([])
        return batches[:-1]

    def milliseconds(self, first, end, device=False):
        """{phase: [batch]} of the batches from `first` to before `end`."""
        columns = {phase: [] for phase in PHASES}
        for marks in self.by_batch()[first:end]:
            sums = collections.Counter()
            for (phase, begin_ns, begin), (_, end_ns, end_event) in zip(marks, marks[1:]):
                sums[phase] += begin.elapsed_time(end_event) if device else (end_ns - begin_ns) / 1e6
            for phase, column in columns.items():
                column.append(round(sums[phase], 6))
        return columns

    def calls_per_batch(self):
        return sum(map(len, self.by_batch())) / max(1, len(self.by_batch()))

    def last_batch(self):
        """As a rank's timeline in its report, which begins with the batch's first phase."""
        marks = self.by_batch()[-1]
        begin_ns = marks[0][1]
        events = [{"rank": 0, "track": "host", "name": phase, "begin_ms": (begin - begin_ns) / 1e6, "end_ms": (end - begin_ns) / 1e6}
                  for (phase, begin, _), (_, end, _) in zip(marks, marks[1:])]
        return {"machine": 0, "begin_ns": begin_ns, "events": events}


def nanoseconds_per_call(calls=20000):
    clock = PhaseClock(True)
    begin = time.monotonic_ns()
    for _ in range(calls):
        clock.enter("other")
    return (time.monotonic_ns() - begin) / calls
