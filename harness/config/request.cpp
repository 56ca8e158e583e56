// Derives what the user didn't give, and stores the options as JSON with absolute paths.
#include "harness/config/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/config/config_error.h"

namespace harness {

std::string launcher_of(const Request& request) {
  if (request.launcher != "auto") return request.launcher;
  if (!request.hosts.empty() || !request.hostfile.empty()) return "mpirun";
  if (std::getenv("TORCHELASTIC_RUN_ID")) return "env";
  const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
  return nodes && std::atoi(nodes) > 1 ? "slurm" : "local";
}

bool emulates_nodes(const Row& row, const std::string& launcher) {
  return launcher == "local" && row.nodes > 1;
}

bool sets(const Request& request, const std::string& field) {
  return std::ranges::any_of(request.set,
                             [&](const std::string& text) { return text.rfind(field + "=", 0) == 0; });
}

bool is_plain(const Request& request) {
  return request.only.empty() && request.set.empty() && request.repeats == 0 && request.budget_s == 0 &&
         request.devices == 0 && request.trace.empty() && request.wrap.empty() && !request.accuracy;
}

double repeat_limit_s(const Request& request) {
  constexpr double kUsual_s = 900;
  const double limit_s = request.repeat_within_s < 0 ? kUsual_s : request.repeat_within_s;
  return request.budget_s > 0 ? std::min(limit_s, request.budget_s) : limit_s;
}

int64_t repeats_of(const Row& row, const Request& request) {
  constexpr int64_t kSeeds = 3;  // accuracy is shown as a range over seeds
  return request.repeats > 0 ? request.repeats : row.validation ? kSeeds : 1;
}

using nlohmann::json;

static std::string absolute_text(const fs::path& path) {
  return path.empty() ? "" : fs::absolute(path).string();
}

json written_path(const void* path) { return absolute_text(*static_cast<const fs::path*>(path)); }
void read_path(void* path, const json& value) { *static_cast<fs::path*>(path) = decode<std::string>(value); }

bool holds_run(const fs::path& folder) {
  const fs::path records = folder / "records.jsonl";
  std::error_code none;
  if (fs::exists(folder / "request.json", none) || !fs::is_regular_file(records, none))
    return fs::exists(records, none);
  return fs::file_size(records, none) > 0;
}

void write_request(const fs::path& run, const Request& request) {
  Request found_from_anywhere = request;
  if (const size_t colon = request.device.find(':'); request.device.ends_with(".yaml"))
    found_from_anywhere.device =
        request.device.substr(0, colon + 1) + absolute_text(request.device.substr(colon + 1));
  base::write_whole_file(run / "request.json", encode(found_from_anywhere).dump(1) + "\n");
}

static Request read_request(const fs::path& run) {
  const fs::path file = run / "request.json";
  if (!fs::exists(file) && holds_run(run)) {
    const json first = base::parse_json(base::first_line(run / "records.jsonl"));
    for (const auto& [key, command] :
         {std::pair("feed", "feed"), std::pair("intervention", "explain"),
          std::pair("job", "record` or `import"), std::pair("device_rates", "machine")})
      if (first.contains(key))
        throw PreparationError(fmt::format(
            "{}: a run of `{}`, which can't be continued; start the command again", run.string(), command));
    throw PreparationError(fmt::format(
        "{}: no such file, which holds the options that the run began with; restore it, or start a new run",
        file.string()));
  }
  if (!fs::exists(file) && fs::exists(run / "records.jsonl"))
    throw PreparationError(run.string() + ": nothing ran there yet; give the command that began it again");
  if (!fs::exists(file))
    throw PreparationError(
        fmt::format("{}: no such file; name the folder of a run with --resume or --only-failed, e.g. "
                    "results/runs/<time>-<host>",
                    file.string()));
  try {
    return decode<Request>(base::require_json(base::read_file(file)));
  } catch (const std::exception& error) {
    throw PreparationError(fmt::format("{}: damaged: {}; start a new run", file.string(), error.what()));
  }
}

Request continued_request(const fs::path& run, const Request& asked, const std::set<std::string>& given) {
  static const std::set<std::string> limits = {"timeout",       "hang-after",     "port",
                                               "repeat-within", "keep-disturbed", "junit",
                                               "prometheus",    "otlp",           "github"};
  Request request = read_request(run);
  for (const Key& key : kType<Request>.keys()) {
    const std::string name = key.name;
    const json was = write_value(*key.type, key.in(&request)),
               wanted = write_value(*key.type, key.in(&asked));
    const bool is_given = given.count(name) || (name == "config" && given.count("accuracy"));
    if (!is_given || wanted == was) continue;
    if (!limits.count(name) && !(name == "repeat" && wanted > was))
      throw PreparationError(fmt::format(
          "{}: the run was started with {} {}, but this command has {}; leave {}{} out, or start a new run",
          run.string(), name, was.dump(), wanted.dump(), name == "config" ? "" : "--", name));
    read_value(*key.type, key.in(&request), wanted);
  }
  if (given.count("out") && absolute_text(asked.out) != absolute_text(run))
    throw PreparationError(
        fmt::format("--out {}: the run continues in {}; leave --out out", asked.out.string(), run.string()));
  request.out = run;
  request.dry_run = asked.dry_run;
  request.machine = asked.machine;
  request.budget_s = asked.budget_s;
  return request;
}

namespace {

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
