#!/usr/bin/env python3
"""The probe in small training jobs of many kinds: what it finds in them is what they do.

Runs with the standard library alone; the jobs need a Python with torch: $PYTHON, the project's .venv or this one.
"""
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
Seen = collections.namedtuple("Seen", "exit_code output ranks workers files")


def python_with_torch():
    for python in (os.environ.get("PYTHON"), SOURCE / ".venv/bin/python", sys.executable):
        if python and shutil.which(python) and not subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
            return str(python)
    return None


PYTHON = python_with_torch()


def plan(*changes, steps=4, warmup=8, **more):
    segments = [{"change": change} if isinstance(change, str) else dict(change) for change in changes]
    return {"warmup": warmup, "segments": [{"block": 0, "steps": steps} | one for one in segments], **more}


def milliseconds(segment, phase, of=statistics.mean):
    """Its mean, which is no shorter than the waits in it; the median or `min` where it must be short beside other tests."""
    return of(step[phase + "_ms"] for step in segment["steps"])


class Rank:
    def __init__(self, lines):
        self.of_kind = collections.defaultdict(list)
        for line in lines:
            self.of_kind[line["kind"]].append(line)
        self.segments = self.of_kind["segment"]
        self.end = (self.of_kind["end"] or [{}])[0]

    def segment(self, change):
        return next(one for one in self.segments if one["change"] == change)

    def impossible(self):
        return {line["change"]: line["why"] for line in self.of_kind["impossible"]}

    def loader(self, role):
        return [line for line in self.of_kind["loader"] if line["role"] == role]


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@unittest.skipUnless(PYTHON, "no Python with torch; next: name one in PYTHON")
class OfTheProbe(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_job(self, planned, *command, environment=(), launcher=(), path=(), expected=0):
        reports = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        if planned is not None:
            (reports / "plan.json").write_text(json.dumps(planned))
        job = [*(launcher or [PYTHON]), str(HERE / "jobs" / command[0]), *command[1:]]
        paths = os.pathsep.join([str(SOURCE / "bench/probe"), *path])
        variables = os.environ | {"PYTHONPATH": paths, "RUN_MATRIX_PROBE": str(reports), "OMP_NUM_THREADS": "1"} | dict(environment)
        done = subprocess.run(job, capture_output=True, text=True, env=variables, cwd=self.folder, timeout=300)
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        ranks = [Rank(lines_of(file)) for file in sorted(reports.glob("rank-*.jsonl"))]
        workers = [line for file in reports.glob("worker-*.jsonl") for line in lines_of(file)]
        files = {line for file in reports.glob("files-*.txt") for line in file.read_text().splitlines()}
        for rank in ranks if "probe fails" not in command else []:
            self.assertFalse(rank.of_kind["error"], rank.of_kind["error"])
            for step in (step for segment in rank.segments for step in segment["steps"]):
                parts = sum(value for name, value in step.items() if name.endswith("_ms") and name != "wall_ms")
                self.assertAlmostEqual(parts, step["wall_ms"], delta=0.01)
        return Seen(done.returncode, done.stdout + done.stderr, ranks, workers, files)

    def job(self, planned, *command, **more):
        seen = self.run_job(planned, *command, **more)
        self.assertEqual(len(seen.ranks), 1, seen.output)
        return seen.ranks[0], seen

    def python_with(self, package):
        """$PROBE_PACKAGES_PYTHON or the Python with torch; the test is skipped where the package is missing."""
        python = os.environ.get("PROBE_PACKAGES_PYTHON", PYTHON)
        if subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode:
            self.skipTest(f"{python} has no {package}")
        return python


class Iterations(OfTheProbe):
    def test_a_plain_loop_is_whole_and_its_validations_are_apart(self):
        rank, seen = self.job(plan({"change": "unchanged", "steps": 1000}), "plain.py")
        self.assertEqual((rank.end["why"], rank.end["iterations"]), ("exit", 60))
        segment = rank.segments[0]
        self.assertTrue(segment["unfinished"])
        self.assertEqual((len(segment["steps"]), segment["excluded"], segment["settled"]), (48, 2, 2))
        self.assertEqual(segment["updates"], 48)
        self.assertEqual(segment["items"], 48 * 4)
        self.assertEqual([one["batch"] for one in rank.loader("training")], [4])
        self.assertEqual([one["length"] for one in rank.loader("validation")], [3])
        self.assertTrue(seen.output.startswith("trained 3\nfinally"))

    def test_a_known_wait_is_found_and_replay_removes_it(self):
        rank, seen = self.job(plan("unchanged", "replayed", "double_batch", "loader_alone",
                                   {"change": "added_step_time", "added_ms": 50}, {"change": "added_wait", "added_ms": 50}),
                              "plain.py", "0", "20")
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual(len(rank.segments), 6)
        self.assertGreaterEqual(milliseconds(rank.segment("unchanged"), "load"), 20)
        for change, items in (("replayed", 4), ("double_batch", 8)):
            self.assertLess(milliseconds(rank.segment(change), "load", statistics.median), 10)
            self.assertEqual({step["items"] for step in rank.segment(change)["steps"]}, {items})
        self.assertGreaterEqual(milliseconds(rank.segment("loader_alone"), "wall"), 20)
        self.assertEqual(milliseconds(rank.segment("loader_alone"), "forward"), 0)
        self.assertGreaterEqual(milliseconds(rank.segment("added_step_time"), "step"), 50)
        self.assertGreaterEqual(milliseconds(rank.segment("added_wait"), "load"), 70)
        self.assertNotIn("finally", seen.output)  # the process ended at once
        self.assertGreaterEqual(rank.segment("unchanged")["worker"]["wall_s"], 4 * 0.02)
        self.assertNotIn("worker", rank.segment("replayed"))

    def test_workers_report_their_fetches_and_files(self):
        images = [self.folder / f"{number}.raw" for number in range(3)]
        for image in images:
            image.write_bytes(b"\1")
        rank, seen = self.job(plan("unchanged", "replayed", list_files=True, process={"workers": 2, "worker_threads": 1}),
                              "images.py", *map(str, images))
        self.assertEqual(rank.loader("training")[0]["workers"], 2)
        self.assertEqual(seen.files, set(map(str, images)))
        self.assertEqual({line["loader"] for line in seen.workers}, {"loader 0"})
        self.assertGreater(sum(line["fetches"] for line in seen.workers), 0)

    @unittest.skipUnless("LIST_OPENS" in os.environ, "no library in $LIST_OPENS")
    def test_files_that_cpp_opens_are_listed(self):
        archives = [self.folder / f"{number}.pt" for number in range(3)]
        write = "import torch, sys; [torch.save({}, path) for path in sys.argv[1:]]"
        subprocess.run([PYTHON, "-c", write, *map(str, archives)], check=True)
        for workers in 0, 2:
            _, seen = self.job(plan("unchanged", "replayed", list_files=True, process={"workers": workers}), "reads_in_cpp.py",
                               *map(str, archives), environment={"LD_PRELOAD": os.environ["LIST_OPENS"]})
            self.assertEqual(seen.files, set(map(str, archives)))

    def test_a_segment_may_end_by_its_time(self):
        rank, _ = self.job(plan({"change": "unchanged", "steps": 100000, "seconds": 0.2}, "replayed"), "plain.py", "2", "50")
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual(len(rank.segment("unchanged")["steps"]) % 2, 0)

    def test_accumulation_with_workers_that_live_on(self):
        for words in ((), ("spawn",)):
            rank, _ = self.job(plan("unchanged", "replayed", "unchanged", "loader_alone", "unchanged", steps=7),
                               "accumulation.py", *words)
            self.assertEqual(rank.end["why"], "done")
            self.assertEqual([len(one["steps"]) for one in rank.segments], [8] * 5)  # whole multiples of two workers
            self.assertEqual([one["updates"] for one in rank.segments][:2], [2, 2])
            self.assertEqual([one["settled"] for one in rank.segments], [2, 2, 6, 6, 6])
            self.assertEqual(rank.loader("training")[0]["context"], words[0] if words else "fork")
        rank, seen = self.job(plan({"change": "unchanged", "steps": 1000}), "accumulation.py")
        self.assertEqual(rank.end["iterations"], 128)
        self.assertIn("trained", seen.output)

    def test_two_loaders_a_closure_and_a_validation_with_gradients(self):
        rank, _ = self.job(plan({"change": "unchanged", "steps": 1000}), "closure.py")
        self.assertEqual(rank.end["iterations"], 60)
        self.assertEqual(len(rank.loader("training")), 2)
        self.assertEqual(len(rank.loader("validation")), 1)
        self.assertEqual({step["items"] for step in rank.segments[0]["steps"]}, {12})
        self.assertEqual(rank.segments[0]["updates"], len(rank.segments[0]["steps"]))
        self.assertEqual(len(rank.segments[0]["steps"]) + rank.segments[0]["excluded"], 50)
        rank, _ = self.job(plan("replayed", "double_batch", "loader_alone"), "closure.py")
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual([one["steps"][0]["items"] for one in rank.segments], [12, 24, 12])

    def test_nested_batches_that_change_shape_and_are_written_to(self):
        rank, _ = self.job(plan("unchanged", "replayed", "double_batch", "loader_alone", "unchanged", steps=6),
                           "iterable.py")
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual([one["steps"][-1]["items"] for one in rank.segments], [4, 4, 8, 4, 4])
        self.assertIsNone(rank.loader("training")[0]["length"])

    def test_frozen_batches_of_one_iterator_for_all_epochs(self):
        rank, _ = self.job(plan("replayed", "unchanged", "double_batch", "unchanged", steps=12), "odd_batches.py")
        self.assertEqual((rank.end["why"], rank.impossible()), ("done", {}))
        self.assertEqual([one["steps"][-1]["items"] for one in rank.segments], [4, 4, 8, 4])
        rank, _ = self.job(plan("replayed", "unchanged"), "odd_batches.py", "generator")
        self.assertIn("can't be copied: TypeError", rank.impossible()["replayed"])
        self.assertEqual(rank.end["why"], "done")

    def test_no_epoch_is_without_a_batch(self):
        rank, seen = self.job(plan({"change": "loader_alone", "steps": 70}, "unchanged"), "plain.py", "0", "9")
        self.assertEqual((rank.end["why"], len(rank.segments[0]["steps"])), ("done", 70), seen.output)

    def test_without_a_loader_the_optimizer_counts(self):
        rank, _ = self.job(plan("unchanged", "replayed", "loader_alone", {"change": "added_step_time", "added_ms": 20}),
                           "own_loader.py")
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual(set(rank.impossible()), {"replayed", "loader_alone"})
        self.assertEqual(rank.segment("unchanged")["updates"], 4)
        self.assertEqual(milliseconds(rank.segment("unchanged"), "load"), 0)
        self.assertGreaterEqual(milliseconds(rank.segment("added_step_time"), "step"), 20)
        self.assertTrue(any("load" in note["text"] for note in rank.of_kind["note"]))

    def test_minimal(self):
        rank, seen = self.job(plan("unchanged", minimal=True), "plain.py")
        self.assertGreaterEqual(milliseconds(rank.segment("unchanged"), "load"), 20)
        self.assertEqual(seen.workers, [])
        self.assertNotIn("loss", rank.segment("unchanged")["steps"][0])
        self.assertGreater(rank.end["self_us"], 0)


class Ranks(OfTheProbe):
    def launched(self, planned, *command):
        launcher = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        return self.run_job(planned, *command, launcher=launcher)

    def test_all_ranks_change_at_the_same_iteration(self):
        seen = self.launched(plan("unchanged", "replayed", "no_collectives", "loader_alone", "unchanged", steps=8),
                             "two_ranks.py", "30")
        self.assertEqual([rank.of_kind["start"][0]["rank"] for rank in seen.ranks], [0, 1])
        self.assertEqual([rank.of_kind["start"][0]["world"] for rank in seen.ranks], [2, 2])
        self.assertEqual([rank.end["why"] for rank in seen.ranks], ["done"] * 2)
        self.assertEqual(seen.ranks[0].end["iterations"], seen.ranks[1].end["iterations"])
        of_rank = [[one for one in rank.segments if one["change"] != "loader_alone"] for rank in seen.ranks]
        self.assertEqual([[len(one["steps"]) for one in segments] for segments in of_rank], [[8] * 4] * 2)
        self.assertGreater(sum(len(one["left_out"]) for one in of_rank[0]), 0)  # only rank 0 validates
        self.assertEqual([one["left_out"] for one in of_rank[1]], [[]] * 4)
        first, last = (rank.segment("no_collectives") for rank in seen.ranks)
        # Only the late rank is slow when no one waits for it.
        self.assertGreaterEqual(milliseconds(last, "wall"), 30)
        self.assertLess(milliseconds(first, "wall", min), 0.8 * 30)
        self.assertGreater(milliseconds(seen.ranks[0].segment("replayed"), "backward", max), 15)

    def test_ranks_without_a_loader_change_with_the_one_that_has_it(self):
        seen = self.launched(plan("unchanged", "replayed", "no_collectives", "unchanged"), "two_ranks.py", "1", "dispatched")
        self.assertEqual([rank.end["why"] for rank in seen.ranks], ["done"] * 2)
        for rank in seen.ranks:
            self.assertEqual([one["updates"] for one in rank.segments], [4] * 3)
            self.assertEqual(set(rank.impossible()), {"replayed"})
            self.assertTrue(any("not every rank" in note["text"] for note in rank.of_kind["note"]))

    def test_the_launcher_is_no_rank(self):
        seen = self.launched(plan("unchanged"), "ends_badly.py", "never trains")
        self.assertEqual([rank.end["why"] for rank in seen.ranks], ["no steps"] * 2)


class Changes(OfTheProbe):
    def images(self, **process):
        image = self.folder / "image.raw"
        image.write_bytes(b"\1")
        return self.job(plan({"change": "unchanged", "steps": 1000}, process=process), "images.py", *[str(image)] * 2)

    def test_of_the_whole_process(self):
        _, seen = self.images()
        self.assertIn("fused None bf16 False threads 3 channels_last False compiled False", seen.output)
        self.assertEqual(seen.files, set())  # not asked for
        rank, seen = self.images(autocast="bfloat16", fused_optimizer=True, threads=2, channels_last=True, workers_factor=2)
        self.assertEqual(rank.impossible(), {})
        self.assertIn("fused True bf16 True threads 2 channels_last True compiled False", seen.output)
        self.assertEqual(rank.loader("training")[0]["workers"], 2)

    def test_threads_are_not_those_of_spawned_workers(self):
        image = self.folder / "image.raw"
        image.write_bytes(b"\1")
        rank, seen = self.job(plan("unchanged", process={"threads": 2}), "images.py", str(image),
                              environment={"START": "spawn"})
        self.assertEqual(rank.end["why"], "done", seen.output)

    def numbers(self, planned, *words, **more):
        """The lines of the iterations: before, within and after the changed segment; each of them has six, and two untimed."""
        rank, seen = self.job(plan("unchanged", {"steps": 6} | planned, "unchanged"), "reads_numbers.py", *words, **more)
        self.assertEqual(rank.impossible(), {})
        self.assertEqual(rank.end["why"], "done")
        lines = seen.output.split("\n")
        same = [index for index in range(1, len(lines)) if lines[index] == lines[index - 1]]
        self.assertIn(len(same), (6, 7, 8))  # the first of them is read
        self.assertEqual(same, list(range(same[0], same[0] + len(same))))
        return lines

    def test_numbers_of_tensors_are_read_once_in_their_segment(self):
        lines = self.numbers({"change": "no_item", "device": "cpu"})
        self.assertEqual({len(set(line.split()[:3])) for line in lines if line}, {1}, "all ways read the same tensor")
        self.assertIn("False", lines[-2])

    def test_metrics_stand_still_in_their_segment(self):
        self.numbers({"change": "no_metrics"}, "metrics", launcher=[self.python_with("torchmetrics")])

    def test_changes_that_have_nothing_to_change_say_why(self):
        rank, _ = self.job(plan("no_metrics", "no_item", "unchanged"), "reads_numbers.py")
        self.assertEqual(rank.impossible()["no_metrics"], "it uses no torchmetrics")

    @unittest.skipUnless(shutil.which("g++"), "torch.compile needs a compiler")
    def test_compile(self):
        rank, seen = self.images(compile=True)
        self.assertIn("compiled True", seen.output)
        self.assertEqual(rank.end["iterations"], 40)

    def test_logging_is_off_only_in_its_segment(self):
        rank, seen = self.job(plan("unchanged", {"change": "no_logging", "steps": 6}, "unchanged"), "talks.py")
        self.assertEqual(rank.end["why"], "done")
        said = [int(word) for word in seen.output.split() if word.isdigit()]
        silent = sorted(set(range(max(said))) - set(said))
        self.assertIn(len(silent), (7, 8, 9))  # with two untimed iterations
        self.assertEqual(silent, list(range(silent[0], silent[0] + len(silent))))


class Ends(OfTheProbe):
    def test_errors_of_the_job_are_its_own(self):
        rank, seen = self.job(plan("unchanged", "replayed"), "ends_badly.py", "raises", expected=1)
        self.assertIn("the job's own error", seen.output)
        self.assertNotIn("run_matrix_probe", seen.output.split("Traceback")[0])
        self.assertEqual((rank.end["why"], rank.end["iterations"]), ("exit", 15))

    def test_measuring_alone_and_a_fault_of_the_probe_leave_the_job_as_it_was(self):
        plain = self.run_job(None, "ends_badly.py", "ends", environment={"RUN_MATRIX_PROBE": ""})
        self.assertIn("weight", plain.output)
        self.assertEqual(plain.ranks, [])
        _, seen = self.job(plan({"change": "unchanged", "steps": 1000}), "ends_badly.py", "ends")
        self.assertEqual(seen.output, plain.output)
        probed, _ = self.job(plan("replayed"), "ends_badly.py", "ends")
        self.assertEqual(probed.end["why"], "done")
        rank, seen = self.job(plan({"change": "unchanged", "steps": 1000}), "ends_badly.py", "probe fails")
        self.assertEqual(seen.output, plain.output)
        self.assertIn("planted", rank.of_kind["error"][0]["text"])
        self.assertEqual(rank.end, {})

    def test_a_script_that_never_trains(self):
        rank, _ = self.job(plan("unchanged"), "ends_badly.py", "never trains")
        self.assertEqual((rank.end["why"], rank.end["iterations"]), ("no steps", 0))

    def test_the_users_own_sitecustomize_runs_first(self):
        (self.folder / "sitecustomize.py").write_text("import sys\nsys.ran_mine = True\n")
        _, seen = self.job(plan({"change": "unchanged", "steps": 1000}), "ends_badly.py", "ends", path=[str(self.folder)])
        self.assertIn("users own True", seen.output)


class RealPackages(OfTheProbe):
    def of(self, package, iterations, *changes):
        python = self.python_with(package)
        rank, _ = self.job(plan({"change": "unchanged", "steps": 1000}), f"with_{package}.py", launcher=[python])
        self.assertIn(rank.end["iterations"], (iterations - 1, iterations))  # the last may never close
        self.assertEqual({step["items"] for step in rank.segments[0]["steps"]}, {4})
        rank, _ = self.job(plan("unchanged", "replayed", "double_batch", "loader_alone", "unchanged", "no_logging"),
                           f"with_{package}.py", launcher=[python])
        self.assertEqual(rank.end["why"], "done")
        self.assertEqual(rank.impossible(), {})
        self.assertEqual([one["steps"][0]["items"] for one in rank.segments], [4, 4, 8, 4, 4, 4])

    def test_lightning(self):
        self.of("lightning", 120)

    def test_accelerate(self):
        self.of("accelerate", 120)

    def test_transformers(self):
        self.of("transformers", 120)


if __name__ == "__main__":
    if not PYTHON and len(sys.argv) == 1:
        print("skipped: no Python with torch; next: name one in PYTHON")
        sys.exit(77)
    unittest.main()
