// Plans blocks of starts within the time, leaves out changes that gain nothing, and prints the answer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include "harness/base/exit_code.h"
#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/base/stopwatch.h"
#include "harness/config/config_error.h"
#include "harness/config/nearest.h"
#include "harness/experiment/policy/policy.h"
#include "harness/own_job/job_commands.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"
#include "harness/run/execution.h"

namespace harness {
namespace {

constexpr int64_t kRounds = 2;  // of all changes made within one start, each a block
constexpr int64_t kFewestSteps = 6, kMostSteps = 100;
constexpr double kSegment_s = 3;  // a longer segment tells little more

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Intervention& change : interventions())
    if (change.of_job || change.name == std::string("even_ranks")) known.push_back(change.name);
  for (const std::string& name : names)
    if (!std::count(known.begin(), known.end(), name))
      throw ConfigError({"--change " + name}, "no such change of a job", "", "", suggestion(name, known));
}

bool is_wanted(const Intervention& change, const JobRequest& job) {
  if (job.changes.empty()) return !change.when_named;
  const auto named = [&](const std::string& name) {
    return std::count(job.changes.begin(), job.changes.end(), name) > 0;
  };
  if (named(change.name)) return true;
  return std::any_of(interventions().begin(), interventions().end(), [&](const Intervention& other) {
    return named(other.name) && other.against == std::string(change.name);
  });
}

class ExplainedJob {
 public:
  ExplainedJob(JobSubject& subject, const JobRequest& request, int64_t blocks)
      : subject_(subject), request_(request), blocks_(blocks) {
    for (const Intervention& change : interventions()) {
      if (!change.of_job || change.name == std::string("unchanged") || !is_wanted(change, request)) continue;
      JobChange made;
      change.of_job(made, subject.facts());
      const bool from_outside = !made.segment.is_object() && made.process.empty();
      std::string why = change.job_why_not ? change.job_why_not(subject.facts()) : "";
      if (!subject.facts().probed && !from_outside) why = "it is changed from outside alone (--step-line)";
      if (!why.empty()) {
        subject.skip(change.name, why);
        continue;
      }
      (made.segment.is_object() ? within_ : at_start_).push_back(&change);
    }
  }

  // Returns false after Ctrl-C.
  bool run(const base::Stopwatch& watch) {
    choose_steps(request_.within_s - watch.s());
    for (int64_t start = 0; start < blocks_; ++start) {
      std::vector<const Intervention*> starts(at_start_.begin(), at_start_.end());
      std::shuffle(starts.begin(), starts.end(), random_);
      // The first one is the job as it is, since the others are compared with it.
      starts.insert(starts.begin() + (start == 0 || starts.empty() ? 0 : long(random_() % starts.size())),
                    nullptr);
      for (const Intervention* change : starts) {
        if (watch.s() + expected_s(change) > request_.within_s && start > 0) return true;
        if (watch.s() > request_.within_s) return true;
        const base::Stopwatch one;
        if (!subject_.start(change ? change_start(*change, start) : plain_start(start))) return false;
        base::say("      block {}: {}, {:.0f} s\n", start + 1,
                  change ? change->title : "as it is, and changed between its steps", one.s());
        drop_impossible();
      }
      if (start == 0) leave_out_what_gains_nothing();
    }
    return true;
  }

 private:
  double round_s(int64_t steps) const {
    return double(within_.size() + 1) * double(steps + subject_.settling()) * subject_.facts().step_ms * 1e-3;
  }
  double expected_s(const Intervention* change) const {
    const double one_s = subject_.facts().step_ms * 1e-3;
    return subject_.startup_s() +
           (change ? one_s * double(kRounds * steps_) : double(kRounds) * round_s(steps_));
  }

