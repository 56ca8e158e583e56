#!/usr/bin/env python3
"""Who may do what (docs/running.md): hostile names in matrices, options, hosts, paths, records and histories; what another user
of the machine can read, block or redirect; what is executed; that what root does is undone. usage: access_test.py BUILD_FOLDER

Which addresses a row's processes listen on is tested by tests/launch/listening_sockets_test.cpp, folders in /dev/shm by
tests/base/private_folder_test.cpp, the rows' mounts and namespaces by tests/emulate."""
import csv, ctypes, fcntl, json, lzma, os, pathlib, pwd, re, shutil, signal, socket, stat, subprocess, sys, tempfile, threading, time
import unittest, xml.etree.ElementTree as xml

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else PROJECT / "build/release").resolve()
PROGRAM, FAKE = BUILD / "run_matrix", BUILD / "tests/fake_slice"
LONG = "x" * 4000
CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x4000, 0x40000, 2  # linux/sched.h, linux/mount.h; Python has the first from 3.12 on
# What a terminal or an editor obeys: control characters other than tab and newline, changes of the direction of writing.
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def names(marker):
    return ["</script><script>document.title='HIT'</script>", "<img src=http://h.invalid/p onerror=\"document.title='HIT'\">",
            "=cmd|'/C calc'!A0", "@SUM(1+1)*cmd", "\x1b]0;owned\x07\x1b[2J", "\x9b31mred", "\u202egnp.exe", "a\n::error::forged",
            "\r::add-mask::forged", "a\\|b", "![p](http://h.invalid/p) [x](javascript:1)", "../../../etc/passwd",
            f"$(touch {marker});`touch {marker}`", f"'; touch {marker}; '", '"} 1\nforged{a="', "]]>&lt;\ufffe", LONG]


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        self.folder = pathlib.Path(self.home.name)
        self.folder.chmod(0o755)
        self.marker = self.folder / "EXECUTED"

    def tearDown(self):
        self.assertFalse(self.marker.exists(), "a name was executed")

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "RUN_MATRIX_"))}
        own = dict(RUN_MATRIX_WORKER=str(FAKE), RUN_MATRIX_RESULTS=str(self.folder / "results"),
                   RUN_MATRIX_DATA=str(self.folder / "data"), RUN_MATRIX_PLOTS="specs")
        return {**kept, **own, **more}

    def run_matrix(self, *words, code=(0,), before=(), **more):
        options = {name: more.pop(name) for name in ("cwd", "umask") if name in more}
        done = subprocess.run([*before, PROGRAM, *words], capture_output=True, env=self.environment(**more), timeout=240,
                              stdin=subprocess.DEVNULL, **options)
        said = (done.stdout + done.stderr).decode(errors="replace")
        self.assertIn(done.returncode, code, said[-3000:])
        self.assertIsNone(COMMANDS.search(said), repr(said[max(0, (COMMANDS.search(said) or re.match("", "")).start() - 80):][:200]))
        return said

    def smoke(self, out, *words, **more):
        return self.run_matrix("--scale", "smoke", "--device", "cpu", "--set", "storage=synthetic", "--out", out, *words, **more)


