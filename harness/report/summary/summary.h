// Summary: the one place where every figure that tables and plots show is computed from records.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/communication.h"
#include "harness/report/summary/flags.h"
#include "harness/stats/statistics.h"

namespace harness {

struct SummaryRow {
  std::string id, title;
  std::string
      ran;  // what stood in for the article's hardware: device label, 16-bit type, link, other storage
  std::string cache;  // state of the page cache: cold, warm, unknown, none
  std::string group;  // axis on which the row differs from its base: storage, precision, devices, ...
  std::string status, reason;
  std::vector<Flag> flags;
  Row config;
  int repeats = 1, repeats_ok = 1;

  // All below only where ok().
  double total_s = 0, total_min_s = 0, total_max_s = 0;  // median and range over the repeats with status OK
  double images_per_second = 0;
  RunStatistics run;  // of the repeat whose total is the median (the lower one of an even number)
  std::vector<RunStatistics> runs;  // of all repeats with status OK, by total
  RecordList records;               // of the same repeats; the caller's
  const Record* record = nullptr;   // that of `run`, or of the first repeat; the caller's

  std::optional<Communication> communication;  // of the same repeat; rows of several ranks only
  std::optional<double> ratio;  // total of the base / total of this row: above 1 is faster than the base
  bool batch_differs = false, window_differs = false;  // from the base's
  std::optional<double> published_ratio;               // the same of the article's figures, within one window

  bool ok() const { return status == "OK"; }
};

// What training in one precision came to, over the repeats of a row that ran the validation set; shares are
// 0-1.
struct AccuracyRow {
  std::string id;
  std::string precision, label;  // the 16-bit type as the record names it
  std::string kind;              // synthetic (stand-in classes) or real
  std::string status,
      reason;        // OK, or the first repeat's that had no figure; then the figures below are empty
  int seeds = 0;     // repeats with a figure, each with a seed of its own
  int diverged = 0;  // repeats whose loss stopped being finite
  double top1 = 0, top1_min = 0, top1_max = 0;  // medians and ranges over seeds
  double top5 = 0, top5_min = 0, top5_max = 0;
  // Of this precision less o0, median and range over the seeds that both have; no seeds without such a pair.
  int paired_seeds = 0;
  double less_o0 = 0, less_o0_min = 0, less_o0_max = 0;
  double seconds = 0;         // of training, median
  int64_t budget_images = 0;  // trained on, repeats of an image counted again
  int64_t classes = 0, validation_images = 0;

  bool ok() const { return status == "OK"; }
};

// Rows of one scale on one device: what may stand in one table.
struct Summary {
  std::string scale, device;
  std::string mark;  // REHEARSAL or SMOKE, empty at the article's scale
  std::string scale_summary, machine, build,
      data;                           // one line each; values that differ within the run all stand there
  std::string set;                    // what --set changed in the rows, `field=value field=value`
  std::string inferred;               // fields that the article states for none of the rows
  std::string timed_batches;          // `300`, or all numbers that occur
  std::vector<SummaryRow> rows;       // in the order in which rows first occur
  std::vector<AccuracyRow> accuracy;  // rows with `validation`, which stand in no other list
};

// `records` must outlive what comes back.
std::vector<Summary> summarise(const Records& records);

// Phases as tables show them; together they are the whole step.
struct PhaseGroup {
  const char* name;
  std::vector<const char*> phases;
};
const std::vector<PhaseGroup>& phase_groups();
double group_share(const RunStatistics& run, const PhaseGroup& group);

}  // namespace harness
