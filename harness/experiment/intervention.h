// Interventions: the changes that `explain` and `feed` make to a row, one at a time, to find what binds it,
// and the only remedies that a page names.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/settings.h"
#include "harness/contract/emulated_device.h"
#include "harness/contract/record.h"
#include "harness/experiment/job_change.h"

namespace harness {

// What it takes to have a change for good: nothing, a copy of the images in another format or place,
// hardware.
enum class Cost { none, setting, conversion, purchase };

// What else decides how a row can be changed.
struct RowContext {
  const AxisValues& values;
  const EmulatedDevice* device = nullptr;  // of a row on emulated devices
  bool own_images = false;                 // the user's (--data), of which no raw copies are made
  int64_t cores = 0;                       // of this machine
};

struct Intervention {
  const char* name;           // in RecordFeed and RecordIntervention
  const char* against = "";   // the run that it is compared with to tell its resource's part; empty: none
  const char* resource = "";  // what it relieves; empty: it only shows a dependence
  const char* title = "";     // in a few words
  const char* next = "";      // what would do the same for good
  double factor = 0;          // its part of the work becomes so many times as fast; 0: it takes no time
  bool burden = false;        // adds time on purpose; see RecordIntervention::added_ms
  bool for_good = false;      // can be had as it was measured, by another setting or by other hardware
  // Narrower changes, of which the fastest takes the place of `against` in `explain`.
  std::vector<const char*> includes = {};
  Cost cost = Cost::none;
  // A row shows the change if it differs from its base in these fields only: with `values`, in the first,
  // which is then one of them; otherwise all numbers grow.
  std::vector<const char*> fields = {}, values = {};
  const char* unit = "";                      // of a purchase, whose multiple is told: the devices
  bool (*possible)(const Record&) = nullptr;  // see is_possible()
  bool when_named = false;                    // `explain` tries it only with --change
  // What is computed differs: its gain is told beside the loss after the same steps, and it is no cause.
  bool trial = false;
  bool of_loader = false;  // `feed` tries it, too
  bool first = false;      // `explain` runs it before others: it takes less time than the row, and tells most
  // How a row is changed, and why it can't be so (empty: it can). Of those without `apply` and `of_device`
  // the row follows from earlier runs (explain/explained_row.h). of_device: on emulated devices the change
  // is one of the device file, and `apply` isn't used.
  std::string (*why_not)(const Row&, const RowContext&) = nullptr;
  void (*apply)(Row&, const RowContext&) = nullptr;
  void (*of_device)(EmulatedDevice&) = nullptr;
  // The same of a user's own job; without `of_job` or `computed_from` the change is none of jobs.
  std::string (*job_why_not)(const JobFacts&) = nullptr;
  void (*of_job)(JobChange&, const JobFacts&) = nullptr;
  const char* computed_from = "";  // of a job: the change whose runs tell its speed, in place of `of_job`
};

// Of jobs: in job_interventions.cpp, the last of the table.
std::vector<Intervention> job_interventions();

// In the order of tables. in_memory, no_decoding and made_up form a ladder: each leaves out one more part of
// the work. So do timed_device and faster_device.
const std::vector<Intervention>& interventions();
const Intervention* find_intervention(const std::string& name);  // null when there is none
// Throws ConfigError for a name (--change) that is no change of a row, or of a user's own job.
void require_changes(const std::vector<std::string>& names, bool of_job);
// Whether the record's row can be changed so, and isn't so already: `possible`, where it is more than what
// `why_not` tells of the row alone.
bool is_possible(const Intervention& change, const Record& record);
const char* title_of_change(const std::string& name);  // empty when there is none
// The settings in which two rows differ apart from what follows from the article's window.
std::vector<std::string> differences(const Row& one, const Row& other);
// The change by which `row` differs from `base`; null when it is none of the table, or several at once.
const Intervention* change_between(const Row& base, const Row& row);

// images/s: emulated cores without a limit, whose threads yield to the ranks all the same.
constexpr double kUnlimitedCore = 1e6;
// Rates of links and of transfers between devices are multiplied by it.
constexpr double kFasterLink = 4;

struct ChangedRow {
  Row row;                               // id: the name of the change
  std::string why_not;                   // why this row can't be changed so; empty: it can
  std::optional<EmulatedDevice> device;  // that its field device_file names, where it isn't a file
  double added_ms = 0;                   // to each batch, by a burden
};

// `change` on the row, unless there is a reason against it; a combination of settings that is refused becomes
// `why_not`.
ChangedRow changed_row(const Row& row, const std::string& name, const std::string& why_not,
                       const AxisValues& values, const std::function<void(Row&)>& change);
// The row on another device: `name` and the device's become its device_file.
ChangedRow on_device(const Row& row, const std::string& name, const std::string& why_not,
                     const AxisValues& values, EmulatedDevice device,
                     const std::function<void(Row&)>& change);
// The row with each change that is known before anything has run, in the order of the table.
std::vector<ChangedRow> changed_rows(const Row& row, const RowContext& context);

void make_twice_as_fast(EmulatedDevice& device);  // kernels and memory

}  // namespace harness