class NamesInRecords(Case):
    """A run and a history that came from elsewhere: every text in them is hostile."""

    def setUp(self):
        super().setUp()
        self.names = names(self.marker)
        records = [json.loads(line) for line in lzma.open(PROJECT / "results/sample/records.jsonl.xz", "rt")]
        rows = sorted({record["row"] for record in records})
        named = {row: self.names[i % len(self.names)] + (f" {i}" if i >= len(self.names) else "") for i, row in enumerate(rows)}
        for i, record in enumerate(records):
            config = record["config"]
            record["row"] = config["id"] = named[record["row"]]
            config["base"] = named.get(config.get("base"), config.get("base"))
            config["title"] = config["question"] = self.names[i % len(self.names)]
            record["machine"]["host"] = self.names[(i + 5) % len(self.names)]
            record["notes"] = self.names
        failed = dict(records[0], row=self.names[1] + "failed", status="CRASHED", reason="\n".join(self.names), repeat=0)
        for key in ("total_s", "images_per_second", "samples_ms"):
            failed.pop(key, None)
        self.out = self.folder / "run"
        self.out.mkdir()
        text = "".join(json.dumps(record, ensure_ascii=i % 2 == 0) + "\n" for i, record in enumerate([*records, failed]))
        (self.out / "records.jsonl").write_text(text)

    def report(self):
        said = self.run_matrix("report", self.out, "--junit", self.out / "junit.xml", "--prometheus", self.out / "m.prom",
                               "--github", GITHUB_STEP_SUMMARY=str(self.folder / "summary.md"),
                               GITHUB_OUTPUT=str(self.folder / "output"))
        return said

    def test_outputs(self):
        said = self.report()
        for line in said.splitlines():
            self.assertNotRegex(line.strip(), r"^::(?!error title=[^:]*::)")
        self.assertEqual((self.folder / "output").read_text(), f"run={self.out}\n")
        texts = {file: file.read_text() for file in [*self.out.glob("*.txt"), *self.out.glob("*.md"), *self.out.glob("*.csv"),
                                                     self.out / "m.prom", self.out / "junit.xml", self.folder / "summary.md"]}
        self.assertGreater(len(texts), 7)
        for file, text in texts.items():
            found = COMMANDS.search(text)
            self.assertIsNone(found, f"{file.name}: {found and text[max(0, found.start() - 60):found.end() + 20]!r}")
        for file, text in texts.items():
            if file.suffix == ".csv":
                for row in csv.reader(text.splitlines()):
                    for cell in row:
                        if cell[:1] in tuple("=+-@"):
                            float(cell)
            if file.suffix == ".md":
                bare = re.sub(r"\\.", "", re.sub(r"(?ms)^```$.*?^```$", "", text))
                self.assertNotRegex(bare, r"<(?!/?(details|summary|br))", file.name)
                self.assertNotIn("![", bare, file.name)
                columns = 0
                for line in bare.splitlines():
                    columns = line.count("|") if re.match(r"\|(---:?\|)+$", line) else columns
                    if line.startswith("| ") and columns:
                        self.assertEqual(line.count("|"), columns, line[:300])
                    columns = columns if line.startswith("|") else 0
        suites = xml.parse(self.out / "junit.xml").getroot()
        self.assertIn(self.names[0], " ".join(case.get("name") for case in suites.iter("testcase")))
        label = r'[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
        for line in texts[self.out / "m.prom"].splitlines():
            self.assertRegex(line, rf"^(# (HELP|TYPE) .*|[a-z0-9_]+(\{{{label}(,{label})*\}})? [0-9.e+-]+)$")

    def test_page_in_a_browser_runs_and_requests_nothing(self):
        browser = next(filter(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome")), None)
        if not browser:
            self.skipTest("no browser: apt-get install chromium-headless-shell")
        self.report()
        self.assertGreater((self.out / "report.html").stat().st_size, 100000)
        asked = []
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            def note():
                try:
                    while True:
                        connection, _ = proxy.accept()
                        asked.append(connection.recv(200))
                        connection.close()
                except OSError:
                    pass
            threading.Thread(target=note, daemon=True).start()
            done = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={self.folder / 'profile'}",
                 f"--proxy-server=127.0.0.1:{proxy.getsockname()[1]}", "--virtual-time-budget=20000", f"file://{self.out}/report.html"],
                capture_output=True, text=True, timeout=200)
            proxy.close()
        self.assertRegex(done.stdout, r"<table", done.stderr[-500:])
        self.assertNotIn("<title>HIT", done.stdout)
        self.assertNotRegex(done.stdout, r"<img[^>]*h\.invalid")
        self.assertEqual([it for it in asked if b"invalid" in it], [])

    def test_compare(self):
        self.run_matrix("compare", self.out, self.out, code=(0, 3, 4))

    def history(self):
        lines = []
        self.names[-1] = LONG[:200]
        for number in range(3 * len(self.names)):
            name = self.names[number % len(self.names)]
            night = dict(schema=1, id=f"{name}{number}", started_at=f"2026-01-{1 + number // len(self.names):02}T03:00:00Z", tag=name,
                         machine=name, environment=name, host=name, revision=name, run=name, complete=True,
                         canaries={name: 1.0}, rows=[dict(row=name, scale=name, device=name, status="OK", config="c",
                                                          totals_s=[1.0], phases_ms={"load": 1.0}, repeats=1)])
            lines.append(json.dumps(night))
        file = self.folder / "nights.jsonl"
        file.write_text("\n".join(lines) + "\n")
        return file

    def test_history_and_fleet(self):
        history = self.folder / "deep/er/history"
        before = {*self.folder.iterdir()} | {self.folder / "deep"}
        words = ("history", "--history", history)
        self.assertIn(f"{3 * len(self.names)} nights added", self.run_matrix(*words, "import", self.history()))
        for more in (("list",), ("list", "--json"), ("show", "last"), ("compare", "last-1", "last"), ("trend",), ("export", "-"),
                     ("query", "--sql", "SELECT host, tag, machine FROM all_nights")):
            self.run_matrix(*words, *more, code=(0, 2, 3, 4) if more[0] in ("compare", "trend") else (0,))
        (history / "hosts.csv").write_text("host,rack\n" + "".join(f'"{name}","{name}"\n' for name in self.names[:4]))
        self.run_matrix("fleet", history, code=(0, 3, 4))
        self.run_matrix(*words, "compact", "--all")
        self.run_matrix(*words, "list")
        self.assertEqual({*self.folder.iterdir()} - before, {self.folder / "nights.jsonl"}, "written outside of the history")
        self.assertEqual({*history.parent.iterdir()}, {history})


