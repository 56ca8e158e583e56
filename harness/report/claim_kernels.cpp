// The share of the step in which kernels run, for claims about kernels and not about loading.
#include <optional>

#include "harness/report/claim_question.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

// Mean over ranks.
std::optional<double> kernel_share(const Record& record, const RunStatistics& run, size_t first_batch) {
  if (on_emulated_device(record)) {
    const auto ms = device_ms(record, {"forward", "loss", "backward", "step"});
    return ms && run.mean_ms > 0 ? std::optional(*ms / run.mean_ms) : std::nullopt;
  }
  double sum = 0;
  if (record.trace && !record.trace->ranks.empty() &&
      (first_batch == 0 || record.trace->first.value_or(0) >= int64_t(first_batch))) {
    for (const RankTrace& rank : record.trace->ranks) sum += rank.gpu_kernel_share;
    return sum / double(record.trace->ranks.size());
  }
  if (first_batch > 0 || record.gpu.empty()) return std::nullopt;  // NVML's mean is of the whole window
  for (const RankGpu& rank : record.gpu) {
    if (!rank.utilisation_percent) return std::nullopt;
    sum += rank.utilisation_percent->mean / 100;
  }
  return sum / double(record.gpu.size());
}

}  // namespace

PerRun kernel_shares(size_t first_batch) {
  return [first_batch](const SummaryRow& row) -> std::vector<double> {
    std::vector<double> shares;
    for (size_t i = 0; i < row.records.size(); ++i) {
      const auto share = kernel_share(*row.records[i], row.runs[i], first_batch);
      if (!share) return {};
      shares.push_back(*share);
    }
    return shares;
  };
}

}  // namespace harness
