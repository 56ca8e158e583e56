#include "harness/config/request_file.h"

#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/config/config_error.h"

namespace harness {

using nlohmann::json;

static std::string absolute_text(const fs::path& path) {
  return path.empty() ? "" : fs::absolute(path).string();
}

// All options that a continued run takes over, with their names on the command line.
template <typename AnyRequest, typename Visit>
static void for_each_option(AnyRequest& request, Visit visit) {
  visit("config", request.configs);
  visit("only", request.only);
  visit("scale", request.scale);
  visit("device", request.device);
  visit("devices", request.devices);
  visit("data", request.data);
  visit("seed", request.seed);
  visit("repeat", request.repeats);
  visit("set", request.set);
  visit("timeout", request.timeout_s);
  visit("hang-after", request.silence_s);
  visit("slow", request.slow);
  visit("oversubscribe", request.oversubscribe);
  visit("launcher", request.launcher);
  visit("hosts", request.hosts);
  visit("hostfile", request.hostfile);
  visit("port", request.port);
  visit("trace", request.trace);
  visit("wrap", request.wrap);
  visit("wrap-rank", request.wrap_rank);
  visit("interface", request.interface);
  visit("skip-unreadable", request.skip_unreadable);
}

// Options that are younger than request.json itself: files of earlier runs lack them.
static bool may_be_absent(const std::string& name) { return name == "skip-unreadable"; }

static json value_of(const fs::path& path) { return absolute_text(path); }
static json value_of(const std::vector<fs::path>& paths) {
  json values = json::array();
  for (const fs::path& path : paths) values.push_back(absolute_text(path));
  return values;
}
static json value_of(const auto& value) { return value; }

static void take(const json& value, fs::path& path) { path = value.get<std::string>(); }
static void take(const json& values, std::vector<fs::path>& paths) {
  paths.clear();
  for (const json& value : values) paths.push_back(value.get<std::string>());
}
static void take(const json& value, auto& target) { value.get_to(target); }

json to_json(const Request& request) {
  json object;
  for_each_option(request, [&](const char* name, const auto& value) { object[name] = value_of(value); });
  return object;
}

static Request request_from_json(const json& object) {
  Request request;
  for_each_option(request, [&](const char* name, auto& target) {
    if (object.contains(name) || !may_be_absent(name)) take(object.at(name), target);
  });
  return request;
}

void write_request(const fs::path& run, const Request& request) {
  base::write_whole_file(run / "request.json", to_json(request).dump(1) + "\n");
}

Request read_request(const fs::path& run) {
  const fs::path file = run / "request.json";
  if (!fs::exists(file))
    throw PreparationError(
        fmt::format("{}: no such file; name the folder of a run with --resume or --only-failed, e.g. "
                    "results/runs/<time>-<host>",
                    file.string()));
  try {
    return request_from_json(base::require_json(base::read_file(file)));
  } catch (const std::exception& error) {
    throw PreparationError(fmt::format("{}: damaged: {}; start a new run", file.string(), error.what()));
  }
}

Request continued_request(const fs::path& run, const Request& asked, const std::set<std::string>& given) {
  static const std::set<std::string> limits = {"timeout", "hang-after", "port"};
  const Request begun = read_request(run);
  json now = to_json(begun);
  const json wanted = to_json(asked);
  for (const auto& [key, value] : wanted.items()) {
    const bool is_given = given.count(key) || (key == "config" && given.count("accuracy"));
    if (!is_given || value == now[key]) continue;
    if (!limits.count(key) && !(key == "repeat" && value > now[key]))
      throw PreparationError(fmt::format(
          "{}: the run was started with {} {}, but this command has {}; leave {} out, or start a new run",
          run.string(), key, now[key].dump(), value.dump(), key));
    now[key] = value;
  }
  if (given.count("out") && absolute_text(asked.out) != absolute_text(run))
    throw PreparationError(
        fmt::format("--out {}: the run continues in {}; leave --out out", asked.out.string(), run.string()));
  Request request = request_from_json(now);
  request.out = run;
  request.dry_run = asked.dry_run;
  request.budget_s = asked.budget_s;
  return request;
}

}  // namespace harness
