// Tables 2 and 5: loading images from LMDB, and with more loader threads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr size_t kStartUp = 50;  // in the article, LMDB keeps the device busy after this many batches

// Mean ms of phase load over all ranks and the batches [first, last); 0 if there are none.
double mean_load(const SummaryRow& row, size_t first, size_t last) {
  const auto ranks = row.record->samples_ms.find("load");
  if (ranks == row.record->samples_ms.end()) return 0;
  double sum = 0, count = 0;
  for (const std::vector<double>& batches : ranks->second) {
    const size_t end = std::min(last, batches.size());
    if (first >= end) continue;
    sum += std::accumulate(batches.begin() + long(first), batches.begin() + long(end), 0.0);
    count += double(end - first);
  }
  return count > 0 ? sum / count : 0;
}

// `12 = 3 C0~`
std::string in_c0(const SummaryRow& row, const char* field) {
  const double count = field_number(row.config, field), c0 = double(row.record->scale.c0);
  const std::string mark = inferred_mark(row, field);
  return c0 > 0 ? fmt::format("{:.0f} = {:.3g} C0{}", count, count / c0, mark)
                : fmt::format("{:.0f}{}", count, mark);
}

}  // namespace

Grid lmdb_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 2: LMDB";
  table.rows = {"disk", "disk-in-order", "lmdb", "lmdb-shuffled"};
  table.subjects = {"lmdb", "lmdb-shuffled"};
  ArticleColumn cache = text_column("cache", [](const SummaryRow& row) { return row.cache; });
  table.columns = joined(
      {title_column(), cache, total_column(), phase_column("load", {"load"}),
       figure_column("load 1-50", "load of batches 1-50", "ms",
                     [](const SummaryRow& row) { return mean_load(row, 0, kStartUp); }),
       figure_column("51-", "load of batches 51-", "ms",
                     [](const SummaryRow& row) { return mean_load(row, kStartUp, size_t(-1)); }),
       phase_column("H2D", {"h2d"}), phase_column("fwd", {"forward"}), phase_column("bwd", {"backward"})},
      ratio_columns(summary, table.rows));
  table.notes = {
      "load 1-50, 51-: phase load in the first 50 batches and in the later ones. In the article, LMDB in key "
      "order keeps the device busy after 50 batches.",
      "disk-in-order is an additional control row: it differs from lmdb only in the storage."};
  return article_grid(summary, table);
}

Grid threads_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 5: cores and loader threads";
  table.rows = {"7", "8", "9", "10", "11"};
  table.subjects = {"8", "9", "10", "11"};
  const auto counts = [](const std::string& header, const char* field) {
    ArticleColumn column = config_column(header, field, "count");
    column.cell = [field](const SummaryRow& row) { return in_c0(row, field); };
    return column;
  };
  table.columns = joined({counts("cpus", "cpus"), counts("loader threads", "loader_threads"), total_column(),
                          phase_column("load", {"load"}), phase_column("H2D", {"h2d"}),
                          phase_column("fwd", {"forward"}), phase_column("bwd", {"backward"})},
                         ratio_columns(summary, table.rows));
  std::vector<std::string> clipped;
  for (const std::string& id : table.rows)
    if (const SummaryRow* row = article_row(summary, id); row && row->ok())
      for (const Flag& flag : row->flags)
        if (flag.code == 'C') clipped.push_back(fmt::format("{}: {}", id, flag.text));
  table.notes = {
      "cpus, loader threads: as run, per node, and as multiples of C0, the suite's choice for 0 to 7."};
  if (!clipped.empty())
    table.notes.push_back(
        fmt::format("This machine has fewer cores than the rows request: {}.", fmt::join(clipped, "; ")));
  const SummaryRow *ten = article_row(summary, "10"), *eleven = article_row(summary, "11");
  if (ten && eleven && ten->ok() && eleven->ok() &&
      comparable_base(summary, *ten) == comparable_base(summary, *eleven))
    table.notes.push_back(fmt::format("10 / 11 here: {}; in the article, 11 is slower than 10.",
                                      text_of(total_ratio(summary, *ten, *eleven))));
  return article_grid(summary, table);
}

}  // namespace harness
