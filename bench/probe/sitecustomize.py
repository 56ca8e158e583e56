"""Python's start-up file in a measured job: runs the user's own sitecustomize, then waits for the job to import torch and
puts the probe (run_matrix_probe/) into it. Without RUN_MATRIX_PROBE and its plan.json it does nothing else."""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_users_own():
    from importlib.machinery import PathFinder
    elsewhere = [path for path in sys.path if os.path.abspath(path or ".") != HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def put_in():
    """Never raises: a probe that fails must not stop the job."""
    try:
        from run_matrix_probe import probe
        probe.install()
    except Exception:
        import traceback
        try:
            with open(os.path.join(os.environ["RUN_MATRIX_PROBE"], f"rank-0-{os.getpid()}.jsonl"), "a") as file:
                import json
                file.write(json.dumps({"kind": "error", "text": traceback.format_exc()}) + "\n")
        except Exception:
            pass


class AfterTorch:
    """Finds torch as it would be found without it, and puts the probe in when torch's own code has run. Libraries may look
    for torch several times before one imports it."""
    looking = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec("torch")
        finally:
            self.looking = False
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_then_put_in(module):
            run(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                put_in()
        spec.loader.exec_module = run_then_put_in
        return spec


def start():
    folder = os.environ.get("RUN_MATRIX_PROBE")
    if not folder or not os.path.isfile(os.path.join(folder, "plan.json")):
        return
    os.environ.setdefault("RUN_MATRIX_PROBE_ROOT", str(os.getpid()))  # the first Python process of the command
    if "torch" in sys.modules:
        put_in()
    else:
        sys.meta_path.insert(0, AfterTorch())


try:
    run_users_own()
finally:
    start()
