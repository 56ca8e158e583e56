"""Runs at the start of each Python of a measured training job: the user's own sitecustomize, then the probe once torch is imported."""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_the_users_own():
    """Python imports only the first sitecustomize of sys.path, which is this file."""
    others = [path for path in sys.path if os.path.abspath(path or os.curdir) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class AfterTorch:
    """Finds torch as the other finders do, and starts the probe when it was imported. Packages may ask whether there is a torch
    long before they import it."""
    asks_the_others = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.asks_the_others:
            return None
        self.asks_the_others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asks_the_others = False
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                sys.meta_path.remove(self)
                execute(module)
                start_the_probe()
            spec.loader.exec_module = exec_module
        return spec


def start_the_probe():
    try:
        from run_matrix_probe import install
        install.install(os.environ["RUN_MATRIX_PROBE"])
    except Exception as error:  # the job runs on without it
        print(f"run_matrix: the probe could not start: {type(error).__name__}: {error}", file=sys.stderr)


try:
    run_the_users_own()
finally:
    if os.path.isfile(os.path.join(os.environ.get("RUN_MATRIX_PROBE") or os.devnull, "plan.json")):
        sys.meta_path.insert(0, AfterTorch())
