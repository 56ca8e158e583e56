// The share of the step in which kernels run, for claims about kernels and not about loading.
#include <algorithm>

#include "harness/report/claim_question.h"

namespace harness {
namespace {

// Sum over ranks and over the batches from `first` on.
double sum_from(const std::vector<std::vector<double>>& by_rank, size_t first) {
  double sum = 0;
  for (const std::vector<double>& rank : by_rank)
    for (size_t batch = first; batch < rank.size(); ++batch) sum += rank[batch];
  return sum;
}

}  // namespace

const Phases& kernel_phases() {
  static const Phases phases = {"forward", "loss", "backward", "step"};
  return phases;
}

Ratio kernel_share(const SummaryRow& row, size_t first_batch) {
  std::vector<double> shares;
  for (const Record* record : row.records) {
    double kernels = 0, steps = 0;
    for (const std::string& phase : kernel_phases())
      if (const auto found = record->device_ms.find(phase); found != record->device_ms.end())
        kernels += sum_from(found->second, first_batch);
    for (const auto& [phase, by_rank] : record->samples_ms) steps += sum_from(by_rank, first_batch);
    if (kernels <= 0 || steps <= 0) return {};
    shares.push_back(kernels / steps);
  }
  return share_of(shares);
}

}  // namespace harness
