// Formats the verdict on a fleet's night.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/experiment/policy/policy.h"
#include "harness/fleet/fleet_night.h"
#include "harness/report/page_file.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kHostsDrawn = 60;
constexpr size_t kHostsListed = 40;

double percent(double ratio) { return 100 * (ratio - 1); }

std::string interval(const SlowPart& part) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", percent(part.ratio), percent(part.low),
                     percent(part.high));
}

const char* against(const SlowPart& part) { return part.of_past ? "its own past" : "other hosts"; }

json part_json(const SlowPart& part) {
  return {{"part", part.part},
          {"against", part.of_past ? "past" : "fleet"},
          {"percent", percent(part.ratio)},
          {"low", percent(part.low)},
          {"high", percent(part.high)}};
}

// The hosts whose slowest part is the slowest.
std::vector<size_t> slowest_hosts(const FleetVerdict& verdict) {
  std::vector<std::pair<double, size_t>> worst;
  for (size_t host = 0; host < verdict.levels.size(); ++host) {
    double most = 0;
    for (const auto& [part, level] : verdict.levels[host]) most = std::max(most, level);
    if (!verdict.levels[host].empty()) worst.push_back({-most, host});
  }
  std::ranges::sort(worst);
  std::vector<size_t> hosts;
  for (size_t i = 0; i < std::min(kHostsDrawn, worst.size()); ++i) hosts.push_back(worst[i].second);
  return hosts;
}

json heat_map(const FleetNight& night, const FleetVerdict& verdict, const std::filesystem::path& project) {
  json spec = base::require_json(base::read_file(project / "plots/fleet.vl.json"));
  json values = json::array();
  for (const size_t host : slowest_hosts(verdict))
    for (const auto& [part, level] : verdict.levels[host])
      values.push_back(
          {{"host", night.hosts[host].name}, {"part", part}, {"percent", percent(std::exp(level))}});
  spec["data"] = {{"values", values}};
  return spec;
}

}  // namespace

std::string fleet_sentence(const FleetNight& night, const FleetVerdict& verdict) {
  std::string text =
      fmt::format("night {}: {} of {} hosts slow", night.night, verdict.hosts.size(), verdict.judged);
  if (!verdict.groups.empty())
    text += fmt::format(", {} group{} of hosts slow as a whole", verdict.groups.size(),
                        verdict.groups.size() == 1 ? "" : "s");
  if (!night.missing.empty()) text += fmt::format(", {} missing", night.missing.size());
  return text + fmt::format("; beside {} earlier nights", night.nights);
}

Grid slow_groups_grid(const FleetVerdict& verdict) {
  Grid grid;
  grid.title = "Groups of hosts that are slow";
  grid.columns = {{"label", true}, {"hosts"}, {"part", true}, {"slower by", true}, {"than", true}};
  for (const SlowGroup& group : verdict.groups)
    grid.rows.push_back({group.label + " " + group.value, std::to_string(group.hosts), group.part.part,
                         interval(group.part), group.part.of_past ? "their own past" : "other hosts"});
  return grid;
}

Grid slow_hosts_grid(const FleetNight& night, const FleetVerdict& verdict) {
  Grid grid;
  grid.title = "Hosts that are slow, those that cost most first";
  grid.columns = {
      {"host", true}, {"part", true}, {"slower by", true}, {"than", true}, {"its rows take longer"}};
  for (const SlowHost& host : verdict.hosts)
    for (const SlowPart& part : host.parts) {
      const bool first = &part == &host.parts.front();
      grid.rows.push_back({first ? night.hosts[host.host].name : "", part.part, interval(part), against(part),
                           first ? fmt::format("{:+.1f} %", 100 * host.cost) : ""});
    }
  if (grid.rows.size() > kHostsListed) {
    grid.notes.push_back(fmt::format("{} more lines: --json has them", grid.rows.size() - kHostsListed));
    grid.rows.resize(kHostsListed);
  }
  grid.notes.push_back(fmt::format(
      "In brackets: 95 % interval. Of the hosts named here about {:g} % are named by chance (false discovery "
      "rate over all hosts, parts and both questions).",
      100 * kFalseHosts));
  return grid;
}

json fleet_json(const FleetNight& night, const FleetVerdict& verdict) {
  json hosts = json::array(), groups = json::array();
  for (const SlowHost& host : verdict.hosts)
    for (const SlowPart& part : host.parts) {
      json it = part_json(part);
      it["host"] = night.hosts[host.host].name;
      it["cost_percent"] = 100 * host.cost;
      hosts.push_back(std::move(it));
    }
  for (const SlowGroup& group : verdict.groups) {
    json it = part_json(group.part);
    it.update({{"label", group.label}, {"value", group.value}, {"hosts", group.hosts}});
    groups.push_back(std::move(it));
  }
  return {{"night", night.night}, {"judged", verdict.judged}, {"nights", night.nights},    {"hosts", hosts},
          {"groups", groups},     {"missing", night.missing}, {"remarks", verdict.remarks}};
}

void write_fleet_page(const std::filesystem::path& file, const FleetNight& night, const FleetVerdict& verdict,
                      const std::filesystem::path& project) {
  PageFile page;
  add_drawing_library(page, project, "No heat map");
  page.without_script = "`./run_matrix fleet HISTORY` shows the same in a terminal";
  page.page["title"] = "Fleet, night " + night.night;
  json blocks = json::array({{{"lines", {fleet_sentence(night, verdict)}}}});
  for (const std::string& remark : verdict.remarks) blocks.push_back({{"mark", {"NOT JUDGED", remark}}});
  if (!night.missing.empty())
    blocks.push_back({{"mark", {"MISSING", fmt::format("{}", fmt::join(night.missing, ", "))}}});
  add_grid(blocks, slow_groups_grid(verdict));
  if (!verdict.hosts.empty()) add_grid(blocks, slow_hosts_grid(night, verdict));
  page.page["sections"].push_back(section("slow tonight", blocks));
  if (!page.library.empty()) {
    page.specs["fleet"] = heat_map(night, verdict, project);
    page.page["sections"].push_back(section(
        "hosts by parts",
        json::array(
            {{{"lines",
               {fmt::format(
                   "The {} hosts with the slowest parts: by how much each part is slower than that of "
                   "the median host with the same hardware tonight.",
                   kHostsDrawn)}}},
             {{"multiples", {"fleet"}}}})));
  }
  write_page_file(file, std::move(page), project);
}

}  // namespace harness
