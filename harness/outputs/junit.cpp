// JUnit XML: one suite for each kind of test case.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/outputs/outputs.h"
#include "harness/report/summary/grid.h"

namespace harness {
namespace {

// Text for an attribute or an element. XML 1.0 has no control characters but tab and newlines, and neither
// bytes that aren't UTF-8 nor U+FFFE and U+FFFF.
std::string xml(const std::string& text) {
  const std::string valid = nlohmann::json::parse(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::string escaped;
  for (size_t i = 0; i < valid.size(); ++i) {
    const auto c = static_cast<unsigned char>(valid[i]);
    if (valid.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < valid.size() && uint8_t(valid[i + 2]) >= 0xBE) {
      escaped += '?';
      i += 2;
    } else if (c < 0x20) {
      escaped += c == '\n' ? "&#10;" : " ";
    } else {
      escaped += c == '&'   ? "&amp;"
                 : c == '<' ? "&lt;"
                 : c == '>' ? "&gt;"
                 : c == '"' ? "&quot;"
                            : std::string(1, char(c));
    }
  }
  return escaped;
}

const char* element_of(TestCase::Result result) {
  return result == TestCase::Result::failed  ? "failure"
         : result == TestCase::Result::error ? "error"
                                             : "skipped";
}

std::string case_xml(const TestCase& it) {
  std::string text = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.6f}")",
                                 xml(it.suite + "." + it.group), xml(it.name), it.seconds);
  if (it.result == TestCase::Result::passed)
    return text + (it.message.empty() ? "/>\n"
                                      : fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                                                    xml(it.message)));
  const std::string first = it.message.substr(0, it.message.find('\n'));
  const char* element = element_of(it.result);
  return text + fmt::format(">\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", element, xml(first),
                            xml(it.message), element);
}

}  // namespace

std::string junit_xml(const RunResult& result) {
  std::vector<std::string> suites;
  for (const TestCase& it : result.cases) add_once(suites, it.suite);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"run_matrix\">\n";
  for (const std::string& suite : suites) {
    std::map<TestCase::Result, int> counts;
    int all = 0;
    double seconds = 0;
    std::string cases;
    for (const TestCase& it : result.cases) {
      if (it.suite != suite) continue;
      ++counts[it.result];
      ++all;
      seconds += it.seconds;
      cases += case_xml(it);
    }
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.6f}\" timestamp=\"{}\" hostname=\"{}\">\n{}  </testsuite>\n",
        xml(suite), all, counts[TestCase::Result::failed], counts[TestCase::Result::error],
        counts[TestCase::Result::skipped], seconds,
        xml(result.started_at.substr(0, result.started_at.find('Z'))), xml(result.host), cases);
  }
  return text + "</testsuites>\n";
}

}  // namespace harness
