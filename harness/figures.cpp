// Fills the Vega-Lite specs with summary rows and calls the renderer; layout and colours stay in plots/.
#include "harness/figures.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "harness/records.h"
#include "harness/table.h"

extern char** environ;

namespace harness {
namespace {

using nlohmann::json;

// The label of a row: its id as the command line takes it, and what ran in place of the article's hardware.
std::string label_of(const SummaryRow& row) {
  return row.ok() ? fmt::format("{}   {}", row.id, row.ran) : fmt::format("{}   {}", row.id, row.title);
}

std::string reason_of(const SummaryRow& row) {
  const std::string first = row.reason.substr(0, row.reason.find_first_of(";\n"));
  return row.status + (first.empty() ? "" : ": " + first);
}

json row_values(const SummaryRow& row, size_t position) {
  return {{"label", label_of(row)}, {"position", position}, {"row", row.id}, {"status", row.status}};
}

std::string value_label(const SummaryRow& row) {
  std::string text = fmt::format("{:.{}f} s", row.total_s, row.total_s < 10 ? 2 : 1);
  if (row.ratio)
    text += fmt::format("   \u00d7{:.2f} to {}{}", *row.ratio, text_at({{"config", row.config}}, "/config/base"),
                        row.batch_differs ? " (other batch)" : "");
  if (row.ratio && row.published_ratio) text += fmt::format(", article \u00d7{:.2f}", *row.published_ratio);
  return text;
}

void set_title(json& spec, const Summary& summary, const std::string& run, const std::string& what) {
  spec["title"]["text"] = (summary.mark.empty() ? "" : summary.mark + ": ") + what;
  json lines = json::array();
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  lines.push_back("Ran: " + scale + (summary.mark.empty() ? "" : "; not the article's hardware or sizes"));
  lines.push_back(fmt::format("{}: {}", summary.device, summary.machine));
  lines.push_back(fmt::format("{}; data: {}; run {}", summary.build, summary.data, run));
  spec["title"]["subtitle"] = lines;
}

// Room on the right for the text behind the longest bar.
void set_domain(json& spec, double largest, double room) {
  spec["/layer/0/encoding/x/scale"_json_pointer] = {{"domainMin", 0}, {"domainMax", largest > 0 ? largest * room : 1},
                                                    {"nice", false}};
}

json read_spec(const std::filesystem::path& file) {
  std::ifstream input(file);
  json spec = json::parse(input, nullptr, false);
  if (spec.is_discarded()) throw std::runtime_error(file.string() + ": missing or no JSON; restore it from the repository");
  return spec;
}

// True when the renderer ran and succeeded.
bool render(const std::filesystem::path& source_dir, const std::vector<std::string>& specs, std::ostream& console) {
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
  json values = json::array();
  double largest = 0;
  for (size_t i = 0; i < summary.rows.size(); ++i) {
    const SummaryRow& row = summary.rows[i];
    json value = row_values(row, i);
    value["total_s"] = row.ok() ? json(row.total_s) : json();
    if (row.ok()) {
      value.update({{"min_s", row.total_min_s}, {"max_s", row.total_max_s}, {"end_s", row.total_max_s},
                    {"group", row.group}, {"value_label", value_label(row)}});
      largest = std::max(largest, row.total_max_s);
    } else {
      value["reason_label"] = reason_of(row);
    }
    values.push_back(value);
  }
  spec["data"] = {{"values", values}};
  spec["/layer/0/encoding/x/title"_json_pointer] =
      fmt::format("seconds per {} batches, {} (shorter is faster)", summary.timed_batches, summary.device);
  set_domain(spec, largest, 1.55);
  set_title(spec, summary, run, fmt::format("the cascade, seconds per {} batches", summary.timed_batches));
  return spec;
}

json phases_figure(json spec, const Summary& summary, const std::string& run) {
  json values = json::array(), present = json::array();
  double largest = 0;
  for (size_t i = 0; i < summary.rows.size(); ++i) {
    const SummaryRow& row = summary.rows[i];
    json total = row_values(row, i);
    total.update({{"phase", nullptr}, {"step_label", nullptr}, {"reason_label", nullptr}});
    if (!row.ok()) {
      total["reason_label"] = reason_of(row);
    } else if (!row.run.has_samples) {
      total["reason_label"] = "ran without phase clock";
    } else {
      // Means, not medians: a loader that delivers in bursts has a median near zero, and means add up to the step.
      double step_ms = 0;
      for (const PhaseStatistics& phase : row.run.phases) {
        const auto place = std::find(phase_names().begin(), phase_names().end(), phase.name) - phase_names().begin();
        json value = row_values(row, i);
        value.update({{"phase", phase.name}, {"phase_position", place}, {"ms", phase.mean_ms},
                      {"step_label", nullptr}, {"reason_label", nullptr}});
        values.push_back(value);
        step_ms += phase.mean_ms;
      }
      total["step_ms"] = step_ms;
      total["step_label"] = fmt::format("{:.{}f} ms", step_ms, step_ms < 10 ? 2 : 1);
      largest = std::max(largest, step_ms);
    }
    values.push_back(total);
  }
  for (const std::string& name : phase_names())
    if (std::any_of(values.begin(), values.end(), [&](const json& value) { return value["phase"] == name; }))
      present.push_back(name);
  spec["data"] = {{"values", values}};
  spec["/layer/0/encoding/color/legend/values"_json_pointer] = present;
  spec["/layer/0/encoding/x/title"_json_pointer] =
      fmt::format("mean ms per batch, {}; phases add up to the step (shorter is faster)", summary.device);
  set_domain(spec, largest, 1.15);
  set_title(spec, summary, run, "where a batch spends its time, ms per batch");
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
    console << fmt::format("warning: plots were not rendered; run ./run_matrix once without --no-install, then "
                           "`./run_matrix plot {}`. Their data and specs are in {}\n", run_dir.string(), folder.string());
}

}  // namespace harness
