// Tables 4 and 6: more devices under DataParallel, and one process per device instead.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/article_grid.h"
#include "harness/report/article_tables.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

double share(const SummaryRow& row, const std::vector<std::string>& phases) {
  return row.run.mean_ms > 0 ? 100 * phases_ms(row.run, phases) / row.run.mean_ms : 0;
}

}  // namespace

Grid data_parallel_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 4: DataParallel by number of devices";
  table.rows = {"0", "1", "2", "3", "4", "5", "6", "7"};
  table.subjects = {"2", "3", "4", "5", "6", "7"};
  table.columns = joined(
      {config_column("dev", "devices", "count"), config_column("batch", "batch", "images"), total_column(),
       phase_column("load", {"load"}), phase_column("H2D", {"h2d"}), phase_column("fwd", {"forward"}),
       phase_column("loss", {"loss"}), phase_column("bwd", {"backward"}), phase_column("SGD", {"step"}),
       phase_column("peer", {"scatter", "gather"}), phase_column("bc+red", {"broadcast", "reduce"})},
      ratio_columns(summary, table.rows));
  table.notes = {
      "D2D has two parts. peer: peer copies (scatter of the batch, gather of the logits); bc+red: broadcast "
      "of the weights and reduce of the gradients. dev: devices that share the batch."};
  if (const SummaryRow* seven = article_row(summary, "7"); seven && seven->ok() && seven->run.has_samples)
    table.notes.push_back(fmt::format("7 here: scatter {:.1f} %, broadcast {:.1f} % of the batch's time.",
                                      share(*seven, {"scatter"}), share(*seven, {"broadcast"})));
  return article_grid(summary, table);
}

Grid dp_and_ddp_grid(const Summary& summary) {
  ArticleTable table;
  table.title = "Table 6: DataParallel and DDP";
  table.rows = {"10", "12"};
  table.subjects = {"12"};
  const auto images = [](const SummaryRow& row) {
    return double(row.config.batch) / std::max(1.0, double(row.record->world_size));
  };
  ArticleColumn copied = figure_column("img", "images in one H2D copy", "images", images);
  copied.cell = [images](const SummaryRow& row) { return fmt::format("{:g}", images(row)); };
  table.columns = joined(
      {total_column(), phase_column("load", {"load"}), phase_column("H2D", {"h2d"}), copied,
       phase_column("fwd", {"forward"}), phase_column("loss", {"loss"}), phase_column("bwd", {"backward"}),
       phase_column("SGD", {"step"}), phase_column("peer", {"scatter", "gather"}),
       phase_column("bc+red", {"broadcast", "reduce"}), phase_column("sync", {"sync"})},
      ratio_columns(summary, table.rows));
  table.notes = {
      "img: images in one H2D copy. D2D of 10: peer (scatter, gather) and bc+red (broadcast of the weights, "
      "reduce of the gradients). D2D of 12 is not measured in the article; here it is sync (all-reduces "
      "that backward did not hide) and bc+red (batch-norm statistics from rank 0, and waiting "
      "for the slowest rank)."};
  return article_grid(summary, table);
}

}  // namespace harness
