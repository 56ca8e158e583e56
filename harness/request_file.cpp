#include "harness/request_file.h"

#include <fmt/format.h>

#include <fstream>

#include "harness/data.h"
#include "harness/report/table.h"

namespace harness {

using nlohmann::json;

static std::string absolute_text(const fs::path& path) {
  return path.empty() ? "" : fs::absolute(path).string();
}

json to_json(const Request& request) {
  json configs = json::array();
  for (const fs::path& config : request.configs) configs.push_back(absolute_text(config));
  return {{"config", configs},
          {"only", request.only},
          {"scale", request.scale},
          {"device", request.device},
          {"devices", request.devices},
          {"data", absolute_text(request.data)},
          {"seed", request.seed},
          {"repeat", request.repeats},
          {"set", request.set},
          {"timeout", request.timeout_s},
          {"hang-after", request.silence_s},
          {"slow", request.slow},
          {"launcher", request.launcher},
          {"hosts", request.hosts},
          {"hostfile", absolute_text(request.hostfile)},
          {"port", request.port},
          {"trace", request.trace},
          {"wrap", request.wrap},
          {"wrap-rank", request.wrap_rank},
          {"interface", request.interface}};
}

static Request request_from_json(const json& object) {
  Request request;
  for (const std::string config : object.at("config")) request.configs.push_back(config);
  object.at("only").get_to(request.only);
  object.at("scale").get_to(request.scale);
  object.at("device").get_to(request.device);
  object.at("devices").get_to(request.devices);
  request.data = object.at("data").get<std::string>();
  object.at("seed").get_to(request.seed);
  object.at("repeat").get_to(request.repeats);
  object.at("set").get_to(request.set);
  object.at("timeout").get_to(request.timeout_s);
  object.at("hang-after").get_to(request.silence_s);
  object.at("slow").get_to(request.slow);
  object.at("launcher").get_to(request.launcher);
  object.at("hosts").get_to(request.hosts);
  request.hostfile = object.at("hostfile").get<std::string>();
  object.at("port").get_to(request.port);
  object.at("trace").get_to(request.trace);
  object.at("wrap").get_to(request.wrap);
  object.at("wrap-rank").get_to(request.wrap_rank);
  object.at("interface").get_to(request.interface);
  return request;
}

void write_request(const fs::path& run, const Request& request) {
  write_text(run / "request.json", to_json(request).dump(1) + "\n");
}

Request read_request(const fs::path& run) {
  const fs::path file = run / "request.json";
  std::ifstream stream(file);
  if (!stream)
    throw PreparationError(fmt::format(
        "{}: no such file; --resume and --only-failed take the folder of a run that wrote one, e.g. "
        "results/runs/<time>-<host>",
        file.string()));
  try {
    return request_from_json(json::parse(stream));
  } catch (const json::exception& error) {
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
      throw PreparationError(
          fmt::format("{}: the run was begun with {} {}, and this command says {}; leave {} out, "
                      "or start a new run",
                      run.string(), key, now[key].dump(), value.dump(), key));
    now[key] = value;
  }
  if (given.count("out") && absolute_text(asked.out) != absolute_text(run))
    throw PreparationError(
        fmt::format("--out {}: the run goes on in {}; leave --out out", asked.out.string(), run.string()));
  Request request = request_from_json(now);
  request.out = run;
  request.dry_run = asked.dry_run;
  request.budget_s = asked.budget_s;
  return request;
}

}  // namespace harness
