// Summary: computes every figure of tables and plots from records.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/communication.h"
#include "harness/stats/statistics.h"

namespace harness {

// Tables show `code` where there is room for one letter only, otherwise `text`.
struct Flag {
  char code;
  std::string text;
};

using Names = std::vector<std::string>;

// Fields that are inferred in every row. The table's header names them, so that flags show only differences.
Names inferred_everywhere(const RecordList& records);

// `run`: null for a row without figures.
std::vector<Flag> flags_of(const Record& record, const Names& inferred_in_all, const RunStatistics* run);

// The meaning of a code in one line; empty for an unknown code.
std::string flag_meaning(char code);

struct SummaryRow {
  std::string id, title;
  std::string ran;    // what replaced the article's hardware: device label, 16-bit type, link, other storage
  std::string cache;  // state of the page cache: cold, warm, unknown, none
  std::string group;  // axis on which the row differs from its base: storage, precision, devices, ...
  std::string status, reason;
  std::vector<Flag> flags;
  Row config;
  int repeats = 1, repeats_ok = 1;

  // Set only if ok(), except for `record`.
  double total_s = 0, total_min_s = 0, total_max_s = 0;  // median and range over the repeats with status OK
  double images_per_second = 0;
  RunStatistics run;  // of the repeat with the median total (of an even number, the lower median)
  std::vector<RunStatistics> runs;  // of all repeats with status OK, ordered by total
  RecordList records;               // of the same repeats; owned by the caller
  const Record* record = nullptr;   // of `run`, or of the first repeat if none is OK; owned by the caller

  std::optional<Communication> communication;  // of the same repeat; only rows with several ranks
  std::optional<double> ratio;        // total of the base / total of this row; above 1: faster than the base
  bool ratio_of_some_rounds = false;  // it is of the rounds that both ran, `total_s` of all
  bool ratio_undisturbed = false;     // the ratio is one of undisturbed_s() (stats/disturbance.h)
  bool batch_differs = false, window_differs = false;  // compared with the base
  std::optional<double> published_ratio;  // the ratio of the article's figures, within one window

  bool ok() const { return status == "OK"; }
};

// Median and range of a figure over seeds.
struct OverSeeds {
  double median = 0, low = 0, high = 0;
};

// The accuracy after training in one precision, over the repeats of a row with `validation`; shares are 0-1.
struct AccuracyRow {
  std::string id;
  std::string precision, label;  // label: with the 16-bit type that was used
  std::string kind;              // synthetic (stand-in classes) or real
  std::string status, reason;    // OK, or of the first repeat without a figure; then the figures are empty
  int seeds = 0;                 // repeats with a figure; each has a different seed
  int diverged = 0;              // repeats with a loss that is not finite
  OverSeeds top1, top5;
  // Top-1 of this precision minus that of o0, over the seeds that both have.
  int paired_seeds = 0;
  OverSeeds less_o0;
  double seconds = 0;         // training time, median
  int64_t budget_images = 0;  // training images, with repetitions
  int64_t classes = 0, validation_images = 0;

  bool ok() const { return status == "OK"; }
};

struct OwnParts;  // report/claim_question.h

// The rows of one scale on one device. They share one table.
struct Summary {
  std::string scale, device;
  std::string mark;  // REHEARSAL, SMOKE, EMULATED; empty at the article's scale on real devices
  // One line each; if a value differs within the run, all values.
  std::string scale_summary, machine, build, data;
  std::string set;                      // fields changed by --set, `field=value field=value`
  std::string inferred;                 // fields that the article states for none of the rows
  std::string timed_batches;            // `300`, or all numbers that occur; empty: none was timed
  std::vector<SummaryRow> rows;         // in the order in which rows first occur
  std::vector<AccuracyRow> accuracy;    // rows with `validation`; they are not in `rows`
  std::string about_machine;            // machine_sentence() of the run's folder `machine`; empty without it
  std::string fed;                      // from there: what the machine feeds; empty if unknown
  std::shared_ptr<const OwnParts> own;  // claims and tables of the run's own matrices; null: none
};

// The row with this id, and the one that `row` is compared with; null if the summary doesn't have it.
const SummaryRow* find_row(const Summary& summary, const std::string& id);
const SummaryRow* base_of(const Summary& summary, const SummaryRow& row);

// The distinct texts of the records in order, without empty ones, in one line.
using Describe = std::function<std::string(const Record&)>;
std::string distinct(const RecordList& records, const Describe& describe,
                     const std::string& after_several = "");

// The settings in a record's `set`: a word that begins with no field's name belongs to the value before it.
Names settings_in(const std::string& set);

// The summaries refer to `records`, which must outlive them.
std::vector<Summary> summarise(const Records& records);

// One per row, in the order in which rows first occur. If a repeat diverged, the row has no figure, because
// the other seeds alone would be a biased sample.
std::vector<AccuracyRow> accuracy_rows(const RecordList& records);
Grid accuracy_grid(const Summary& summary, const std::string& title = "accuracy by precision");

// Whether a row on emulated devices trained for real on this machine's processor: `yes`, after a whole slice
// its first and last loss: `7.06 to 2.72`; `no`; empty where nothing was trained for this, as on devices that
// compute.
std::string trained_text(const SummaryRow& row);
// How many of the rows trained, and which did not, as one sentence; empty without rows on emulated devices,
// and in records from before they trained.
std::string trained_sentence(const Summary& summary);

}  // namespace harness
