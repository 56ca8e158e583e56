#!/usr/bin/env python3
"""What runs write and what configs/ holds for other programs, read by those programs' own readers: junitparser, promtool,
OpenTelemetry's messages, Grafana's types of a dashboard, Kubernetes' published schemas (kubernetes-validate), DuckDB.
usage: readers_test.py BUILD_FOLDER"""
import json, lzma, pathlib, re, shutil, subprocess, sys, tempfile, unittest
import xml.etree.ElementTree

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else PROJECT / "build/release")
READERS = BUILD / "tests/readers"

# What junit-10.xsd of Jenkins' xunit plugin allows: of each element the attributes that it needs, others, and children.
JUNIT_10 = {
    "testsuites": ("", "name time tests failures errors", "testsuite"),
    "testsuite": ("name tests failures errors", "group time skipped timestamp hostname id package file log url",
                  "testsuite properties testcase system-out system-err"),
    "testcase": ("name", "time classname group", "skipped error failure system-out system-err"),
    "failure": ("", "type message", ""), "error": ("", "type message", ""), "skipped": ("", "type message", ""),
    "system-out": ("", "", ""),
}
PACKAGES = ["junitparser==5.0.3", "kubernetes-validate==1.37.0", "opentelemetry-proto==1.45.2",
            "grafana-foundation-sdk==1769699998!10.1.0"]


def reader_python():
    """A Python with the readers, installed once; the test that needs it is skipped without a network."""
    python = READERS / "bin/python"
    stamp = READERS / ".installed"
    if not stamp.exists() or stamp.read_text() != "\n".join(PACKAGES):
        shutil.rmtree(READERS, ignore_errors=True)
        for words in ([sys.executable, "-m", "venv", READERS], [python, "-m", "pip", "install", "--quiet", *PACKAGES]):
            if (done := subprocess.run(words, capture_output=True, text=True)).returncode:
                raise unittest.SkipTest(f"{' '.join(PACKAGES)} can't be installed: {done.stderr.strip()[-200:]}")
        stamp.write_text("\n".join(PACKAGES))
    return python


