// Plans the segments of a start, runs it, and turns what the probe reports into records.
#include "harness/own_job/job_subject.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "harness/base/child_process.h"
#include "harness/base/interrupt.h"
#include "harness/base/plain_text.h"
#include "harness/base/process_limits.h"
#include "harness/base/say.h"
#include "harness/contract/machine.h"
#include "harness/own_job/step_lines.h"
#include "harness/run/execution.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr int64_t kSurveySteps = 8, kLeastWarmup = 6;
constexpr double kSurveyShare = 0.4;       // of the whole time, at most
constexpr double kLate = 3, kLate_s = 30;  // a start that takes so many times as long as planned, and so much

constexpr const char* kLonger = "give it longer with --within";

std::vector<int> first_cores(int64_t count) {
  std::vector<int> cores = base::available_cpus();
  if (count > 0 && count < int64_t(cores.size())) cores.resize(size_t(count));
  return cores;
}

fs::path private_run_folder(const Installation& installation, const Request& request,
                            const std::vector<std::string>& command, bool may_write) {
  require_command(command);
  if (!may_write && fs::path(command[0]).filename() == "srun")
    throw PreparationError(
        "srun: Slurm starts the ranks outside of what keeps a job's files from the disk, and of what counts its "
        "processor time: start them by torchrun or mpirun within the allocation, or add --may-write and "
        "--keep-disturbed");
  base::note_interrupts();
  const fs::path folder = make_run_folder(installation, request);
  fs::permissions(folder, fs::perms::owner_all);
  return folder;
}

// Of the unchanged job, less what its slowest rank takes longer than the median of the others when none waits
// for another.
Record with_even_ranks(const Record& unchanged, const Record& slowest, Record others) {
  const double items = *others.images_per_second * *others.total_s;
  const double item_s =
      1 / *unchanged.images_per_second - 1 / *slowest.images_per_second + 1 / *others.images_per_second;
  others.total_s = items * item_s;
  others.images_per_second = 1 / item_s;
  return others;
}

}  // namespace

JobSubject::JobSubject(const Installation& installation, const Request& request, const JobRequest& job)
    : installation_(installation),
      job_(job),
      keep_disturbed_(request.keep_disturbed),
      folder_(private_run_folder(installation, request, job.command, job.may_write)),
      frame_{job.command, describe_machine(), describe_build()} {}

int64_t JobSubject::settling() const { return prefetched_ + 2; }

int64_t JobSubject::warmup() const {
  return job_.warmup > 0 ? job_.warmup : std::max(kLeastWarmup, 2 * std::max<int64_t>(2, facts_.workers));
}

nlohmann::json JobSubject::plan_of(const PlannedStart& planned, const JobChange& of_start) const {
  nlohmann::json segments = nlohmann::json::array();
  for (const PlannedSegment& segment : planned.segments) {
    JobChange change;
    if (const Intervention* known = find_intervention(segment.name); known->of_job)
      known->of_job(change, facts_);
    nlohmann::json json = change.segment.is_object() ? change.segment : nlohmann::json::object();
    if (!json.contains("change")) json["change"] = planned.change ? "unchanged" : segment.name;
    json["block"] = segment.block;
    json["steps"] = planned.steps;
    segments.push_back(std::move(json));
  }
  return {{"warmup", warmup()},
          {"segments", segments},
          {"process", of_start.process},
          {"list_files", starts_ == 0}};
}

ProbeReport JobSubject::run(const nlohmann::json& plan, const JobChange& change, double limit_s,
                            JobEnd& end) {
  const bool as_they_are = change.files == JobChange::Files::as_they_are;
  files_.prepare(job_.cold && as_they_are ? JobChange::Files::dropped : change.files);
  JobStart start;
  start.command = job_.command;
  start.plan = plan;
  start.folder = folder_ / "starts" / std::to_string(starts_++);
  if (change.unlimited) start.control_group = base::process_limits().without_quota;
  start.cpus = change.cores > 0 ? first_cores(change.cores) : std::vector<int>();
  start.limit_s = limit_s;
  start.may_write = job_.may_write;
  if (job_.step_line.empty()) {
    end = run_job(installation_, start, [] { return false; });
    interrupted_ = interrupted_ || end.interrupted;
    return read_probe(start.folder);
  }
  start.plan = nullptr;
  start.command.insert(start.command.begin(), {"stdbuf", "--output=L"});  // so that each line comes at once
  StepLines lines(start.folder / "output.txt", job_.step_line);
  const int64_t warmup = plan["warmup"], steps = plan["segments"][0]["steps"];
  end = run_job(installation_, start, [&] { return lines.poll() >= warmup + steps; });
  lines.poll();
  interrupted_ = interrupted_ || end.interrupted;
  return lines.report(warmup, steps);
}

