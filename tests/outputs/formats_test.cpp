// unit: outcomes as JUnit XML, Prometheus' text, OTLP and GitHub's commands, with names that try to break
// each.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/outputs/outputs.h"
#include "tests/support/temporary_folder.h"

namespace harness::formats_test {

using nlohmann::json;
using Result = TestCase::Result;

const std::string kHostile =
    "a\"b<c>&'\x01]]>\n::error::x%0A\nrun_matrix_fake{row=\"y\"} 1\\ \xff \xEF\xBF\xBF \xC3\xA9";

RunResult made_up() {
  RunResult it;
  it.run = "/runs/one";
  it.host = "node\"1<";
  it.started_at = "2026-01-31T03:00:00Z";
  it.cases = {{"rows", "smoke.cpu", "0: plain", Result::passed, "", 1.5},
              {"rows", "smoke.cpu", kHostile, Result::failed, "INVALID: " + kHostile},
              {"rows", "smoke.cpu", "2: crashed", Result::error, "FAILED: signal 11"},
              {"rows", "smoke.cpu", "3: left out", Result::skipped, "SKIPPED: no GPU"},
              {"claims", "smoke.cpu", "claim 1", Result::passed, "holds"}};
  it.gauges = {
      {"run_matrix_row_total_seconds",
       "s",
       "a \\ b\nc",
       {{{{"row", kHostile}, {"scale", "smoke"}}, 1.25}, {{{"row", "0"}, {"scale", "smoke"}}, 3e-7}}},
      {"run_matrix_run_timestamp_seconds", "s", "when", {{{}, 1764547200}}}};
  it.markdown = "### headline\n";
  return it;
}

// What Python's own parser of XML reads: [[suite attributes, [[case attributes, child, its message, its
// text]]]].
json parsed(const std::string& xml) {
  const TemporaryFolder folder;
  std::ofstream(folder / "junit.xml") << xml;
  const auto finished = base::run_to_end(
      {{"python3", "-c",
        "import json, sys, xml.etree.ElementTree as tree\n"
        "root = tree.parse(sys.argv[1]).getroot()\n"
        "print(json.dumps([[s.attrib, [[c.attrib] + [[e.tag, e.attrib.get('message'), e.text] for e in c]\n"
        "                              for c in s]] for s in root]))",
        (folder / "junit.xml").string()}});
  EXPECT_EQ(finished.exit_code, 0) << finished.output << xml;
  return finished.exit_code == 0 ? json::parse(finished.output) : json();
}

TEST(Formats, JUnitIsXmlWhateverTheNames) {
  const json suites = parsed(junit_xml(made_up()));
  ASSERT_EQ(suites.size(), 2u);
  const json wanted = {
      {"name", "rows"}, {"tests", "4"},       {"failures", "1"},        {"errors", "1"},
      {"skipped", "1"}, {"time", "1.500000"}, {"hostname", "node\"1<"}, {"timestamp", "2026-01-31T03:00:00"}};
  EXPECT_EQ(suites[0][0], wanted);
  const json& cases = suites[0][1];
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].size(), 1u) << "a row that passed has no child";
  EXPECT_EQ(cases[0][0]["classname"], "rows.smoke.cpu");
  EXPECT_EQ(cases[1][0]["name"],
            "a\"b<c>&' ]]>\n::error::x%0A\nrun_matrix_fake{row=\"y\"} 1\\ \xEF\xBF\xBD ? \xC3\xA9");
  EXPECT_EQ(cases[1][1][0], "failure");
  EXPECT_EQ(cases[1][1][1], "INVALID: a\"b<c>&' ]]>") << "the first line";
  EXPECT_EQ(cases[2][1][0], "error");
  EXPECT_EQ(cases[3][1], json({"skipped", "SKIPPED: no GPU", "SKIPPED: no GPU"}));
  EXPECT_EQ(suites[1][1][0][1][0], "system-out");
}

TEST(Formats, PrometheusHasOneLineForEachSample) {
  const std::string text = prometheus_text(made_up());
  const std::regex comment(R"(# (HELP|TYPE) [a-z_]+ .*)");
  const std::regex sample(
      R"re([a-z_]+(\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+)re");
  std::istringstream lines(text);
  int samples = 0, comments = 0;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, comment))
      ++comments;
    else if (std::regex_match(line, sample))
      ++samples;
    else
      ADD_FAILURE() << line;
  EXPECT_EQ(samples, 3);
  EXPECT_EQ(comments, 4);
  EXPECT_NE(text.find("# HELP run_matrix_row_total_seconds a \\\\ b\\nc\n"), text.npos);
  EXPECT_NE(text.find("run_matrix_row_total_seconds{row=\"0\",scale=\"smoke\"} 3e-07\n"), text.npos);
  EXPECT_NE(text.find("run_matrix_run_timestamp_seconds 1764547200\n"), text.npos);
}

TEST(Formats, PromtoolAcceptsHostileNames) {
  if (!base::program_exists("promtool")) GTEST_SKIP() << "there is no promtool (Debian: prometheus)";
  const TemporaryFolder folder;
  std::ofstream(folder / "metrics.prom") << prometheus_text(made_up());
  base::Command command{{"sh", "-c", "promtool check metrics < \"$0\"", folder / "metrics.prom"}};
  command.errors_to_output = true;
  const auto finished = base::run_to_end(command);
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
}

TEST(Formats, OtlpIsOneLineWithEachSample) {
  const std::string text = otlp_json(made_up());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const json request = json::parse(text);
  const json& resource = request.at("resourceMetrics").at(0);
  EXPECT_EQ(resource.at("resource").at("attributes").at(1).at("value").at("stringValue"), "node\"1<");
  const json& metric = resource.at("scopeMetrics").at(0).at("metrics").at(0);
  EXPECT_EQ(metric.at("unit"), "s");
  const json& point = metric.at("gauge").at("dataPoints").at(1);
  EXPECT_EQ(point.at("asDouble"), 3e-7);
  EXPECT_TRUE(point.at("timeUnixNano").is_string()) << "64-bit numbers are strings in JSON of protobuf";
  EXPECT_EQ(point.at("attributes").at(0), json({{"key", "row"}, {"value", {{"stringValue", "0"}}}}));
}

TEST(Formats, GitHubReadsOneCommandForEachFailure) {
  const std::string text = github_annotations(made_up());
  std::istringstream lines(text);
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);) commands.push_back(line);
  ASSERT_EQ(commands.size(), 2u) << text;
  EXPECT_EQ(commands[1], "::error title=rows%3A 2%3A crashed::FAILED: signal 11");
  EXPECT_EQ(commands[0].rfind("::error title=rows%3A a\"b<c>", 0), 0u);
}

TEST(Formats, GitHubsSummaryBeginsWithFailuresAndKeepsItsLimit) {
  RunResult one = made_up();
  EXPECT_EQ(github_summary(one).rfind("- **rows: a", 0), 0u) << github_summary(one);
  for (int i = 0; i < 100000; ++i) one.markdown += "a line of a long table\n";
  const std::string cut = github_summary(one);
  EXPECT_LE(cut.size(), size_t(1) << 20);
  EXPECT_NE(cut.find("a line of a long table\n\ncut at GitHub's limit"), cut.npos);
}

}  // namespace harness::formats_test
