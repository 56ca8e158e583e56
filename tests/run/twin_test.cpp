// train: rows that Python's PyTorch trains (bench/twin) have reports like train_slice's; what a Python lacks
// is named beforehand, and its exception is the row's reason.
#include <cmath>
#include <fstream>
#include <numeric>

#include "harness/config/installation.h"
#include "tests/support/real_rows.h"

namespace harness::twin_test {

class Twin : public RealRows {
 protected:
  void SetUp() override {
    if (!base::program_exists("python3")) GTEST_SKIP() << "no python3";
  }
  // Runs configs/twin.yaml; returns what it says.
  std::string run(Words options, int expected_code = 0) {
    options.insert(options.begin(), {SOURCE_DIR "/configs/twin.yaml", "--device", "cpu"});
    EXPECT_EQ(RealRows::run(options), expected_code) << said;
    return said;
  }
  static std::string why_not() {
    base::Command command;
    const Installation installation = find_installation();
    command.arguments = {installation.python, SOURCE_DIR "/bench/twin/twin.py", "--why-not", "pytorch",
                         "cpu"};
    return base::run_to_end(command).output;
  }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << text;
    fs::permissions(folder / file, fs::perms::owner_all);
  }
  // A Python that finds no installed package, only those below packages/.
  void use_bare_python() {
    write("python", "#!/bin/sh\nexec python3 -S -B \"$@\"\n");
    environment = {{"PYTHON", folder / "python"}, {"PYTHONPATH", folder / "packages"}};
  }
};

TEST_F(Twin, TrainsARowAndReportsAllPhases) {
  if (const std::string why = why_not(); why != "\n") GTEST_SKIP() << why;
  run({"--only", "plain,plain-eager,nhwc-eager", "--out", folder / "run"});
  EXPECT_SAYS(said, "flag P: trained by Python's PyTorch");
  const auto found = rows();
  const Record& suite = found.at("plain");
  for (const char* id : {"plain-eager", "nhwc-eager"}) {
    const Record& record = found.at(id);
    ASSERT_EQ(record.status, "OK") << record.reason;
    EXPECT_EQ(record.loss.size(), 6u);
    for (const double loss : record.loss) EXPECT_TRUE(std::isfinite(loss));
    EXPECT_LT(record.loss.back(), record.loss.front());
    EXPECT_NEAR(record.loss.front(), suite.loss.front(), 1) << "of untrained weights";
    EXPECT_FALSE(version_of(record, "pytorch").empty());
    EXPECT_TRUE(record.environment.window_busy_share.has_value());
    EXPECT_GT(record.max_rss_bytes.value_or(0), 0);
    ASSERT_EQ(record.samples_ms.size(), suite.samples_ms.size());
    double sum_ms = 0;
    for (const auto& [phase, ranks] : suite.samples_ms) {
      const std::vector<double>& batches = record.samples_ms.at(phase).at(0);
      EXPECT_EQ(batches.size(), 6u) << phase;
      EXPECT_EQ(record.warmup_ms.at(phase).at(0).size(), 2u) << phase;
      const double ms = std::accumulate(batches.begin(), batches.end(), 0.0);
      const double in_suite = std::accumulate(ranks.at(0).begin(), ranks.at(0).end(), 0.0);
      EXPECT_EQ(ms > 0, in_suite > 0) << phase << " takes time in one of the two";
      sum_ms += ms;
    }
    EXPECT_NEAR(sum_ms, 1e3 * record.total_s.value(), 0.02 * sum_ms + 2) << "phases leave no gaps";
    EXPECT_GT(record.ceilings.value().compute_ms.value(), 0);
  }
  EXPECT_EQ(found.at("nhwc-eager").precision.label, "bf16");
}

TEST_F(Twin, ComputesLossAndGradientsOfTheSameNetwork) {
  if (const std::string why = why_not(); why != "\n") GTEST_SKIP() << why;
  base::Command command;
  command.arguments = {find_installation().python, SOURCE_DIR "/tests/run/twin_network.py"};
  command.errors_to_output = true;
  const base::Finished finished = base::run_to_end(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
}

TEST_F(Twin, WhatAPythonLacksIsNamedBeforeAnythingRuns) {
  use_bare_python();
  run({"--only", "plain,plain-eager", "--dry-run"});
  EXPECT_SAYS(said, "plain-eager    SKIPPED: ");
  EXPECT_SAYS(said, "has no torch; next: python3 -m venv V && V/bin/pip install torch==2.11.0");
  write("packages/torch/__init__.py", "");
  EXPECT_SAYS(run({"--only", "plain-eager", "--dry-run"}), "lacks typing_extensions, sympy, mpmath; next: ");
  for (const char* package : {"typing_extensions", "sympy", "mpmath"})
    write(std::string("packages/") + package + "/__init__.py", "");
  write("packages/torch/__init__.py", "raise ImportError('libmade_up.so.0: no such file')\n");
  EXPECT_SAYS(run({"--only", "plain-eager", "--dry-run"}),
              "can't be imported: libmade_up.so.0: no such file; next: ");
  environment["PYTHON"] = folder / "none";
  EXPECT_SAYS(run({"--only", "plain-eager", "--dry-run"}),
              "none: can't be started: No such file or directory");
  EXPECT_SAYS(run({"--only", "best-graph", "--dry-run"}), "cuda_graphs=true, loss_every=50 need device cuda");
}

TEST_F(Twin, ACompilerThatIsMissingIsNamed) {
  use_bare_python();
  for (const char* package :
       {"torch", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "filelock"})
    write(std::string("packages/") + package + "/__init__.py", "");
  write("packages/shutil.py", "def which(name): return None\n");
  EXPECT_SAYS(run({"--only", "plain-compiled", "--dry-run"}),
              "there is no compiler, which torch.compile needs; next: apt-get install g++");
}

TEST_F(Twin, AnExceptionIsTheRowsReason) {
  use_bare_python();
  for (const char* package : {"typing_extensions", "sympy", "mpmath"})
    write(std::string("packages/") + package + "/__init__.py", "");
  write("packages/torch/__init__.py", "raise RuntimeError('made up\\nwith details')\n");
  run({"--only", "plain-eager", "--out", folder / "run"}, 1);
  EXPECT_EQ(rows().at("plain-eager").status, "CRASHED");
  EXPECT_EQ(rows().at("plain-eager").reason, "RuntimeError: made up");
  write("packages/torch/__init__.py", "raise RuntimeError('CUDA out of memory. Tried to allocate 2 GiB')\n");
  fs::remove_all(folder / "run");
  run({"--only", "plain-eager", "--out", folder / "run"}, 1);
  EXPECT_EQ(rows().at("plain-eager").status, "OUT_OF_MEMORY");
}

TEST_F(Twin, OnlyTrainSliceIsTracedAndProbed) {
  EXPECT_SAYS(run({"--only", "plain-eager", "--trace", "0-1"}, 2), "engine pytorch records no trace");
  EXPECT_SAYS(run({"largest-batch", "plain-eager", "--memory-cap", "2GiB"}, 2),
              "largest-batch tries train_slice");
}

}  // namespace harness::twin_test