void JobSubject::keep(Record record, const std::string& change, int64_t block, double added_ms) {
  record.repeat = repeats_[change]++;
  record.row = change == "unchanged" ? std::string(kJobRow) : std::string(kJobRow) + "-" + change;
  record.config.id = record.row;
  if (!job_.device_rate)
    record.intervention = RecordIntervention{kJobRow, change, block, added_ms, std::nullopt};
  else if (is_ok(record))
    record.device_rates["own"] = job_.device_rate(batch_of_a_rank(record));
  append(std::move(record));
}

void JobSubject::append(Record record) {
  append_record(folder_ / "records.jsonl", to_json(record));
  records_.push_back(std::move(record));
}

void JobSubject::learn(const ProbeReport& report, const JobEnd& end) {
  const ProbeRank& first = report.ranks.front();
  facts_.probed = job_.step_line.empty();
  facts_.world = std::max<int64_t>(1, first.world);
  facts_.cores = int64_t(base::available_cpus().size());
  facts_.threads = std::max<int64_t>(1, first.threads);
  facts_.gpu = !first.device.empty() && first.device != "cpu";
  facts_.why_quota_stays = why_quota_stays();
  if (const JobLoader* loader = training_loader(report)) {
    facts_.loader = true;
    facts_.workers = loader->workers;
    prefetched_ = loader->workers * loader->prefetch_factor.value_or(2);
  }
  files_.opened(report.files);
  facts_.files = files_.known();
  facts_.files_fit = files_.fit();
  double steps_ms = 0, steps = 0;
  for (const ProbeSegment& segment : first.segments)
    for (const ProbeStep& step : segment.steps) {
      steps_ms += step.wall_ms;
      ++steps;
    }
  facts_.step_ms = steps_ms / steps;
  startup_s_ = std::max(0.0, end.wall_s - steps_ms * 1e-3);
}

bool JobSubject::survey() {
  PlannedStart planned;
  planned.segments = {{"unchanged", 0}};
  planned.steps = kSurveySteps;
  JobEnd end;
  const double limit_s = kSurveyShare * job_.within_s;
  const ProbeReport report = run(plan_of(planned, {}), {}, limit_s, end);
  if (interrupted_) return false;
  if (!end.in_time) end.advice = kLonger;
  Record record = job_record(frame_, report, end, {{0}, "unchanged"});
  const bool measured = is_ok(record) || record.status == "INVALID";
  if (measured) {
    learn(report, end);
    base::say("      it makes a step of {:.3g} ms{}; a start takes {:.1f} s\n", facts_.step_ms,
              facts_.world > 1 ? fmt::format(" on {} ranks", facts_.world) : "", startup_s_);
    if (!end.caught.empty())
      base::say("      it wrote {}, thrown away: {}\n", base::counted(int64_t(end.caught.size()), "file"),
                (folder_ / "starts" / "0" / "caught.txt").string());
  } else {
    if (!end.in_time) record.status = "TIMEOUT";
    keep(std::move(record), "unchanged", 0, 0);
  }
  return measured;
}

bool JobSubject::once(int64_t steps, std::optional<RecordPair> pair) {
  const PlannedStart planned{{{"unchanged", 0}}, nullptr, steps};
  JobEnd end;
  const ProbeReport report = run(plan_of(planned, {}), {}, job_.within_s, end);
  if (interrupted_) return false;
  if (!end.in_time) end.advice = kLonger;
  Record record = job_record(frame_, report, end, {{0}, "unchanged", keep_disturbed_});
  if (!end.in_time && !is_ok(record)) record.status = "TIMEOUT";
  record.pair = std::move(pair);
  record.repeat = record.pair ? record.pair->block : repeats_["unchanged"]++;
  record.config.id = record.row;
  append(std::move(record));
  return true;
}

