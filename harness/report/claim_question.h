// A question decides one part of a claim: the rows that it compares, the conditions under which it can be
// answered, and the limits for its figures. claim_file.cpp reads it from a matrix.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/tables.h"
#include "harness/report/claims.h"
#include "harness/report/summary/ratio.h"

namespace harness {

// The rows of a question by id, all with status OK.
struct ClaimRows {
  const Summary& summary;
  std::map<std::string, const SummaryRow*> rows;
  const SummaryRow& operator[](const std::string& id) const { return *rows.at(id); }
};

struct Question {
  size_t claim = 0;
  bool own = false;  // of a user's matrix, not of the article
  std::string text;
  std::vector<std::string> rows;
  // Each returns why the rows can't answer, nullopt if they can. Checked in this order, after missing and
  // emulated rows are excluded.
  std::vector<std::function<std::optional<Finding>(const ClaimRows&)>> needs;
  std::function<Finding(const ClaimRows&)> judge;
  // What the answer is a consequence of on an emulated device: kDeviceFile, kCoreRate, or empty.
  std::string by_construction;
};
inline constexpr const char* kDeviceFile = "device_file";  // forward and backward, a copy, a broadcast
inline constexpr const char* kCoreRate = "core_rate";      // of emulated cores: who waits for images

ClaimPart answer(const Question& question, const Summary& summary);
// The same before the rows have run: the reason is empty if the rows meet the question's conditions.
ClaimPart forecast(const Question& question, const Summary& planned);

// ---- what a matrix can name; each table is by name ----

// claim_needs.cpp: conditions.
struct Condition {
  std::vector<std::string> rows;
  std::vector<std::string> fields;  // in which two rows may differ
  std::string otherwise;            // what it means that a row doesn't meet the condition
};
struct Need {
  std::optional<Finding> (*why_not)(const ClaimRows&, const Condition&);
  size_t rows = 1;  // 0: one or more
  bool takes_fields = false, takes_otherwise = false;
};
const std::map<std::string, Need>& needs();

// claim_judges.cpp: judges answer what limits for figures can't. Remarks add to the finding about a row, or
// correct it.
using Judge = Finding (*)(const Summary&, const std::vector<std::string>& arguments);
const std::map<std::string, Judge>& judges();
using Remark = void (*)(const ClaimRows&, const std::string& row, Finding&);
const std::map<std::string, Remark>& remarks();

// claim_quantities.cpp: figures of rows. Metrics that are followed from night to night are quantities, too.
struct QuantityOf {
  std::vector<std::string> phases = {};
  int64_t first_batch = 0;
  std::vector<std::pair<std::string, int>> rows = {};  // each with its power: +1 and -1 for a ratio
};
struct Quantity {
  enum class Takes { rows, phases, first_batch, two_rows };
  std::string meaning = {};  // begins the description of a figure; empty: its phases do
  std::string unit = {};     // of one row's figure: %, empty for a number of times, or the metric's
  // One of these is set; none: seconds without what others took, as far as that can be told.
  std::optional<double> (*of_run)(const Record&, const RunStatistics&, const QuantityOf&) = nullptr;
  Ratio (*of_two)(const SummaryRow&, const SummaryRow&) = nullptr;
  const struct Metric* metric = nullptr;
  Takes takes = Takes::rows;
};
const std::map<std::string, Quantity>& quantities();
Ratio figure_of(const Quantity& quantity, const QuantityOf& of, const ClaimRows& rows);
std::string description_of(const Quantity& quantity, const QuantityOf& of);
Ratio wait_share(const ClaimRows& rows, const std::string& id);  // phase load / step

// ---- figures (claim_question.cpp) ----

struct Test {
  std::string what;  // `load share of [7]`
  Ratio figure;
  Limits limits = {};
  std::string unit = {};  // as of a Quantity
};
// All tests must hold (experiment/verdict.h). The finding shows the test that decides.
Finding judged(const std::vector<Test>& tests);

Finding cannot_be_tested(const std::string& why);
std::string bracketed(const std::string& id);  // `[7]`, `disk`

// Those of configs/article.yaml in the project's folder, read once.
const std::vector<Question>& article_questions();

// What a user's own matrices say about their results: claims, numbered over all of them, and tables.
struct OwnParts {
  std::vector<Question> questions = {};
  std::vector<MatrixTable> tables = {};
  std::string text = {};  // of RUN/claims.yaml, from which `report` reads both again; empty: there are none
};
// Throws ConfigError, also for figures that a table can't have. The article's are checked if its matrix is
// one of these, and left out.
OwnParts own_parts(const std::vector<std::filesystem::path>& matrices, const std::filesystem::path& project);
OwnParts read_own_parts(const std::filesystem::path& claims_file);

}  // namespace harness
