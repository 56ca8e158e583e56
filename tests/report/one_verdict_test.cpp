// unit: one quantity has one verdict: whatever the runs are, tables, claims, questions, the comparison with
// the article and `compare` agree on which of two rows is faster.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/compare/comparison.h"
#include "harness/report/article_tables.h"
#include "harness/report/claim_question.h"
#include "harness/report/source_questions.h"
#include "tests/support/typed_records.h"

namespace harness::one_verdict_test {

using nlohmann::json;

// Seconds of the runs of two rows, and what else may differ.
struct Pair {
  std::vector<double> base_s, row_s;
  double taken = 0;         // of the base's cores by others
  double clock_change = 0;  // of the base
  std::string device = "cpu";
};

json run(const std::string& row, double seconds, size_t repeat, const Pair& pair) {
  const bool is_base = row == "base";
  json config = {{"batch", 32}};
  if (!is_base) config.update({{"base", "base"}, {"question", "Is it faster?"}, {"answer", "images_per_s"}});
  return {{"row", row},
          {"repeat", repeat},
          {"timed_batches", 10},
          {"total_s", seconds},
          {"images_per_second", 320 / seconds},
          {"device", {{"kind", pair.device}}},
          {"machine", {{"cpu", "Zen"}, {"cores", 8}}},
          {"environment",
           {{"window_steal_share", is_base ? pair.taken : 0.0},
            {"window_outside_share", 0.0},
            {"clock_change", is_base ? pair.clock_change : 0.0}}},
          {"config", config}};
}

std::vector<json> runs_of(const Pair& pair) {
  std::vector<json> all;
  for (size_t i = 0; i < pair.base_s.size(); ++i) all.push_back(run("base", pair.base_s[i], i, pair));
  for (size_t i = 0; i < pair.row_s.size(); ++i) all.push_back(run("row", pair.row_s[i], i, pair));
  return all;
}

// The same runs as two runs of one row, A the base's.
Comparison compared(const Records& records) {
  Records a, b;
  for (Record record : records) {
    Records& side = record.row == "base" ? a : b;
    record.row = "one";
    side.push_back(record);
  }
  return compare(a, b, {});
}

Question question_of(const Limits& limits) {
  Question question;
  question.claim = 1;
  question.own = true;
  question.text = "the row's time";
  question.rows = {"base", "row"};
  question.judge = [limits](const ClaimRows& rows) {
    const QuantityOf of{.rows = {{"base", 1}, {"row", -1}}};
    return judged({{"time", figure_of(quantities().at("seconds"), of, rows), limits}});
  };
  return question;
}

ClaimVerdict claim(Summary summary, const Limits& limits) {
  summary.own = std::make_shared<const OwnParts>(OwnParts{.questions = {question_of(limits)}});
  return claims_of(summary).back().verdict;
}

// Faster 1, slower -1, neither 0; nullopt where it isn't asked.
std::optional<int> direction(const std::string& said) {
  const auto ends = [&](const char* with) { return said.ends_with(with); };
  if (said == "-" || said.empty()) return std::nullopt;
  return ends(": more") || said == "same direction"    ? 1
         : ends(": less") || said == "other direction" ? -1
                                                       : 0;
}

struct Counts {
  int decided = 0, undecided = 0, refused = 0, same = 0;
};

void expect_one_verdict(const std::vector<json>& mutated, Counts& counts) {
  const Records& records = typed(mutated);
  const std::vector<Summary> summaries = summarise(records);
  ASSERT_EQ(summaries.size(), 1u);
  const Summary& summary = summaries[0];
  const SummaryRow *base = find_row(summary, "base"), *row = find_row(summary, "row");
  const Comparison comparison = compared(records);
  const ClaimVerdict faster = claim(summary, {.low = 1});
  if (!base || !row || !base->ok() || !row->ok()) {
    EXPECT_EQ(faster, ClaimVerdict::cannot_be_tested);
    for (const RowComparison& one : comparison.rows) EXPECT_FALSE(one.refused.empty());
    for (const Answer& answer : answers_of(summary)) EXPECT_FALSE(answer.why_not.empty());
    ++counts.refused;
    return;
  }
  const Ratio ratio = total_ratio(summary, *base, *row);
  const auto article = direction(against_article(ratio, 1e6));  // so far away that only the direction counts
  const auto question = direction(question_grid(summary).rows.at(0).back());
  if (question) {  // else it has no images/s, and says nothing
    EXPECT_EQ(article, question) << text_of(ratio);
  }
  if (row->ratio) {
    EXPECT_DOUBLE_EQ(*row->ratio, ratio.value) << "the table's";
  }
  if (faster == ClaimVerdict::cannot_be_tested) {  // spoiled runs: figures without a claim
    ++counts.refused;
  } else {
    const int of_claim = faster == ClaimVerdict::holds ? 1 : faster == ClaimVerdict::does_not_hold ? -1 : 0;
    EXPECT_EQ(of_claim, article.value_or(9)) << text_of(ratio);
    of_claim != 0 ? ++counts.decided : ++counts.undecided;
  }
  ASSERT_EQ(comparison.rows.size(), 1u);
  const RowComparison& one = comparison.rows[0];
  if (!one.refused.empty() || !article) return;
  const double limit = 1 + one.margin;
  if (std::min(one.effect.a, one.effect.b) < kFewestRuns) {  // scatter isn't borrowed between two runs
    EXPECT_EQ(one.verdict, RowVerdict::undecided);
    return;
  }
  EXPECT_NEAR(one.effect.ratio, ratio.value, 1e-9 * ratio.value);
  EXPECT_NEAR(one.effect.low, ratio.low, 1e-9 * ratio.low);
  EXPECT_NEAR(one.effect.high, ratio.high, 1e-9 * ratio.high);
  const bool large = ratio.value >= limit || ratio.value <= 1 / limit;
  EXPECT_EQ(one.verdict == RowVerdict::faster, large && article == 1) << one.reason << text_of(ratio);
  EXPECT_EQ(one.verdict == RowVerdict::slower, large && article == -1) << one.reason << text_of(ratio);
  if (faster == ClaimVerdict::cannot_be_tested) return;
  const bool equal = claim(summary, {1 / limit, limit}) == ClaimVerdict::holds;
  EXPECT_EQ(one.verdict == RowVerdict::same, equal) << one.reason << text_of(ratio);
  counts.same += equal;
}

std::vector<double> scattered(double seconds, double scatter, size_t runs, std::mt19937& random) {
  std::normal_distribution<double> noise(0, scatter);
  std::vector<double> values(runs);
  for (double& value : values) value = seconds * std::exp(noise(random));
  return values;
}

TEST(OneVerdict, OfAnyTwoRows) {
  std::mt19937 random(12);
  const auto one_of = [&](const auto& values) { return values[random() % std::size(values)]; };
  const double factors[] = {0.7, 0.97, 0.99, 1, 1.005, 1.02, 1.04, 1.5}, scatters[] = {0, 0.001, 0.01, 0.05};
  const double taken[] = {0, 0, 0.01, 0.05, 0.4}, clocks[] = {0, 0, 0, 0.06, 0.2};
  const size_t runs[] = {1, 2, 3, 4, 5, 7, 9};
  Counts counts;
  for (int draw = 0; draw < 500 && !HasFailure(); ++draw) {
    Pair pair;
    pair.taken = one_of(taken);
    pair.clock_change = one_of(clocks);
    pair.device = draw % 5 ? "cpu" : "cuda";
    const double scatter = one_of(scatters);
    const size_t of_base = one_of(runs);
    pair.base_s = scattered(10 / (1 - pair.taken), scatter, of_base, random);
    pair.row_s = scattered(10 / one_of(factors), scatter, draw % 3 ? of_base : one_of(runs), random);
    if (draw % 7 == 0) pair.row_s.back() *= 3;  // an outlier
    expect_one_verdict(runs_of(pair), counts);
  }
  EXPECT_GT(counts.decided, 60);
  EXPECT_GT(counts.undecided, 60);
  EXPECT_GT(counts.refused, 20);
  EXPECT_GT(counts.same, 10);
}

TEST(OneVerdict, OfDamagedRuns) {
  std::mt19937 random(13);
  const json strange[] = {nullptr, true, -1, 1e308, 0, 1e-300, "<script>", json::array(), json::object()};
  const char* const places[] = {"/total_s",
                                "/timed_batches",
                                "/status",
                                "/repeat",
                                "/environment",
                                "/config/batch",
                                "/environment/window_steal_share",
                                "/environment/clock_change",
                                "/device/kind",
                                "/cache"};
  Counts counts;
  int read = 0;
  for (const char* place : places)
    for (const json& value : strange)
      for (const size_t runs : {1, 3, 6}) {
        Pair pair;
        pair.base_s = scattered(12, 0.01, runs, random);
        pair.row_s = scattered(10, 0.01, runs, random);
        std::vector<json> mutated = runs_of(pair);
        mutated[random() % mutated.size()][json::json_pointer(place)] = value;
        Records records;
        try {
          records = typed(mutated);
        } catch (const std::exception&) {
          continue;  // left out when records are read, as those without seconds are
        }
        if (!std::all_of(records.begin(), records.end(), [](const Record& record) {
              return !is_ok(record) || record.total_s.value_or(0) > 0;
            }))
          continue;
        ++read;
        if (summarise(records).size() != 1) continue;  // another device is another summary
        SCOPED_TRACE(std::string(place) + " = " + value.dump());
        expect_one_verdict(mutated, counts);
      }
  EXPECT_GT(read, 60);
  EXPECT_GT(counts.decided, 20);
}

}  // namespace harness::one_verdict_test
