// Tables 7 and 9: one process per device with the semantics of several packages, and on two nodes.
#include <fmt/format.h>

#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/report/summary/link_equivalent.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

double sync_bn_waits(const SummaryRow& row) {
  return row.communication ? row.communication->sync_bn_ms() : 0;
}

double link_share(const SummaryRow& row) {
  return row.communication ? row.communication->link_share.value_or(0) : 0;
}

ArticleColumn optional_figure(const std::string& header, const std::string& quantity, const std::string& unit,
                              std::function<double(const SummaryRow&)> figure) {
  ArticleColumn column = figure_column(header, quantity, unit, std::move(figure));
  column.optional = true;
  return column;
}

// The ratio over the whole cascade, from row 0 to row 18.
std::string whole_cascade(const Summary& summary) {
  const SummaryRow *first = article_row(summary, "0"), *last = article_row(summary, "18");
  if (!first || !last || !first->ok() || !last->ok() || first->run.batches != last->run.batches ||
      setting_of(*first, "window") != setting_of(*last, "window"))
    return "";
  const double there = first->config.published_s, here = last->config.published_s;
  return fmt::format("All steps together, 0 / 18: {} here{}{}", text_of(total_ratio(summary, *first, *last)),
                     there > 0 && here > 0 ? fmt::format(", {:.2f} in the article", there / here) : "",
                     is_by_construction(*last->record) ? " (18 is emulated)" : "");
}

}  // namespace

Grid packages_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 7: DDP, APEX, APEX with SyncBN, Horovod";
  table.rows = {"12", "13", "14", "15"};
  table.subjects = {"13", "14", "15"};
  table.columns =
      joined({title_column(), total_column(), phase_column("load", {"load"}), phase_column("H2D", {"h2d"}),
              phase_column("bcast", {"broadcast"}), phase_column("fwd", {"forward"}),
              phase_column("bwd", {"backward"}), phase_column("sync", {"sync"}),
              optional_figure("SyncBN", "SyncBN waits", "ms", sync_bn_waits),
              figure_column("skew", "skew", "ms", [](const SummaryRow& row) { return row.run.skew_ms; })},
             ratio_columns(summary, table.rows, {"13", "15"}));
  table.notes = {
      "The semantics of APEX and Horovod are rebuilt; the packages are not run. The article calls 12, 13 and "
      "15 about equal, so 13 and 15 are tested for equality with 12 (within 5 %) and not ranked.",
      "bcast: batch-norm statistics from rank 0, and waiting for the slowest rank. sync: all-reduces that "
      "backward did not hide. "
      "SyncBN: waits of SyncBN layers for other ranks, within fwd and bwd. skew: slowest minus fastest rank, "
      "median batch."};
  for (const std::string& id : table.rows) {
    const SummaryRow* row = article_row(summary, id);
    const std::string text = row && row->communication ? row->communication->sync_bn_text() : "";
    if (!text.empty()) table.notes.push_back(id + ": " + text);
  }
  return article_grid(summary, table);
}

Grid two_nodes_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 9: two nodes";
  table.rows = {"16", "17", "18"};
  table.subjects = {"17", "18"};
  ArticleColumn link = config_column("link", "link");
  link.column.is_text = true;
  link.cell = [](const SummaryRow& row) { return link_that_ran(*row.record); };
  ArticleColumn rate = config_column("Mbit/s", "link_rate_mbit", "Mbit/s");
  rate.optional = true;
  rate.cell = [](const SummaryRow& row) {
    const double mbit = row.config.link_rate_mbit;
    return mbit > 0 ? fmt::format("{:g}{}", mbit, inferred_mark(row, "link_rate_mbit")) : "-";
  };
  ArticleColumn bytes = optional_figure("bytes", "link bytes / expected", "ratio", link_share);
  bytes.cell = [](const SummaryRow& row) {
    const bool counted = row.communication && row.communication->link_share;
    return counted ? fmt::format("{:.2f}", *row.communication->link_share) : "-";
  };
  table.columns = joined(
      {link, rate, total_column(), phase_column("bcast", {"broadcast"}), phase_column("fwd", {"forward"}),
       phase_column("bwd", {"backward"}), phase_column("sync", {"sync"}),
       optional_figure(
           "alone", "all-reduces alone", "ms",
           [](const SummaryRow& row) { return row.communication ? row.communication->alone_ms : 0; }),
       bytes},
      ratio_columns(summary, table.rows));
  table.notes = {
      "bcast: batch-norm statistics from rank 0, and waiting for the slowest rank. sync: all-reduces that "
      "backward did not hide. "
      "alone: the same all-reduces with nothing else running. bytes: bytes counted on the link / expected "
      "bytes."};
  for (std::string& text : link_equivalents(summary)) table.notes.push_back(std::move(text) + ".");
  if (const std::string all = whole_cascade(summary); !all.empty()) table.notes.push_back(all);
  return article_grid(summary, table);
}

}  // namespace harness
