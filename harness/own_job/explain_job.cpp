// Plans blocks of starts within the time, leaves out changes that gain nothing, and prints the answer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <set>

#include "harness/base/exit_code.h"
#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/base/stopwatch.h"
#include "harness/experiment/policy/policy.h"
#include "harness/own_job/job_commands.h"
#include "harness/plan/prediction.h"
#include "harness/report/explain_text.h"
#include "harness/report/results.h"
#include "harness/run/execution.h"

namespace harness {
namespace {

constexpr int64_t kRounds = 2;  // of all changes made within one start; each is a block of the engine
constexpr int64_t kFewestSteps = 6, kMostSteps = 100;
constexpr double kSegment_s = 3;  // a longer segment tells little more
// Of the time that a start takes: batches come in bursts, of workers that keep in step or of a storage that
// is rationed, of which a short segment counts one too many; and shorter ones would hardly save time.
constexpr double kLeastOfStart = 0.25;

// With those that the named ones are compared with or computed from.
bool is_wanted(const Intervention& change, const JobRequest& job) {
  if (job.changes.empty()) return !change.when_named;
  const auto named = [&](const std::string& name) { return std::ranges::count(job.changes, name) > 0; };
  return named(change.name) || std::ranges::any_of(interventions(), [&](const Intervention& other) {
           const auto is_this = [&](const char* name) { return name == std::string(change.name); };
           return named(other.name) && (is_this(other.computed_from) || is_this(other.against) ||
                                        std::ranges::any_of(other.includes, is_this));
         });
}

class ExplainedJob {
 public:
  ExplainedJob(JobSubject& subject, const JobRequest& request, int64_t blocks)
      : subject_(subject), request_(request), blocks_(blocks) {
    if (!subject.facts().probed) rounds_ = 1;  // its steps can't be told apart within a start
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

  // Until the time is over or Ctrl-C.
  void run(const base::Stopwatch& watch) {
    choose_steps(request_.within_s - watch.s());
    int64_t number = 1;  // of the next block of the engine
    for (int64_t block = 0; block < blocks_; ++block) {
      const std::vector<PlannedStart> plain = plain_starts(number);
      std::vector<PlannedStart> starts;
      for (const Intervention* change : at_start_) starts.push_back(change_start(*change, number));
      number = plain.back().segments.back().block + 1;
      std::ranges::shuffle(starts, random_);
      // The first one is the job as it is, since the others are compared with it.
      starts.insert(starts.begin() + (block == 0 || starts.empty() ? 0 : long(random_() % starts.size())),
                    plain.begin(), plain.end());
      for (const PlannedStart& start : starts) {
        if (watch.s() > request_.within_s) return;
        if (block > 0 && watch.s() + expected_s(start) > request_.within_s) return;
        const base::Stopwatch one;
        if (!subject_.start(start)) return;
        base::say("      block {}: {}, {:.0f} s\n", block + 1,
                  start.change ? start.change->title : "as it is, and changed between its steps", one.s());
        drop_impossible();
      }
      if (block == 0) leave_out_what_gains_nothing();
    }
    tell_what_never_began();
  }

 private:
  double expected_s(const PlannedStart& start) const {
    const double steps = double(start.segments.size()) * double(start.steps + subject_.settling());
    return subject_.startup_s() + steps * subject_.facts().step_ms * 1e-3;
  }

  // So that the blocks which an interval needs fit, if they can.
  void choose_steps(double left_s) {
    if (request_.steps > 0) {
      steps_ = request_.steps;
      return;
    }
    const double step_s = subject_.facts().step_ms * 1e-3;
    steps_ = std::clamp(int64_t(kSegment_s / step_s), kFewestSteps, kMostSteps);
    const int64_t fewest =
        std::clamp(int64_t(kLeastOfStart * subject_.startup_s() / step_s), kFewestSteps, steps_);
    const auto all_s = [&] {
      double block_s = 0;
      for (const PlannedStart& start : plain_starts(0)) block_s += expected_s(start);
      for (const Intervention* change : at_start_) block_s += expected_s(change_start(*change, 0));
      return double(blocks_) * block_s;
    };
    while (steps_ > fewest && all_s() > left_s) --steps_;
    base::say(
        "      {} steps a segment; {} changes between steps, {} of whole starts; about {:.0f} s a block\n",
        steps_, within_.size(), at_start_.size(), all_s() / double(blocks_));
  }

  // Changes of a job that ends before they begin have no record yet.
  void tell_what_never_began() {
    if (!subject_.length()) return;
    std::vector<std::string> planned = {"unchanged"};
    for (const auto* changes : {&within_, &at_start_})
      for (const Intervention* change : *changes) planned.push_back(change->name);
    for (const std::string& name : planned)
      if (std::ranges::none_of(subject_.records(),
                               [&](const Record& it) { return it.intervention->change == name; }))
        subject_.skip(name,
                      fmt::format("the job ends after {} steps, too early for it: let it train longer, or "
                                  "name smaller --steps and --warmup",
                                  *subject_.length()));
  }

  // Of one start, so that a job which ends by itself soon has steps for all of them.
  size_t changes_per_start() {
    const auto length = subject_.length();
    if (!length) return within_.size();
    const auto fit = [&] {
      const int64_t segment =
          rounds_ * (steps_ + subject_.settling() + std::max<int64_t>(1, subject_.facts().workers));
      return (*length - subject_.warmup()) / segment - 1;  // one is the job as it is
    };
    while (fit() < 2 && (rounds_ > 1 || steps_ > kFewestSteps)) rounds_ > 1 ? --rounds_ : --steps_;
    return size_t(std::max<int64_t>(1, fit()));
  }

  // The job as it is, with all changes that are made between its steps, in as many starts as they need. What
  // a change is compared with stands before it in the table, and is in the same start where possible. The job
  // as it is comes first in one round and last in the next, so that a drift of its steps (LBFGS's history
  // grows, for instance) takes from one what it gives to the other; at first it is compared with changes of
  // whole starts, which are measured as early. `block`: number of the first round.
  std::vector<PlannedStart> plain_starts(int64_t block) {
    std::vector<PlannedStart> starts;
    const size_t most = std::max<size_t>(1, changes_per_start());
    size_t first = 0;
    do {
      const size_t end = end_of_slice(first, most);
      PlannedStart planned;
      planned.steps = steps_;
      for (int64_t round = 0; round < rounds_; ++round, ++block) {
        std::vector<PlannedSegment> segments;
        for (size_t i = first; i < end; ++i) segments.push_back({within_[i]->name, block});
        std::ranges::shuffle(segments, random_);
        segments.insert(round % 2 ? segments.end() : segments.begin(), {"unchanged", block});
        planned.segments.insert(planned.segments.end(), segments.begin(), segments.end());
      }
      starts.push_back(std::move(planned));
      first = end;
    } while (first < within_.size());
    return starts;
  }
  // Of at most so many changes. The next one isn't parted from what it is compared with.
  size_t end_of_slice(size_t first, size_t most) const {
    const size_t end = std::min(first + most, within_.size());
    for (size_t i = first + 1; end < within_.size() && i < end; ++i)
      if (within_[i]->name == std::string(within_[end]->against)) return i;
    return end;
  }
  PlannedStart change_start(const Intervention& change, int64_t block) const {
    return {{{"unchanged", block}}, &change, steps_ * rounds_};
  }

  void drop_impossible() {
    for (const auto& [name, why] : subject_.impossible()) {
      if (!left_out_.insert(name).second) continue;
      base::say("      {}: left out: {}\n", name, why);
      const auto is_named = [&name = name](const Intervention* change) { return change->name == name; };
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
  int64_t steps_ = kFewestSteps, rounds_ = kRounds;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace

int explain_job(const Installation& installation, const Request& request, const JobRequest& job,
                std::ostream& console) {
  require_changes(job.changes, /*of_job=*/true);
  JobSubject subject(installation, request, job);
  base::say("{}\n  at most {}; records: {}\n", fmt::join(job.command, " "), duration_text(job.within_s),
            (subject.folder() / "records.jsonl").string());
  const base::Stopwatch watch;
  const bool measured = subject.survey();
  if (measured)
    ExplainedJob(subject, job, request.repeats > 0 ? request.repeats : int64_t(kFewestRuns)).run(watch);
  const bool kept = base::survives(
      [&] { write_results(installation.project, subject.folder(), subject.records(), console); });
  const auto explanations = explanations_of(pointers_to(subject.records()));
  console << explain_text(explanations);
  if (base::interrupted()) return base::kInterrupted;
  if (!kept || !measured) return base::kRowFailed;
  const bool compared = !explanations.empty() &&
                        std::ranges::any_of(explanations[0].changes, [](const ExplainedChange& change) {
                          return change.effect.has_value();
                        });
  return compared ? int(base::kAllGood) : int(base::kNothingRan);
}

}  // namespace harness
