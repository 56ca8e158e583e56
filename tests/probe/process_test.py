#!/usr/bin/env python3
"""What the probe leaves alone, what it changes in the whole process, and other people's training loops."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from job import HERE, PYTHON, Job, has


class Apart(unittest.TestCase):
    def test_a_fault_of_the_probe_leaves_the_job_alone(self):
        """Thrown from each of its entries."""
        plain = subprocess.run([PYTHON, HERE / "jobs" / "plain.py"], capture_output=True, text=True,
                               env=dict(os.environ, OMP_NUM_THREADS="1"))
        for entry in ("before_next", "after_next", "trained_now", "update_ended", "end_iteration", "iterated", "epoch_ended"):
            job = Job("faulty.py", entry, 2, segments=("unchanged",), steps=1000)
            self.assertEqual((job.code, job.out), (0, plain.stdout), f"{entry}\n{job.text()}")
            self.assertEqual(len(job.of("error")), 1, f"{entry}\n{job.text()}")

    def test_a_fault_amid_a_change_takes_the_change_back(self):
        for entry, calls, change in ("end_iteration", 12, "no_logging"), ("drained", 2, "loader_alone"):
            job = Job("faulty.py", entry, calls, segments=(change,), steps=20)
            self.assertEqual(len(job.of("error")), 1, job.text())
            self.assertIn("epoch 0", job.out)
            self.assertIn("finally", job.out)

    def test_a_broken_plan(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "plan.json").write_text("{")
            run = subprocess.run([PYTHON, HERE / "jobs" / "plain.py"], capture_output=True, text=True,
                                 env={"RUN_MATRIX_PROBE": folder, "PYTHONPATH": str(HERE.parents[1] / "bench" / "probe")})
            self.assertIn("finally", run.stdout)
            self.assertIn('"kind": "error"', next(pathlib.Path(folder).glob("rank-*")).read_text())

    def test_without_a_plan_nothing_is_there(self):
        run = subprocess.run([PYTHON, "-c", "import sys, torch; print('run_matrix_probe' in sys.modules)"], capture_output=True,
                             text=True, env={"PYTHONPATH": str(HERE.parents[1] / "bench" / "probe")})
        self.assertEqual(run.stdout, "False\n")

    def test_the_users_own_sitecustomize(self):
        job = Job("plain.py", path=HERE / "own", segments=("unchanged",))
        self.assertIn("own sitecustomize", job.out)
        self.assertEqual(job.of("end")[0]["why"], "done")

    def test_a_job_that_never_trains(self):
        job = Job("never.py", segments=("unchanged",))
        self.assertEqual(job.code, 0)
        self.assertEqual([one["why"] for one in job.of("end")], ["no steps"])
        self.assertEqual(len(job.ranks), 1)

    def test_a_job_that_raises(self):
        job = Job("raises.py", segments=("unchanged",), steps=100)
        self.assertEqual(job.code, 1)
        self.assertIn("ValueError: of the script", job.err)
        self.assertEqual((job.of("end")[0]["why"], job.of("end")[0]["iterations"]), ("exit", 19))

    def test_a_training_in_a_forked_child(self):
        job = Job("forked.py", segments=("unchanged",), steps=4)
        self.assertEqual([one["why"] for one in job.of("end")], ["done"])
        self.assertEqual(len(job.ranks), 1)

    def test_unknown_keys_are_noted(self):
        job = Job("plain.py", segments=("unchanged", "upside_down"), surprise=1)
        self.assertIn("surprise", job.of("note")[0]["text"])
        self.assertEqual([one["change"] for one in job.of("impossible")], ["upside_down"])


class Process(unittest.TestCase):
    def job(self, script="process.py", **process):
        job = Job(script, segments=("unchanged",), process=process)
        self.assertFalse(job.of("error"), job.text())
        self.assertEqual(job.of("end")[0]["why"], "done", job.text())
        return job

    def test_loaders(self):
        def loader(**process):
            found = self.job(**process).of("loader")[0]
            return found["workers"], found["prefetch_factor"], found["persistent_workers"]
        self.assertEqual(loader(), (1, 2, True))
        self.assertEqual(loader(workers=3, prefetch_factor=5), (3, 5, True))
        self.assertEqual(loader(workers=0), (0, None, False))
        self.assertEqual(loader(workers_factor=2), (2, 2, True))
        self.assertEqual(loader(workers_factor=0.5), (0, None, False))
        self.assertEqual(loader(persistent_workers=False), (1, 2, False))
        job = self.job("plain.py", workers_factor=2)
        self.assertEqual(job.of("loader")[0]["workers"], 2)

    def test_threads(self):
        job = self.job(threads=3, worker_threads=2)
        self.assertIn("threads 3", job.out)
        self.assertIn("worker threads 2", job.out)

    def test_precision_layout_and_fused_optimizer(self):
        job = self.job(autocast="bfloat16", channels_last=True, fused_optimizer=True)
        self.assertIn("forward torch.bfloat16 channels_last True fused True", job.out)
        self.assertIn("forward torch.float32 channels_last False fused None", self.job().out)

    def test_copies_to_a_device(self):
        """As on a GPU, with the device "meta"."""
        job = Job("copies.py", segments=("unchanged",))
        self.assertFalse(job.of("error"), job.text())
        self.assertGreater(job.mean("unchanged", "h2d_ms"), 0)
        self.assertIn("compiled", job.out)

    def test_autocast_learns(self):
        """Its cache of weights would be stale: the loss would not go down."""
        last = self.job("learns.py", autocast="bfloat16").segment("unchanged")["steps"][-1]["loss"]
        self.assertLess(last, 0.1)


class Frameworks(unittest.TestCase):
    def run_it(self, module, script, updates):
        if not has(module):
            self.skipTest(f"{PYTHON} has no {module}")
        job = Job(script, segments=("unchanged", "replayed", "half_batch", "loader_alone"))
        self.assertFalse(job.of("error"), job.text())
        self.assertEqual((job.of("end")[0]["why"], job.code), ("done", 0), job.text())
        self.assertNotIn("finally", job.out)
        segment = job.segment("unchanged")
        self.assertEqual(segment["items"], 64)
        self.assertEqual(segment["updates"] - segment["excluded"], updates)
        self.assertLess(job.mean("replayed", "load_ms"), 5)
        self.assertEqual(job.segment("half_batch")["items"], 32)

    def test_lightning(self):
        self.run_it("lightning", "lightning_job.py", 8)

    def test_accelerate(self):
        self.run_it("accelerate", "accelerate_job.py", 4)

    def test_transformers(self):
        self.run_it("transformers", "trainer_job.py", 8)


if __name__ == "__main__":
    if PYTHON is None:
        print("no Python with torch; next: name one in PYTHON")
        raise SystemExit(77)
    unittest.main()
