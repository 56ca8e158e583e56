// A question to the records: the rows that one part of a claim is about, what must be so before it can be
// asked, and the limits that its figures are held against.
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
};
Finding cannot_be_tested(const std::string& why);

// Rows of a question by id, all with status OK.
class ClaimRows {
 public:
  ClaimRows(const Summary& summary, const std::vector<std::string>& ids);
  const SummaryRow& operator[](const std::string& id) const { return *rows_.at(id); }
  const std::vector<std::string>& ids() const { return ids_; }
  const Summary& summary() const { return summary_; }
  std::string missing() const;  // rows that did not run or failed, in words; empty when all are there

 private:
  const Summary& summary_;
  std::vector<std::string> ids_;
  std::map<std::string, const SummaryRow*> rows_;
};

// Why the question can't be asked of these rows; nothing when it can.
using Need = std::function<std::optional<Finding>(const ClaimRows&)>;

struct Question {
  int claim;
  std::string text;
  std::vector<std::string> rows;
  std::vector<Need> needs;  // asked in order, after all rows are there and nothing in them is emulated
  std::function<Finding(const ClaimRows&)> judge;
};
ClaimPart answer(const Question& question, const Summary& summary);

// The questions of each topic, in the order of the claims.
std::vector<Question> loading_questions();    // 1-3, 17
std::vector<Question> precision_questions();  // 4, 14
std::vector<Question> device_questions();     // 5-9
std::vector<Question> process_questions();    // 10-13, 15, 16

// ---- figures ----

enum class Unit { times, percent };
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Holds when the whole interval lies between the limits, does not when the whole of it lies outside.
struct Test {
  std::string what;  // `load share of [7]`
  Ratio figure;
  double low = 0, high = kNoLimit;
  Unit unit = Unit::times;
};
// Of several tests all must hold; the one that decides is shown.
Finding judged(const std::vector<Test>& tests);

using Phases = std::vector<std::string>;
// Device time where the row's device has a clock of its own, else the training thread's. Not known(): not in
// the records.
Ratio work_ratio(const SummaryRow& base, const SummaryRow& row, const Phases& phases);
Ratio work_share(const SummaryRow& row, const Phases& phases);  // of the mean step
Ratio wait_share(const SummaryRow& row);                        // phase load / step, of the training thread
Ratio quotient(const Ratio& above, const Ratio& below);         // the widest interval that both allow
const Phases& compute_phases();                                 // forward and backward

// ---- needs ----

Need cold(const std::string& id);  // the page cache was proven to be empty
// Both rows ran on the same machine, build and images and differ in these fields and no others.
Need only_differ_in(const std::string& base, const std::string& row, const std::vector<std::string>& fields);
// A core for each thread that works at the same time: loader threads, and replicas or ranks where these are
// the processor's.
Need own_cores(const std::string& id);
Need cores_as_asked(const std::string& id);  // `cpus` was not clipped
Need separate_device(const std::string& id, const std::string& otherwise);
Need sixteen_bit_instructions(const std::string& id);

std::string bracketed(const std::string& id);       // `[7]`, `disk`
std::string sixteen_bit_of(const SummaryRow& row);  // what to say of another 16-bit type than the article's
std::string cold_caveat(const SummaryRow& row);     // what a virtual machine leaves unproven
// Less of the step than this spent waiting is no wait to speak of: one run differs from the next by as much.
inline constexpr double kVisibleShare = 0.10;
// What the article calls equal may differ by this much; twice the spread of MLPerf's imaging results.
inline constexpr double kSame = 0.05;

}  // namespace harness
