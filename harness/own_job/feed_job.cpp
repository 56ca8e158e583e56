// Drains a job's loader in several segments and compares its rate with what devices take.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/exit_code.h"
#include "harness/base/interrupt.h"
#include "harness/own_job/job_commands.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"

namespace harness {

constexpr int64_t kDrains = 8;    // segments, each a value of the rate
constexpr int64_t kBatches = 16;  // of each, as many as the workers hold ready or more

static double step_ms_of(const JobDevice& device, double batch) {
  if (device.items_per_s > 0) return 1e3 * batch / device.items_per_s;
  return device.costs ? device.costs->step_ms(batch) : device.step_ms;
}

int feed_job(const Installation& installation, const Request& request, const JobRequest& job,
             const JobDevice& device, std::ostream& console) {
  JobRequest asked = job;
  asked.device_rate = [&](double batch) { return 1e3 * batch / step_ms_of(device, batch); };
  JobSubject subject(installation, request, asked);
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
  const auto fed = job_feed(pointers_to(subject.records()));
  if (!fed) {
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
  console << facts_text(feed_facts(*fed));
  return fed->devices() >= 1 ? base::kAllGood : base::kRegression;
}

}  // namespace harness
