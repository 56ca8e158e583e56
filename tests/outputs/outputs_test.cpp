// unit: --junit, --prometheus, --otlp and --github of runs, nights and reports.
#include <fmt/format.h>

#include "harness/outputs/run_result.h"
#include "tests/support/nightly_run.h"

namespace harness::outputs_test {

class Outputs : public NightlyRun {
 protected:
  // Three rows, of which b fails a check and c is skipped, and a claim that does not hold.
  int run_mine(std::vector<std::string> more = {}) {
    std::ofstream(directory / "mine.yaml")
        << "title: mine\n"
           "defaults: {batch: 256, storage: synthetic}\n"
           "rows:\n"
           "  a: {title: \"<a> & \\\"b\\\"\"}\n"
           "  b: {title: wrong}\n"
           "  c: {title: missing, strategy: apex, devices: 2, backend: gloo}\n"
           "claims:\n"
           "  - {text: quick, tests: [{quantity: median_ms, of: a, below: 3}]}\n";
    write_files_that_are_no_images();
    more.insert(more.begin(),
                {directory / "mine.yaml", "--data", directory / "data", "--scale", "rehearsal", "--device",
                 "cpu", "--repeat", "6", "--set", "timed_batches=20", "--out", directory / "run"});
    return run(more, {{"FAKE_SLICE", "b=invalid"},
                      {"GITHUB_STEP_SUMMARY", directory / "summary.md"},
                      {"GITHUB_OUTPUT", directory / "step"}});
  }
  // "suite/name: result" of each case, by Python's own parser.
  static std::vector<std::string> cases_in(const fs::path& file) {
    const auto finished = base::run_to_end(
        {{"python3", "-c",
          "import sys, xml.etree.ElementTree as tree\n"
          "for s in tree.parse(sys.argv[1]).getroot():\n"
          "  for c in s: print(s.get('name') + '/' + c.get('name') + ': ' + ''.join(e.tag for e in c))",
          file.string()}});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    std::istringstream lines(finished.output);
    std::vector<std::string> cases;
    for (std::string line; std::getline(lines, line);) cases.push_back(line);
    return cases;
  }
  bool has(const fs::path& file, const std::string& words) const {
    return content_of(file).find(words) != std::string::npos;
  }
};

TEST_F(Outputs, TellRowsChecksAndClaims) {
  EXPECT_EQ(run_mine({"--junit", directory / "junit.xml", "--prometheus", directory / "metrics.prom",
                      "--otlp", directory / "otlp.json", "--github"}),
            1);
  const auto cases = cases_in(directory / "junit.xml");
  for (const char* wanted :
       {R"(rows/a: <a> & "b": )", "rows/b: wrong: failure", "rows/c: missing: skipped",
        "checks/a: gradients: ", "checks/b: cache: failure", "claims/claim 1: quick: failure"})
    EXPECT_EQ(std::count(cases.begin(), cases.end(), wanted), 1) << wanted;
  const fs::path metrics = directory / "metrics.prom";
  for (const char* line : {R"(row_median_seconds{row="a",scale="rehearsal",device="cpu"} 0.004)",
                           R"(row_phase_seconds{row="a",scale="rehearsal",device="cpu",phase="load"} 0.001)",
                           R"(row_status{row="b",scale="rehearsal",device="cpu",status="INVALID"} 1)",
                           R"(rows{status="INVALID"} 1)", R"(claims{verdict="does not hold"} 1)"})
    EXPECT_TRUE(has(metrics, fmt::format("\nrun_matrix_{}\n", line))) << line;
  EXPECT_FALSE(has(metrics, "run_matrix_row_total_seconds{row=\"b\""))
      << "a row with a failed check has no figure";
  EXPECT_EQ(json::parse(content_of(directory / "otlp.json")).count("resourceMetrics"), 1u);
  EXPECT_TRUE(has(directory / "out", "::error title=rows%3A b%3A wrong::INVALID"));
  EXPECT_TRUE(has(directory / "summary.md", "| a "));
  EXPECT_EQ(content_of(directory / "step"), "run=" + (directory / "run").string() + "\n");
}

TEST_F(Outputs, AreMadeAgainByReport) {
  run_mine();
  ASSERT_EQ(run({"report", directory / "run", "--junit", directory / "junit.xml"}), 0);
  EXPECT_EQ(cases_in(directory / "junit.xml").size(), 3 + 3 + 1u);
}

TEST_F(Outputs, AreRefusedBeforeTheRun) {
  EXPECT_EQ(run({"--scale", "smoke", "--only", "0", "--junit", directory.path()}), 2);
  EXPECT_TRUE(says("is a folder; name a file"));
  EXPECT_EQ(run({"--scale", "smoke", "--only", "0", "--prometheus", directory / "new/metrics.prom"}), 2);
  EXPECT_TRUE(
      says("new/metrics.prom: No such file or directory; name a file in a folder that can be written"));
  EXPECT_FALSE(fs::exists(directory / "new"));
  EXPECT_EQ(run({"--scale", "smoke", "--only", "0", "--github"}, {{"GITHUB_STEP_SUMMARY", ""}}), 2);
  EXPECT_TRUE(says("GITHUB_STEP_SUMMARY is not set"));
  EXPECT_EQ(run({"explain", "0", "--junit", directory / "junit.xml"}), 2);
  EXPECT_TRUE(says("can't be used with this command"));
  EXPECT_FALSE(fs::exists(directory / "results/runs"));
}

TEST_F(Outputs, OfANightAreWrittenUnasked) {
  ASSERT_EQ(run(nightly()), 0);
  const fs::path night = nights().at(0).run;
  const auto cases = cases_in(night / "junit.xml");
  EXPECT_EQ(std::count(cases.begin(), cases.end(), "nights/0: as fast as in earlier nights: skipped"), 1)
      << content_of(night / "junit.xml");
  EXPECT_TRUE(has(night / "metrics.prom", "run_matrix_canary_seconds{canary=\"gemm_ms\"} "));
  EXPECT_TRUE(has(night / "metrics.prom", "run_matrix_regressions 0\n"));
  EXPECT_FALSE(says("::error"));
}

}  // namespace harness::outputs_test
