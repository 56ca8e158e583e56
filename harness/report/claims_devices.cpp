// Claims 5 to 9: more devices under DataParallel, and more threads to feed them.
#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// The article's `nearly 20 %`: nearer to 20 than to 10 %, and not above 20 %, which `nearly` excludes.
constexpr double kLeastScatter = 0.15, kMostScatter = 0.20;
// Its `roughly 2 %`: half as much again in both directions; from there on, 1 % or 3 % would be the word.
constexpr double kLeastBroadcast = 0.01, kMostBroadcast = 0.03;
constexpr double kMostOfTheGain = 0.5;  // the article's `mainly`
const std::string kOfTheStep = "; the article doesn't say of what, here of the step";

const std::vector<std::string> kDevices = {"devices", "strategy"};
const std::vector<std::string> kThreads = {"cpus", "loader_threads"};
const Phases kBetweenDevices = {"scatter", "broadcast", "gather", "reduce"};

Finding computing_shortens(const ClaimRows& rows) {
  std::vector<Test> tests;
  for (const auto& [fewer, more] : {std::pair("1", "2"), {"2", "4"}, {"0", "5"}, {"5", "7"}})
    tests.push_back({"forward and backward, " + bracketed(fewer) + " / " + bracketed(more),
                     rows.ratio(work_ms(compute_phases()), fewer, more), kVisibly});
  return judged(tests);
}

Finding devices_wait(const ClaimRows& rows) {
  return judged({{"share of [7]'s step spent waiting for images", rows.share(wait_shares(), "7"),
                  kVisibleShare, kNoLimit, Unit::percent},
                 {"that share of [7] / of [0]", rows.ratio(wait_shares(), "7", "0"), kVisibly}});
}

Finding communication_grows(const ClaimRows& rows) {
  const PerRun shares = work_shares(kBetweenDevices);
  return judged({{"share of copies between devices, [4] / [2]", rows.ratio(shares, "4", "2"), kVisibly},
                 {"share of copies between devices, [7] / [5]", rows.ratio(shares, "7", "5"), kVisibly}});
}

Finding gains_shrink(const ClaimRows& rows) {
  const auto doublings = [&](const char* one, const char* two, const char* four) {
    const std::vector<const SummaryRow*> all = {&rows[one], &rows[two], &rows[four]};
    return product_of(rows.summary(), seconds_for(all), {{all[0], 1}, {all[1], -2}, {all[2], 1}});
  };
  return judged(
      {{"gain of two devices over one / of four over two, batch 256", doublings("1", "2", "4"), kVisibly},
       {"gain of two devices over one / of four over two, batch 512", doublings("0", "5", "7"), kVisibly}});
}

Finding threads_help(const ClaimRows& rows) {
  return judged({{"time of [7] / [10]", rows.times("7", "10"), kVisibly}});
}

// Of the time that [10] gains on [7], the share by which it waits less for images. The interval is the range
// over all pairs of runs. Not known() if [10] gains nothing in some pair.
Ratio share_of_gain_from_waiting(const SummaryRow& fewer, const SummaryRow& more) {
  std::vector<double> shares;
  for (const RunStatistics& slow : fewer.runs)
    for (const RunStatistics& fast : more.runs) {
      const double gain = slow.mean_ms - fast.mean_ms;
      if (gain <= 0) return {};
      shares.push_back((phases_ms(slow, {"load"}) - phases_ms(fast, {"load"})) / gain);
    }
  if (shares.empty()) return {};
  const auto [low, high] = std::minmax_element(shares.begin(), shares.end());
  return {median(shares), *low, *high, std::min(fewer.runs.size(), more.runs.size())};
}

Finding threads_help_by_less_waiting(const ClaimRows& rows) {
  const Ratio share = share_of_gain_from_waiting(rows["7"], rows["10"]);
  if (!share.known()) return cannot_be_tested("[10] is not faster than [7] in every pair of runs");
  return judged({{"share of [10]'s gain from waiting less for images", share, kMostOfTheGain, kNoLimit,
                  Unit::percent}});
}

Finding too_many_threads_hurt(const ClaimRows& rows) {
  return judged({{"time of [11] / [10]", rows.times("11", "10"), kVisibly}});
}

Finding scatter_is_nearly_a_fifth(const ClaimRows& rows) {
  Finding finding = judged({{"share of [7]'s step", rows.share(work_shares({"scatter"}), "7"), kLeastScatter,
                             kMostScatter, Unit::percent}});
  finding.reason += kOfTheStep;
  return finding;
}

Finding broadcast_is_small(const ClaimRows& rows) {
  Finding finding = judged({{"share of [7]'s step", rows.share(work_shares({"broadcast"}), "7"),
                             kLeastBroadcast, kMostBroadcast, Unit::percent}});
  finding.reason += kOfTheStep;
  return finding;
}

}  // namespace

std::vector<Question> device_questions() {
  const std::vector<std::string> doublings = {"0", "5", "7", "1", "2", "4"};
  const std::vector<Need> of_doublings = {own_cores("7"),
                                          own_cores("4"),
                                          only_differ_in("0", "5", kDevices),
                                          only_differ_in("5", "7", kDevices),
                                          only_differ_in("1", "2", kDevices),
                                          only_differ_in("2", "4", kDevices)};
  const std::string shared = "replicas share one memory and nothing crosses between them";
  return {
      {5, "More GPUs shorten forward and backward", doublings, of_doublings, computing_shortens,
       AnswerFrom::device_file},
      {6,
       "With enough GPUs, they wait for data",
       {"0", "7"},
       {own_cores("7"), only_differ_in("0", "7", kDevices)},
       devices_wait,
       AnswerFrom::core_rate},
      {7,
       "The share of communication grows with the GPUs",
       {"2", "4", "5", "7"},
       {own_cores("7"), own_cores("4"), only_differ_in("2", "4", kDevices),
        only_differ_in("5", "7", kDevices)},
       communication_grows},
      {7, "Each further GPU gains less", doublings, of_doublings, gains_shrink},
      {8,
       "More cores and loader threads shorten [7]",
       {"7", "10"},
       {own_cores("10"), cores_as_asked("7"), cores_as_asked("10"), only_differ_in("7", "10", kThreads)},
       threads_help,
       AnswerFrom::core_rate},
      {8,
       "Too many lengthen it again",
       {"10", "11"},
       {own_cores("10"), cores_as_asked("10"), only_differ_in("10", "11", kThreads)},
       too_many_threads_hurt},
      {8,
       "More cores help mainly by less idle time of the GPUs",
       {"7", "10"},
       {own_cores("10"), cores_as_asked("7"), cores_as_asked("10"), only_differ_in("7", "10", kThreads)},
       threads_help_by_less_waiting,
       AnswerFrom::core_rate},
      {9,
       "DP's scatter takes nearly 20 %",
       {"7"},
       {separate_device("7", shared)},
       scatter_is_nearly_a_fifth,
       AnswerFrom::device_file},
      {9,
       "DP's broadcast takes roughly 2 %",
       {"7"},
       {separate_device("7", shared)},
       broadcast_is_small,
       AnswerFrom::device_file},
  };
}

}  // namespace harness