  // So that the blocks which an interval needs fit, if they can.
  void choose_steps(double left_s) {
    if (request_.steps > 0) {
      steps_ = request_.steps;
      return;
    }
    const double step_s = subject_.facts().step_ms * 1e-3;
    steps_ = std::clamp(int64_t(kSegment_s / step_s), kFewestSteps, kMostSteps);
    const auto all_s = [&] {
      return double(blocks_) *
             (expected_s(nullptr) +
              double(at_start_.size()) * expected_s(at_start_.empty() ? nullptr : at_start_[0]));
    };
    while (steps_ > kFewestSteps && all_s() > left_s) --steps_;
    base::say(
        "      {} steps a segment; {} changes between steps, {} of whole starts; about {:.0f} s a block\n",
        steps_, within_.size(), at_start_.size(), all_s() / double(blocks_));
  }

  PlannedStart plain_start(int64_t start) {
    PlannedStart planned;
    planned.steps = steps_;
    for (int64_t round = 0; round < kRounds; ++round) {
      std::vector<PlannedSegment> segments = {{"unchanged", start * kRounds + round}};
      for (const Intervention* change : within_) segments.push_back({change->name, start * kRounds + round});
      std::shuffle(segments.begin(), segments.end(), random_);
      planned.segments.insert(planned.segments.end(), segments.begin(), segments.end());
    }
    return planned;
  }
  PlannedStart change_start(const Intervention& change, int64_t start) const {
    return {{{"unchanged", start * kRounds}}, &change, steps_ * kRounds};
  }

  void drop_impossible() {
    for (const auto& [name, why] : subject_.impossible()) {
      if (!left_out_.insert(name).second) continue;
      base::say("      {}: left out: {}\n", name, why);
      const auto is_named = [&](const Intervention* change) { return change->name == name; };
      std::erase_if(within_, is_named);
      std::erase_if(at_start_, is_named);
    }
  }

  // Of the changes that need a start of their own: those within a start take little time.
  void leave_out_what_gains_nothing() {
    const auto explanations = explanations_of(pointers_to(subject_.records()));
    if (explanations.empty()) return;
    const std::set<std::string> slower = changes_without_gain(explanations.front());
    std::erase_if(at_start_, [&](const Intervention* change) {
      return slower.count(change->name) > 0 || !*change->resource;
    });
  }

  JobSubject& subject_;
  const JobRequest& request_;
  const int64_t blocks_;
  std::vector<const Intervention*> within_, at_start_;
  std::set<std::string> left_out_;
  int64_t steps_ = kFewestSteps;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace

int explain_job(const Installation& installation, const Request& request, const JobRequest& job,
                std::ostream& console) {
  if (const std::string why = why_no_command(job.command); !why.empty()) throw PreparationError(why);
  check_names(job.changes);
  base::note_interrupts();
  const fs::path folder = make_run_folder(installation, request);
  fs::permissions(folder, fs::perms::owner_all);  // the job's output may hold secrets
  base::say("{}\n  at most {:.0f} min; records: {}\n", fmt::join(job.command, " "), job.within_s / 60,
            (folder / "records.jsonl").string());
  const base::Stopwatch watch;
  JobSubject subject(installation, job, folder);
  bool going = subject.survey(), lost = false;
  const bool measured = going;
  if (going) {
    ExplainedJob explained(subject, job, request.repeats > 0 ? request.repeats : int64_t(kFewestRuns));
    going = explained.run(watch);
  }
  try {
    write_results(installation.project, folder, subject.records(), console);
  } catch (const std::exception& error) {
    base::say("run_matrix: {}\n", base::failure_text(error));
    lost = true;
  }
  const auto explanations = explanations_of(pointers_to(subject.records()));
  console << explain_text(explanations);
  if (base::interrupted()) return base::kInterrupted;
  if (lost || !measured) return base::kRowFailed;
  const bool compared = !explanations.empty() &&
                        std::any_of(explanations[0].changes.begin(), explanations[0].changes.end(),
                                    [](const ExplainedChange& change) { return change.effect.has_value(); });
  return compared ? int(base::kAllGood) : int(base::kNothingRan);
}

}  // namespace harness
