// Table 1: the baseline's platform, and the time of its batches by phase, from disk and from tmpfs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report/against_article.h"
#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

const std::vector<std::string> kRows = {"disk", "tmpfs"};

std::string versions_of(const Record& record) {
  std::vector<std::string> parts;
  for (const auto& [name, version] : record.versions) parts.push_back(name + " " + version);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string compiler_of(const Record& record) {
  return fmt::format("{} {}", record.build.compiler, record.build.flags);
}

std::string memory_of(const Record& record) {
  const double bytes = double(record.machine.memory_bytes.value_or(0));
  return bytes > 0 ? fmt::format("{:.1f} GB", bytes / 1e9) : "";
}

std::string batch_of(const Record& record) {
  const double images = double(record.config.batch), px = double(record.config.image_px);
  if (images <= 0 || px <= 0) return "";
  return fmt::format("{:.0f} images of {:.0f} px, {:.0f} B as float32; the article's batch has {:.0f} images",
                     images, px, images * 3 * px * px * 4, images * double(record.scale.batch_divisor));
}

std::string model_of(const Record& record) {
  return fmt::format("{}, width {}, SGD", record.config.model, record.config.width);
}

std::string threads_of(const Record& record) {
  return fmt::format("{} cpus~, {} loader threads~, C0 = {}", record.config.cpus,
                     record.config.loader_threads, record.scale.c0);
}

struct BatchLine {
  const char* name;
  std::vector<std::string> phases;  // none: the whole batch

  bool whole() const { return phases.empty(); }
  bool of(const char* phase) const { return !whole() && phases.front() == phase; }
};

const std::vector<BatchLine>& batch_lines() {
  static const std::vector<BatchLine> lines = {{"load", {"load"}},         {"H2D", {"h2d"}},
                                               {"forward", {"forward"}},   {"loss and accuracy", {"loss"}},
                                               {"backward", {"backward"}}, {"SGD", {"step"}},
                                               {"other", {"other"}},       {"whole batch", {}}};
  return lines;
}

// The two rows side by side; either may be absent.
class BaselineBatch {
 public:
  explicit BaselineBatch(const Summary& summary)
      : summary_(summary), disk_(ok(summary, "disk")), tmpfs_(ok(summary, "tmpfs")) {
    comparable_ = disk_ && tmpfs_ && comparable_base(summary, *tmpfs_) == disk_;
  }

  // False for `other` where it is under half a percent of the batch.
  bool matters(const BatchLine& line) const {
    if (!line.of("other")) return true;
    for (const SummaryRow* row : {disk_, tmpfs_})
      if (row && ms(row, line) >= 0.005 * row->run.mean_ms) return true;
    return false;
  }

  std::vector<std::string> cells(const BatchLine& line) const {
    const double disk = ms(disk_, line), forward = ms(disk_, kForward);
    std::vector<std::string> cells = {line.name,
                                      article_number(disk),
                                      percent_of_batch(line),
                                      forward > 0 ? fmt::format("{:.2f}", disk / forward) : "-",
                                      ratio_text(published(disk_, line), published(disk_, kForward)),
                                      article_number(ms(tmpfs_, line))};
    const Ratio here = ratio(line);
    const double article = published_ratio(line);
    cells.push_back(here.known() ? text_of(here) : "-");
    cells.push_back(article > 0 ? fmt::format("{:.2f}", article) : "-");
    // With an emulated disk a figure that depends on loading follows from a setting.
    const bool chosen =
        comparable_ && (is_by_construction(*disk_->record) || is_by_construction(*tmpfs_->record));
    const bool loading = line.whole() || line.of("load");
    cells.push_back(loading && chosen ? "by construction" : against_article(here, article));
    return cells;
  }

  // The same figures for article.csv, each with the row that it belongs to.
  void add_values(const BatchLine& line, std::vector<GridValue>& values) const {
    const std::string name = line.name;
    const auto add = [&](const char* row, const std::string& quantity, const char* unit, Reading reading) {
      values.push_back({row, quantity, unit, "", reading});
    };
    const auto reading = [&](const SummaryRow* row) {
      return Reading{row ? if_any(ms(row, line)) : std::nullopt, {}, {}, if_any(published(row, line))};
    };
    const auto part = [](const std::optional<double>& above, double below) {
      return above && below > 0 ? std::optional(*above / below) : std::nullopt;
    };
    const Reading disk = reading(disk_);
    add("disk", name, "ms", disk);
    if (!line.whole())
      add("disk", name + ", share", "share", {part(disk.value, disk_ ? disk_->run.mean_ms : 0), {}, {}, {}});
    add("disk", name + " / forward", "ratio",
        {part(disk.value, ms(disk_, kForward)), {}, {}, part(disk.article, published(disk_, kForward))});
    add("tmpfs", name, "ms", reading(tmpfs_));
    add("tmpfs", name + ", disk / tmpfs", "ratio", reading_of(ratio(line), published_ratio(line)));
    const std::string verdict = cells(line).back();
    values.push_back({"tmpfs", name + ", against the article", "text", verdict == "-" ? "" : verdict});
  }

  Ratio whole() const { return comparable_ ? total_ratio(summary_, *disk_, *tmpfs_) : Ratio(); }

 private:
  static const SummaryRow* ok(const Summary& summary, const std::string& id) {
    const SummaryRow* row = article_row(summary, id);
    return row && row->ok() ? row : nullptr;
  }

  static double ms(const SummaryRow* row, const BatchLine& line) {
    if (!row) return 0;
    return line.whole() ? 1000 * row->total_s / double(row->run.batches) : phases_ms(row->run, line.phases);
  }
  static double published(const SummaryRow* row, const BatchLine& line) {
    return row && !line.whole() ? published_phase_ms(*row, line.phases.front()) : 0;
  }

  Ratio ratio(const BatchLine& line) const {
    if (!comparable_) return {};
    return line.whole() ? total_ratio(summary_, *disk_, *tmpfs_)
                        : ratio_of(summary_, ms_in(line.phases), *disk_, *tmpfs_);
  }
  double published_ratio(const BatchLine& line) const {
    if (line.whole()) return tmpfs_ ? tmpfs_->published_ratio.value_or(0) : 0;
    const double there = published(disk_, line), here = published(tmpfs_, line);
    return there > 0 && here > 0 ? there / here : 0;
  }

  std::string percent_of_batch(const BatchLine& line) const {
    if (!disk_ || disk_->run.mean_ms <= 0) return "-";
    return line.whole() ? "100 %" : fmt::format("{:.0f} %", 100 * ms(disk_, line) / disk_->run.mean_ms);
  }
  static std::string ratio_text(double above, double below) {
    return above > 0 && below > 0 ? fmt::format("{:.2f}", above / below) : "-";
  }

  static inline const BatchLine kForward = {"", {"forward"}};
  const Summary& summary_;
  const SummaryRow *disk_, *tmpfs_;
  bool comparable_ = false;
};

}  // namespace