class NamesGivenToARun(Case):
    def test_titles_in_a_matrix(self):
        """Run, or refused with a line number: never executed, and never shown as they are."""
        for number, name in enumerate(names(self.marker)):
            matrix = self.folder / "matrix.yaml"
            matrix.write_text(json.dumps({"title": name, "rows": {"a": {"title": name}}}))
            said = self.smoke(self.folder / f"run{number}", matrix, code=(0, 2))
            self.assertEqual("matrix.yaml:" in said, bool(COMMANDS.search(name)) or name == "\r::add-mask::forged", said[-500:])

    def test_ids_are_letters_and_digits(self):
        for name in names(self.marker):
            matrix = self.folder / "matrix.yaml"
            matrix.write_text(json.dumps({"title": "t", "rows": {name: {"title": "t"}}}))
            self.assertIn("matrix.yaml:", self.smoke(self.folder / "run", matrix, code=(2,)))
        self.assertFalse((self.folder / "run").exists())

    def test_words_of_the_command_line(self):
        for name in [*names(self.marker), b"\xff\xfe"]:
            name = name if isinstance(name, bytes) else name.encode()
            for words in ((b"--only", name), (b"--set", b"precision=" + name), (b"--scale", name), (name,), (b"--" + name,),
                          (b"--hosts", name), (b"--data", b"/nowhere/" + name), (b"report", b"/nowhere/" + name),
                          (b"compare", name, name), (b"history", b"--history", b"/nowhere/" + name, b"list")):
                self.run_matrix(*words, code=(2,))

    def test_host_tag_and_folder_of_a_night(self):
        for number, name in enumerate([*names(self.marker)[:-1], "h" * 150]):
            folder = self.folder / f"out {number} $(touch {self.marker.name}) '\"; <b>"
            said = self.run_matrix("nightly", "--scale", "smoke", "--device", "cpu", "--only", "0,7", "--set", "storage=synthetic",
                                   "--repeat", "1", "--tag", name, "--history", self.folder / "h", "--out", folder, RUN_MATRIX_HOST=name,
                                   cwd=self.folder, code=(0,))
            self.assertTrue((folder / "records.jsonl").exists(), said)
        self.run_matrix("history", "--history", self.folder / "h", "list")


