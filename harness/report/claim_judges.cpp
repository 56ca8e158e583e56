// What limits for figures can't say: judges of accuracy, divergence and ImageNet's size, and remarks on a
// finding that depend on the row.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/claim_question.h"

namespace harness {
namespace {

constexpr int64_t kImageNetClasses = 1000;
constexpr double kTrainingImages = 1281167, kValidationImages = 50000;  // of ImageNet

// ---- accuracy and divergence ----

constexpr double kArticlesEpochs = 90;  // what the article's baseline is meant for

// Why this accuracy says nothing about that of the article's trainings; empty if it may.
std::string no_evidence(const AccuracyRow& mode) {
  if (!mode.ok()) return fmt::format("{} {}: {}", mode.precision, mode.status, mode.reason);
  const double epochs = double(mode.budget_images) / kTrainingImages;
  if (mode.kind == "real" && mode.classes == kImageNetClasses && epochs >= kArticlesEpochs &&
      mode.paired_seeds >= int(kFewestRuns))
    return "";
  return fmt::format(
      "the accuracy of {} on {} {} classes after {:.1f} passes over ImageNet, with {} seeds that o0 has too, is "
      "no evidence: that takes real images of {} classes, the {:.0f} passes that the article's baseline is "
      "meant for, and {} seeds",
      mode.precision, mode.classes, mode.kind, epochs, mode.paired_seeds, kImageNetClasses, kArticlesEpochs,
      kFewestRuns);
}

// Arguments: precisions. Every seed's difference from O0 must be small, so the range over seeds is compared
// with the limit.
Finding accuracy_is_kept(const Summary& summary, const std::vector<std::string>& precisions) {
  const AccuracyRow* worst = nullptr;
  bool all_small = true;
  for (const AccuracyRow& mode : summary.accuracy) {
    if (std::ranges::find(precisions, mode.precision) == precisions.end()) continue;
    if (const std::string why = no_evidence(mode); !why.empty()) return cannot_be_tested(why);
    if (!worst || mode.less_o0.median < worst->less_o0.median) worst = &mode;
    all_small = all_small && mode.less_o0.low > -kNoLossOfAccuracy;
  }
  if (!worst)
    return cannot_be_tested(fmt::format("no row of {} was trained and validated; --accuracy does that",
                                        fmt::join(precisions, " or ")));
  return {all_small                                  ? ClaimVerdict::holds
          : worst->less_o0.high < -kNoLossOfAccuracy ? ClaimVerdict::does_not_hold
                                                     : ClaimVerdict::undecided,
          fmt::format("{:+.1f} points ({:+.1f} to {:+.1f})", 100 * worst->less_o0.median,
                      100 * worst->less_o0.low, 100 * worst->less_o0.high),
          fmt::format("top-1 of {} less o0's, range of {} seeds; holds above -{:.1f} points; can't show "
                      "smaller losses, nor what other networks or learning rates lose",
                      worst->precision, worst->paired_seeds, 100 * kNoLossOfAccuracy)};
}

bool diverged(const SummaryRow& row) {
  return row.status == "DIVERGED" || std::ranges::any_of(row.flags, [](const Flag& flag) {
           return flag.code == 'R' && flag.text.find("DIVERGED") != std::string::npos;
         });
}

// Argument: the precision of which it isn't said. 300 batches without divergence don't exclude the risk, so
// the verdict is never `does not hold`.
Finding may_diverge(const Summary& summary, const std::vector<std::string>& but) {
  const auto counts = [&](const std::string& precision) {
    return std::ranges::find(but, precision) == but.end();
  };
  for (const SummaryRow& row : summary.rows)
    if (counts(row.config.precision) && diverged(row))
      return {ClaimVerdict::holds, "",
              fmt::format("{} in {} diverged", bracketed(row.id), row.config.precision)};
  for (const AccuracyRow& mode : summary.accuracy)
    if (counts(mode.precision) && mode.diverged > 0)
      return {ClaimVerdict::holds, "",
              fmt::format("{} diverged with {} of its seeds", mode.precision, mode.diverged)};
  return cannot_be_tested("nothing diverged, but so few batches don't exclude the risk");
}

// ---- the size of ImageNet ----

constexpr double kTmpfsBytes = 160.0 * 1024 * 1024 * 1024;  // size=160G: mount's G is GiB, 171.8e9 bytes
constexpr double kHalfAPage = 2048;  // the mean unused rest of a file's last page of 4096 bytes

Finding imagenet_fits(const Summary& summary, const std::vector<std::string>&) {
  const auto row = std::ranges::find_if(
      summary.rows, [](const SummaryRow& some) { return some.record->data.bytes.value_or(0) > 0; });
  if (row == summary.rows.end()) return cannot_be_tested("the records don't describe the images");
  const RecordData& data = row->record->data;
  const double images = double(data.images.value_or(0));
  const int64_t classes = data.classes.value_or(0);
  if (data.kind == "stand-in" || data.kind.empty() || classes != kImageNetClasses || images < kFewestImages)
    return cannot_be_tested(fmt::format(
        "{:.0f} images of kind {} in {} classes say nothing about ImageNet's size; --data DIR uses "
        "real images, of which {:.0f} of its {} classes are a sample",
        images, data.kind, classes, kFewestImages, kImageNetClasses));
  const double mean = double(*data.bytes) / images + kHalfAPage;
  const double spread = images < kTrainingImages ? kSampleAllowance : 0;
  const double needs = mean * (kTrainingImages + kValidationImages) / kTmpfsBytes;
  const Ratio part{needs, needs * (1 - spread), needs * (1 + spread), kFewestRuns, {}};
  Finding finding = judged({{"of 160 GiB = 171.8e9 bytes", part, {0, 1}, "%"}});
  finding.reason = fmt::format(
      "{:.0f} bytes of tmpfs per image x ({:.0f} training + {:.0f} validation images), if the "
      "folder is ImageNet; {}",
      mean, kTrainingImages, kValidationImages, finding.reason);
  return finding;
}

// ---- remarks ----

// On shared cores, loading also slows down computing, so the waits alone are only a lower bound.
void least_on_shared_cores(const ClaimRows& rows, const std::string& id, Finding& finding) {
  const auto shared = needs().at("own_cores").why_not(rows, {{id}, {}, {}});
  if (!shared || rows[id].record->ceilings || finding.verdict == ClaimVerdict::holds) return;
  finding = cannot_be_tested(
      fmt::format("{:.1f} % of the step is spent waiting, but {}; with ceiling_batches above 0, the cost of "
                  "loading is measured",
                  100 * wait_share(rows, id).value, shared->reason));
}

// The share of loading in a rehearsal says what sizes were chosen, whichever way it comes out.
void sizes_of_rehearsal(const ClaimRows& rows, const std::string&, Finding& finding) {
  if (rows.summary.scale != "rehearsal") return;
  if (finding.verdict != ClaimVerdict::undecided) finding.verdict = ClaimVerdict::by_construction;
  finding.reason +=
      "; follows from the rehearsal's sizes, chosen so that loading and computing take about equally long";
}

void sixteen_bit_type(const ClaimRows& rows, const std::string& id, Finding& finding) {
  const std::string& type = rows[id].record->precision.sixteen_bit;
  if (!type.empty() && type != "float16")
    finding.reason += fmt::format("; in {}, the article's type is float16", type);
}

void cache_of_host(const ClaimRows& rows, const std::string& id, Finding& finding) {
  if (rows[id].record->machine.virtual_machine.value_or(false))
    finding.reason += "; cold for this virtual machine, but its host may have the data cached";
}

}  // namespace

const std::map<std::string, Judge>& judges() {
  static const std::map<std::string, Judge> all = {
      {"accuracy_is_kept", accuracy_is_kept}, {"may_diverge", may_diverge}, {"imagenet_fits", imagenet_fits}};
  return all;
}

const std::map<std::string, Remark>& remarks() {
  static const std::map<std::string, Remark> all = {{"least_on_shared_cores", least_on_shared_cores},
                                                    {"sizes_of_rehearsal", sizes_of_rehearsal},
                                                    {"sixteen_bit_type", sixteen_bit_type},
                                                    {"cache_of_host", cache_of_host}};
  return all;
}

}  // namespace harness
