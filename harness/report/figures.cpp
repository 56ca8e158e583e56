// Fills the Vega-Lite specs with summary rows and calls the renderer; layout and colours stay in plots/.
#include "harness/report/figures.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "harness/records.h"
#include "harness/report/table.h"

extern char** environ;

namespace harness {
namespace {

using nlohmann::json;

std::string reason_of(const SummaryRow& row) {
  const std::string first = row.reason.substr(0, row.reason.find_first_of(";\n"));
  return row.status + (first.empty() ? "" : ": " + first);
}

json row_values(const SummaryRow& row) {
  return {{"row", row.id}, {"title", row.title}, {"ran", row.ok() ? row.ran : ""}, {"status", row.status}};
}

// Layers of one chart sort their rows only by a list that all share.
json row_order(const Summary& summary) {
  json order = json::array();
  for (const SummaryRow& row : summary.rows) order.push_back(row.id);
  return order;
}

// A subtitle wider than the chart would widen the whole figure.
std::string shortened(const std::string& text) {
  constexpr size_t longest = 135;
  if (text.size() <= longest) return text;
  size_t end = longest - 3;
  while ((text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void set_title(json& spec, const Summary& summary, const std::string& run, const std::string& what) {
  spec["title"]["text"] = (summary.mark.empty() ? "" : summary.mark + ": ") + what;
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  json lines = json::array();
  for (const std::string& line :
       {"Ran: " + scale + (summary.mark.empty() ? "" : "; not the article's hardware or sizes"),
        fmt::format("{}: {}; {}", summary.device, summary.machine, summary.build),
        fmt::format("{}data: {}; run {}", summary.set.empty() ? "" : "set by hand: " + summary.set + "; ",
                    summary.data, run)})
    lines.push_back(shortened(line));
  spec["title"]["subtitle"] = lines;
}

// Room on the right for the text behind the longest bar.
void set_domain(json& spec, double largest, double room) {
  spec["/layer/0/encoding/x/scale"_json_pointer] = {
      {"domainMin", 0}, {"domainMax", largest > 0 ? largest * room : 1}, {"nice", false}};
}

json read_spec(const std::filesystem::path& file) {
  std::ifstream input(file);
  json spec = json::parse(input, nullptr, false);
  if (spec.is_discarded())
    throw std::runtime_error(file.string() + ": missing or no JSON; restore it from the repository");
  return spec;
}

// True when the renderer ran and succeeded.
bool render(const std::filesystem::path& source_dir, const std::vector<std::string>& specs,
            std::ostream& console) {
  std::vector<std::string> words = {source_dir / ".venv/bin/python", source_dir / "plots/render.py"};
  words.insert(words.end(), specs.begin(), specs.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ)) {
    console << words[0] << ": " << std::strerror(error) << "\n";
    return false;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

json cascade_figure(json spec, const Summary& summary, const std::string& run) {
  json values = json::array(), present = json::array();
  double largest = 0;
  for (const SummaryRow& row : summary.rows) {
    json value = row_values(row);
    value["total_s"] = nullptr;
    if (row.ok()) {
      value.update({{"total_s", row.total_s},
                    {"min_s", row.total_min_s},
                    {"max_s", row.total_max_s},
                    {"group", row.group},
                    {"value_label", fmt::format("{:.{}f} s", row.total_s, row.total_s < 10 ? 2 : 1)}});
      largest = std::max(largest, row.total_max_s);
      if (row.ratio)
        value["ratio_label"] = fmt::format("\u00d7{:.2f}{} vs {}", *row.ratio, row.batch_differs ? "*" : "",
                                           text_at({{"config", row.config}}, "/config/base"));
      if (row.published_ratio) value["published_label"] = fmt::format("\u00d7{:.2f}", *row.published_ratio);
    } else {
      value["reason_label"] = reason_of(row);
    }
    values.push_back(value);
  }
  for (const json& group : spec.at("/layer/0/encoding/color/scale/domain"_json_pointer))
    if (std::any_of(summary.rows.begin(), summary.rows.end(),
                    [&](const SummaryRow& row) { return row.ok() && row.group == group; }))
      present.push_back(group);
  const bool other_batch = std::any_of(summary.rows.begin(), summary.rows.end(),
                                       [](const SummaryRow& row) { return row.ratio && row.batch_differs; });
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = row_order(summary);
  spec["/layer/0/encoding/color/legend/values"_json_pointer] = present;
  json& axis_title = spec["/layer/0/encoding/x/title"_json_pointer];
  axis_title = {
      fmt::format("seconds per {} batches on {} (shorter is faster)", summary.timed_batches, summary.device)};
  if (other_batch) axis_title.push_back("* the base has another batch size");
  set_domain(spec, largest, 1.25);
  set_title(spec, summary, run, fmt::format("seconds per {} batches, row by row", summary.timed_batches));
  return spec;
}

json phases_figure(json spec, const Summary& summary, const std::string& run) {
  json values = json::array(), present = json::array();
  double largest = 0;
  for (const SummaryRow& row : summary.rows) {
    json total = row_values(row);
    if (!row.ok()) {
      total["reason_label"] = reason_of(row);
    } else if (!row.run.has_samples) {
      total["reason_label"] = "ran without phase clock";
    } else {
      // Means, not medians: a loader that delivers in bursts has a median near zero, and means add up to the
      // step.
      double step_ms = 0;
      for (const PhaseStatistics& phase : row.run.phases) {
        const auto place =
            std::find(phase_names().begin(), phase_names().end(), phase.name) - phase_names().begin();
        values.push_back(
            {{"row", row.id}, {"phase", phase.name}, {"phase_position", place}, {"ms", phase.mean_ms}});
        step_ms += phase.mean_ms;
      }
      total["step_ms"] = step_ms;
      total["step_label"] = fmt::format("{:.{}f} ms", step_ms, step_ms < 10 ? 2 : 1);
      largest = std::max(largest, step_ms);
    }
    values.push_back(total);
  }
  for (const std::string& name : phase_names())
    if (std::any_of(values.begin(), values.end(),
                    [&](const json& value) { return value.value("phase", "") == name; }))
      present.push_back(name);
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = row_order(summary);
  spec["/layer/0/encoding/color/legend/values"_json_pointer] = present;
  spec["/layer/0/encoding/x/title"_json_pointer] =
      fmt::format("ms per batch on {}, mean of batches and ranks (shorter is faster)", summary.device);
  set_domain(spec, largest, 1.15);
  set_title(spec, summary, run, "where a batch spends its time");
  return spec;
}

void write_figures(const std::filesystem::path& run_dir, const std::vector<json>& records,
                   const std::filesystem::path& source_dir, std::ostream& console) {
  const std::filesystem::path folder = run_dir / "plots";
  std::filesystem::create_directories(folder);
  const json cascade = read_spec(source_dir / "plots/cascade.vl.json");
  const json phases = read_spec(source_dir / "plots/phases.vl.json");
  const std::string run = std::filesystem::absolute(run_dir / "records.jsonl").parent_path().filename();
  std::vector<std::string> specs;
  const auto measured = [](const json& record) { return record.value("status", "") == "OK"; };
  if (std::none_of(records.begin(), records.end(), measured)) return;  // a plot of nothing
  for (const Summary& summary : summarise(records)) {
    const std::string suffix = specs.empty() ? "" : fmt::format("-{}-{}", summary.scale, summary.device);
    specs.push_back(folder / ("cascade" + suffix + ".vl.json"));
    write_text(specs.back(), cascade_figure(cascade, summary, run).dump(1) + "\n");
    specs.push_back(folder / ("phases" + suffix + ".vl.json"));
    write_text(specs.back(), phases_figure(phases, summary, run).dump(1) + "\n");
  }
  if (specs.empty()) return;
  console << std::flush;
  if (render(source_dir, specs, console))
    console << "plots: " << folder.string() << "/*.svg and *.png\n";
  else
    console << fmt::format(
        "warning: plots were not rendered; run ./run_matrix once without --no-install, then "
        "`./run_matrix plot {}`. Their data and specs are in {}\n",
        run_dir.string(), folder.string());
}

}  // namespace harness
