"""The main thread's phases: every nanosecond of an iteration belongs to exactly one."""
from time import perf_counter_ns

PHASES = LOAD, H2D, FORWARD, BACKWARD, SYNC, STEP, OTHER = range(7)
NAMES = ("load_ms", "h2d_ms", "forward_ms", "backward_ms", "sync_ms", "step_ms", "other_ms")


class Clock:
    def __init__(self):
        self.sums = [0] * len(PHASES)
        self.phase = OTHER
        self.start = self.mark = perf_counter_ns()
        self.own = 0  # of this iteration, the probe's own

    def enter(self, phase, now):
        self.sums[self.phase] += now - self.mark
        self.phase = phase
        self.mark = now

    def move(self, phase, nanoseconds):
        """What has just passed belongs to another phase than the current one."""
        self.sums[phase] += nanoseconds
        self.mark += nanoseconds

    def close(self, now):
        """Ends the iteration. Returns its wall time and phases."""
        self.enter(OTHER, now)
        closed = now - self.start, self.sums
        self.restart(now)
        return closed

    def restart(self, now=None):
        self.start = self.mark = now or perf_counter_ns()
        self.sums = [0] * len(PHASES)
        self.phase = OTHER
        self.own = 0


def as_record(iteration):
    (wall, sums), items, loss = iteration
    record = {"wall_ms": round(wall / 1e6, 6)}
    record.update((name, round(value / 1e6, 6)) for name, value in zip(NAMES, sums))
    record["items"] = items
    if loss is not None:
        value = float(loss)
        record["loss"] = value if value - value == 0 else None
    return record
