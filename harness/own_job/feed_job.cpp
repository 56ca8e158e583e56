// Drains a job's loader in several segments and compares its rate with what devices take.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/exit_code.h"
#include "harness/base/interrupt.h"
#include "harness/own_job/job_commands.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"
#include "harness/stats/effect.h"

namespace harness {

constexpr int64_t kDrains = 8;    // segments, each a value of the rate
constexpr int64_t kBatches = 16;  // of each, as many as the workers hold ready or more

static double step_ms_of(const JobDevice& device, double batch) {
  if (device.items_per_s > 0) return 1e3 * batch / device.items_per_s;
  return device.costs ? device.costs->step_ms(batch) : device.step_ms;
}

int feed_job(const Installation& installation, const Request& request, const JobRequest& job,
             const JobDevice& device, std::ostream& console) {
  JobSubject subject(installation, request, job);
  if (!subject.survey()) {
    if (base::interrupted()) return base::kInterrupted;
    console << subject.records().back().reason << '\n';
    return base::kRowFailed;
  }
  PlannedStart drains;
  drains.steps = job.steps > 0 ? job.steps : std::max(kBatches, subject.settling());
  for (int64_t block = 0; block < kDrains; ++block) drains.segments.push_back({"loader_alone", block});
  if (!subject.start(drains)) return base::kInterrupted;
  write_results(installation.project, subject.folder(), subject.records(), console);
  std::vector<double> rates;
  int64_t batch = 1;
  for (const Record& record : subject.records())
    if (is_ok(record)) {
      rates.push_back(*record.images_per_second);
      batch = std::max<int64_t>(1, record.config.batch / record.world_size);  // of one rank's device
    }
  if (rates.empty()) {
    console << "no figure: "
            << (subject.records().empty()
                    ? fmt::format(
                          "the job ended before its loader was drained of {} batches after the first {}: "
                          "let it train longer, or name smaller --steps and --warmup",
                          kDrains * drains.steps, subject.warmup())
                    : subject.records().back().reason)
            << '\n';
    return base::kNothingRan;
  }
  const Location rate = location_of(rates);
  const double batch_ms = step_ms_of(device, double(batch)), taken = 1e3 * double(batch) / batch_ms;
  const double fed = rate.value / taken;
  console << facts_text(
      {{"Its loader delivers",
        fmt::format("{:.4g} items/s ({:.4g} to {:.4g}) with nothing else to do; {} runs", rate.value,
                    rate.low, rate.high, rate.runs)},
       {"One device takes",
        fmt::format(
            "{:.4g} items/s{}", taken,
            device.items_per_s > 0 ? "" : fmt::format(", a batch of {} in {:.4g} ms", batch, batch_ms))},
       {"It feeds",
        fmt::format("{:.3g} such devices ({:.3g} to {:.3g}){}", fed, rate.low / taken, rate.high / taken,
                    subject.facts().gpu ? "" : "; here the step's own work on the processor is left out")}});
  return fed >= 1 ? base::kAllGood : base::kRegression;
}

}  // namespace harness