class OtherUsers(Case):
    """Another user prepared the names that a run uses, or looks at what it leaves."""
    NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("becoming another user takes root")

    def test_locks_prepared_by_another_user(self):
        """Refused at once, naming the file and its owner; a link isn't followed."""
        target = self.folder / "target"
        for kind in ("file", "link", "folder", "pipe"):
            history = self.folder / kind
            history.mkdir()
            history.chmod(0o1777)
            lock = history / "nightly-host.lock"
            {"file": lambda: os.close(os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)), "link": lambda: lock.symlink_to(target),
             "folder": lock.mkdir, "pipe": lambda: os.mkfifo(lock, 0o600)}[kind]()
            said = self.run_matrix("nightly", "--scale", "smoke", "--only", "0", "--history", history, RUN_MATRIX_HOST="host",
                                   before=self.NOBODY, code=(2,))
            self.assertIn(f"{lock}, which belongs to root", said)
        self.assertFalse(target.exists())

    def test_a_lock_held_by_another_user(self):
        """The run says after 5 s whose lock it waits for, and Ctrl-C ends the wait."""
        images, store = self.folder / "images", self.folder / "store"
        make = lambda *words: subprocess.run([BUILD / "make_dataset", *words], check=True, capture_output=True, text=True)
        make("standin", "--out", images, "--images", "4", "--classes", "2")
        make("index", "--data", images, "--store", store)
        pack = ("pack", "--index", next(store.glob("*/index.tsv")), "--to", "raw", "--store", store)
        make(*pack)
        lock = next(store.glob("*/raw*.lock"))
        shutil.rmtree(lock.with_suffix(""))
        with open(lock) as file:  # locked by a process of nobody's
            lock_it = "import fcntl, time; fcntl.flock(0, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
            holder = subprocess.Popen([*self.NOBODY, "python3", "-c", lock_it], stdin=file, stdout=subprocess.PIPE)
            holder.stdout.readline()
            waiting = subprocess.Popen([BUILD / "make_dataset", *pack], stderr=subprocess.PIPE, text=True)
            try:
                line = waiting.stderr.readline()
                waiting.send_signal(signal.SIGINT)
                self.assertNotEqual(waiting.wait(20), 0)
                self.assertRegex(line, rf"waiting for {lock}, which process \d+, which belongs to nobody, has locked")
            finally:
                waiting.kill()
                holder.kill()
                holder.communicate()
                waiting.communicate()

    def test_what_a_run_leaves(self):
        """Modes follow the umask; what a training of one's own prints is for its user alone."""
        for umask in (0o022, 0o002, 0o077):
            out = self.folder / f"{umask:o}"
            self.smoke(out, "--only", "0", umask=umask)
            for path in [out, *out.rglob("*")]:
                if not path.is_symlink():
                    self.assertEqual(stat.S_IMODE(path.stat().st_mode) & (umask | 0o002), 0, path)
        job = self.folder / "job"
        self.run_matrix("record", "--out", job, "--", "sh", "-c", "echo secret", umask=0o002, code=(0, 1, 2, 3))
        self.assertEqual(stat.S_IMODE(job.stat().st_mode), 0o700)
        seen = subprocess.run([*self.NOBODY, "find", job], capture_output=True, text=True)
        self.assertNotEqual(seen.stderr, "")


class Executed(Case):
    PROGRAMS = ("python", "python3", "sh", "mpirun", "nginx", "rclone", "train_slice", "make_dataset", "unshare", "setpriv", "ip", "git",
                "nvidia-smi", "taskset")
    MODULES = ("json", "argparse", "duckdb", "vl_convert", "sitecustomize", "history_files", "datetime")

    def test_nothing_of_the_current_folder(self):
        here = self.folder / "here"
        here.mkdir()
        for name in self.PROGRAMS:
            (here / name).write_text(f"#!/bin/sh\ntouch {self.marker}\n")
            (here / name).chmod(0o755)
        for name in self.MODULES:
            (here / f"{name}.py").write_text(f"open({str(self.marker)!r}, 'w')\n")
        self.smoke(self.folder / "run", "--only", "0,12", cwd=here)
        self.run_matrix("plot", self.folder / "run", cwd=here, RUN_MATRIX_PLOTS="")
        self.run_matrix("nightly", "--scale", "smoke", "--only", "0", "--set", "storage=synthetic", "--history", "h", cwd=here)
        for words in (("history", "--history", "h", "compact", "--all"), ("history", "--history", "h", "query", "--sql", "SELECT 1"),
                      ("fleet", "h")):
            self.run_matrix(*words, cwd=here, code=(0, 3))


def leave_mounts_of_others():
    """A mount namespace of this process and its children, into which no mount of a test beside it comes."""
    libc = ctypes.CDLL(None, use_errno=True)
    for result in (libc.unshare(CLONE_NEWNS), libc.mount(None, b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None)):
        if result != 0:
            raise OSError(ctypes.get_errno(), "no mount namespace of its own")
    # Those that are there already would go, even here, when a test beside it removes their folder.
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        if "/suite-test-" in (place := line.split()[4]):
            libc.umount2(place.encode(), MNT_DETACH)


class AsRoot(Case):
    def test_mounts_and_interfaces_are_as_before(self):
        """After a row on two emulated nodes, which root makes out of namespaces."""
        if os.geteuid() != 0 or not (BUILD / "train_slice").exists() or not shutil.which("ip"):
            self.skipTest("two nodes on one machine take root, iproute2 and the built train_slice")
        leave_mounts_of_others()
        state = lambda: (pathlib.Path("/proc/self/mountinfo").read_text(), os.listdir("/sys/class/net"),
                         subprocess.run(["ip", "netns"], capture_output=True).stdout)
        before = state()
        said = self.smoke(self.folder / "run", "--only", "17", RUN_MATRIX_WORKER=str(BUILD / "train_slice"))
        self.assertEqual(state(), before, said)


if __name__ == "__main__":
    unittest.main()
