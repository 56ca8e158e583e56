// Builds data, device, model, strategy and loader in order, runs the slice, and gathers reports on rank 0.
#include "bench/train/rank.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include "bench/loading/storage/cache_proof.h"
#include "bench/train/captured_step.h"
#include "bench/train/ceiling.h"
#include "bench/train/needless_work.h"
#include "bench/train/precision/in_float32.h"
#include "bench/train/rank_loading.h"
#include "bench/train/rank_report.h"
#include "bench/train/strategy/sync_batch_norm.h"
#include "bench/train/trace.h"
#include "bench/train/validation.h"
#include "harness/base/file.h"
#include "harness/contract/slice_file.h"

namespace bench {

void write_json(const std::filesystem::path& file, const nlohmann::json& object) {
  base::write_whole_file(file, object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n',
                         /*durable=*/false);
}

namespace {

// Text that must be equal on all ranks.
std::string configuration(const harness::Job& job, const Dataset& dataset) {
  const std::string row = harness::to_json(job.row).dump();
  return fmt::format("row {} with settings {:016x} and {} images", job.row.id,
                     XXH3_64bits(row.data(), row.size()), dataset.images.size());
}

// Throws Disagreement on rank 0 if `text` differs between ranks. Collective; the other ranks wait for rank 0.
void require_agreement(Group& group, const RankInfo& rank, const std::string& text) {
  const auto texts = group.gather(text);
  for (size_t other = 1; rank.rank == 0 && other < texts.size(); ++other)
    if (texts[other] != text)
      throw Disagreement(
          fmt::format("the ranks disagree about the configuration: rank 0 has {} and rank {} has {}; give "
                      "every node the same build, job file and data",
                      text, other, texts[other]));
  group.barrier();  // no rank trains before rank 0 has compared
}

// A rank and its parts; members are in order of construction.
class Rank {
 public:
  // Prepares everything that needs no communication.
  Rank(const harness::Job& job, const RankInfo& rank)
      : job_(job),
        rank_(rank),
        progress_(job.progress, 0),
        dataset_(read_index(job.index)),
        batch_(row_.batch / rank.world_size) {
    if (progress_.ranks() != rank_.world_size)
      throw std::runtime_error(fmt::format(
          "the environment says that this is rank {} of {}, and the row has {} ranks: unset RANK and "
          "WORLD_SIZE, or let run_matrix start the ranks",
          rank_.rank, rank_.world_size, progress_.ranks()));
    harness::record_process(progress_.slot(rank_.rank), ::getpid());
    if (row_.malloc != "retain" && row_.malloc != "system" && !library_versions().contains(row_.malloc))
      throw std::runtime_error(
          fmt::format("malloc {} was not loaded into this process; start it through run_matrix, which sets "
                      "LD_PRELOAD",
                      row_.malloc));
    // With emulated nodes one machine has the devices of all nodes.
    const int64_t device = job_.emulated_link ? rank_.rank : rank_.local_rank;
    device_ = DeviceRegistry::instance().find(row_.device)(
        {.row = row_,
         .batch_size = harness::trains(row_) ? batch_ : 1,  // else it gets no batch
         .local_rank = device,
         .ranks_of_node = rank_.local_world_size,
         .ranks_of_machine = job_.emulated_link ? rank_.world_size : rank_.local_world_size,
         .cores = job_.cores,
         .replicas = harness::all_devices(row_) / rank_.world_size,
         .emulation = job_.emulation ? &*job_.emulation : nullptr});
    loading_.emplace(job_, dataset_, rank_, batch_, device_->accelerator());
    model_ = make_model(row_);
    model_->to(device_->torch_device(), row_.channels_last);
    precision_ = PrecisionRegistry::instance().find(row_.precision)({device_->torch_device(), row_});
    precision_->convert(*model_);
    if (Accelerator* accelerator = device_->accelerator()) {
      accelerator->prepare(*model_);
      accelerator->use_image_type(precision_->image_type());
    }
  }

