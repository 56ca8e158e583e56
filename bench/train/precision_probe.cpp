#include <ATen/Parallel.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>

#include "bench/train/precision/precision.h"
#include "bench/train/probes.h"

namespace bench {

static double fastest_step_ms(const std::string& name, const harness::Row& row) {
  constexpr int kSteps = 5;
  const auto model = make_model(row);
  const auto precision = PrecisionRegistry::instance().find(name)({at::kCPU, optimizer_options(row)});
  precision->convert(*model);
  const at::Tensor batch = at::rand({row.batch, 3, row.image_px, row.image_px}),
                   labels = at::zeros({row.batch}, at::kLong);
  std::vector<double> times;
  for (int step = 0; step < kSteps + 1; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    precision->scale_loss(at::cross_entropy_loss(precision->forward(*model, batch), labels)).backward();
    precision->step(*model);
    if (step > 0)  // the first step allocates
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return *std::min_element(times.begin(), times.end());  // the least disturbed by other programs
}

std::map<std::string, double> probe_precisions(const harness::Row& row) {
  at::set_num_threads(int(row.intra_op_threads));
  std::map<std::string, double> milliseconds;
  for (const Value& value : registered_values())
    if (value.axis == "precision" && value.missing.empty())
      milliseconds[value.name] = fastest_step_ms(value.name, row);
  return milliseconds;
}

}  // namespace bench
