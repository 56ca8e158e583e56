// The interventions on a user's own job: what the probe and the start of its process can change about it.
#include <algorithm>

#include "harness/experiment/intervention.h"

namespace harness {
namespace {

using Why = std::string;
constexpr double kAddedShare = 0.1;  // of a step, by what is added on purpose

Why without_loader(const JobFacts& job) {
  return job.loader ? "" : "the job trains from no torch DataLoader";
}
Why without_workers(const JobFacts& job) {
  if (!job.loader) return without_loader(job);
  return job.workers > 0 ? "" : "its loader has no workers already";
}

Why without_files(const JobFacts& job) {
  return job.files ? "" : "its loader opened no files that the probe saw";
}

int64_t cores_of_rank(const JobFacts& job) { return std::max<int64_t>(1, job.cores / job.world); }
void use_all_cores(JobChange& change, const JobFacts& job) { change.process["threads"] = cores_of_rank(job); }

void within_process(JobChange& change, const JobFacts&) { change.segment = nlohmann::json::object(); }
void add_time(JobChange& change, const JobFacts& job) {
  change.segment = {{"added_ms", kAddedShare * job.step_ms}};
}

}  // namespace

std::vector<Intervention> job_interventions() {
  // clang-format off
  return {
      {.name = "more_workers", .against = "unchanged", .resource = "loader workers",
       .title = "twice the loader's workers", .next = "a larger num_workers", .factor = 2,
       .for_good = true, .cost = Cost::setting,
       .job_why_not = without_loader,
       .of_job = [](JobChange& it, const JobFacts& job) { it.process["workers"] = std::max<int64_t>(2, 2 * job.workers); }},
      {.name = "no_workers", .against = "unchanged", .resource = "hand-over from worker processes",
       .title = "loading in the training process (num_workers=0)", .next = "num_workers=0, or fewer, larger messages from the workers",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = without_workers,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["workers"] = 0; }},
      {.name = "fewer_workers", .against = "unchanged", .title = "half the loader's workers",
       .job_why_not = [](const JobFacts& job) -> Why {
         return job.loader && job.workers < 2 ? "one worker can't be halved" : without_loader(job); },
       .of_job = [](JobChange& it, const JobFacts& job) { it.process["workers"] = job.workers / 2; }},
      {.name = "worker_threads", .against = "unchanged", .resource = "threads of the loader's workers",
       .title = "one thread in each worker (OMP_NUM_THREADS=1 for them)", .next = "OMP_NUM_THREADS=1, cv2.setNumThreads(0) or the like in the workers",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = without_workers,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["worker_threads"] = 1; }},
      {.name = "more_prefetch", .against = "unchanged", .resource = "batches that workers hold ready",
       .title = "prefetch_factor=8", .next = "a larger prefetch_factor", .for_good = true, .cost = Cost::setting, .when_named = true,
       .job_why_not = without_workers,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["prefetch_factor"] = 8; }},
      {.name = "files_in_memory", .against = "unchanged", .resource = "storage",
       .title = "its files read into memory before it starts", .next = "the files in memory, or on a faster disk",
       .cost = Cost::conversion,
       .job_why_not = [](const JobFacts& job) -> Why {
         return job.files && !job.files_fit ? "the files that it opened don't fit into half of the free memory" : without_files(job); },
       .of_job = [](JobChange& it, const JobFacts&) { it.files = JobChange::Files::in_memory; }},
      {.name = "files_from_disk", .against = "unchanged", .title = "its files dropped from the page cache before it starts",
       .job_why_not = without_files,
       .of_job = [](JobChange& it, const JobFacts&) { it.files = JobChange::Files::dropped; }},
      {.name = "replayed", .against = "unchanged", .resource = "loader",
       .title = "its first batches again and again, no loader", .next = "less work, more workers or a faster storage for the loader",
       .includes = {"more_workers", "no_workers", "worker_threads", "more_prefetch", "files_in_memory"}, .first = true,
       .job_why_not = without_loader,
       .of_job = within_process},
      {.name = "double_batch", .against = "replayed", .resource = "time per step that no item needs",
       .title = "two of its batches at once", .next = "a larger batch (results differ), or fewer, larger operations",
       .factor = 2,
       .includes = {"replayed", "no_logging", "no_item", "no_metrics", "no_collectives", "even_ranks", "own_cores", "all_cores",
                    "free_cores"},
       .cost = Cost::setting,
       .job_why_not = without_loader,
       .of_job = within_process},
      {.name = "own_cores", .against = "unchanged", .resource = "threads that share cores",
       .title = "as many arithmetic threads as each rank has cores", .next = "OMP_NUM_THREADS, or torch.set_num_threads, of the cores per rank",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = [](const JobFacts& job) -> Why {
         return job.threads <= cores_of_rank(job) ? "its ranks have no more threads than cores" : ""; },
       .of_job = use_all_cores},
      {.name = "all_cores", .against = "unchanged", .resource = "idle cores",
       .title = "as many arithmetic threads as each rank has cores", .next = "more arithmetic threads (OMP_NUM_THREADS, torch.set_num_threads)",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = [](const JobFacts& job) -> Why {
         if (job.gpu) return "its arithmetic is the GPU's";
         return job.threads >= cores_of_rank(job) ? "its ranks have a thread for each core already" : ""; },
       .of_job = use_all_cores},
      {.name = "free_cores", .against = "unchanged", .resource = "cores that loader and step share",
       .title = "one arithmetic thread fewer, its core for the loader", .next = "fewer arithmetic threads (torch.set_num_threads)",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = [](const JobFacts& job) -> Why {
         if (job.gpu) return "its arithmetic is the GPU's";
         return job.threads < 2 ? "it has one arithmetic thread" : ""; },
       .of_job = [](JobChange& it, const JobFacts& job) {
         it.process["threads"] = std::min(job.threads - 1, std::max<int64_t>(1, cores_of_rank(job) - 1)); }},
      {.name = "no_quota", .against = "unchanged", .resource = "the quota of its control group",
       .title = "no quota on its cores", .next = "a higher limit of cores (docker --cpus, Kubernetes' limits, systemd's CPUQuota)",
       .for_good = true, .cost = Cost::purchase,
       .job_why_not = [](const JobFacts& job) -> Why { return job.why_quota_stays; },
       .of_job = [](JobChange& it, const JobFacts&) { it.unlimited = true; }},
      {.name = "even_ranks", .against = "unchanged", .resource = "ranks of uneven speed",
       .title = "the slowest rank as fast as the others (computed from each rank's own time)",
       .next = "find what slows the slowest rank: its data, its cores, its GPU",
       .computed_from = "no_collectives"},
      {.name = "no_logging", .against = "unchanged", .resource = "logging",
       .title = "nothing printed or logged", .next = "log every N steps",
       .for_good = true, .cost = Cost::setting, .of_job = within_process},
      {.name = "no_item", .against = "unchanged", .resource = "waits for numbers from the GPU",
       .title = "what it reads from tensors on the GPU read once (.item(), .cpu(), float(), if)", .next = "losses and metrics read every N steps",
       .for_good = true, .cost = Cost::setting,
       .job_why_not = [](const JobFacts& job) -> Why { return job.gpu ? "" : "no GPU, it waits for none"; },
       .of_job = within_process},
      {.name = "no_metrics", .against = "unchanged", .resource = "metrics",
       .title = "no update of its metrics (torchmetrics)", .next = "metrics every N steps",
       .for_good = true, .cost = Cost::setting, .of_job = within_process},
      {.name = "loader_alone", .against = "unchanged", .title = "the loader alone, without a step", .first = true,
       .job_why_not = without_loader,
       .of_job = within_process},
      {.name = "added_step_time", .against = "unchanged", .title = "a longer step", .burden = true,
       .of_job = add_time},
      {.name = "added_wait", .against = "unchanged", .title = "a longer wait for each batch", .burden = true, .when_named = true,
       .job_why_not = without_loader,
       .of_job = add_time},
      {.name = "autocast", .against = "unchanged", .resource = "arithmetic", .title = "bf16 autocast",
       .next = "torch.autocast, after a check of the accuracy", .for_good = true, .cost = Cost::setting, .when_named = true, .trial = true,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["autocast"] = "bfloat16"; }},
      {.name = "channels_last", .against = "unchanged", .resource = "memory layout", .title = "channels_last",
       .next = "channels_last, after a check of the accuracy", .for_good = true, .cost = Cost::setting, .when_named = true, .trial = true,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["channels_last"] = true; }},
      {.name = "fused_optimizer", .against = "unchanged", .resource = "optimizer", .title = "a fused optimizer",
       .next = "fused=True, after a check of the accuracy", .for_good = true, .cost = Cost::setting, .when_named = true, .trial = true,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["fused_optimizer"] = true; }},
      {.name = "compiled", .against = "unchanged", .resource = "separate operations", .title = "torch.compile",
       .next = "torch.compile, after a check of the accuracy", .for_good = true, .cost = Cost::setting, .when_named = true, .trial = true,
       .of_job = [](JobChange& it, const JobFacts&) { it.process["compile"] = true; }},
      {.name = "pinned", .against = "unchanged", .resource = "copies to the device", .title = "pinned memory",
       .next = "pin_memory=True", .for_good = true, .cost = Cost::setting,
       .job_why_not = [](const JobFacts& job) -> Why { return job.gpu ? without_loader(job) : "no GPU, nothing is copied to it"; },
       .of_job = [](JobChange& it, const JobFacts&) { it.process["pin_memory"] = true; }},
  };
  // clang-format on
}

}  // namespace harness
