// Records a job once, and two jobs in turn to compare them.
#include <fmt/format.h>

#include <numeric>
#include <random>

#include "harness/base/exit_code.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/compare/compare_runs.h"
#include "harness/own_job/job_commands.h"
#include "harness/report/results.h"

namespace harness {
namespace {

constexpr int64_t kSteps = 50;

// Both sides then time equal numbers of steps, which the probe rounds up to a multiple of the workers.
int64_t common_steps(int64_t steps, const JobSubject& a, const JobSubject& b) {
  const int64_t multiple =
      std::lcm(std::max<int64_t>(1, a.facts().workers), std::max<int64_t>(1, b.facts().workers));
  return (steps + multiple - 1) / multiple * multiple;
}

}  // namespace

int record_job(const Installation& installation, const Request& request, const JobRequest& job,
               std::ostream& console) {
  JobSubject subject(installation, request, job);
  if (job.cold) subject.survey();  // which files it opens; keeps a record where the job fails
  if (base::interrupted()) return base::kInterrupted;
  if (subject.records().empty() && !subject.once(job.steps > 0 ? job.steps : kSteps))
    return base::kInterrupted;
  write_results(installation.project, subject.folder(), subject.records(), console);
  const Record& record = subject.records().front();
  if (!is_ok(record)) base::say("{}\n", record.reason);  // with the job's lines as lines, unlike a table
  return is_ok(record) ? base::kAllGood : base::kRowFailed;
}

int compare_jobs(const Installation& installation, const Request& request, const JobRequest& job,
                 const std::vector<std::string>& other, std::ostream& console) {
  require_command(job.command);
  require_command(other);  // before the first side has a folder
  JobRequest requests[] = {job, job};
  requests[1].command = other;
  std::vector<std::unique_ptr<JobSubject>> sides;
  for (const char* name : {"A", "B"}) {
    Request side = request;
    side.out = request.out / name;
    sides.push_back(std::make_unique<JobSubject>(installation, side, requests[sides.size()]));
    base::say("side {}:\n", name);
    if (!sides.back()->survey()) {
      if (base::interrupted()) return base::kInterrupted;
      base::say("      {}\n", sides.back()->records().back().reason);
      return base::kRowFailed;
    }
  }
  const int64_t steps = common_steps(job.steps > 0 ? job.steps : kSteps, *sides[0], *sides[1]);
  const int64_t blocks = request.repeats > 0 ? request.repeats : kBlocks;
  std::mt19937 random(std::random_device{}());
  for (int64_t block = 0; block < blocks; ++block) {
    const size_t first = random() % 2;
    for (const size_t side : {first, 1 - first}) {
      const RecordPair pair{request.out.filename(), side == 0 ? "A" : "B", block, side == first, false};
      if (!sides[side]->once(steps, pair)) return base::kInterrupted;
      const Record& record = sides[side]->records().back();
      base::say("      block {} side {}: {}\n", block + 1, pair.side,
                is_ok(record) ? fmt::format("{:.4g} items/s", *record.images_per_second)
                              : record.status + ": " + record.reason);
    }
  }
  const fs::path& out = request.out;
  return compare_runs({out / "A", out / "B", out, false, installation.noise(), installation.project},
                      console);
}

}  // namespace harness
