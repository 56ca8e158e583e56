// The share of the step in which kernels run, for claims about kernels and not about loading.
#include <optional>

#include "harness/report/claim_question.h"

namespace harness {
namespace {

// Mean over ranks.
std::optional<double> kernel_share(const Record& record, size_t first_batch) {
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

Ratio kernel_share(const SummaryRow& row, size_t first_batch) {
  std::vector<double> shares;
  for (const Record* record : row.records) {
    const auto share = kernel_share(*record, first_batch);
    if (!share) return {};
    shares.push_back(*share);
  }
  return share_of(shares);
}

}  // namespace harness
