#!/usr/bin/env python3
"""The files of a history: JSON and Parquet, damage, kills, hostile names, and each view against figures made by hand."""
import json, os, pathlib, signal, subprocess, sys, tempfile, time, unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = PROJECT / ".venv/bin/python"
SCRIPT = PROJECT / "harness/nightly/parquet_history.py"
if subprocess.run([PYTHON, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode:
    print("skipped: .venv has no duckdb; ./run_matrix installs it")
    sys.exit(77)


def night(host="a", day="2026-01-01", seconds=10.0, **more):
    row = dict(row="0", scale="article", device="cuda", status="OK", config="c", totals_s=[seconds],
               phases_ms={"load": 3.25, "backward": 7.0}, repeats=1, metrics={"images_per_second": 1000 / seconds})
    it = dict(schema=1, id=f"{day}-{host}", started_at=f"{day}T03:00:00Z", tag="", machine="M", environment="E", host=host,
              revision="r1", run="/run", complete=True, canaries={"gemm_ms": 1.5}, rows=[row])
    it.update(more)
    return it


class History(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.home.name) / "it's a history"
        self.folder.mkdir()

    def tearDown(self):
        self.home.cleanup()

    def write(self, *nights):
        for it in nights:
            file = self.folder / f"night={it['started_at'][:10]}" / f"host={it['host']}" / f"{it['id']}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(it) + "\n")

    def run_it(self, *words, code=0):
        done = subprocess.run([PYTHON, SCRIPT, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.errors = done.stderr
        return done.stdout

    def nights(self, *more):
        return [json.loads(line) for line in self.run_it("nights", self.folder, *more).splitlines()]

    def query(self, *words):
        return json.loads(self.run_it("query", self.folder, *words, "--json"))

    def files(self, pattern):
        return sorted(self.folder.glob(pattern))


class Compaction(History):
    def test_keeps_every_key(self):
        nights = [night("a"), night("b", tag="x", imported=True, complete=False, rows=[], gpu_faults=["GPU-1: 3 errors"]),
                  night("c", canaries={}), night("\u00e9 '\"", revision="r\n2")]
        nights[0]["rows"].append(dict(row="7", scale="s", device="d", status="HUNG", config="", totals_s=[], phases_ms={},
                                      repeats=3))
        nights[2]["rows"][0].update(undisturbed_s=[9.123456], spoiled=1, totals_s=[0.1, 1e-6, 123456.654321])
        self.write(*nights)
        self.assertIn("4 nights of 1 days", self.run_it("compact", self.folder))
        self.assertEqual(self.files("night=*/host=*"), [])
        by_id = lambda list_: sorted(list_, key=lambda it: it["id"])
        self.assertEqual(by_id(self.nights()), by_id(nights))
        self.assertEqual(self.nights("--host", "a"), [nights[0]])

    def test_nights_of_older_versions_are_imported(self):
        (self.folder / "nights.jsonl").write_text(json.dumps(night("a")) + "\nno night\n" + json.dumps(night("b")) + "\n")
        self.run_it("compact", self.folder)
        self.assertIn("nights.jsonl:2: night left out: not JSON", self.errors)
        self.assertEqual(len(self.nights()), 2)
        self.assertTrue((self.folder / "nights.jsonl.compacted").exists())
        self.assertIn("0 nights", self.run_it("compact", self.folder))

    def test_damaged_and_other_nights_stay_and_are_named(self):
        self.write(night("a"), night("b", schema=2), night("c", colour="red"), night("half"))
        half = self.files("night=*/host=half/*.json")[0]
        half.write_text(half.read_text()[:40])
        self.run_it("compact", self.folder)
        for words in ("host=b/2026-01-01-b.json: night left out: `schema` is 2: expected 1", "`colour` is not a key",
                      "host=half/2026-01-01-half.json: night left out: not JSON"):
            self.assertIn(words, self.errors)
        self.assertEqual(len(self.files("night=*/host=*/*.json")), 3)
        self.assertEqual(len(self.nights()), 1)

    def test_today_and_the_future_wait(self):
        today, future = time.strftime("%Y-%m-%d", time.gmtime()), "2999-01-01"
        self.write(night("a", today), night("b", future))
        self.assertIn("0 nights", self.run_it("compact", self.folder))
        self.assertIn("night=2999-01-01 lies in the future", self.errors)
        self.assertIn("1 nights", self.run_it("compact", self.folder, "--all"))

    def test_a_night_that_comes_late_or_twice_counts_once(self):
        self.write(night("a"))
        self.run_it("compact", self.folder)
        self.write(night("a"), night("b"))
        self.assertIn("1 nights", self.run_it("compact", self.folder))
        self.assertEqual(len(self.files("night=*/compact-*")), 1)
        self.assertEqual(len(self.nights()), 2)

    def test_two_hosts_of_one_name_both_count(self):
        self.write(night("a"), night("a", id="other"))
        self.run_it("compact", self.folder)
        self.assertEqual(len(self.nights()), 2)

    def test_a_kill_loses_none_and_the_next_call_goes_on(self):
        for delay in (0.15, 0.25, 0.3, 0.35, 0.4, 0.5):
            self.write(*(night(f"h{i}", f"2026-01-{d:02}") for i in range(60) for d in range(1, 5)))
            run = subprocess.Popen([PYTHON, SCRIPT, "compact", self.folder])
            time.sleep(delay)
            run.send_signal(signal.SIGKILL)
            run.wait()
            self.assertEqual(self.query("--sql", "SELECT count(*) AS n FROM all_nights"), [{"n": 240}], delay)
        self.run_it("compact", self.folder)
        self.assertEqual(len(self.nights()), 240)
        self.assertEqual(self.files("night=*/host=*/*.json"), [])

    def test_two_at_once_lose_nothing(self):
        self.write(*(night(f"h{i}", f"2026-01-{d:02}") for i in range(40) for d in range(1, 6)))
        runs = [subprocess.Popen([PYTHON, SCRIPT, "compact", self.folder], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL) for _ in range(3)]
        codes = sorted(run.wait() for run in runs)
        self.assertIn(codes[0], (0,))
        self.assertEqual(len(self.nights()), 200)

    def test_a_full_disk_leaves_everything_as_it_was(self):
        if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", self.folder],
                                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs root and mount")
        try:
            self.write(*(night(f"h{i}", rows=[]) for i in range(15)))
            try:
                with (self.folder / "fill").open("wb", buffering=0) as fill:
                    while fill.write(b"x" * 4096):
                        pass
            except OSError:
                pass  # full
            self.run_it("compact", self.folder, code=2)
            self.assertEqual(len(self.files("night=*/host=*/*.json")), 15)
            self.assertEqual(self.files("night=*/*.parquet"), [])
        finally:
            subprocess.run(["umount", self.folder])

    def test_ten_thousand_files_in_a_day(self):
        self.write(*(night(f"h{i}", rows=[]) for i in range(10_000)))
        started = time.monotonic()
        self.assertIn("10000 nights", self.run_it("compact", self.folder))
        self.assertLess(time.monotonic() - started, 120, "hangs")
        self.assertEqual(self.query("--sql", "SELECT count(*) AS n FROM all_nights"), [{"n": 10_000}])


class Views(History):
    def setUp(self):
        super().setUp()
        # Day 1: a 10 s, b 10 s, c 20 s. Day 2: a 10 s, b 15 s; c is missing. b has another tag and revision then.
        self.write(night("a"), night("b"), night("c", seconds=20.0), night("a", "2026-01-02"),
                   night("b", "2026-01-02", 15.0, tag="new", revision="r2"))
        (self.folder / "hosts.csv").write_text("host,rack,switch\na,r1,s1\nb,r1,s2\nc,r2,\n")
        self.run_it("compact", self.folder)

    def test_slow_hosts(self):
        rows = self.query("slow_hosts", "day=2026-01-01")
        self.assertEqual([(row["host"], row["ratio"]) for row in rows], [("c", 2.0), ("a", 1.0), ("b", 1.0)])
        self.assertEqual(self.query("slow_hosts")[0]["host"], "b", "the latest night")

    def test_drift(self):
        rows = self.query("drift", "name=b", "of_row=0")
        self.assertEqual([(row["night"], row["total_s"]) for row in rows], [("2026-01-01", 10), ("2026-01-02", 15)])
        self.assertAlmostEqual(rows[1]["ratio"], 15 / 12.5)

    def test_before_and_after(self):
        (row,) = self.query("before_and_after", "before=", "after=new")
        self.assertEqual((row["before_s"], row["after_s"], row["ratio"], row["nights_before"]), (10, 15, 1.5, 4))

    def test_before_and_after_compares_equal_settings_alone(self):
        other = night("b", "2026-01-03", 30.0, tag="new")
        other["rows"][0]["config"] = "other"
        self.write(other)
        rows = self.query("before_and_after", "before=", "after=new")
        self.assertEqual([(row["after_s"], row["config"]) for row in rows], [(15, "c")])

    def test_a_day_that_is_none_is_refused_and_the_future_is_not_the_latest(self):
        for day in ("yesterday", "2026-02-30"):
            self.run_it("query", self.folder, "slow_hosts", f"day={day}", code=2)
            self.assertIn(day, self.errors)
        self.write(night("a", "2999-01-01"))
        self.assertEqual(self.query("slow_hosts")[0]["host"], "b")

    def test_between_revisions(self):
        self.assertEqual(self.query("between_revisions", "before=r1", "after=r2")[0]["ratio"], 1.5)

    def test_by_label(self):
        rows = self.query("by_label", "of_label=rack", "day=2026-01-01")
        self.assertEqual([(row["value"], row["ratio"], row["hosts"]) for row in rows], [("r2", 2.0, 1), ("r1", 1.0, 2)])

    def test_missing_hosts(self):
        self.assertEqual(self.query("missing_hosts"), [{"host": "c", "last_night": "2026-01-01"}])

    def test_failed_rows(self):
        failed, spoiled = night("d", "2026-01-03"), night("e", "2026-01-03")
        failed["rows"][0].update(status="HUNG", totals_s=[])
        spoiled["rows"][0].update(spoiled=1)
        self.write(failed, spoiled)
        self.assertEqual([(row["host"], row["status"]) for row in self.query("failed_rows")],
                         [("d", "HUNG"), ("e", "SPOILED")])

    def test_two_hosts(self):
        (row,) = self.query("two_hosts", "a=b", "b=a")
        self.assertEqual((row["a_s"], row["b_s"], row["ratio"], row["same_settings"]), (15, 10, 1.5, True))

    def test_canaries(self):
        rows = self.query("canaries", "day=2026-01-01")
        self.assertEqual({(row["host"], row["ms"], row["ratio"]) for row in rows}, {(host, 1.5, 1.0) for host in "abc"})

    def test_noisiest_rows(self):
        self.write(night("a", "2026-01-03"), night("a", "2026-01-04"))
        (row,) = self.query("noisiest_rows")
        self.assertEqual((row["row_id"], row["hosts"]), ("0", 1))
        self.assertGreater(row["deviation"], 0)

    def test_hardware(self):
        (row,) = self.query("hardware", "of_row=0", "day=2026-01-01")
        self.assertEqual((row["hosts"], row["total_s"], row["images_per_second"]), (3, 10, 100))

    def test_all_are_listed_and_none_is_untested(self):
        listed = [line.split("(")[0] for line in self.run_it("query", self.folder).splitlines() if line[0] != " "]
        self.assertEqual(len(listed), 11)
        for name in listed:
            self.assertTrue(hasattr(self, f"test_{name}"), name)

    def test_bad_input_is_one_sentence(self):
        for words, said in [(("query", self.folder, "slow"), "no view `slow`; there are slow_hosts"),
                            (("query", self.folder, "drift", "host=b"), "`host=b`: expected NAME=VALUE with name, of_row"),
                            (("query", self.folder, "--sql", "SELEC 1"), "SELEC"),
                            (("nights", "/nowhere"), "/nowhere: no such folder"),
                            (("fleet", "/nowhere", "--nights", "21"), "/nowhere: no such folder")]:
            self.run_it(*words, code=2)
            self.assertIn(said, self.errors)
        (self.folder / "hosts.csv").write_text("name,rack\na,r1\n")
        self.run_it("query", self.folder, "by_label", code=2)
        self.assertIn("hosts.csv: no column `host`", self.errors)

    def test_fleet_counts_the_own_past(self):
        answer = json.loads(self.run_it("fleet", self.folder, "--nights", "21"))
        self.assertEqual((answer["night"], answer["nights"], answer["missing"]), ("2026-01-02", 1, ["c"]))
        self.assertEqual(answer["hosts"][1], {"host": "b", "hardware": "M", "labels": {"rack": "r1", "switch": "s2"}})
        (figure,) = [it for it in answer["figures"] if it[0] == 1 and answer["series"][it[1]]["kind"] == "metric"]
        self.assertEqual(figure[2:], [15, 1, 1], "value, ratio of the past and its nights")
        self.assertEqual({series["kind"] for series in answer["series"]}, {"metric", "phase", "canary"})

    def fleet(self, *more):
        return json.loads(self.run_it("fleet", self.folder, "--nights", "21", *more))

    def test_fleet_leaves_out_nights_of_the_future(self):
        self.write(night("a", "2999-01-01"))
        self.assertEqual(self.fleet()["night"], "2026-01-02")
        self.assertIn("night=2999-01-01 lies in the future", self.errors)
        self.assertEqual(self.fleet("--night", "2999-01-01")["night"], "2999-01-01")

    def test_fleet_takes_hosts_that_began_before_midnight(self):
        late = night("d", "2026-01-01", 12.0)
        late["started_at"] = "2026-01-01T23:30:00Z"
        self.write(late)
        answer = self.fleet()
        self.assertEqual([host["host"] for host in answer["hosts"]], ["a", "b", "d"])
        self.assertEqual(answer["missing"], ["c"], "it began a day before")
        self.assertEqual([host["host"] for host in self.fleet("--night", "2026-01-01")["hosts"]], ["a", "b", "c", "d"])

    def test_fleet_compares_rows_of_equal_settings(self):
        for host, config, seconds in (("a", "c", 10.0), ("b", "c", 12.0), ("d", "slow", 30.0), ("e", "slow", 34.0)):
            one = night(host, "2026-01-05", seconds)
            one["rows"][0]["config"] = config
            self.write(one)
        answer = self.fleet()
        medians = {answer["hosts"][host]["host"]: answer["series"][series]["median"]
                   for host, series, *_ in answer["figures"] if answer["series"][series]["kind"] == "metric"}
        self.assertEqual(medians, {"a": 11, "b": 11, "d": 32, "e": 32})


if __name__ == "__main__":
    unittest.main()
