// Table 1 on GPUs: the host's time to start the work of each phase, and the device's time to do it.
#include <fmt/format.h>

#include "harness/contract/published_ms.h"
#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/report/summary/device_time.h"

namespace harness {
namespace {

struct Line {
  const char* name;
  const char* phase;
};
constexpr Line kLines[] = {{"H2D", "h2d"},
                           {"forward", "forward"},
                           {"loss and accuracy", "loss"},
                           {"backward", "backward"},
                           {"SGD", "step"}};

std::string figure(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

void add_lines(const SummaryRow& row, Grid& grid) {
  const PublishedMs published = published_ms(setting_of(row, "published_ms"));
  const auto published_as = [&](const std::string& name) {
    const auto found = published.find(name);
    return found == published.end() ? 0 : found->second;
  };
  for (const Line& line : kLines) {
    const double host = mean_ms(row.record->samples_ms, {line.phase}).value_or(0),
                 device = device_ms(*row.record, {line.phase}).value_or(0);
    const double launch = published_as(std::string(line.phase) + "_launch"),
                 kernels = published_as(line.phase);
    grid.rows.push_back({row.id, line.name, figure(host), figure(device),
                         host > 0 ? figure(device / host) : "-", figure(launch), figure(kernels),
                         launch > 0 ? figure(kernels / launch) : "-"});
    const std::string name = line.name;
    const auto add = [&](const char* what, const char* unit, double here, double article) {
      grid.values.push_back({row.id, name + what, unit, "", {if_any(here), {}, {}, if_any(article)}});
    };
    add(", host", "ms", host, launch);
    add(", device", "ms", device, kernels);
    add(", device / host", "ratio", host > 0 ? device / host : 0, launch > 0 ? kernels / launch : 0);
  }
}

}  // namespace

Grid launching_grid(const Summary& summary) {
  Grid grid;
  grid.title = "Table 1: starting work and doing it";
  grid.above = lines_above(summary);
  grid.columns = {{"row", true},     {"phase", true},      {"host ms"},           {"device ms"},
                  {"device / host"}, {"article's launch"}, {"article's kernels"}, {"kernels / launch"}};
  for (const char* id : {"disk", "tmpfs"}) {
    const SummaryRow* row = article_row(summary, id);
    if (row && row->ok() && device_ms(*row->record, {"forward"})) add_lines(*row, grid);
  }
  if (grid.rows.empty()) return {};
  grid.notes = {
      "host: until the next phase begins, including waits where the host reads a result (the loss). device: "
      "from the end of the previous phase to the end of this one in the device's queue, idle time included. "
      "Means per batch; the article's figures are from one batch, number 122."};
  return grid;
}

}  // namespace harness