  void join_others() {
    link_ = LinkRegistry::instance().find(row_.link)({job_.interface, rank_.master_addr, job_.emulated_link});
    group_ = GroupRegistry::instance().find(row_.backend)(
        {rank_, link_->interface, row_.link, job_.emulated_link,
         job_.emulation && job_.emulated_link
             ? harness::link_rate_here_mbit(row_, job_.emulation->batch_divisor)
             : 0,
         job_.directory});
    require_agreement(*group_, rank_, configuration(job_, dataset_));
    if (row_.sync_bn) {
      sync_bn_ = std::make_unique<SyncBatchNorm>(group_->process_group(), model_->batch_norm_names(), spans_);
      model_->replace_batch_norm(sync_bn_.get());
    }
    strategy_ =
        StrategyRegistry::instance().find(row_.strategy)({row_, *model_, *precision_, *device_, *group_});
  }

  void train() {
    SliceParts parts{
        row_,   loading_->loader(),        *device_, *model_, *precision_, *strategy_, *group_, *link_,
        spans_, progress_.slot(rank_.rank)};
    std::optional<CapturedStep> recorded;
    if (row_.cuda_graphs) parts.recorded = &recorded.emplace(parts);
    std::optional<NeedlessWork> needless;
    if (NeedlessWork::wanted(row_)) parts.needless = &needless.emplace(row_, *device_);
    std::optional<Trace> trace;
    if (job_.trace)
      parts.trace = &trace.emplace(rank_, *device_, row_.warmup_batches + job_.trace->first,
                                   row_.warmup_batches + job_.trace->last);
    std::unique_ptr<DeviceSampler> sampler;
    if (Accelerator* accelerator = device_->accelerator(); accelerator && row_.gpu_sampling_ms > 0)
      sampler =
          accelerator->make_sampler(row_.gpu_sampling_ms, harness::all_devices(row_) / rank_.world_size);
    parts.sampler = sampler.get();
    std::vector<Check> checks;
    const bool trains = harness::trains(row_), computes = trains && device_->computes();
    if (computes) checks.push_back(check_gradients(parts, rank_));
    if (row_.warmup_batches == 0 && trains) warm_model(parts, batch_);

    CacheProof cache(row_.cache, loading_->storage(), loading_->records(), job_.server_counter,
                     loading_->counts(), !harness::has_external_loader(row_));
    parts.cache = &cache;
    if (trace) trace->prepare();
    group_->barrier();
    cache.slice_begins();
    group_->mute_collectives(!row_.collectives);
    const SliceResult result = run_slice(parts);
    group_->mute_collectives(false);
    const LoaderStats loaded = loading_->loader().stats();
    const harness::RecordCache proof = cache.slice_ended(loaded.encoded_bytes);
    device_settings_ = device_->describe();
    const auto traced = trace ? trace->write(job_.directory) : std::nullopt;

    const Check loss = check_loss(result.loss, row_.warmup_batches);  // of no batch where nothing is computed
    if (computes) checks.push_back(loss);
    checks.push_back({"cache", cache.violation().empty(), cache.violation()});
    for (Check& check : device_->checks(result.total_s, row_.timed_batches))
      if (trains && (row_.collectives || check.name != "schedule"))  // which asks that gradients are reduced
        checks.push_back(std::move(check));
    const auto external = loading_->loader().compare();
    if (external && loading_->options().external->compares_pixels) checks.push_back(check_pixels(*external));
    if (result.decoded)
      checks.push_back(check_decoder(*result.decoded, loading_->options().decoding.on_engine));
    harness::RankReport report = rank_report(parts, rank_, result, proof, checks);
    report.trace = traced;
    report.external = external;
    if (row_.validation && loss.ok) report.accuracy = accuracy();
    // The report is complete for weights and loader, which may change from here on.
    if (const int64_t batches = ceiling_batches(); batches > 0)
      report.ceilings = measure_ceilings(parts, batches);
    strategy_.reset();  // its threads would disturb the next measurement
    if (rank_.world_size > 1) {
      const auto measure = [&] {
        return all_reduce_ceiling_ms(*group_, *device_, parts.progress, result.traffic.all_reduces);
      };
      report.ceiling_ms = measure();
      if (report.place.nccl) report.place.nccl->choices = group_->nccl_choices([&] { measure(); });
    }
    // Warnings contain file names, which may be invalid UTF-8.
    auto reports = group_->gather(
        harness::encode(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (rank_.rank == 0) write_slice(std::move(reports));
    progress_.slot(rank_.rank).state = uint32_t(harness::RankState::done);
  }

 private:
  harness::RecordAccuracy accuracy() {
    loading_->close_loader();
    const Dataset images = read_index(job_.validation);
    harness::ProgressSlot& progress = progress_.slot(rank_.rank);
    const harness::RankAnswers correct =
        validate(images, *model_, *precision_,
                 {batch_, row_.image_px, std::max(1, loading_->options().threads), device_->torch_device(),
                  [&] { ++progress.batches; }});
    harness::RecordAccuracy accuracy;
    accuracy.top1 = double(correct.top1) / double(correct.images);
    accuracy.top5 = double(correct.top5) / double(correct.images);
    accuracy.images = correct.images;
    accuracy.classes = row_.classes;
    accuracy.kind = dataset_.kind == "stand-in" ? "synthetic" : "real";
    accuracy.train_images = int64_t(dataset_.images.size());
    return accuracy;
  }

  // The loader ceiling reads the slice's first batches again (one untimed), because a storage may hold no
  // others; in cold rows, which need larger sets, it reads others.
  int64_t ceiling_batches() const {
    if (!harness::trains(row_)) return 0;
    return std::min(row_.ceiling_batches, row_.warmup_batches + row_.timed_batches - 1);
  }

  harness::RankCeilings measure_ceilings(const SliceParts& parts, int64_t batches) {
    loading_->close_loader();
    harness::RankCeilings ceilings = compute_ceiling(parts, loading_->options(), batches);
    strategy_.reset();  // stops its threads
    if (!loading_->cache_is_again_as_before_the_slice(*group_)) return ceilings;
    loader_ceiling(loading_->open_loader(), *group_, parts.progress, ceilings);
    loading_->close_loader();
    group_->barrier();
    return ceilings;
  }

  // reports: of all ranks in rank order, as they encoded them; run_matrix merges them.
  void write_slice(std::vector<std::string> reports) const {
    const int64_t replicas = harness::all_devices(row_);
    harness::SliceFacts facts;
    facts.device.kind = row_.device;
    facts.device.name = device_->name();
    facts.device.settings = device_settings_;
    facts.device.label = fmt::format("{} {} {}{}", replicas, row_.device == "cpu" ? "CPU" : row_.device,
                                     rank_.world_size > 1 ? "rank" : "replica", replicas > 1 ? "s" : "");
    facts.precision.name = row_.precision;
    facts.precision.sixteen_bit = precision_->sixteen_bit();
    if (device_->torch_device().is_cpu() && !facts.precision.sixteen_bit.empty() && computes_in_float32())
      facts.precision.computed_in = type_name(at::kFloat);
    facts.clock_ns_per_call = PhaseClock::nanoseconds_per_call();
    facts.versions = library_versions();
    base::write_whole_file(std::filesystem::path(job_.directory) / "slice.jsonl",
                           harness::slice_text(facts, std::move(reports)), /*durable=*/false);
  }

  const harness::Job& job_;
  const harness::Row& row_ = job_.row;
  const RankInfo rank_;
  harness::Progress progress_;
  const Dataset dataset_;
  const int64_t batch_;  // images per batch of this rank
  Spans spans_;
  std::optional<RankLoading> loading_;  // its buffers outlive the device, which copies from them
  std::unique_ptr<Device> device_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Precision> precision_;
  std::optional<Link> link_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<SyncBatchNorm> sync_bn_;
  nlohmann::json device_settings_;  // as they were at the slice's end
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace

void train_rank(const harness::Job& job, const RankInfo& info) {
  auto rank = std::make_unique<Rank>(job, info);
  try {
    rank->join_others();
    rank->train();
  } catch (...) {
    static_cast<void>(rank.release());  // intentional leak: destroying a group may wait for dead ranks
    throw;
  }
}

}  // namespace bench
