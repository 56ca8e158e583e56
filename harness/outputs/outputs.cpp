// Checks the places of the outputs before a run, and writes them after it.
#include "harness/outputs/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "harness/base/file.h"
#include "harness/config/config_error.h"
#include "harness/report/summary/grid.h"

namespace harness {

static std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// GitHub's files are appended to: other steps write them too.
static void append(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::app);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error(file.string() + ": can't be written: " + std::strerror(errno));
}

bool asks_for_outputs(const Request& request) {
  return !request.junit.empty() || !request.prometheus.empty() || !request.otlp.empty() || request.github;
}

void check_outputs(const Request& request) {
  for (const auto& [option, file] :
       {std::pair("--junit", request.junit), std::pair("--prometheus", request.prometheus),
        std::pair("--otlp", request.otlp)}) {
    if (file.empty()) continue;
    const fs::path folder = fs::absolute(file).parent_path();
    if (fs::is_directory(file) || ::access(folder.c_str(), W_OK) != 0)
      throw PreparationError(fmt::format("{} {}: {}; name a file in a folder that can be written", option,
                                         file.string(),
                                         fs::is_directory(file) ? "is a folder" : std::strerror(errno)));
  }
  if (request.github && variable("GITHUB_STEP_SUMMARY").empty())
    throw PreparationError(
        "--github: GITHUB_STEP_SUMMARY is not set, so this is no step of GitHub Actions; leave --github out, or name "
        "a file in that variable");
}

void write_outputs(const Request& request, const RunResult& result, std::ostream& console) {
  for (const auto& [file, text_of] :
       {std::pair(request.junit, &junit_xml), std::pair(request.prometheus, &prometheus_text),
        std::pair(request.otlp, &otlp_json)})
    if (!file.empty()) {
      base::remove_drafts_of(file);
      base::write_whole_file(file, text_of(result), /*durable=*/false);
    }
  if (!request.github) return;
  console << github_annotations(result) << std::flush;
  append(variable("GITHUB_STEP_SUMMARY"), github_summary(result));
  if (const std::string file = variable("GITHUB_OUTPUT"); !file.empty())
    append(file, "run=" + one_line(fs::absolute(result.run).string()) + "\n");
}

}  // namespace harness
