// Claims 4 and 14: the speed, accuracy and divergence of 16-bit numbers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/report/claim_question.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

// Half a point of top-1: the usual difference between two seeds of ResNet18 on ImageNet.
constexpr double kNoLossOfAccuracy = 0.005;

constexpr int64_t kImageNetClasses = 1000;
constexpr double kImageNetImages = 1281167, kArticlesEpochs = 90;  // what the article's baseline is meant for

Finding computes_faster(const ClaimRows& rows) {
  Finding finding = judged({{"forward and backward per batch, O0 / O1",
                             rows.ratio(work_ms(compute_phases()), "tmpfs", "o1"), kVisibly},
                            {"forward and backward per batch, O0 / O2",
                             rows.ratio(work_ms(compute_phases()), "tmpfs", "o2"), kVisibly}});
  finding.reason += sixteen_bit_of(rows["o2"]);
  return finding;
}

// `Noticeable` is more than the tolerance within which figures count as equal.
Finding total_falls(const ClaimRows& rows) {
  Finding finding = judged({{"time of tmpfs (O0) / o3", rows.times("tmpfs", "o3"), 1 + kSame}});
  finding.reason += sixteen_bit_of(rows["o3"]);
  return finding;
}

// Why this accuracy says nothing about that of the article's trainings; nullopt if it may.
std::optional<Finding> no_evidence(const AccuracyRow& mode) {
  if (mode.kind != "real")
    return cannot_be_tested(fmt::format("accuracy on {} classes is no evidence about ImageNet", mode.kind));
  if (!mode.ok()) return cannot_be_tested(fmt::format("{} {}: {}", mode.precision, mode.status, mode.reason));
  if (mode.classes != kImageNetClasses)
    return cannot_be_tested(fmt::format("accuracy on {} classes is no evidence about ImageNet's {}",
                                        mode.classes, kImageNetClasses));
  if (const double epochs = double(mode.budget_images) / kImageNetImages; epochs < kArticlesEpochs)
    return cannot_be_tested(fmt::format(
        "accuracy after {:.1f} passes over ImageNet is no evidence about the end of the {:.0f} that the "
        "article's baseline is meant for",
        epochs, kArticlesEpochs));
  if (mode.paired_seeds < int(kFewestRuns))
    return cannot_be_tested(fmt::format("{} and o0 have {} seeds in common, but a comparison needs {}",
                                        mode.precision, mode.paired_seeds, kFewestRuns));
  return std::nullopt;
}

// Every seed's difference must be small, so the range over seeds is compared with the limit.
Finding accuracy_is_kept(const ClaimRows& rows) {
  const std::vector<AccuracyRow>& all = rows.summary().accuracy;
  std::vector<const AccuracyRow*> modes;
  for (const AccuracyRow& mode : all)
    if (mode.precision == "o1" || mode.precision == "o2") modes.push_back(&mode);
  if (modes.empty())
    return cannot_be_tested("no row of o1 or o2 was trained and validated; --accuracy does that");
  const AccuracyRow* worst = nullptr;
  for (const AccuracyRow* mode : modes) {
    if (const auto finding = no_evidence(*mode)) return *finding;
    if (!worst || mode->less_o0 < worst->less_o0) worst = mode;
  }
  Finding finding{
      ClaimVerdict::undecided,
      fmt::format("{:+.1f} points ({:+.1f} to {:+.1f})", 100 * worst->less_o0, 100 * worst->less_o0_min,
                  100 * worst->less_o0_max),
      fmt::format("top-1 of {} less o0's, range of {} seeds; holds above -{:.1f} points; can't show "
                  "smaller losses, nor what other networks or learning rates lose",
                  worst->precision, worst->paired_seeds, 100 * kNoLossOfAccuracy)};
  if (worst->less_o0_max < -kNoLossOfAccuracy) finding.verdict = ClaimVerdict::does_not_hold;
  if (std::all_of(modes.begin(), modes.end(),
                  [](const AccuracyRow* mode) { return mode->less_o0_min > -kNoLossOfAccuracy; }))
    finding.verdict = ClaimVerdict::holds;
  return finding;
}

bool diverged(const SummaryRow& row) {
  return row.status == "DIVERGED" || std::any_of(row.flags.begin(), row.flags.end(), [](const Flag& flag) {
           return flag.code == 'R' && flag.text.find("DIVERGED") != std::string::npos;
         });
}

// 300 batches without divergence don't exclude the risk, so the verdict is never `does not hold`.
Finding may_diverge(const ClaimRows& rows) {
  for (const SummaryRow& row : rows.summary().rows) {
    const std::string precision = row.config.precision;
    if (precision != "o0" && diverged(row))
      return {ClaimVerdict::holds, "", fmt::format("{} in {} diverged", bracketed(row.id), precision)};
  }
  for (const AccuracyRow& mode : rows.summary().accuracy)
    if (mode.precision != "o0" && mode.diverged > 0)
      return {ClaimVerdict::holds, "",
              fmt::format("{} diverged with {} of its seeds", mode.precision, mode.diverged)};
  return cannot_be_tested("nothing diverged, but so few batches don't exclude the risk");
}

Finding only_the_format_speeds_up_kernels(const ClaimRows&) {
  return not_measured(
      "no row of this matrix changes kernels without the number format; `./run_matrix configs/beyond.yaml` "
      "does, with channels_last, fused SGD and CUDA graphs, and answers it");
}

Finding gains_on_ddp(const ClaimRows& rows) {
  Finding finding = judged({{"time of [12] / [16]", rows.times("12", "16"), kVisibly}});
  finding.reason += sixteen_bit_of(rows["16"]);
  return finding;
}

}  // namespace

std::vector<Question> precision_questions() {
  return {
      {4,
       "16-bit numbers shorten forward and backward",
       {"tmpfs", "o1", "o2"},
       {sixteen_bit_instructions("o2"), only_differ_in("tmpfs", "o1", {"precision"}),
        only_differ_in("tmpfs", "o2", {"precision"})},
       computes_faster,
       AnswerFrom::device_file},
      {4, "They cost no accuracy", {}, {}, accuracy_is_kept},
      {4, "They run some risk of divergence", {}, {}, may_diverge},
      {4,
       "16-bit numbers throughout (O3) noticeably shorten the total time too",
       {"tmpfs", "o3"},
       {sixteen_bit_instructions("o3"), only_differ_in("tmpfs", "o3", {"precision"})},
       total_falls},
      {4,
       "The kernels themselves can't be optimised, only their number format",
       {},
       {},
       only_the_format_speeds_up_kernels},
      {14,
       "O2 on top of DDP is faster still",
       {"12", "16"},
       {sixteen_bit_instructions("16"), only_differ_in("12", "16", {"precision"})},
       gains_on_ddp},
  };
}

}  // namespace harness