void JobSubject::skip(const std::string& change, const std::string& why) {
  keep(job_record(frame_, "SKIPPED", why), change, 0, 0);
}

bool JobSubject::start(const PlannedStart& planned) {
  JobChange change;
  if (planned.change) planned.change->of_job(change, facts_);
  const nlohmann::json plan = plan_of(planned, change);
  const double timed = double(planned.segments.size()) *
                       double(planned.steps + settling() + std::max<int64_t>(1, facts_.workers));
  const double expected_s = startup_s_ + timed * facts_.step_ms * 1e-3;
  JobEnd end;
  const ProbeReport report = run(plan, change, kLate * expected_s + kLate_s, end);
  if (interrupted_) return false;
  const bool done = !report.ranks.empty() && std::ranges::all_of(report.ranks, [](const ProbeRank& rank) {
    return rank.end == "done";
  });
  const bool came_to_its_end = !done && end.in_time && end.exit_code == 0 && !report.ranks.empty();
  if (came_to_its_end) length_ = report.ranks.front().iterations;
  const std::string failed =
      done || came_to_its_end ? "" : "the job failed with it: " + why_no_steps(report, end, end.wall_s);
  if (!failed.empty() && planned.change) impossible_[planned.change->name] = failed;

  std::map<std::pair<int64_t, std::string>, SegmentsOf> wanted;
  for (size_t i = 0; i < planned.segments.size(); ++i) {
    const std::string name = planned.change ? planned.change->name : planned.segments[i].name;
    SegmentsOf& of = wanted[{planned.segments[i].block, name}];
    of.keep_disturbed = keep_disturbed_;
    of.indices.push_back(int64_t(i));
    of.change = plan["segments"][i]["change"].get<std::string>();
  }
  std::map<std::pair<int64_t, std::string>, Record> made;
  for (const auto& [key, of] : wanted) made.emplace(key, job_record(frame_, report, end, of));
  if (planned.change)
    for (const ProbeRank& rank : report.ranks)  // it ran without the change
      if (const auto why = rank.impossible.find(planned.change->name); why != rank.impossible.end())
        for (auto& [key, record] : made) record = job_record(frame_, "SKIPPED", why->second);
  for (auto& [key, of] : wanted) {
    const auto& [block, name] = key;
    Record record = made.at(key);
    if (record.status == "SKIPPED") impossible_[name] = record.reason;
    const bool begun = !report.ranks.empty() && report.ranks.front().begun == of.change;
    if (!failed.empty() && begun && !is_ok(record) && name != "unchanged") impossible_[name] = failed;
    if (came_to_its_end && record.status == "CRASHED") continue;  // it comes again, in a shorter start
    if (planned.change) record.job->process = change.process.empty() ? "" : change.process.dump();
    const auto beside = made.find({block, "unchanged"});
    if (is_ok(record) && name == "no_collectives" && report.ranks.size() > 1 && beside != made.end() &&
        is_ok(beside->second)) {
      of.of_other_ranks = true;
      keep(with_even_ranks(beside->second, record, job_record(frame_, report, end, of)), "even_ranks", block,
           0);
    }
    keep(std::move(record), name, block, plan["segments"][size_t(of.indices.front())].value("added_ms", 0.0));
  }
  return true;
}

void require_command(const std::vector<std::string>& command) {
  if (command.empty() || command[0].empty())
    throw PreparationError("no command: write it after `--`, e.g. run_matrix explain -- python train.py");
  const bool is_path = command[0].find('/') != std::string::npos;
  if (is_path ? ::access(command[0].c_str(), X_OK) == 0 : base::program_exists(command[0])) return;
  throw PreparationError(fmt::format(
      "{}: no such program: write the command as you start it yourself, without a shell", command[0]));
}

}  // namespace harness
