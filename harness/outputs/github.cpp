// Workflow commands and the step summary of GitHub Actions.
#include <fmt/format.h>

#include "harness/outputs/outputs.h"
#include "harness/report/summary/grid.h"

namespace harness {
namespace {

// A newline would end the command, and what follows it could be a command of its own.
std::string command_text(const std::string& text, bool property) {
  std::string result;
  for (char c : text)
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", c);
    else
      result += c;
  return result;
}

bool is_bad(const TestCase& it) {
  return it.result == TestCase::Result::failed || it.result == TestCase::Result::error;
}

}  // namespace

std::string github_annotations(const RunResult& result) {
  std::string text;
  for (const TestCase& it : result.cases)
    if (is_bad(it))
      text += fmt::format("::error title={}::{}\n", command_text(it.suite + ": " + it.name, true),
                          command_text(it.message, false));
  return text;
}

std::string github_summary(const RunResult& result) {
  constexpr size_t kLimit = 1 << 20;
  std::string text;
  for (const TestCase& it : result.cases)
    if (is_bad(it))
      text += fmt::format("- **{}: {}**: {}\n", it.suite, escape_markdown(one_line(it.name)),
                          escape_markdown(one_line(it.message)));
  text += (text.empty() ? "" : "\n") + result.markdown + "\nPicture, page and records: `" +
          one_line(result.run.string()) + "` (plots/cascade.svg, report.html, records.jsonl)\n";
  if (text.size() <= kLimit) return text;
  const std::string end = "\n\ncut at GitHub's limit of 1 MiB\n";
  size_t length = text.rfind('\n', kLimit - end.size());
  return text.substr(0, length) + end;
}

}  // namespace harness