Grid platform_grid(const Summary& summary) {
  Grid grid;
  const SummaryRow* row = article_row(summary, "disk");
  if (!row) row = article_row(summary, "tmpfs");
  if (!row) return grid;
  const Record& record = *row->record;
  grid.title = "Table 1: platform and baseline";
  grid.above = lines_above(summary);
  grid.columns = {{"of row " + row->id, true}, {"here", true}};
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    grid.rows.push_back({name, value});
    grid.values.push_back({row->id, name, "text", value});
  };
  add("machine", summary.machine);
  add("memory", memory_of(record));
  add("system", record.machine.os);
  add("kernel", record.machine.kernel);
  add("devices", record.device.label);
  add("build", summary.build);
  add("compiler", compiler_of(record));
  add("libraries", versions_of(record));
  add("data", summary.data);
  add("model", model_of(record));
  add("batch", batch_of(record));
  add("threads", threads_of(record));
  add("page cache", row->cache);
  grid.notes = {"~ not stated by the article, inferred from its text"};
  return grid;
}

Grid baseline_batch_grid(const Summary& summary) {
  Grid grid;
  if (!any_article_row(summary, kRows)) return grid;
  grid.title = "Table 1: a batch of the baseline, from disk and from tmpfs";
  grid.above = lines_above(summary);
  grid.columns = {{"phase", true},  {"disk ms"},           {"share"},
                  {"/ forward"},    {"article / forward"}, {"tmpfs ms"},
                  {"disk / tmpfs"}, {"article"},           {"against the article", true}};
  const BaselineBatch batch(summary);
  for (const BatchLine& line : batch_lines())
    if (batch.matters(line)) {
      grid.rows.push_back(batch.cells(line));
      batch.add_values(line, grid.values);
    }
  grid.notes = {
      "ms: mean per batch over the whole window. / forward: divided by the time of the forward pass. The "
      "article's figures for phases are from kernels and copies of one batch, number 122; for the whole "
      "batch, from its totals."};
  for (const std::string& id : kRows) {
    const SummaryRow* row = article_row(summary, id);
    if (!row || !row->ok())
      grid.notes.push_back(row ? fmt::format("{}: {}: {}", id, row->status, one_line(row->reason))
                               : id + ": not run");
  }
  if (const Ratio whole = batch.whole(); whole.known())
    grid.notes.push_back(
        interval_note({whole}, true) +
        (whole.decides() ? " differs: the article's ratio is about 1 and lies outside it." : ""));
  const std::vector<std::string> published = published_notes(summary, kRows);
  grid.notes.insert(grid.notes.end(), published.begin(), published.end());
  return grid;
}

}  // namespace harness
