"""Runs dlio-benchmark, unchanged, on one of the workload files that it comes with."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FILES = 16
START = "from dlio_benchmark.main import main; main()"


class Failed(Exception):
    pass


def prepare_page_cache(files, cold):
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if cold:
                os.fsync(descriptor)  # a page that is not on disk yet would stay
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            else:
                while os.read(descriptor, 1 << 22):
                    pass
        finally:
            os.close(descriptor)


def workload(name):
    """The workload file as a mapping: batch size, computation_time and so on are the package's own."""
    import dlio_benchmark
    from omegaconf import OmegaConf
    return OmegaConf.load(pathlib.Path(dlio_benchmark.__file__).parent / "configs" / "workload" / f"{name}.yaml")


def run(name, settings, enter=None):
    """Runs the workload with changed settings; returns DLIO's summary."""
    with tempfile.TemporaryDirectory() as folder:
        # After a data set is written, DLIO calls this script of DALI, whose result only DALI's own loader reads.
        script = pathlib.Path(folder, "tfrecord2idx")
        script.write_text("#!/bin/sh\n: > \"$2\"\n")
        script.chmod(0o755)
        command = [sys.executable, "-c", START, f"workload={name}", f"hydra.run.dir={folder}/hydra",
                   f"++workload.output.folder={folder}/out",
                   f"++workload.checkpoint.checkpoint_folder={folder}/checkpoints"]
        command += [f"++workload.{key}={value}" for key, value in settings.items()]
        done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=enter, env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"})
        summary = pathlib.Path(folder, "out", "summary.json")
        if done.returncode != 0 or not summary.exists() and settings["workflow.train"]:
            raise Failed(f"dlio_benchmark ended with exit code {done.returncode}: " +
                         "\n".join(done.stdout.strip().splitlines()[-8:]))
        return json.loads(summary.read_text()) if settings["workflow.train"] else {}


class DataSet:
    """Random bytes in TFRecord files, written by DLIO: `samples` records of `bytes` each (rounded to a square)."""

    def __init__(self, store, workload_name, samples, record_bytes):
        self.samples, self.bytes = samples, record_bytes
        self.folder = pathlib.Path(store) / f"dlio-{samples}x{record_bytes}"
        self.shape = {"dataset.num_files_train": FILES, "dataset.num_samples_per_file": samples // FILES,
                      "dataset.record_length": record_bytes, "dataset.data_folder": self.folder}
        complete = self.folder / "complete"
        if not complete.exists():
            run(workload_name, self.shape | {"workflow.generate_data": True, "workflow.train": False})
            complete.touch()

    def utilisation(self, workload_name, threads, epochs, limit=None):
        """Accelerator utilisation in percent. With a limit, the page cache is empty before."""
        prepare_page_cache((self.folder / "train").iterdir(), limit is not None)
        summary = run(workload_name, self.shape | {
            "workflow.generate_data": False, "workflow.train": True, "train.epochs": epochs,
            "reader.read_threads": threads, "reader.computation_threads": threads}, limit and limit.enter)
        return summary["metric"]["train_au_mean_percentage"]