def promtool(*words, **more):
    if not shutil.which("promtool"):
        raise unittest.SkipTest("there is no promtool (Debian: prometheus)")
    return subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, **more)


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The outputs of the committed run, with a row's title that tries to break them."""
        cls.home = tempfile.TemporaryDirectory()
        run = pathlib.Path(cls.home.name) / "run"
        run.mkdir()
        records = [json.loads(line) for line in lzma.open(PROJECT / "results/sample/records.jsonl.xz", "rt")]
        for record in records:
            record["config"]["title"] = "a \"b\" <c> & \n::error::d ]]>"
        failed = dict(records[0], row="failed", status="CRASHED", reason="signal 11\n<b>", repeat=0)
        for key in ("total_s", "images_per_second", "samples_ms"):
            failed.pop(key, None)
        (run / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in [*records, failed]))
        cls.junit, cls.metrics, cls.otlp = run / "junit.xml", run / "metrics.prom", run / "metrics.json"
        done = subprocess.run([BUILD / "run_matrix", "report", run, "--junit", cls.junit, "--prometheus", cls.metrics,
                               "--otlp", cls.otlp], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cls.rows = len({record["row"] for record in records})

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def test_junitparser_counts_rows_checks_and_claims(self):
        script = ("import sys, json, junitparser\n"
                  "print(json.dumps({s.name: [s.tests, s.failures, s.errors, s.skipped]\n"
                  "                  for s in junitparser.JUnitXml.fromfile(sys.argv[1])}))")
        done = subprocess.run([reader_python(), "-c", script, self.junit], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        suites = json.loads(done.stdout)
        self.assertEqual(suites["rows"], [self.rows + 1, 0, 1, 0])
        self.assertEqual(suites["claims"][0], 17)
        self.assertGreater(suites["checks"][0], self.rows)

    def test_junit_has_what_jenkins_schema_allows(self):
        for element in (tree := xml.etree.ElementTree.parse(self.junit)).iter():
            needed, more, children = (set(words.split()) for words in JUNIT_10[element.tag])
            self.assertLessEqual(needed, set(element.keys()), element.tag)
            self.assertLessEqual(set(element.keys()), needed | more, element.tag)
            self.assertLessEqual({child.tag for child in element}, children, element.tag)
        for suite in tree.iter("testsuite"):
            self.assertRegex(suite.get("time"), r"^[0-9]+(\.[0-9]*)?$")

    def test_opentelemetrys_messages_hold_each_metric(self):
        script = ("import sys\n"
                  "from google.protobuf import json_format\n"
                  "from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2\n"
                  "request = metrics_service_pb2.ExportMetricsServiceRequest()\n"
                  "json_format.Parse(open(sys.argv[1]).read(), request)  # refuses a field that it doesn't know\n"
                  "for resource in request.resource_metrics:\n"
                  "    for scope in resource.scope_metrics:\n"
                  "        for metric in scope.metrics:\n"
                  "            for point in metric.gauge.data_points:\n"
                  "                print(metric.name, repr(point.as_double), point.time_unix_nano > 0, len(point.attributes))")
        done = subprocess.run([reader_python(), "-c", script, self.otlp], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        read = [line.split() for line in done.stdout.splitlines()]
        written = re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", self.metrics.read_text(), re.M)
        self.assertEqual([[name, f"{float(value):.10g}", str(len(re.findall(r'\w+="', labels)))]
                          for name, labels, value in written],
                         [[name, f"{float(value):.10g}", attributes] for name, value, _, attributes in read])
        self.assertEqual({stamped for _, _, stamped, _ in read}, {"True"})

    def test_promtool_accepts_the_metrics(self):
        done = promtool("check", "metrics", input=self.metrics.read_text())
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_promtool_accepts_the_alerts_and_they_fire(self):
        folder = PROJECT / "configs/prometheus"
        for words in (("check", "rules", folder / "alerts.yaml"), ("test", "rules", folder / "alerts_test.yaml")):
            done = promtool(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def known_metrics(self):
        written = set(re.findall(r"^# TYPE (\w+)", self.metrics.read_text(), re.M))
        return written | {"run_matrix_regressions", "run_matrix_canary_seconds", "run_matrix_gpu_faults"}

    def dashboards(self):
        for file in sorted((PROJECT / "configs/grafana").glob("*.json")):
            dashboard = json.loads(file.read_text())
            self.assertLessEqual({"title", "uid", "schemaVersion", "panels", "templating"}, dashboard.keys(), file)
            numbers = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(numbers), len(set(numbers)), file)
            for panel in dashboard["panels"]:
                self.assertLessEqual({"type", "title", "gridPos", "datasource", "targets"}, panel.keys(), file)
                self.assertLessEqual(panel["gridPos"]["x"] + panel["gridPos"]["w"], 24, panel["title"])
                yield from ((file, dashboard, panel, target) for target in panel["targets"])

    def test_grafanas_own_types_keep_every_field_of_the_dashboards(self):
        """A field that Grafana doesn't know is lost on the way through its types, which are made from its schema."""
        script = ("import sys, json\n"
                  "from grafana_foundation_sdk.cog.encoder import JSONEncoder\n"
                  "from grafana_foundation_sdk.models.dashboard import Dashboard\n"
                  "print(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(json.load(sys.stdin))))")

        def lost(before, after, path=""):
            if isinstance(before, dict):
                return [it for key, value in before.items() for it in lost(value, after.get(key), f"{path}/{key}")]
            if isinstance(before, list):
                return [it for i, value in enumerate(before) for it in lost(value, after[i], f"{path}/{i}")]
            return [] if before == after else [path]

        def through(dashboard):
            done = subprocess.run([reader_python(), "-c", script], input=json.dumps(dashboard), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        for file in (PROJECT / "configs/grafana").glob("*.json"):
            dashboard = json.loads(file.read_text())
            self.assertEqual(lost(dashboard, through(dashboard)), [], file)
        dashboard["refrehs"] = dashboard["panels"][0]["gridPos"]["hieght"] = 1
        self.assertEqual(sorted(lost(dashboard, through(dashboard))), ["/panels/0/gridPos/hieght", "/refrehs"])

    def test_dashboards_and_alerts_ask_for_metrics_that_are_written(self):
        texts = [target["expr"] for _, _, _, target in self.dashboards() if "expr" in target]
        texts += [variable["query"] for _, dashboard, _, _ in self.dashboards() for variable in dashboard["templating"]["list"]
                  if variable["type"] == "custom"]
        texts += re.findall(r"expr: (.*)", (PROJECT / "configs/prometheus/alerts.yaml").read_text())
        asked = {name for text in texts for name in re.findall(r"\brun_matrix_\w+", text)}
        self.assertGreater(len(asked), 8)
        self.assertEqual(asked - self.known_metrics(), set())

    def test_promtool_parses_each_query_of_the_dashboards(self):
        rules = [{"record": "x:y", "expr": target["expr"].replace("$metric", "up").replace("$instance", "a")}
                 for _, _, _, target in self.dashboards() if "expr" in target]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            for number, rule in enumerate(rules):
                rule["record"] = f"x:y{number}"
            json.dump({"groups": [{"name": "dashboards", "rules": rules}]}, file)
            file.flush()
            done = promtool("check", "rules", file.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_duckdb_runs_each_query_of_the_dashboards(self):
        python = PROJECT / ".venv/bin/python"
        if subprocess.run([python, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest(".venv has no duckdb")
        night = dict(schema=1, id="n", started_at="2026-01-01T03:00:00Z", tag="", machine="M", environment="E", host="node1",
                     revision="r", run="", complete=True, canaries={"gemm_ms": 1.5},
                     rows=[dict(row="0", scale="s", device="d", status="OK", config="c", totals_s=[2.0], phases_ms={"load": 1},
                                repeats=1)])
        folder = pathlib.Path(self.home.name) / "history"
        file = folder / "night=2026-01-01/host=node1/n.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(night))
        subprocess.run([python, PROJECT / "harness/nightly/parquet_history.py", "compact", folder], check=True,
                       stdout=subprocess.DEVNULL)
        asked = 0
        for _, _, panel, target in self.dashboards():
            if "rawSql" in target:
                query = target["rawSql"].replace("$history", str(folder)).replace("$host", "node1")
                done = subprocess.run([python, "-c", "import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())", query],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, panel["title"] + done.stderr)
                self.assertNotEqual(done.stdout.strip(), "[]", panel["title"])
                asked += 1
        self.assertEqual(asked, 4)

    def test_kubernetes_schemas_accept_the_job(self):
        python = reader_python()
        script = ("import sys, yaml, kubernetes_validate\n"
                  "for it in yaml.safe_load_all(open(sys.argv[1])): kubernetes_validate.validate(it, '1.31', strict=True)")
        file = PROJECT / "configs/kubernetes/nightly-cronjob.yaml"
        done = subprocess.run([python, "-c", script, file], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-600:])
        # It is a test only if a mistake is found.
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as wrong:
            wrong.write(file.read_text().replace("completionMode:", "completionsMode:"))
            wrong.flush()
            self.assertNotEqual(subprocess.run([python, "-c", script, wrong.name], capture_output=True).returncode, 0)

    def test_pods_of_the_mpijob_are_pods(self):
        """The operator's own fields (v2beta1, kubeflow/mpi-operator) aren't in Kubernetes' schemas; its pods are."""
        script = ("import sys, yaml, kubernetes_validate\n"
                  "job = yaml.safe_load(open(sys.argv[1]))\n"
                  "spec = job['spec']\n"
                  "assert job['apiVersion'] == 'kubeflow.org/v2beta1' and job['kind'] == 'MPIJob'\n"
                  "assert set(spec) <= {'slotsPerWorker', 'sshAuthMountPath', 'runPolicy', 'mpiReplicaSpecs', 'mpiImplementation',\n"
                  "                     'launcherCreationPolicy'}, set(spec)\n"
                  "assert set(spec['mpiReplicaSpecs']) == {'Launcher', 'Worker'}\n"
                  "for name, it in spec['mpiReplicaSpecs'].items():\n"
                  "  assert set(it) <= {'replicas', 'restartPolicy', 'template'}\n"
                  "  kubernetes_validate.validate({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name.lower()},\n"
                  "                                'spec': it['template']['spec']}, '1.31', strict=True)")
        done = subprocess.run([reader_python(), "-c", script, PROJECT / "configs/kubernetes/two-nodes-mpijob.yaml"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-600:])

    def test_images_install_what_the_set_up_installs(self):
        for name in ("Dockerfile", "run-matrix.def"):
            text = (PROJECT / "configs/images" / name).read_text()
            self.assertIn("scripts/setup run", text)
            listed = (PROJECT / "scripts/packages-run.txt").read_text()
            for package in re.findall(r"^([a-z0-9.+-]+)", listed, re.M):
                self.assertNotRegex(text, rf"install.*\b{re.escape(package)}(\s|$)", "a second list of packages")


if __name__ == "__main__":
    unittest.main()
