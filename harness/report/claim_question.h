// A question decides one part of a claim: the rows that it compares, the conditions under which it can be
// answered, and the limits for its figures.
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/claims.h"
#include "harness/report/summary/ratio.h"

namespace harness {

struct Finding {
  ClaimVerdict verdict;
  std::string figure, reason;
  bool lacks_devices = false;  // devices apart from the processor, also emulated ones, could answer it
  std::optional<double> p =
      std::nullopt;  // of the verdict, before Holm's correction; nullopt: nothing was tested
};
Finding cannot_be_tested(const std::string& why);
Finding not_measured(const std::string& why);

// Rows of a question by id, all with status OK.
class ClaimRows {
 public:
  ClaimRows(const Summary& summary, const std::vector<std::string>& ids);
  const SummaryRow& operator[](const std::string& id) const { return *rows_.at(id); }
  const std::vector<std::string>& ids() const { return ids_; }
  const Summary& summary() const { return summary_; }
  Ratio times(const std::string& base, const std::string& row) const {  // of the totals
    return total_ratio(summary_, *rows_.at(base), *rows_.at(row));
  }
  Ratio ratio(const PerRun& figure, const std::string& base, const std::string& row) const {
    return ratio_of(summary_, figure, *rows_.at(base), *rows_.at(row));
  }
  Ratio share(const PerRun& figure, const std::string& row) const {
    return share_of(summary_, figure, *rows_.at(row));
  }
  std::string missing() const;  // names rows that did not run or failed; empty if there are none

 private:
  const Summary& summary_;
  std::vector<std::string> ids_;
  std::map<std::string, const SummaryRow*> rows_;
};

// A condition of a question. Returns why these rows can't answer it, nullopt if they can.
using Need = std::function<std::optional<Finding>(const ClaimRows&)>;

// What the answer is a consequence of on an emulated device.
enum class AnswerFrom {
  measurement,
  device_file,  // it is a figure of that file: forward and backward, a copy, a broadcast
  core_rate,    // it follows from the rate of emulated cores, set so that [7] waits as in the article
};

struct Question {
  int claim;
  std::string text;
  std::vector<std::string> rows;
  std::vector<Need> needs;  // checked in this order, after missing and emulated rows are excluded
  std::function<Finding(const ClaimRows&)> judge;
  AnswerFrom answer_from = AnswerFrom::measurement;
};
ClaimPart answer(const Question& question, const Summary& summary);
// The same before the rows have run: the reason is empty if the rows meet the question's conditions.
ClaimPart forecast(const Question& question, const Summary& planned);

// The questions of each topic, in the order of the claims.
std::vector<Question> loading_questions();    // 1, 3, 17
std::vector<Question> lmdb_questions();       // 2
std::vector<Question> precision_questions();  // 4, 14
std::vector<Question> device_questions();     // 5-9
std::vector<Question> process_questions();    // 10-13, 15, 16

// ---- figures ----

enum class Unit { times, percent };
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The test holds if the whole interval lies between the limits, and does not hold if all of it lies outside.
struct Test {
  std::string what;  // `load share of [7]`
  Ratio figure;
  double low = 0, high = kNoLimit;
  Unit unit = Unit::times;
};
// All tests must hold. The finding shows the test that decides.
Finding judged(const std::vector<Test>& tests);

using Phases = std::vector<std::string>;
// From device time on a GPU, otherwise from the training thread's time. Not known() if the records lack it.
PerRun work_ms(const Phases& phases);
PerRun work_shares(const Phases& phases);  // of the mean step
// Phase load / step, of the training thread. A share under kLeastShare counts as that: no clock tells less.
PerRun wait_shares();
inline constexpr double kLeastShare = 0.0005;
const Phases& compute_phases();  // forward and backward
// Share of the time in which kernels run, from a trace of kernels (--trace) or NVML's readings: a phase's
// device time also contains the gaps between kernels. From `first_batch` on: only a trace of later batches
// tells. The kernels of an emulated device have no gaps, and its batches differ by their waits alone. Without
// values if a record has neither, as on a processor.
PerRun kernel_shares(size_t first_batch = 0);
inline constexpr const char* kKernelsTimed = "kernel time / time, from --trace, NVML or the emulated device";
inline constexpr const char* kKernelsUntimed =
    "kernels run in the training thread and are not timed separately";

// ---- needs ----

Need cold(const std::string& id);  // the page cache was proven to be cold
// Both rows ran on the same machine, build and images, and differ only in these fields.
Need only_differ_in(const std::string& base, const std::string& row, const std::vector<std::string>& fields);
// Each loader thread, and on a CPU each replica's or rank's computing thread, has its own core. On
// emulated devices: the row hardly waits for its loader, or the loader reaches the rate of the emulated
// cores.
Need own_cores(const std::string& id);
Need cores_as_asked(const std::string& id);  // `cpus` was not clipped
// The device is not the processor; `otherwise` says why a processor can't answer the question.
Need separate_device(const std::string& id, const std::string& otherwise);
Need sixteen_bit_instructions(const std::string& id);

std::string bracketed(const std::string& id);       // `[7]`, `disk`
std::string sixteen_bit_of(const SummaryRow& row);  // a remark if the 16-bit type is not the article's
std::string cold_caveat(const SummaryRow& row);     // a remark if the row ran in a virtual machine
// A smaller share of waiting in the step is ignored: two runs of a row differ by about as much.
inline constexpr double kVisibleShare = 0.10;
// Tolerance for figures that the article calls equal: twice the spread of MLPerf's imaging results.
inline constexpr double kSame = 0.05;
// What the article calls more, faster or less without a figure must be so by 1 %. It compares single runs,
// which tell no less; and equal rows are then known to be equal, however often they run.
inline constexpr double kVisibly = 1.01;
// What the article calls almost continuous, less that tolerance: on tmpfs, 233.7 ms of kernels in 293.3 ms.
inline constexpr double kAlmostContinuous = 233.7 / 293.3 * (1 - kSame);

}  // namespace harness
