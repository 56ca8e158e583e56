// Converts each option that isn't at its default to words, and quotes them for the shell.
#include "harness/contract/run_command.h"

#include "harness/base/child_process.h"

namespace harness {
namespace {

using nlohmann::json;

std::string word_of(const json& value, const std::string& project) {
  const std::string text = value.is_string() ? value.get<std::string>()
                                             : value.dump(-1, ' ', false, json::error_handler_t::replace);
  return !project.empty() && text.starts_with(project) ? text.substr(project.size()) : text;
}

constexpr const char* kTimeWithUnit = "repeat-within";  // below 0: the usual time

bool is_default(const std::string& name, const json& value) {
  if (name == kTimeWithUnit) return value.is_number() && value < 0;
  if (value == 0) return name != "seed" && name != "timeout";  // whose defaults aren't 0
  return value.is_null() || value == "" || value == "auto" || value == false ||
         (value.is_structured() && value.empty());
}

}  // namespace

std::string run_command(const std::string& program, const json& request,
                        const std::filesystem::path& project) {
  const std::string folder = project.empty() ? "" : project.string() + "/";
  std::vector<std::string> words = {program};
  for (const auto& [name, value] : request.items()) {
    if (is_default(name, value) || name == "out") continue;
    // A list is an option given several times; matrices are positional.
    for (const json& one : value.is_array() ? value : json::array({value})) {
      if (name != "config") words.push_back("--" + name);
      if (one != true) words.push_back(word_of(one, folder) + (name == kTimeWithUnit ? "s" : ""));
    }
  }
  return base::shell_line({words, {}, {}, {}, {}});
}

}  // namespace harness
