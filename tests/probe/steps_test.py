#!/usr/bin/env python3
"""The probe's iterations, updates and phases, and the changes of its segments, against jobs whose truth is known."""
import unittest

from job import PYTHON, Job

REAL = "unchanged", ("added_step_time", {"added_ms": 5}), ("added_wait", {"added_ms": 5})
KEPT = "replayed", "half_batch", "double_batch"


class Steps(unittest.TestCase):
    def check(self, job, done=True):
        """What holds for every job."""
        self.assertFalse(job.of("error"), job.text())
        self.assertEqual(job.of("end")[0]["why"], "done" if done else "exit", job.text())
        if done:
            self.assertEqual(job.code, 0, job.text())
            self.assertNotIn("finally", job.out)
        for segment in job.of("segment"):
            self.assertEqual(segment["items"], sum(step["items"] for step in segment["steps"]))
            for step in segment["steps"]:
                phases = sum(value for name, value in step.items() if name.endswith("_ms") and name != "wall_ms")
                self.assertAlmostEqual(phases, step["wall_ms"], delta=0.001)
                self.assertGreaterEqual(min(step[name] for name in step if name.endswith("_ms")), 0)

    def test_plain_loop(self):
        job = Job("plain.py", 0, 5, 20, segments=("unchanged", *KEPT, "loader_alone", *REAL[1:], "no_logging",
                                                  ("threads", {"threads": 1}), "no_collectives"))
        self.check(job)
        self.assertEqual(job.modes, {0o600})
        self.assertGreater(job.mean("unchanged", "load_ms"), 40)  # 8 images of 5 ms
        self.assertLess(job.mean("replayed", "load_ms"), 5)
        self.assertEqual([job.segment(change)["steps"][0]["items"] for change in KEPT], [8, 4, 16])
        self.assertGreater(job.mean("loader_alone"), 40)
        self.assertGreater(job.mean("added_step_time", "step_ms"), 5)
        self.assertGreater(job.mean("added_wait", "load_ms"), 45)
        self.assertEqual({loader["role"]: loader["length"] for loader in job.of("loader")}, {"training": 32, "validation": 3})
        self.assertEqual([one["change"] for one in job.of("impossible")], ["no_collectives"])
        self.assertEqual([one["change"] for one in job.of("begin")], [one["change"] for one in job.of("segment")])
        self.assertGreater(sum(one["cpu_s"] for one in job.fetches if one["loader"] == "loader 0"), 0)

    def test_epochs_and_validations_are_left_out(self):
        """Three epochs of 32 and their validations: 96 iterations, of which the last 2 have none of the 3 segments' begins."""
        job = Job("plain.py", 2, segments=("unchanged",), steps=60)
        self.check(job)
        segment = job.segment("unchanged")
        self.assertEqual(len(segment["steps"]), 60)
        self.assertIn(segment["excluded"], (2, 3, 4))  # between epochs, by one or two iterations
        self.assertEqual(segment["updates"], 60 + segment["excluded"])

    def test_script_that_ends_early(self):
        job = Job("plain.py", segments=("unchanged",), steps=1000)
        self.check(job, done=False)
        self.assertEqual(job.of("end")[0]["iterations"], 96)
        self.assertTrue(job.segment("unchanged")["unfinished"])
        self.assertIn("finally", job.out)
        self.assertEqual(job.code, 0)

    def test_accumulation_and_persistent_workers(self):
        job = Job("accumulation.py", segments=("unchanged", "replayed", "loader_alone", ("unchanged", {"block": 1})), steps=15)
        self.check(job)
        first = job.segment("unchanged")
        self.assertEqual(len(first["steps"]), 16)  # a multiple of the workers
        self.assertEqual(first["updates"], 4)
        self.assertGreater(job.mean("unchanged", "load_ms"), 20)  # two workers share 4 items of 20 ms
        self.assertLess(job.mean("replayed", "load_ms"), 5)
        self.assertGreater(job.mean("loader_alone"), 30)
        worker = first["worker"]
        self.assertGreater(worker["wall_s"] / worker["fetches"], 0.07)
        self.assertLess(worker["cpu_s"], 0.5 * worker["wall_s"])  # they sleep
        self.assertGreaterEqual(job.of("segment")[3]["settled"], 2 * 2 + 2)

    def test_closure_zip_and_evaluation(self):
        job = Job("closure.py", segments=(REAL[0], *KEPT, "loader_alone"))
        self.check(job)
        self.assertEqual([loader["role"] for loader in job.of("loader")], ["training", "training", "validation"])
        first = job.segment("unchanged")
        self.assertEqual(first["items"], 64)
        self.assertEqual(first["updates"], 8 + first["excluded"])
        self.assertGreater(job.mean("unchanged", "forward_ms"), 0)
        job = Job("closure.py", segments=("unchanged",), steps=1000)
        self.assertEqual(job.of("end")[0]["iterations"], 320)
        self.assertIn("finally 320", job.out)

    def test_spawned_workers_of_an_iterable_dataset(self):
        job = Job("spawned.py", "DATA", list_files=True,
                  segments=("unchanged", "replayed", "half_batch", "loader_alone", ("added_wait", {"added_ms": 60})))
        self.check(job)
        loader = job.of("loader")[0]
        self.assertEqual((loader["workers"], loader["context"], loader["length"]), (2, "spawn", None))
        self.assertEqual(loader["shapes"], "[8,16] float32; [8] int64")
        self.assertEqual(len(job.files), 10)
        self.assertTrue(all(path.endswith(".txt") for path in job.files))
        self.assertEqual({one["loader"] for one in job.fetches}, {"loader 0"})

    def test_batches_that_change_and_are_written_into(self):
        job = Job("changing.py", segments=("unchanged", *KEPT))
        self.check(job)  # the script itself looks at its batches
        self.assertEqual(job.segment("half_batch")["items"], 32)
        self.assertEqual(job.segment("double_batch")["items"], 128)

    def test_without_a_loader(self):
        job = Job("own_loader.py", segments=("unchanged", *KEPT, "loader_alone", REAL[2], REAL[1]))
        self.check(job)
        self.assertEqual([one["change"] for one in job.of("impossible")], [*KEPT, "loader_alone", "added_wait"])
        self.assertEqual((len(job.segment("unchanged")["steps"]), job.segment("unchanged")["updates"]), (8, 8))
        self.assertEqual(job.mean("unchanged", "load_ms"), 0)
        self.assertGreater(job.mean("added_step_time", "step_ms"), 5)

    def test_ranks(self):
        job = Job("ranks.py", launcher=("-m", "torch.distributed.run", "--nproc-per-node", "2"),
                  segments=("unchanged", "replayed", "no_collectives", "loader_alone"))
        self.assertEqual(len(job.ranks), 2, job.text())  # and no file of the launcher
        for rank in range(2):
            self.assertFalse(job.of("error", rank), job.text())
            self.assertEqual((job.of("start", rank)[0]["rank"], job.of("start", rank)[0]["world"]), (rank, 2))
            self.assertEqual(job.of("end", rank)[0]["why"], "done")
        self.assertEqual(*[job.of("end", rank)[0]["iterations"] for rank in range(2)])
        self.assertEqual(len(job.segment("no_collectives")["steps"]), 8)
        self.assertGreater(job.mean("unchanged", "sync_ms"), 0)
        self.assertEqual((job.code, "finally" in job.out), (0, False), job.text())

    def test_a_segment_of_seconds(self):
        job = Job("plain.py", 0, 2, 20, segments=(("unchanged", {"seconds": 0.2, "steps": 400}),))
        self.check(job)
        self.assertLess(len(job.segment("unchanged")["steps"]), 100)

    def test_minimal(self):
        job = Job("plain.py", segments=("unchanged",), minimal=True)
        self.check(job)
        self.assertFalse(job.fetches)
        self.assertNotIn("worker", job.segment("unchanged"))


if __name__ == "__main__":
    if PYTHON is None:
        print("no Python with torch; next: name one in PYTHON")
        raise SystemExit(77)
    unittest.main()
