"""Changes of the whole process: threads, precision, layout, fused optimizer, compilation, and the settings of loaders."""


class ProcessChanges:
    def __init__(self, probe):
        self.probe, self.wanted = probe, probe.plan.process

    def first_iteration_ended(self):
        pass

    def stop_autocast(self):
        pass
