// slow: How often the claims err as a family. Real repeats of one row are dealt to all rows of the article,
// so that no two rows differ: every verdict but that of equal rows is false.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "tests/support/claim_records.h"

namespace harness {
namespace {

// One per line, mean ms of each phase per batch; scripts/prove_claims writes them.
std::vector<Times> repeats_in(const std::string& name) {
  const char* fresh = std::getenv("CLAIMS_REPEATS");  // a folder
  std::ifstream file(std::string(fresh ? fresh : SOURCE_DIR "/tests/golden") + "/" + name);
  std::vector<std::string> phases;
  std::vector<Times> repeats;
  for (std::string line, cell; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    if (phases.empty()) {
      while (std::getline(cells, cell, ',')) phases.push_back(cell);
      continue;
    }
    Times& times = repeats.emplace_back();
    for (const std::string& phase : phases) {
      std::getline(cells, cell, ',');
      times[phase] = std::stod(cell);
    }
  }
  return repeats;
}

Times mean_of(const std::vector<Times>& repeats) {
  Times mean;
  for (const Times& repeat : repeats)
    for (const auto& [phase, ms] : repeat) mean[phase] += ms / double(repeats.size());
  return mean;
}

// Rows on made-up hardware where every claim can be tested; their times are replaced by set_times().
Records rows_of(const Times& times, int runs) {
  ClaimRecords records;
  for (const Row& row : article("article").rows) records.add(row.id, times, runs);
  return records.decoded();
}

// `times`, `scatter` times as far from the mean.
Times scattered(const Times& times, const Times& mean, double scatter) {
  Times moved;
  for (const auto& [phase, ms] : times)
    moved[phase] = std::max(0.1 * mean.at(phase), mean.at(phase) + scatter * (ms - mean.at(phase)));
  return moved;
}

void set_times(Record& record, const Times& times) {
  double step = 0, kernels = 0;
  for (const auto& [phase, ms] : times) {
    step += ms;
    if (phase == "forward" || phase == "loss" || phase == "backward" || phase == "step") kernels += ms;
    for (Samples* samples : {&record.samples_ms, &record.device_ms})
      if (const auto found = samples->find(phase); found != samples->end())
        for (std::vector<double>& batches : found->second) std::fill(batches.begin(), batches.end(), ms);
  }
  record.total_s = double(*record.timed_batches) * step / 1000;
  const double busy = 100 * kernels / step;
  record.gpu.at(0).utilisation_percent = Spread{busy, busy, busy};
}

std::vector<ClaimPart> parts_of(const Records& records) {
  const std::vector<Summary> summaries = summarise(records);
  std::vector<ClaimPart> parts;
  for (const Claim& claim : claims_of(summaries.at(0)))
    parts.insert(parts.end(), claim.parts.begin(), claim.parts.end());
  return parts;
}

bool is_decided(const ClaimPart& part) {
  return part.verdict == ClaimVerdict::holds || part.verdict == ClaimVerdict::does_not_hold;
}

struct Setting {
  std::string name, repeats;
  int runs;              // of each row
  double unequal;        // each row scatters by a factor between 1 / unequal and unequal
  size_t fewest_tested;  // parts of claims
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class ClaimsFamily : public testing::TestWithParam<Setting> {};

// Holm's correction is for the probability of any false verdict among all parts of a run.
TEST_P(ClaimsFamily, ErrsInAtMostOneOfTwentyRunsOfEqualRows) {
  const Setting& setting = GetParam();
  const std::vector<Times> repeats = repeats_in(setting.repeats);
  ASSERT_GE(repeats.size(), 20u);
  const Times mean = mean_of(repeats);
  Records records = rows_of(mean, setting.runs);
  for (Record& record : records) set_times(record, mean);
  const std::vector<ClaimPart> truth = parts_of(records);

  const int draws = std::getenv("CLAIMS_REPEATS") ? 1000 : 400;
  std::mt19937 random(18);
  std::uniform_real_distribution<double> factor(-std::log(setting.unequal), std::log(setting.unequal));
  std::vector<size_t> order(repeats.size());
  std::iota(order.begin(), order.end(), 0);
  int errors = 0;
  size_t tested = 0, decided = 0;
  std::map<std::string, int> wrong;  // by part
  for (int draw = 0; draw < draws; ++draw) {
    double scatter = 1;
    for (size_t i = 0; i < records.size(); ++i) {
      const size_t run = i % size_t(setting.runs);
      if (run == 0) {
        std::shuffle(order.begin(), order.end(), random);
        if (setting.unequal > 1) scatter = std::exp(factor(random));
      }
      set_times(records[i], scattered(repeats[order[run]], mean, scatter));
    }
    const std::vector<ClaimPart> parts = parts_of(records);
    ASSERT_EQ(parts.size(), truth.size());
    bool errs = false;
    for (size_t i = 0; i < parts.size(); ++i) {
      tested += parts[i].test.p.has_value();
      if (!parts[i].test.p || !is_decided(parts[i])) continue;
      ++decided;
      if (parts[i].verdict == truth[i].verdict) continue;
      errs = true;
      ++wrong[parts[i].text];
    }
    errors += errs;
  }
  std::cout << setting.name << ": " << errors << " of " << draws << " runs have a false verdict; "
            << double(tested) / draws << " parts of claims are tested, " << double(decided) / draws
            << " decided\n";
  for (const auto& [text, count] : wrong) std::cout << count << " x wrong: " << text << '\n';
  EXPECT_GE(tested / size_t(draws), setting.fewest_tested);
  EXPECT_GE(decided, size_t(draws)) << "a family without verdicts can't err";
  EXPECT_LE(errors, draws / 20);
}

INSTANTIATE_TEST_SUITE_P(, ClaimsFamily,
                         testing::Values(Setting{"five_runs", "real_repeats.csv", 5, 1, 15},
                                         Setting{"five_unequal_runs", "real_repeats.csv", 5, 2, 15},
                                         Setting{"three_pooled_runs", "real_repeats.csv", 3, 1, 15},
                                         Setting{"three_pooled_unequal_runs", "real_repeats.csv", 3, 2, 5},
                                         Setting{"two_pooled_runs", "real_repeats.csv", 2, 1, 15},
                                         Setting{"two_pooled_unequal_runs", "real_repeats.csv", 2, 2, 5},
                                         Setting{"three_emulated_runs", "emulated_repeats.csv", 3, 2, 15},
                                         Setting{"two_emulated_runs", "emulated_repeats.csv", 2, 2, 15}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace harness
